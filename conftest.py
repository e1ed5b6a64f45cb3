"""What the examples in docstrings of models, equations and runs begin with; `docs/reference/api.md` shows it."""

from typing import Any

import pytest

NEED_IT = (
    "torseur.model.model",
    "torseur.model.mobility",
    "torseur.model.linearisation",
    "torseur.model.equations.equations",
    "torseur.simulation.results.result",
    "torseur.simulation.run.batch",
    "torseur.simulation.study.reader",
    "torseur.simulation.study.writer",
    "torseur.formats",
    "torseur.identification.excitation",
)


@pytest.fixture(scope="session")
def begun() -> dict[str, Any]:
    import numpy as np

    import torseur as ts

    arm, linkage = (ts.load(ts.examples.path(name)) for name in ("planar_2r", "four_bar"))
    names: dict[str, Any] = {
        "np": np,
        "ts": ts,
        "arm": arm,
        "model": ts.build(arm),
        "linkage": linkage,
        "closed": ts.build(linkage),
    }
    names |= {"q": np.array([0.3, 0.5]), "v": np.array([1.0, -0.5])}
    return names | {"run": ts.simulate(arm, until=1.0, start={"theta1": 0.3})}


@pytest.fixture(autouse=True)
def names_of_examples(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    module = getattr(getattr(request.node, "dtest", None), "globs", {}).get("__name__", "")
    if module in NEED_IT:
        doctest_namespace.update(request.getfixturevalue("begun"))
