"""Which speeds are the rates of coordinates, and what they are called."""

from torseur.describe import Mechanism
from torseur.model.rows import rates_of

MIXED = Mechanism(
    name="mixed",
    base={"kind": "floating", "inertia": {"mass": 1.0}},
    coordinates={"s": {"unit": "m"}},
    bodies={
        "d": {"joint": {"kind": "spherical"}},
        "arm": {"joint": {"kind": "revolute", "coordinate": "elta"}},
        "slide": {"joint": {"kind": "cylindrical"}, "parent": "arm"},
    },
)


def test_rates_are_known_by_record_whatever_names_begin_with():
    """The base and the ball joint have speeds that are no rates; the free coordinate, hinges and slides have rates."""
    rates = MIXED.rates
    own = [x.name for x in MIXED.q if x.owner in ("arm", "slide", "free form")]
    assert list(rates) == own
    assert [rates[name] for name in own] == [f"d{name}" for name in own]
    assert all(x.rate_of is None for x in MIXED.v if x.owner in ("base", "d"))


def test_places_of_rates_lead_to_their_coordinates():
    q, v = [x.name for x in MIXED.q], [x.name for x in MIXED.v]
    assert {v[k]: q[i] for k, i in rates_of(MIXED).items()} == {speed: name for name, speed in MIXED.rates.items()}
