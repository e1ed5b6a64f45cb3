"""URDF files that are wrong: all faults are reported together, with their places, and nothing else comes out."""

import os
import random
from pathlib import Path

import pytest

from torseur.errors import ModelError, TorseurError
from torseur.formats.urdf import read_urdf
from torseur.formats.urdf.markup import DEEPEST, LARGEST_FILE

DATA = Path(__file__).resolve().parents[2] / "data" / "urdf"


def fault_of(data: str | bytes) -> str:
    with pytest.raises(ModelError) as caught:
        read_urdf(data if isinstance(data, bytes) else data.encode(), "r", "r.urdf")
    return str(caught.value)


def robot(*parts: str) -> str:
    return "<robot>\n" + "\n".join(parts) + "\n</robot>"


def joint(inside: str = "", *, name: str = "j", kind: str = "revolute", parent: str = "a", child: str = "b") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


A, B, C = (f'<link name="{name}"/>' for name in "abc")
TENSOR = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'


def link(inside: str) -> str:
    return robot(f'<link name="a">{inside}</link>')


# -- what is refused before it is read ---------------------------------------------------------------------------------
BOMB = """<?xml version="1.0"?>
<!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>
<robot name="&b;"><link name="a"/></robot>"""
FILE = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="&x;"/>'
OUTSIDE = '<!DOCTYPE robot SYSTEM "http://localhost/robot.dtd"><robot/>'


@pytest.mark.parametrize("text", [BOMB, FILE, OUTSIDE, "<!DOCTYPE robot><robot/>"])
def test_document_types_entities_and_references_are_refused(text):
    assert "document types, entities and references to other files are refused" in fault_of(text)


def test_an_entity_out_of_nowhere_is_not_well_formed():
    assert fault_of('<robot>\n <link name="&x;"/></robot>').startswith(
        "r.urdf:2:2: not well-formed XML: undefined entity"
    )


def test_size_depth_and_number_of_elements_are_bounded(monkeypatch):
    assert "too large" in fault_of(b" " * (LARGEST_FILE + 1))
    assert "too deeply" in fault_of("<robot>" + "<a>" * DEEPEST + "</a>" * DEEPEST + "</robot>")
    assert "too many links" in fault_of(robot(*(f'<link name="a{k}"/>' for k in range(5001))))
    monkeypatch.setattr("torseur.formats.urdf.markup.MOST", 50)
    assert "too many elements" in fault_of("<robot>" + "<a/>" * 50 + "</robot>")


@pytest.mark.parametrize("encoding", ["rot13", "zip", "utf-7", "no-such", "utf-32"])
def test_strange_encodings_are_refused(encoding):
    assert "an encoding that is not read" in fault_of(f'<?xml version="1.0" encoding="{encoding}"?><robot/>')


def test_the_usual_encodings_are_read():
    text = '<?xml version="1.0" encoding="{}"?><robot name="é"><link name="a"/></robot>'
    for encoding in ("utf-8", "UTF-16", "iso-8859-1"):
        assert read_urdf(text.format(encoding).encode(encoding), "r", "r.urdf").title == "é"


@pytest.mark.parametrize(
    "text", ["", "no xml", "<robot>", "<robot></sdf>", "<robot/><robot/>", "\0", '<robot a="1" a="2"/>']
)
def test_what_is_not_xml_is_said_so(text):
    assert "r.urdf:1:" in fault_of(text)
    assert "not well-formed XML" in fault_of(text)


XACRO = 'xmlns:xacro="http://ros.org/wiki/xacro"'


@pytest.mark.parametrize(
    "inside",
    ['<xacro:property name="x" value="1"/>', '<link name="${prefix}a"/>', '<link name="$(arg prefix)a"/>'],
)
def test_xacro_is_recognised_and_explained(inside):
    text = fault_of(f"<robot {XACRO}>\n  {inside}</robot>")
    assert text.startswith("r.urdf:2:3: <")
    assert "this is xacro" in text
    assert "xacro robot.urdf.xacro > robot.urdf" in text


def test_a_file_that_xacro_has_written_is_urdf():
    text = f"<robot {XACRO}>{A}<gazebo><plugin name='${{x}}'/></gazebo></robot>"
    assert read_urdf(text.encode(), "r", "r.urdf").frames["a"] == "base"


@pytest.mark.parametrize(("tag", "word"), [("sdf", "SDF"), ("mujoco", "MJCF"), ("html", "not URDF")])
def test_other_xml_is_refused_by_name(tag, word):
    assert word in fault_of(f"<{tag}/>")


# -- faults of the content ---------------------------------------------------------------------------------------------
CASES = {
    "no link": (robot(), "the robot has no link"),
    "name": (robot("<link/>"), "<link> needs the attribute 'name'"),
    "second link": (robot(A, A), "3:1: a second link called 'a'"),
    "second joint": (robot(A, B, C, joint(), joint(child="c")), "6:1: a second joint called 'j'"),
    "type": (robot(A, B, joint(kind="revolut")), "did you mean 'revolute'?"),
    "unknown type": (robot(A, B, joint(kind="ball")), "no such type of joint"),
    "no parent": (robot(A, '<joint name="j" type="fixed"><child link="a"/></joint>'), "the joint has no <parent>"),
    "missing link": (
        robot('<link name="arm"/>', A, joint(child="arn")),
        "no child link 'arn'\n  remedy: did you mean 'arm'?",
    ),
    "two parents": (robot(A, B, C, joint(), joint(name="k", parent="c")), "link 'b' is carried by two joints"),
    "two roots": (robot(A, B), "several links without a parent"),
    "circle": (robot(A, B, C, joint(parent="b", child="c"), joint(name="k", parent="c", child="b")), "'c', 'b'"),
    "own parent": (robot(A, joint(parent="a", child="a")), "the links form a cycle"),
    "axis": (robot(A, B, joint('<axis xyz="0 0 0"/>')), "an axis of zero length"),
    "axis count": (robot(A, B, joint('<axis xyz="0 0"/>')), "joint j: 'xyz' of <axis> is wrong\n  expected: 3 numbers"),
    "comma": (robot(A, B, joint('<axis xyz="0, 0, 1"/>')), "expected: 3 numbers with spaces between\n  got: '0, 0, 1'"),
    "nan": (robot(A, B, joint('<origin xyz="nan 0 0"/>')), "'xyz' of <origin> is wrong"),
    "inf": (robot(A, B, joint('<origin rpy="0 inf 0"/>')), "'rpy' of <origin> is wrong"),
    "underscore": (robot(A, B, joint('<origin xyz="1_0 0 0"/>')), "'xyz' of <origin> is wrong"),
    "huge": (robot(A, B, joint('<origin xyz="1e99 0 0"/>')), "too large"),
    "overflow": (robot(A, B, joint('<origin xyz="1e999 0 0"/>')), "too large"),
    "quaternion": (robot(A, B, joint('<origin quat_xyzw="0 0 0 1"/>')), "by quaternion is not read"),
    "second origin": (robot(A, B, joint("<origin/><origin/>")), "a second <origin>"),
    "stops": (robot(A, B, joint('<limit lower="1" upper="-1"/>')), "got: 1.0 > -1.0"),
    "speed": (robot(A, B, joint('<limit velocity="-1"/>')), "'velocity' of <limit> is negative"),
    "damping": (robot(A, B, joint('<dynamics damping="-1"/>')), "'damping' of <dynamics> is negative"),
    "mimic": (robot(A, B, joint('<mimic joint="jj"/>')), "it follows 'jj', which does not exist"),
    "itself": (robot(A, B, joint('<mimic joint="j"/>')), "the joints that follow others form a cycle"),
    "mimic kind": (robot(A, B, joint('<mimic joint="j"/>', kind="planar")), "a planar joint cannot follow another"),
    "mimic fixed": (
        robot(A, B, C, joint(kind="fixed"), joint('<mimic joint="j"/>', name="k", child="c")),
        "it follows 'j', which has no single coordinate",
    ),
    "mass": (link(f'<inertial><mass value="-1"/>{TENSOR}</inertial>'), "a negative mass"),
    "no mass": (link(f"<inertial>{TENSOR}</inertial>"), "<inertial> without <mass>"),
    "no tensor": (link('<inertial><mass value="1"/></inertial>'), "<inertial> without <inertia>"),
    "entry": (link('<inertial><mass value="1"/><inertia ixx="1"/></inertial>'), "needs the attribute 'ixy'"),
    "second inertial": (link("<inertial/><inertial/>"), "a second <inertial>"),
    "geometry": (link("<visual/>"), "<visual> without <geometry>"),
    "empty": (link("<visual><geometry/></visual>"), "<geometry> is empty"),
    "box": (link('<visual><geometry><box size="1 -1 1"/></geometry></visual>'), "'size' of <box> is negative"),
    "two shapes": (
        link("<visual><geometry><mesh filename='a'/><mesh filename='b'/></geometry></visual>"),
        "a second shape",
    ),
    "no radius": (link('<visual><geometry><cylinder length="1"/></geometry></visual>'), "needs the attribute 'radius'"),
    "no file": (link("<visual><geometry><mesh/></geometry></visual>"), "needs the attribute 'filename'"),
    "colour": (robot(A, '<material name="m"><color rgba="2 0 0 1"/></material>'), "'rgba' of <color> is out of range"),
    "colours": (robot(A, '<material name="m"><color rgba="1 0 0"/></material>'), "expected: 4 numbers"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_fault_says_what_and_where(case):
    text, expected = CASES[case]
    found = fault_of(text)
    assert expected in found
    assert "r.urdf:" in found


def test_all_faults_are_reported_at_once_in_the_order_of_the_file():
    text = robot(
        A, B, C, joint('<axis xyz="1"/><limit lower="x"/>'), joint(name="k", kind="hinge", child="d"), '<link name=""/>'
    )
    with pytest.raises(ModelError) as caught:
        read_urdf(text.encode(), "r", "r.urdf")
    whats = [fault.what for fault in caught.value.faults]
    assert whats == [
        "several links without a parent",
        "'xyz' of <axis> is wrong",
        "'lower' of <limit> is wrong",
        "no such type of joint",
        "<link> needs the attribute 'name'",
    ]
    assert [fault.where for fault in caught.value.faults][1] == "r.urdf:5:68: joint j"


def test_very_many_faults_are_cut():
    text = robot(A, *(joint(name=f"j{k}", child=f"b{k}") for k in range(500)))
    with pytest.raises(ModelError) as caught:
        read_urdf(text.encode(), "r", "r.urdf")
    assert len(caught.value.faults) == 101
    assert caught.value.faults[-1].what == "too many faults; the rest is not looked at"


# -- nothing but our own error -----------------------------------------------------------------------------------------
SEEDS = [
    (DATA / "ur5.urdf").read_bytes(),
    robot(
        '<material name="m"><color rgba="1 0 0 1"/></material>',
        f'<link name="a"><inertial><origin xyz="1 2 3" rpy="0 1 2"/><mass value="1"/>{TENSOR}</inertial></link>',
        '<link name="b"><visual><geometry><box size="1 2 3"/></geometry><material name="m"/></visual></link>',
        C,
        joint('<axis xyz="1 2 3"/><limit lower="-1" upper="1" effort="1" velocity="2"/><dynamics damping="1"/>'),
        joint('<axis xyz="0 1 0"/><mimic joint="j" multiplier="-2" offset="1e-3"/>', name="k", parent="b", child="c"),
    ).encode(),
]
PIECES = [
    b"<",
    b">",
    b'"',
    b"&",
    b"&#0;",
    b"\xff",
    b"\0",
    b"1e400",
    b"-",
    b"nan",
    b"<!--",
    b"]]>",
    b"<![CDATA[",
    b"${",
    b"joint",
    b" ",
]


NASTY = [
    "",
    "a",
    "b",
    "j",
    "nan",
    "1e999",
    "-1e90",
    "0 0 0",
    "1 1e90 -1e90",
    "0 1e-200 0",
    "fixed",
    "planar",
    "floating",
]


def mutated(rng: random.Random) -> bytes:
    """A file with a few attributes changed, or a few bytes."""
    if rng.random() < 0.5:
        parts = rng.choice(SEEDS).split(b'"')
        for _ in range(rng.randint(1, 3)):
            parts[2 * rng.randrange(len(parts) // 2) + 1] = rng.choice(NASTY).encode()
        return b'"'.join(parts)
    data = bytearray(rng.choice(SEEDS))
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data))
        match rng.randrange(5):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randint(1, 40)]
            case 2:
                data[at:at] = rng.choice(PIECES)
            case 3:
                other = rng.randrange(len(data))
                data[at:at] = data[other : other + rng.randint(1, 200)]
            case _:
                digits = [k for k in range(at, min(at + 200, len(data))) if chr(data[k]).isdigit()]
                for k in digits[:3]:
                    data[k] = rng.choice(b"0123456789e.-+")
    return bytes(data)


def check_mutations(seed: int, count: int) -> int:
    """Read mutated files; give how many were still mechanisms."""
    rng, good = random.Random(seed), 0
    for _ in range(count):
        try:
            read_urdf(mutated(rng), "r", "r.urdf")
            good += 1
        except TorseurError:
            pass
    return good


def test_mutated_files_give_a_mechanism_or_our_error():
    count = int(os.environ.get("TORSEUR_FUZZ", "400"))
    assert 0.01 * count < check_mutations(seed=count, count=count) < 0.9 * count


# -- no hang -----------------------------------------------------------------------------------------------------------
def many(n: int) -> dict[str, str]:
    names = range(n)
    return {
        "same names": robot(*(f'<link name="é{chr(0x4E00 + k % 20000)}{chr(0x4E00 + k // 20000)}"/>' for k in names)),
        "unknown elements": robot(*(f"<link{k}/>" for k in names)),
        "missing links": robot(A, *(joint(name=f"j{k}", child=f"b{k}") for k in names)),
        "mimic chain": robot(
            A,
            *(f'<link name="b{k}"/>' for k in names),
            *(joint(f'<mimic joint="j{k + 1}"/>', name=f"j{k}", child=f"b{k}") for k in names),
        ),
        "circle": robot(
            *(f'<link name="b{k}"/>' for k in names),
            *(joint(name=f"j{k}", parent=f"b{k}", child=f"b{(k + 1) % n}") for k in names),
        ),
    }


@pytest.mark.slow
@pytest.mark.parametrize("case", many(1))
def test_large_wrong_files_are_refused_and_do_not_hang(case):
    text = many(4000)[case]
    assert len(fault_of(text)) < 100_000
