"""The words of reports on runs and identifications, in English and French."""

from __future__ import annotations

from torseur.views.report.document import Term

__all__ = ["IDENTIFICATION", "RUNS"]

RUNS: dict[str, Term] = {
    # -- the study -----------------------------------------------------------------------------------------------------
    "study.span": Term(
        "The motion is simulated from {begin} to {until} s and recorded every {every} s.",
        "Le mouvement est simulé de {begin} à {until} s et enregistré toutes les {every} s.",
    ),
    "study.start.assembled": Term(
        "The named coordinates and speeds are held at the start; the others move to where the constraints allow.",
        "Au départ, les coordonnées et vitesses données sont imposées ; les autres rejoignent les valeurs que "
        "permettent les liaisons.",
    ),
    "study.start.equilibrium": Term(
        "The motion starts from an equilibrium near the given values.",
        "Le mouvement part d’un équilibre voisin des valeurs données.",
    ),
    "study.start.given": Term(
        "The motion starts from the given values, which must satisfy the constraints.",
        "Le mouvement part des valeurs données, qui doivent satisfaire les liaisons.",
    ),
    "caption.diagram": Term(
        "Block diagram of the study: signals, controllers, mechanism and sensors.",
        "Schéma-blocs de l’étude : signaux, commandes, mécanisme et capteurs.",
    ),
    "caption.blocks": Term("Blocks of the study.", "Blocs de l’étude."),
    "diagram.mechanism": Term("mechanism", "mécanisme"),
    "study.no_blocks": Term(
        "No block drives the mechanism: its inputs keep their default values.",
        "Aucun bloc ne commande le mécanisme : ses entrées gardent leur valeur par défaut.",
    ),
    "study.free": Term("The mechanism has no inputs.", "Le mécanisme n’a pas d’entrée."),
    "study.no_diagram": Term(
        "The study has {n} blocks, too many for one diagram; the table lists them.",
        "L’étude compte {n} blocs, trop pour un seul schéma ; le tableau les énumère.",
    ),
    "caption.study_parameters": Term("Parameters that the study sets.", "Paramètres fixés par l’étude."),
    "caption.changes": Term("Changes on the way.", "Changements en cours de simulation."),
    "head.when": Term("when", "quand"),
    "head.change": Term("change", "changement"),
    "change.at": Term("at {t} s", "à {t} s"),
    "change.event": Term("at every event {name}", "à chaque événement {name}"),
    "change.stop": Term("the run ends", "la simulation se termine"),
    # -- method --------------------------------------------------------------------------------------------------------
    "method.units": Term(
        "Units are those of the SI, angles in radians. Rotations are positive by the right-hand rule; the axes of "
        "the world are right-handed.",
        "Les unités sont celles du SI, les angles sont en radians. Les rotations sont positives dans le sens direct "
        "; les axes du repère fixe forment un trièdre direct.",
    ),
    "method.mdh": Term(
        "Joints are placed by modified Denavit-Hartenberg parameters {cite}.",
        "Les liaisons sont situées par les paramètres de Denavit-Hartenberg modifiés {cite}.",
    ),
    "method.dh": Term(
        "Joints are placed by Denavit-Hartenberg parameters {cite}.",
        "Les liaisons sont situées par les paramètres de Denavit-Hartenberg {cite}.",
    ),
    "method.quaternion": Term(
        "Orientations in space are unit quaternions, scalar part first; the speeds are the components of the angular "
        "velocity in the axes of the body.",
        "Les orientations dans l’espace sont des quaternions unitaires, partie scalaire en tête ; les vitesses sont "
        "les composantes de la vitesse angulaire dans les axes du corps.",
    ),
    "method.carrier": Term(
        "The base is carried by six massless joints {cite}: three translations, then yaw, pitch and roll.",
        "La base est portée par six liaisons sans masse {cite} : trois translations, puis lacet, tangage et roulis.",
    ),
    "method.tree": Term(
        "The equations of the tree come from the recursion of Newton and Euler {newton_euler}, the mass matrix from "
        "composite bodies {composite}. All is derived symbolically, simplified, and compiled to machine code.",
        "Les équations de l’arbre viennent de la récurrence de Newton et Euler {newton_euler}, la matrice de masse "
        "des corps composites {composite}. Tout est établi symboliquement, simplifié, puis compilé en code machine.",
    ),
    "method.constraints": Term(
        "Loops and constraints enter at the level of accelerations by multipliers {cite}; where they are not unique, "
        "those of least norm are taken. Positions and speeds are corrected, so that loops do not drift apart.",
        "Boucles et liaisons sont introduites au niveau des accélérations par des multiplicateurs {cite} ; "
        "lorsqu’ils ne sont pas uniques, ceux de norme minimale sont retenus. Positions et vitesses sont corrigées, "
        "de sorte que les boucles ne dérivent pas.",
    ),
    "method.load": Term("{name} follows {cite}.", "{name} suit {cite}."),
    "method.block": Term("The block {name} follows {cite}.", "Le bloc {name} suit {cite}."),
    "method.solver": Term(
        "The differential equations are integrated by {method} {cite}{tolerance}.",
        "Les équations différentielles sont intégrées par {method} {cite}{tolerance}.",
    ),
    "method.tolerance": Term(
        ", with a relative tolerance of {rtol} and an absolute one of {atol}",
        ", avec une tolérance relative de {rtol} et une tolérance absolue de {atol}",
    ),
    "method.step": Term(", with a step of {step} s", ", avec un pas de {step} s"),
    "method.events": Term(
        "Events are located by a bracketing method {cite}, and the integration restarts there.",
        "Les événements sont localisés par encadrement {cite}, et l’intégration y reprend.",
    ),
    "method.impacts": Term(
        "Contacts follow Newton’s impact law in the form of Moreau and Glocker {cite}.",
        "Les contacts suivent la loi d’impact de Newton sous la forme de Moreau et Glocker {cite}.",
    ),
    "method.audit": Term(
        "Every run is audited {cite}: energy against the work of the loads, momenta against impulses, gaps of loops "
        "and contacts.",
        "Chaque simulation est contrôlée {cite} : énergie et travail des actions, quantités de mouvement et "
        "impulsions, écarts des boucles et des contacts.",
    ),
    # -- results -------------------------------------------------------------------------------------------------------
    "results.span": Term(
        "The run goes from {begin} to {end} s in {steps} steps ({rejected} rejected) of {solver}; {n} instants are "
        "recorded.",
        "La simulation va de {begin} à {end} s en {steps} pas ({rejected} rejetés) de {solver} ; {n} instants sont "
        "enregistrés.",
    ),
    "results.plain": Term(
        "The run goes from {begin} to {end} s; {n} instants are recorded.",
        "La simulation va de {begin} à {end} s ; {n} instants sont enregistrés.",
    ),
    "results.stopped": Term(
        "The run stopped before its end: {why}",
        "La simulation s’est arrêtée avant la fin : {why}",
    ),
    "results.note": Term("Note: {note}", "Remarque : {note}"),
    "start.assembled": Term("The initial state was assembled:", "L’état initial a été assemblé :"),
    "start.given": Term("The initial state was given:", "L’état initial a été donné :"),
    "start.equilibrium": Term("The motion starts at rest: {stability}.", "Le mouvement part du repos : {stability}."),
    "start.unknown": Term("The initial state is the first one recorded:", "L’état initial est le premier enregistré :"),
    "stability.stable": Term("small disturbances die out", "les petites perturbations s’amortissent"),
    "stability.neutral": Term(
        "small disturbances neither die out nor grow, to first order",
        "les petites perturbations ne s’amortissent ni ne croissent, au premier ordre",
    ),
    "stability.unstable": Term("some small disturbances grow", "certaines petites perturbations croissent"),
    "stability.not known": Term("its stability is not known", "sa stabilité n’est pas connue"),
    "caption.start": Term(
        "Initial values of coordinates and speeds.",
        "Valeurs initiales des coordonnées et des vitesses.",
    ),
    "start.held": Term("given", "donnée"),
    "start.moved": Term("moved from {value}", "modifiée, au lieu de {value}"),
    "start.free": Term("computed", "calculée"),
    "start.zeros": Term("All other speeds are zero.", "Toutes les autres vitesses sont nulles."),
    "caption.events": Term("Events.", "Événements."),
    "events.more": Term(
        "The first {n} of {all} events are shown.",
        "Les {n} premiers des {all} événements sont donnés.",
    ),
    "events.none": Term("No event happened.", "Aucun événement ne s’est produit."),
    "caption.extremes": Term("Extreme and final values.", "Valeurs extrêmes et finales."),
    "extremes.more": Term(
        "The first {n} of {all} channels are shown.",
        "Les {n} premières des {all} grandeurs sont données.",
    ),
    "figure.coordinates": Term("Coordinates.", "Coordonnées."),
    "figure.speeds": Term("Speeds.", "Vitesses."),
    "figure.accelerations": Term("Accelerations.", "Accélérations."),
    "figure.inputs": Term("Inputs.", "Entrées."),
    "figure.forces": Term("Forces and multipliers.", "Efforts et multiplicateurs."),
    "figure.outputs": Term("Recorded quantities.", "Grandeurs enregistrées."),
    "figure.states": Term("States of blocks.", "États des blocs."),
    "figure.energies": Term("Energies.", "Énergies."),
    "figure.audit": Term("Errors of the balances.", "Erreurs des bilans."),
    "figure.vehicle": Term("The vehicle and its wheels.", "Le véhicule et ses roues."),
    "figure.paths": Term(
        "Paths of frames; a ring marks the start, a dot the end.",
        "Trajectoires de repères ; un cercle marque le départ, un point l’arrivée.",
    ),
    "figure.other": Term("{name}.", "{name}."),
    "results.zero_figures": Term(
        "Zero throughout, and not drawn: {names}.",
        "Nulles en permanence, et non tracées : {names}.",
    ),
    # -- audit ---------------------------------------------------------------------------------------------------------
    "audit.holds": Term("All balances hold.", "Tous les bilans sont vérifiés."),
    "audit.fails": Term(
        "Not all balances hold: the run is not to be trusted.",
        "Certains bilans ne sont pas vérifiés : la simulation n’est pas fiable.",
    ),
    "audit.none": Term("The run has no audit.", "La simulation ne comporte pas de contrôle."),
    "audit.nothing": Term("There is nothing to audit.", "Il n’y a rien à contrôler."),
    "caption.audit": Term("Balances of the run.", "Bilans de la simulation."),
    "caption.modes": Term("Modes.", "Modes."),
    "head.real": Term("real part (1/s)", "partie réelle (1/s)"),
    "head.imaginary": Term("imaginary part (rad/s)", "partie imaginaire (rad/s)"),
    "head.frequency": Term("frequency (Hz)", "fréquence (Hz)"),
    "head.damping": Term("damping ratio", "amortissement réduit"),
    "word.yes": Term("yes", "oui"),
    "word.no": Term("no", "non"),
    "word.and": Term("and", "et"),
    # -- references ----------------------------------------------------------------------------------------------------
    "references.intro": Term(
        "Models and methods of this report, with their sources.",
        "Modèles et méthodes de ce rapport, avec leurs sources.",
    ),
    "use.place.mdh": Term("placement of joints", "situation des liaisons"),
    "use.place.dh": Term("placement of joints", "situation des liaisons"),
    "use.base.carrier": Term("carried base", "base portée"),
    "use.method.newton_euler": Term("equations of the tree", "équations de l’arbre"),
    "use.method.composite_body": Term("mass matrix", "matrice de masse"),
    "use.method.christoffel": Term("Coriolis matrix", "matrice de Coriolis"),
    "use.method.constraints": Term("constraints and multipliers", "liaisons et multiplicateurs"),
    "use.method.events": Term("location of events", "localisation des événements"),
    "use.method.impacts": Term("contacts and impacts", "contacts et impacts"),
    "use.method.audit": Term("energy and momentum balances", "bilans d’énergie et de quantité de mouvement"),
    "use.load.motor": Term("motors with rotor and gear", "moteurs avec rotor et réducteur"),
    "use.load.transmission": Term("inertia of drives", "inertie des actionneurs"),
    "use.solver": Term("integration in time", "intégration temporelle"),
    "use.tyre": Term("tyre forces", "efforts des pneumatiques"),
    "use.block": Term("control", "commande"),
    "use.constraint.rolling": Term("rolling wheels", "roues roulantes"),
}


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
