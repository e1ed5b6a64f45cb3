"""Sphinx: Markdown through MyST, the reference from the docstrings. Nothing is fetched while building."""

import torseur

project = "Torseur"
author = "The Torseur developers"
copyright = "2026, The Torseur developers"
version = release = torseur.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "Torseur"
html_static_path = ["_static"]
exclude_patterns = ["_build", "_static"]
