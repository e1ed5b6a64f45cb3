"""Reports: a mechanism, a study or a run as pages to read, in HTML, LaTeX and PDF, in English and French.

====================  ==================================================================================================
document              frozen records: sections, paragraphs, tables, equations, figures
math                  formulas as trees, read from the LaTeX of the emitters
words, terms, kinds   all that is said, in both languages; phrases of other modules in French
citations             what comes from where
\\*_section, build     what a report says
html, latex, typst    the writers; typst makes the PDF
====================  ==================================================================================================
"""

from torseur.views.report.files import FORMATS, report, write_report

__all__ = ["FORMATS", "report", "write_report"]
