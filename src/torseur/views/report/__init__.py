"""Reports: a mechanism, a study or a run as pages to read, in HTML, LaTeX and PDF, in English and French.

====================  ==================================================================================================
document              frozen records: sections, paragraphs, tables, equations, figures
math                  formulas as trees, read from the LaTeX of the emitters
words, terms, kinds   all that is said, in both languages; phrases of other modules in French
citations             what comes from where
\\*_section, build     what a report says
layout                how wide formulas and columns are
writer                one walk through a document, of which html, latex and typst are dialects; typst makes the PDF
====================  ==================================================================================================
"""

from torseur.views.report.build import FORMATS, report, write_report

__all__ = ["FORMATS", "report", "write_report"]
