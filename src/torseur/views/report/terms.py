"""The words of reports, in English and French, side by side.

``{name}`` stands for something that is put in, ``$...$`` for a formula. Spaces before punctuation are set by
`torseur.views.report.layout`.
"""

from __future__ import annotations

from torseur.views.report.document import Term
from torseur.views.report.terms_of_runs import IDENTIFICATION, RUNS

__all__ = ["TERMS"]

TERMS: dict[str, Term] = {
    # -- the document --------------------------------------------------------------------------------------------------
    "report.model": Term(
        "Report on the mechanism {name}, by Torseur {version}",
        "Rapport sur le mécanisme {name}, établi par Torseur {version}",
    ),
    "report.study": Term(
        "Report on the study {name}, by Torseur {version}",
        "Rapport sur l’étude {name}, établi par Torseur {version}",
    ),
    "section.mechanism": Term("Mechanism", "Mécanisme"),
    "section.bodies": Term("Bodies and joints", "Corps et liaisons"),
    "section.coordinates": Term("Coordinates", "Coordonnées"),
    "section.inertia": Term("Masses and inertias", "Masses et inerties"),
    "section.parameters": Term("Parameters", "Paramètres"),
    "section.ties": Term("Loops and constraints", "Boucles et liaisons supplémentaires"),
    "section.loads": Term("Loads, inputs and outputs", "Actions mécaniques, entrées et sorties"),
    "section.mobility": Term("Degrees of freedom", "Degrés de liberté"),
    "section.equations": Term("Equations of motion", "Équations du mouvement"),
    "section.listing": Term("Listing", "Listage"),
    "section.study": Term("Study", "Étude"),
    "section.method": Term("Method and conventions", "Méthode et conventions"),
    "section.results": Term("Results", "Résultats"),
    "section.start": Term("Initial conditions", "Conditions initiales"),
    "section.events": Term("Events", "Événements"),
    "section.curves": Term("Curves", "Courbes"),
    "section.audit": Term("Audit", "Contrôle des bilans"),
    "section.references": Term("References", "Références"),
    # -- heads of columns ----------------------------------------------------------------------------------------------
    "head.body": Term("body", "corps"),
    "head.parent": Term("parent", "antécédent"),
    "head.joint": Term("joint", "liaison"),
    "head.coordinates": Term("coordinates", "coordonnées"),
    "head.coordinate": Term("coordinate", "coordonnée"),
    "head.speed": Term("speed", "vitesse"),
    "head.place": Term("place of the joint in the parent", "situation de la liaison dans l’antécédent"),
    "head.frame": Term("frame", "repère"),
    "head.frame_place": Term("place in the body", "situation dans le corps"),
    "head.unit": Term("unit", "unité"),
    "head.meaning": Term("meaning", "signification"),
    "head.start": Term("initial value", "valeur initiale"),
    "head.range": Term("range", "domaine"),
    "head.mass": Term("mass", "masse"),
    "head.centre": Term("centre of mass", "centre de masse"),
    "head.tensor": Term("inertia tensor at the centre of mass", "tenseur d’inertie au centre de masse"),
    "head.solids": Term("homogeneous solids", "solides homogènes"),
    "head.symbol": Term("symbol", "symbole"),
    "head.name": Term("name", "nom"),
    "head.value": Term("value", "valeur"),
    "head.formula": Term("formula", "formule"),
    "head.kind": Term("kind", "type"),
    "head.between": Term("between", "entre"),
    "head.equations": Term("equations", "équations"),
    "head.fields": Term("data", "données"),
    "head.default": Term("default", "par défaut"),
    "head.function": Term("function", "fonction"),
    "head.products": Term("products", "produits"),
    "head.sums": Term("sums", "additions"),
    "head.others": Term("other operations", "autres opérations"),
    "head.time": Term("time", "instant"),
    "head.what": Term("what happens", "événement"),
    "head.to": Term("element", "élément"),
    "head.balance": Term("balance", "bilan"),
    "head.holds": Term("holds", "vérifié"),
    "head.error": Term("largest error", "erreur maximale"),
    "head.relative": Term("of what is exchanged", "rapportée aux échanges"),
    "head.how": Term("how", "origine"),
    "head.block": Term("block", "bloc"),
    "head.signals": Term("takes", "entrées"),
    "head.drives": Term("gives", "sorties"),
    "head.smallest": Term("smallest", "minimum"),
    "head.largest": Term("largest", "maximum"),
    "head.last": Term("at the end", "à la fin"),
    "head.used_for": Term("used for", "objet"),
    "head.reference": Term("reference", "référence"),
    # -- the mechanism -------------------------------------------------------------------------------------------------
    "mechanism.count": Term(
        "The mechanism is made of {bodies} on a tree of joints; the base is {base}. It has {q} and {v}.",
        "Le mécanisme comporte {bodies} en structure arborescente ; la base est {base}. On compte {q} et {v}.",
    ),
    "count.bodies": Term("{n} bodies|{n} body", "{n} corps|{n} corps"),
    "count.q": Term(
        "{n} generalised coordinates $q$|{n} generalised coordinate $q$",
        "{n} coordonnées généralisées $q$|{n} coordonnée généralisée $q$",
    ),
    "count.v": Term(
        "{n} generalised speeds $v$|{n} generalised speed $v$",
        "{n} vitesses généralisées $v$|{n} vitesse généralisée $v$",
    ),
    "mechanism.gravity": Term(
        "The acceleration of gravity is $g = ${vector} {unit} in the axes of the world.",
        "L’accélération de la pesanteur vaut $g = ${vector} {unit} dans les axes du repère fixe.",
    ),
    "mechanism.no_gravity": Term("There is no gravity.", "La pesanteur n’est pas prise en compte."),
    "caption.scheme": Term(
        "Kinematic scheme; arrows give the positive sense of the coordinates.",
        "Schéma cinématique ; les flèches indiquent le sens positif des coordonnées.",
    ),
    "mechanism.no_scheme": Term("The scheme is not drawn: {why}.", "Le schéma n’est pas tracé : {why}."),
    "caption.mdh": Term(
        "Modified Denavit-Hartenberg parameters: {transforms}, then the motion of the joint; m and rad.",
        "Paramètres de Denavit-Hartenberg modifiés : {transforms}, puis le mouvement de la liaison ; m et rad.",
    ),
    "caption.dh": Term(
        "Denavit-Hartenberg parameters: {transforms}; m and rad. The joint moves about or along z of the parent.",
        "Paramètres de Denavit-Hartenberg : {transforms} ; m et rad. La liaison agit autour ou le long de l’axe z de "
        "l’antécédent.",
    ),
    "caption.bodies": Term("Bodies and the joints that carry them.", "Corps et liaisons qui les portent."),
    "caption.places": Term(
        "Places as products of elementary rotations $R$ and translations $T$; m and rad.",
        "Situations, produits de rotations $R$ et de translations $T$ élémentaires ; m et rad.",
    ),
    "caption.frames": Term("Named frames on the bodies.", "Repères nommés portés par les corps."),
    "caption.coordinates": Term("Generalised coordinates.", "Coordonnées généralisées."),
    "caption.speeds": Term("Generalised speeds.", "Vitesses généralisées."),
    "place.identity": Term("coincident", "confondue"),
    "coordinate.from_to": Term("{lower} to {upper}", "de {lower} à {upper}"),
    "coordinate.from": Term("from {lower}", "à partir de {lower}"),
    "coordinate.up_to": Term("up to {upper}", "jusqu’à {upper}"),
    "caption.inertia": Term(
        "Inertias: mass (kg), centre of mass in the frame of the body (m), tensor at the centre of mass (kg⋅m²).",
        "Inerties : masse (kg), centre de masse dans le repère du corps (m), tenseur au centre de masse (kg⋅m²).",
    ),
    "caption.standard": Term(
        "Standard inertial parameters, at the origin and in the axes of each body: kg⋅m², kg⋅m and kg.",
        "Paramètres inertiels standard, à l’origine et dans les axes de chaque corps : kg⋅m², kg⋅m et kg.",
    ),
    "caption.solids": Term(
        "Bodies made of homogeneous solids; m, kg, kg/m³.",
        "Corps composés de solides homogènes ; m, kg, kg/m³.",
    ),
    "inertia.massless": Term("Without mass: {names}.", "Sans masse : {names}."),
    "inertia.none": Term("No body has a mass.", "Aucun corps n’a de masse."),
    "caption.parameters": Term("Parameters.", "Paramètres."),
    "parameters.unset": Term("without a value", "sans valeur"),
    "parameters.study": Term("value of the study", "valeur fixée par l’étude"),
    "caption.loops": Term("Cut joints, which close loops.", "Liaisons coupées, qui ferment les boucles."),
    "caption.constraints": Term("Constraints.", "Liaisons supplémentaires."),
    "caption.loads": Term("Loads.", "Actions mécaniques."),
    "caption.inputs": Term("Inputs.", "Entrées."),
    "caption.outputs": Term("Quantities that are recorded.", "Grandeurs enregistrées."),
    "caption.quantities": Term("Named quantities.", "Grandeurs nommées."),
    "caption.tables": Term("Tables that formulas look up.", "Tables utilisées par les formules."),
    "fields.more": Term("{n} more in the model file", "{n} autres dans le fichier du modèle"),
    "table.points": Term("{n} points from {low} to {high}", "{n} points de {low} à {high}"),
    "mechanism.notes": Term("Notes of the reader of the file:", "Remarques du lecteur du fichier :"),
    # -- degrees of freedom --------------------------------------------------------------------------------------------
    "mobility.tree": Term(
        "The mechanism has no loops and no further constraints: it has {n}.",
        "Le mécanisme ne comporte ni boucle ni liaison supplémentaire : il possède {n}.",
    ),
    "count.freedoms": Term(
        "{n} degrees of freedom|{n} degree of freedom",
        "{n} degrés de liberté|{n} degré de liberté",
    ),
    "mobility.closed": Term(
        "The open tree has {v}. Loops and constraints give {rows}, of which {rank} are independent. The mechanism "
        "has {n}.",
        "L’arbre ouvert possède {v}. Boucles et liaisons donnent {rows}, dont {rank} indépendantes. Le mécanisme "
        "possède {n}.",
    ),
    "count.rows": Term(
        "{n} equations between the speeds|{n} equation between the speeds",
        "{n} équations entre les vitesses|{n} équation entre les vitesses",
    ),
    "mobility.nonholonomic": Term(
        "{more} of these equations cannot be integrated (nonholonomic): {coordinates} coordinates stay independent.",
        "{more} de ces équations ne sont pas intégrables (non holonomes) : {coordinates} coordonnées restent "
        "indépendantes.",
    ),
    "mobility.redundant": Term(
        "Redundant equations: {names}. The corresponding multipliers are not unique.",
        "Équations redondantes : {names}. Les multiplicateurs correspondants ne sont pas uniques.",
    ),
    "mobility.singular": Term(
        "The initial position is singular: more motions are possible there than beside it.",
        "La position initiale est singulière : davantage de mouvements y sont possibles qu’à son voisinage.",
    ),
    "mobility.contradictory": Term("Contradictory equations: {names}.", "Équations contradictoires : {names}."),
    "mobility.massless": Term("No mass moves along {names}.", "Aucune masse ne se déplace selon {names}."),
    "mobility.not_computed": Term(
        "The degrees of freedom are not computed: {why}",
        "Les degrés de liberté ne sont pas calculés : {why}",
    ),
    # -- equations -----------------------------------------------------------------------------------------------------
    "equations.tree": Term(
        "With the mass matrix $M$, the matrix $C$ of Coriolis and centrifugal terms, the weights $g$ and the "
        "generalised forces $Q$ of the loads, the equations of motion are",
        "Avec la matrice de masse $M$, la matrice $C$ des termes de Coriolis et centrifuges, les poids $g$ et les "
        "forces généralisées $Q$ des actions mécaniques, les équations du mouvement sont",
    ),
    "equations.bias": Term(
        "With the mass matrix $M$, the terms $h$ of velocities and weights, and the generalised forces $Q$ of the "
        "loads, the equations of motion are",
        "Avec la matrice de masse $M$, les termes $h$ de vitesses et de poids, et les forces généralisées $Q$ des "
        "actions mécaniques, les équations du mouvement sont",
    ),
    "equations.closed": Term(
        "With the mass matrix $M$ of the tree, the terms $h$ of velocities and weights, the generalised forces $Q$ "
        "of the loads, the matrix $A$ of the constraints and their multipliers $\\lambda$, the equations of motion are",
        "Avec la matrice de masse $M$ de l’arbre, les termes $h$ de vitesses et de poids, les forces généralisées "
        "$Q$ des actions mécaniques, la matrice $A$ des liaisons et leurs multiplicateurs $\\lambda$, les équations "
        "du mouvement sont",
    ),
    "equations.written": Term("Written out:", "Sous forme explicite :"),
    "equations.each": Term(
        "The residual generalised force on each coordinate with all loads, zero in free motion:",
        "L’effort généralisé résiduel sur chaque coordonnée, nul en mouvement libre, avec toutes les actions :",
    ),
    "equations.zeros": Term(
        "Entries that are not printed are zero or follow by symmetry.",
        "Les éléments omis sont nuls ou s’obtiennent par symétrie.",
    ),
    "equations.large": Term(
        "Too long to be read when written out: {names}; see the listing below, or the command {command}.",
        "Trop long pour être lu sous forme explicite : {names} ; voir le listage ci-dessous, ou la commande {command}.",
    ),
    "equations.no_sympy": Term(
        "Closed forms need the package sympy, which is not installed.",
        "Les formes explicites demandent le paquet sympy, qui n’est pas installé.",
    ),
    "equations.listing": Term(
        "The inverse dynamics with intermediate results, by the recursion of Newton and Euler {cite}; each line is "
        "computed once. Names follow Khalil: W and WP are angular velocity and acceleration, VP the acceleration of "
        "an origin, t a further intermediate result.",
        "Le modèle dynamique inverse avec variables intermédiaires, par la récurrence de Newton et Euler {cite} ; "
        "chaque ligne est calculée une fois. Les noms suivent Khalil : W et WP sont la vitesse et l’accélération "
        "angulaires, VP l’accélération d’une origine, t une autre variable intermédiaire.",
    ),
    "equations.too_long": Term(
        "The listing of the inverse dynamics has {n} lines, more than a report should hold; {command} prints it.",
        "Le listage du modèle dynamique inverse compte {n} lignes, plus qu’un rapport ne doit en contenir ; la "
        "commande {command} l’imprime.",
    ),
    "equations.none": Term(
        "The mechanism has no coordinate: nothing moves.",
        "Le mécanisme n’a aucune coordonnée : rien ne bouge.",
    ),
    "stage.parameter": Term("Once per set of parameters:", "Une fois par jeu de paramètres :"),
    "stage.time": Term("Once per instant:", "Une fois par instant :"),
    "stage.state": Term("At every evaluation:", "À chaque évaluation :"),
    "caption.operations": Term(
        "Operations of one evaluation, after what depends on parameters only.",
        "Opérations d’une évaluation, hors calculs ne dépendant que des paramètres.",
    ),
    "math.if": Term("if ", "si "),
    "math.otherwise": Term("otherwise", "sinon"),
    **IDENTIFICATION,
    **RUNS,
}
