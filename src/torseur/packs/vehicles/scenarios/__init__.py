"""Scenarios: manoeuvres as small data files, applied to any vehicle that can do them."""

from torseur.packs.vehicles.scenarios.application import ChosenScenario, scenario
from torseur.packs.vehicles.scenarios.description import Scenario
from torseur.packs.vehicles.scenarios.reader import load_scenario, scenario_names

__all__ = ["ChosenScenario", "Scenario", "load_scenario", "scenario", "scenario_names"]
