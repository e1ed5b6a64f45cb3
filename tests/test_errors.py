"""The exception tree: every error says what, where, expected, got and the remedy, and survives a process border."""

import copy
import inspect
import pickle

import pytest

from torseur import errors
from torseur.errors import ArgumentError, GraphError, MissingExtra, ModelError, TorseurError, TorseurWarning

FIELDS = {"what": "wrong size", "where": "arm.yaml:3:5", "expected": "(6,)", "got": "(5,)", "remedy": "add one"}

ALL = [x for x in (getattr(errors, name) for name in errors.__all__) if isinstance(x, type)]
ERRORS = [kind for kind in ALL if issubclass(kind, TorseurError)]
WARNINGS = [kind for kind in ALL if issubclass(kind, Warning)]


def an_error(kind: type[TorseurError]) -> TorseurError:
    if kind is MissingExtra:
        return MissingExtra("matplotlib", extra="plots", purpose="plotting")
    return kind(FIELDS["what"], **{name: text for name, text in FIELDS.items() if name != "what"})


def through_pickle(error: TorseurError) -> TorseurError:
    return pickle.loads(pickle.dumps(error))


def fields_of(error: TorseurError) -> dict[str, str | None]:
    return {name: getattr(error, name) for name in FIELDS}


def test_every_class_of_the_module_is_public_and_in_one_of_the_two_trees():
    classes = {kind for _, kind in inspect.getmembers(errors, inspect.isclass) if kind.__module__ == errors.__name__}
    assert classes == set(ERRORS) | set(WARNINGS)
    assert all(issubclass(kind, TorseurWarning) for kind in WARNINGS)


@pytest.mark.parametrize("kind", ALL)
def test_every_class_is_drawn_in_the_tree(kind):
    assert f" {kind.__name__} " in errors.__doc__
    assert kind.__doc__


@pytest.mark.parametrize("kind", [kind for kind in ERRORS if kind is not MissingExtra])
def test_an_error_carries_and_prints_its_fields(kind):
    error = an_error(kind)
    assert fields_of(error) == FIELDS
    assert str(error).splitlines() == [
        "wrong size",
        "  where: arm.yaml:3:5",
        "  expected: (6,)",
        "  got: (5,)",
        "  remedy: add one",
    ]


def test_what_an_error_does_not_know_is_left_out():
    assert str(GraphError("no such name", got="x")) == "no such name\n  got: x"


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("through", [copy.copy, through_pickle])
def test_an_error_survives_copy_and_pickle(kind, through):
    error = an_error(kind)
    other = through(error)
    assert type(other) is kind
    assert fields_of(other) == fields_of(error)
    assert other.args == error.args
    assert str(other) == str(error)


def test_an_error_is_also_the_builtin_one_expects():
    assert issubclass(ArgumentError, TypeError)
    assert issubclass(ArgumentError, ValueError)
    assert issubclass(MissingExtra, ImportError)
    assert issubclass(errors.NumericalError, ArithmeticError)


def test_a_missing_extra_says_how_to_install_it():
    error = an_error(MissingExtra)
    assert "matplotlib" in error.what
    assert error.remedy == "pip install 'torseur[plots]'"


def test_a_model_error_collects_its_faults():
    faults = [ModelError("no such body", where="arm.yaml:3:5"), ModelError("mass < 0", where="arm.yaml:9:1")]
    error = ModelError.of(iter(faults))
    assert error.faults == tuple(faults)
    for fault in faults:
        assert str(fault) in str(error)


def test_collected_faults_survive_pickle():
    error = ModelError.of([ModelError("one"), ModelError("two", where="here")])
    other = through_pickle(error)
    assert str(other) == str(error)
    assert [fault.where for fault in other.faults] == [None, "here"]


def test_a_single_fault_is_raised_as_it_is():
    fault = ModelError("no such body")
    assert ModelError.of([fault]) is fault
