"""Sphinx: Markdown through MyST, the reference from the docstrings.

Nothing is fetched while building, and nothing while reading: MathJax comes from a package and lies beside the pages.
"""

import runpy
import shutil
from importlib.metadata import distribution
from pathlib import Path

import torseur

project = "Torseur"
author = "The Torseur developers"
copyright = "2026, The Torseur developers"
version = release = torseur.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon"]
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
suppress_warnings = ["ref.python"]  # (q, v) -> tau in a docstring is no type of ours

html_theme = "furo"
html_title = "Torseur"
html_static_path = ["_static"]
html_css_files = ["torseur.css"]
exclude_patterns = ["_build", "_static"]
mathjax_path = "mathjax/tex-svg.js"  # one file with its fonts, relative to _static
mathjax3_config = {"svg": {"fontCache": "global"}, "options": {"enableMenu": False}}  # the menu would load more files


def bundle_mathjax(app: object) -> None:
    """MathJax beside the pages, from the package that brings it."""
    source = Path(distribution("sphinx-mathjax-offline").locate_file("sphinx-mathjax-offline/static/mathjax"))
    target = Path(__file__).resolve().parent / "_static" / mathjax_path
    target.parent.mkdir(exist_ok=True)
    shutil.copyfile(source / target.name, target)


def draw_schemes(app: object) -> None:
    """The kinematic schemes of the examples, from the files as they are now."""
    from torseur.formats import load
    from torseur.formats.yaml.reader import STUDY_KEY
    from torseur.views.scheme import draw_scheme

    here = Path(__file__).resolve().parent
    target = here / "_static" / "schemes"
    target.mkdir(exist_ok=True)
    for file in sorted((here.parent / "examples").glob("*/*.yaml")):
        keys = ("torseur_parameters", "torseur_tyre", "torseur_campaign", STUDY_KEY)
        if any(f"\n{key}:" in f"\n{file.read_text(encoding='utf-8')}" for key in keys):
            continue
        (target / f"{file.stem}.svg").write_text(draw_scheme(load(file)).svg, encoding="utf-8", newline="\n")


def write_gallery(app: object) -> None:
    """The page of the gallery, with what `make gallery` has drawn."""
    runpy.run_path(str(Path(__file__).with_name("draw_gallery.py")))["write_page"]()


def draw_joints(app: object) -> None:
    """A picture of every kind of joint."""
    runpy.run_path(str(Path(__file__).with_name("draw_joints.py")))["main"]()


def setup(app: object) -> None:
    app.connect("builder-inited", bundle_mathjax)
    app.connect("builder-inited", draw_schemes)
    app.connect("builder-inited", draw_joints)
    app.connect("builder-inited", write_gallery)
