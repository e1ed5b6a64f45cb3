"""Formulas of a report: read from LaTeX, printed in three notations, broken where they are long."""

import xml.etree.ElementTree as ET

import pytest

from torseur.describe.formulas import Formula
from torseur.errors import ArgumentError
from torseur.views.report.document import Language
from torseur.views.report.formula_math import Symbols, number_math
from torseur.views.report.html import to_mathml
from torseur.views.report.latex import to_latex_math
from torseur.views.report.layout import broken, width
from torseur.views.report.math import Dotted, Fenced, Fraction, Number, Row, Scripted, Sign, Word, parsed
from torseur.views.report.typst import to_typst_math

EN, FR = Language.ENGLISH, Language.FRENCH
FORMULAS = [
    r"\left(m_{1} + m_{2}\right) \, l_{1}^{2} \, \ddot{\theta}_{1} - 9.81 \, \cos\left(\theta_{1}\right)",
    r"\frac{1}{2} \, \sqrt{x^{2} + 10^{-5}} \cdot \operatorname{sgn}\left(v_{x}\right)",
    r"\begin{cases} 1.5 & \text{if } x \le -2 \\ \left|x\right| & \text{otherwise} \end{cases}",
    r"\left[\begin{array}{cc} \mathrm{XX}_{3} & 0 \\ \mathtt{a\_b} & \infty \end{array}\right]",
    r"\mathbf{mass\_matrix}_{1,2} = M_{2\mathrm{R}}",
]


@pytest.mark.parametrize("latex", FORMULAS)
def test_every_notation_can_print_what_was_read(latex):
    tree = parsed(latex)
    root = ET.fromstring(to_mathml(tree, FR))
    assert root.tag == "math"
    assert len(list(root.iter())) > 4
    assert parsed(to_latex_math(tree, EN)) is not None
    assert to_typst_math(tree, EN).count("(") == to_typst_math(tree, EN).count(")")


@pytest.mark.parametrize("latex", FORMULAS)
def test_latex_that_was_printed_reads_back_as_the_same_tree(latex):
    once = parsed(to_latex_math(parsed(latex), EN))
    assert parsed(to_latex_math(once, EN)) == once


def test_dots_indices_and_exponents_are_kept_apart():
    assert parsed(r"\dot{q}_{1}^{2}") == Scripted(Dotted(Word("q"), 1), Number("1"), Number("2"))


@pytest.mark.parametrize("latex", [r"\input{/etc/passwd}", r"\frac{a", "a}", r"\left( a", r"\write18", r"\begin{tikz}"])
def test_what_no_writer_could_print_is_refused(latex):
    with pytest.raises(ArgumentError):
        parsed(latex)


def test_formulas_that_are_nested_without_end_are_refused():
    with pytest.raises(ArgumentError, match="nested too deeply"):
        parsed(r"\sqrt{" * 200 + "x" + "}" * 200)


def test_numbers_have_a_decimal_comma_in_french_alone():
    tree = parsed("9.81")
    assert "<mn>9,81</mn>" in to_mathml(tree, FR)
    assert "<mn>9.81</mn>" in to_mathml(tree, EN)
    assert to_latex_math(tree, FR) == "9{,}81"
    assert to_typst_math(tree, FR) == '"9,81"'


def test_a_long_sum_is_broken_before_its_signs_and_nothing_is_lost():
    tree = parsed(" + ".join(f"m_{{{k}}} \\, l_{{{k}}}^{{2}}" for k in range(40)))
    lines = broken(tree, 30.0)
    assert len(lines) > 3
    assert max(map(width, lines)) <= 30.0
    items = [item for line in lines for item in line.items]
    assert tuple(items) == tree.items
    assert all(line.items[0] == Sign("+") for line in lines[1:])


def test_a_sign_that_belongs_to_a_factor_is_no_place_to_break():
    tree = parsed(r"a \cdot -b")
    assert broken(tree, 0.1) == [tree]


# -- formulas of model files -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("m*l^2/12", r"\frac{m \, l^{2}}{12}"),
        ("-(a + b)*c", r"- \left(a + b\right) \, c"),
        ("a - b*c - 2", r"a - b \, c - 2"),
        ("(a - (b - c))^2", r"\left(a - \left(b - c\right)\right)^{2}"),
        ("2*3*x", r"2 \cdot 3 \, x"),
        ("a*-b", r"a \, \left(-b\right)"),
        ("sqrt(x^2 + y^2)", r"\sqrt{x^{2} + y^{2}}"),
        ("theta1 + pi/2", r"\theta_{1} + \frac{\pi}{2}"),
        ("min(a, b)", r"\min\left(a, \, b\right)"),
        ("x^-2", "x^{-2}"),
    ],
)
def test_a_formula_of_a_file_is_written_as_on_paper(text, latex):
    assert Symbols().formula(Formula(text)) == parsed(latex)


def test_degrees_stand_behind_their_number():
    assert Symbols().formula(Formula("20*deg")) == Scripted(Number("20"), above=Sign("∘"))
    assert Symbols().formula(Formula("-40*deg")) == Row((Sign("−"), Scripted(Number("40"), above=Sign("∘"))))


def test_brackets_are_kept_where_they_are_needed():
    assert Symbols().formula(Formula("a/(b*c)")) == Fraction(Word("a"), Symbols().formula(Formula("b*c")))
    product = Symbols().formula(Formula("a*(b + c)"))
    assert isinstance(product.items[-1], Fenced)


def test_formulas_that_cannot_be_written_are_shown_as_typed():
    assert Symbols().formula(Formula("if(x > 0, 1, 2)")) is None
    assert Symbols().formula(Formula(" + ".join(["a"] * 100))) is None


@pytest.mark.parametrize(("value", "expected"), [(0.5, Number("0.5")), (-2.0, Row((Sign("−"), Number("2"))))])
def test_numbers_become_signs_and_digits(value, expected):
    assert number_math(value) == expected


def test_powers_of_ten_are_raised():
    assert to_latex_math(number_math(1.5e-9), EN).split() == ["1.5", r"\times", "{10}^{-", "9}"]
