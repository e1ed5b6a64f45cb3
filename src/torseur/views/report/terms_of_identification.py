"""The words of reports on identifications, in English and French."""

from __future__ import annotations

from torseur.views.report.term import Term

__all__ = ["IDENTIFICATION"]

IDENTIFICATION: dict[str, Term] = {
    "identify.subtitle": Term(
        "Identification of {name}, by Torseur {version}", "Identification de {name}, par Torseur {version}"
    ),
    "identify.estimates": Term("Estimates", "Estimations"),
    "identify.data": Term("Measurements", "Mesures"),
    "identify.undetermined": Term("What these measurements do not determine", "Ce que ces mesures ne déterminent pas"),
    "identify.residuals": Term("Residuals", "Résidus"),
    "identify.validation": Term("Cross-validation", "Validation croisée"),
    "identify.described": Term("Parameters of the description", "Paramètres de la description"),
    "identify.solution": Term(
        "{kept} of {all} unknowns by weighted least squares on {rows} equations. The condition number of the weighted "
        "equations with scaled columns is {condition}.",
        "{kept} inconnues sur {all} par moindres carrés pondérés sur {rows} équations. Le conditionnement des "
        "équations pondérées, colonnes normées, est de {condition}.",
    ),
    "identify.correlated": Term(
        "Standard deviations take into account that residuals are correlated over {lag} samples; they are known to "
        "{share} % themselves.",
        "Les écarts types tiennent compte de la corrélation des résidus sur {lag} échantillons ; ils sont eux-mêmes "
        "connus à {share} % près.",
    ),
    "identify.clean": Term("No fault was found.", "Aucun défaut n’a été trouvé."),
    "identify.all_determined": Term("All unknowns are determined.", "Toutes les inconnues sont déterminées."),
    "identify.none_described": Term(
        "No parameter of the description follows from the estimates.",
        "Aucun paramètre de la description ne se déduit des estimations.",
    ),
    "identify.shared": Term(
        "Only combinations of these are determined, their values are those nearest to the description: {names}.",
        "Seules des combinaisons de ces paramètres sont déterminées, leurs valeurs sont les plus proches de la "
        "description : {names}.",
    ),
    "identify.holds": Term(
        "The estimate predicts measurements that it has not seen as well as its deviations let expect.",
        "L’estimation prédit des mesures qu’elle n’a pas vues aussi bien que ses écarts types le laissent attendre.",
    ),
    "identify.fails": Term(
        "On measurements that it has not seen, the estimate is off by more than its deviations let expect.",
        "Sur des mesures qu’elle n’a pas vues, l’estimation s’écarte plus que ses écarts types ne le laissent "
        "attendre.",
    ),
    "identify.head_deviation": Term("standard deviation", "écart type"),
    "identify.head_relative": Term("relative, %", "relatif, %"),
    "identify.head_described": Term("described", "description"),
    "identify.head_verdict": Term("verdict", "jugement"),
    "identify.head_equation": Term("equation", "équation"),
    "identify.head_residual": Term("residual, %", "résidu, %"),
    "identify.head_expected": Term("expected, %", "attendu, %"),
    "identify.caption_estimates": Term("Estimates.", "Estimations."),
    "identify.caption_rows": Term(
        "Residuals over what was measured, root mean squares.", "Résidus rapportés aux mesures, valeurs efficaces."
    ),
    "identify.caption_described": Term("Values for the description.", "Valeurs pour la description."),
    "identify.figure_prediction": Term("Measured and predicted.", "Mesuré et prédit."),
    "identify.figure_residuals": Term(
        "Residuals: over time, histogram with the normal law, autocorrelation.",
        "Résidus : au cours du temps, histogramme avec la loi normale, autocorrélation.",
    ),
    "identify.figure_estimates": Term(
        "Estimates over their size, with two standard deviations; strokes are the description.",
        "Estimations rapportées à leur taille, à deux écarts types ; les traits sont la description.",
    ),
    "identify.verdict_determined": Term("determined", "déterminé"),
    "identify.verdict_uncertain": Term("uncertain", "incertain"),
    "identify.verdict_not": Term("not determined", "indéterminé"),
    "identify.verdict_only": Term("only with others", "seulement avec d’autres"),
    "identify.verdict_none": Term("no effect", "sans effet"),
}
