"""SYMORO files in their dialects: keys, comments, encodings, functions, link 0, loops."""

import re
from pathlib import Path

import numpy as np

from support.listings_by_hand import posed
from torseur.describe import BaseKind, Formula, SpringDamper
from torseur.formats.symoro import read_par

DATA = Path(__file__).resolve().parents[2] / "data"


def text_of(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def test_latin_1_and_other_line_ends_are_read_alike():
    text = text_of("symoro/RX90num.par")
    expected = read_par(text, "RX90num")
    assert "Noë" in text
    for data in (
        text.encode(),
        text.encode("latin-1"),
        text.replace("\n", "\r\n").encode(),
        ("\ufeff" + text).encode(),
    ):
        assert read_par(data, "RX90num") == expected


def test_keys_may_have_any_case_and_comments_may_stand_anywhere():
    text = text_of("par/modele16ddl.par")
    expected = read_par(text, "modele16ddl")
    for key in ("Ant", "Sigma", "Alpha", "Mu", "Theta", "gamma", "XX"):
        text = re.sub(
            rf"^{key} = \{{", f"{key.swapcase()} (* a (key) *) = {{ (* first,\n {{second}} *) ", text, flags=re.M
        )
    text = text.replace("V0", "VO").replace("WP0", "WPO")  # letters for digits, as printed listings have them
    assert read_par(text, "modele16ddl") == expected


def test_functions_of_either_program_are_understood():
    text = robot(d="{Sqrt[a^2 + b**2], ArcTan[a]*sqrt(b), 0}")
    place = read_par(text, "r").bodies
    assert str(place["body1"].place.mdh.d) == "sqrt(a^2 + b^2)"
    assert str(place["body2"].place.mdh.d) == "atan(a)*sqrt(b)"


SMALL = {
    "NL": "3",
    "NJ": "3",
    "NF": "3",
    "Type": "0",
    "ant": "{0,1,2}",
    "sigma": "{0,1,0}",
    "b": "{0,0,0}",
    "d": "{0,a,0}",
    "r": "{0,r2,0}",
    "gamma": "{0,0,0}",
    "alpha": "{0,pi/2,0}",
    "mu": "{1,0,1}",
    "theta": "{t1,0,t3}",
    "M": "{m1,m2,m3}",
    "G": "{0,0,-9.81}",
}


def robot(**changes: str | None) -> str:
    entries = {**SMALL, **changes}
    return "\n".join(f"{key} = {value}" for key, value in entries.items() if value is not None)


def test_link_0_of_a_floating_robot_is_its_base():
    mechanism = read_par(robot(is_floating="1", M="{m0,m1,m2,m3}", FX="{F0,0,0,0}"), "r")
    assert mechanism.base.kind is BaseKind.FLOATING
    assert mechanism.base.orientation == "quaternion"
    assert Formula("m0") == mechanism.base.inertia.M
    assert [str(body.inertia.M) for body in mechanism.bodies.values()] == ["m1", "m2", "m3"]
    assert str(mechanism.loads["wrench0"].force[0]) == "-F0"
    assert mechanism.loads["wrench0"].frame == "base"
    assert read_par(robot(is_mobile="True", M="{m0,m1,m2,m3}"), "r").base.orientation == "rpy"


def test_flexible_joints_are_springs():
    mechanism = read_par(robot(eta="{0,1,1}", k="{5,k2,0}", FV="{0,f2,0}"), "r")
    assert mechanism.loads["spring2"] == SpringDamper(coordinate="r2", stiffness=Formula("k2"), damping=Formula("f2"))
    assert "friction1" not in mechanism.loads
    assert any("k[1]" in note for note in mechanism.notes)


def test_the_base_stands_where_z_puts_it_and_gravity_is_turned_into_the_world():
    # z of the base along x of the world: gravity along z of the base is along x of the world
    z = "{0,0,1,0.5, 0,1,0,h, -1,0,0,0, 0,0,0,1}"
    mechanism = read_par(robot(Z=z, G="{0,0,g3}"), "r")
    assert mechanism.base.place.pose.position == (0.5, Formula("h"), 0.0)
    assert mechanism.gravity == (Formula("g3"), 0.0, 0.0)
    found = posed(mechanism, {}, {"a": 0.0, "h": 2.0, "m1": 0, "m2": 0, "m3": 0, "g3": 0})
    np.testing.assert_allclose(
        found["body1"], [[0, 0, 1, 0.5], [0, 1, 0, 2.0], [-1, 0, 0, 0], [0, 0, 0, 1]], atol=1e-15
    )


def test_in_forces_the_symbols_of_speeds_are_speeds():
    text = robot(QP="{QP1,QP2,QP3}", FX="{0,0,c*QP2 + M3*t3}", V0="{u,v,w}", W0="{p,0,0}", FY="{0,0,-u}")
    mechanism = read_par(text, "r")
    assert [str(x) for x in mechanism.loads["wrench3"].force[:2]] == ["-(c*dr2 + M3*t3)", "vx"]
    assert {"c", "M3"} <= mechanism.inputs.keys()
    assert not {"u", "QP2"} & {*mechanism.inputs, *mechanism.parameters}


def test_names_of_the_formula_language_are_changed_with_a_note():
    mechanism = read_par(robot(d="{deg, t, dt1}"), "r")
    places = [body.place.mdh.d for body in mechanism.bodies.values()]
    assert [str(x) for x in places] == ["deg_", "t_", "dt1_"]
    assert {"deg_", "t_", "dt1_"} <= mechanism.parameters.keys()
    assert sum("is called" in note for note in mechanism.notes) == 3


def test_two_loops_and_a_second_frame_that_carries_another():
    text = robot(
        NL="3",
        NJ="5",
        NF="7",
        Type="2",
        ant="{0,1,2, 3,3, 1,6}",
        sigma="{0,0,0, 0,1, 2,2}",
        b="{0,0,0,0,0,0,0}",
        d="{0,a,a,a,0,c,0}",
        r="{0,0,0,0,r5,0,0}",
        gamma="{0,0,0,0,0,0,0}",
        alpha="{0,0,0,0,0,0,0}",
        mu="{1,0,0,0,0,0,0}",
        theta="{t1,t2,t3,t4,0,0,0}",
    )
    mechanism = read_par(text, "r")
    assert mechanism.loops["loop4"].between == ("frame4", "body6")
    assert mechanism.loops["loop5"].between == ("frame5", "frame7")
    assert mechanism.loops["loop5"].joint == "prismatic"
    assert mechanism.frames["frame7"] == "body6"
    assert [x.name for x in mechanism.q] == ["t1", "t2", "t3"]
