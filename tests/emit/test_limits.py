"""Limits of native code: what lies just within one is done one way, what lies just beyond another."""

import math
import os
import time

import numpy as np
import pytest

from torseur.emit import cache, compile
from torseur.emit.bridges import to_sympy
from torseur.emit.instructions import LARGEST_ANGLE
from torseur.emit.ir import Lanes, Module
from torseur.emit.loop import write_loop
from torseur.emit.staged import write_staged
from torseur.graph import Function, Graph, cos, sin


# -- angles ------------------------------------------------------------------------------------------------------------
def test_angles_are_reduced_in_short_as_long_as_that_is_exact():
    """Products of a part of pi/2 and a quadrant are exact below 2^20 quadrants, and only there."""
    assert 2**19 < LARGEST_ANGLE / (math.pi / 2) < 2**20


@pytest.mark.parametrize("lanes", [1, 4])
def test_sines_of_large_angles_are_right_on_both_sides_of_the_limit(lanes):
    g = Graph()
    x = g.symbol("x")
    native = compile(Function("f", [g.blocks["x"]], {"s": sin(x), "c": cos(x)}), lanes=lanes)
    # Near whole quadrants all digits but the last few cancel.
    quadrants = np.array([2.0**k + j for k in (18, 19, 20, 22, 26, 30, 40) for j in range(4)])
    angles = np.concatenate([quadrants * (math.pi / 2), LARGEST_ANGLE * (1.0 + np.linspace(-1e-6, 1e-6, 9))])
    s, c = native(angles)
    np.testing.assert_allclose(s, np.sin(angles), rtol=1e-15, atol=1e-24)
    np.testing.assert_allclose(c, np.cos(angles), rtol=1e-15, atol=1e-24)


# -- working memory ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("count", "is_on_the_stack"), [(4095, True), (4096, False)])
def test_working_memory_beyond_thirty_two_kibibytes_is_not_on_the_stack(count, is_on_the_stack):
    g = Graph()
    x = g.block("x", count)
    function = Function("f", [x], {"y": x[0] + 1.0})  # one number more
    module = Module(Lanes(1))
    write_loop(module, "loop", function, write_staged(module, function), bound=False)
    assert (f"alloca [{8 * (count + 1)} x i8]" in module.text()) == is_on_the_stack


# -- half-written files of the cache -----------------------------------------------------------------------------------
@pytest.mark.parametrize(("age", "is_left"), [(3500.0, True), (3700.0, False)])
def test_a_half_written_file_is_left_to_its_writer_for_an_hour(age, is_left, tmp_path, monkeypatch):
    monkeypatch.setenv("TORSEUR_CACHE", str(tmp_path))
    file = tmp_path / ".new-half"
    file.write_bytes(b"half")
    os.utime(file, (time.time() - age, time.time() - age))
    cache.cache_info()
    assert file.exists() == is_left


# -- numbers for people ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("value", "is_fraction"), [(3 / 16, True), (3 / 32, False)])
def test_fractions_of_up_to_sixteen_parts_stay_fractions_in_sympy(value, is_fraction):
    pytest.importorskip("sympy")
    g = Graph()
    found = to_sympy(g.symbol("x") * value).as_coeff_Mul()[0]
    assert found.is_Rational == is_fraction
