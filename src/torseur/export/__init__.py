"""What leaves Torseur: functions of a model, and studies, as programs that need nothing of it."""

from torseur.export.c_program import study_files
from torseur.export.fmu import Fmu, fmu_of
from torseur.export.function_files import c_files, matlab_files, python_files
from torseur.export.functions import ExportedFunction, exported_functions
from torseur.export.study_parts import StudyParts

__all__ = [
    "ExportedFunction",
    "Fmu",
    "StudyParts",
    "c_files",
    "exported_functions",
    "fmu_of",
    "matlab_files",
    "python_files",
    "study_files",
]
