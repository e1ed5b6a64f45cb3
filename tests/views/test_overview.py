"""The figure on top of all others: pictures of the mechanism, the first curves, the verdict of the audit."""

import io
from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from torseur.simulation.results.channels import Channel, Role
from torseur.views.overview import draw_overview


@pytest.fixture(scope="module")
def run():
    arm = ts.examples.load("planar_2r")
    return ts.simulate(arm, until=1.0, start={"theta1": 0.3}, inputs={"Gamma1": "5*sin(t)"}, solver="rk4")


def drawn(run):
    figure = draw_overview(run)
    figure.savefig(io.BytesIO(), format="svg")  # lays it out
    return figure


def test_an_overview_has_pictures_curves_with_units_and_the_verdict(run):
    figure = drawn(run)
    pictures, curves = figure.subfigs
    shown = [ax.images[0].get_array() for ax in pictures.axes]
    assert len(shown) == 3
    assert all(image.std() > 0.01 for image in shown)
    assert np.abs(shown[0] - shown[2]).max() > 0.1  # it has moved
    labels = [ax.get_ylabel().replace("\n", " ") for ax in curves.axes]
    assert labels == ["angle (rad)", "angular speed (rad/s)", "torque (N·m)"]
    title = figure.get_suptitle()
    assert run.audit().verdict in title.replace("\n", " ")
    assert title.splitlines()[0] == run.mechanism.title


def test_a_run_without_a_mechanism_has_curves_alone(run):
    figure = drawn(replace(run, mechanism=None))
    assert not figure.subfigs
    assert len(figure.axes) == 3


def test_a_run_that_stopped_says_when(run):
    broken = replace(run, complete=False, reason="the step became too small", audited=None)
    assert "stopped at 1 s; no audit" in drawn(broken).get_suptitle()


def test_a_dollar_in_a_title_or_unit_begins_no_formula(run):
    unread = r"a $\frac{$ b"
    units = [replace(c, unit=unread) for c in run.channels.values()]
    hostile = replace(
        run, mechanism=run.mechanism.model_copy(update={"title": unread}), channels={c.name: c for c in units}
    )
    assert drawn(hostile).get_suptitle().startswith(r"a \$\frac{\$ b")


def test_an_overview_shows_the_panel_with_most_lines_of_each_unit(run):
    small = {"a": 1e-3 * np.sin(run.time), "b": np.sin(run.time), "c": np.cos(run.time)}
    channels = {name: Channel(name, "rad", "", values, Role.COORDINATE) for name, values in small.items()}
    (panel,) = draw_overview(replace(run, mechanism=None, channels=channels, audited=None)).axes
    assert len(panel.lines) == 2
