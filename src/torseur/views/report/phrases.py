"""What other modules say in English, in French: meanings of coordinates, events, axes of figures, names of balances.

A phrase with ``{}`` stands for all that differ there. What is not in the table, such as the words of a user, stays.
"""

from __future__ import annotations

import re
from functools import cache

from torseur.views.report.document import Language

__all__ = ["AXES", "PHRASES", "is_known", "translated"]

PHRASES: dict[str, str] = {
    # -- coordinates and speeds ----------------------------------------------------------------------------------------
    "rotation about {}, by the right-hand rule": "rotation autour de {}, dans le sens direct",
    "rotation about {} of the parent": "rotation autour de {} de l’antécédent",
    "then rotation about {} of the cross": "puis rotation autour de {} du croisillon",
    "rotation about {}; pitch times it is the translation along {}": "rotation autour de {} ; multipliée par le pas, "
    "elle donne la translation selon {}",
    "rotation about {}, positive to the left": "rotation autour de {}, positive vers la gauche",
    "rotation about {}, positive leaning right": "rotation autour de {}, positive pour un penchement à droite",
    "rotation about {}, positive nose down": "rotation autour de {}, positive nez vers le bas",
    "rotation about {}": "rotation autour de {}",
    "translation along {}": "translation selon {}",
    "its rate": "sa dérivée",
    "rate of the first rotation": "vitesse de la première rotation",
    "rate of the second rotation": "vitesse de la seconde rotation",
    "rate of the rotation": "vitesse de la rotation",
    "rate of the translation": "vitesse de la translation",
    "rate of the position along {}": "vitesse de la position selon {}",
    "rate of the rotation about {}": "vitesse de la rotation autour de {}",
    "scalar part of the unit quaternion of the child's axes": "partie scalaire du quaternion unitaire du corps",
    "its {} part": "sa partie selon {}",
    "angular velocity about {} of the child": "vitesse angulaire autour de {} du corps",
    "velocity along {} of the child": "vitesse selon {} du corps",
    "velocity along {} of the plane": "vitesse selon {} du plan",
    "position along {} of the parent": "position selon {} de l’antécédent",
    "position along {} of the plane": "position selon {} du plan",
    "coordinate of free-form kinematics": "coordonnée de cinématique libre",
    # -- events --------------------------------------------------------------------------------------------------------
    "sticks": "adhère",
    "slips": "glisse",
    "slips on": "continue de glisser",
    "slides": "glisse librement",
    "slides the other way": "glisse en sens inverse",
    "hits and rebounds": "heurte et rebondit",
    "closes": "se ferme",
    "opens": "s’ouvre",
    "is passed": "est franchie",
    "is passed on the way back": "est franchie au retour",
    "rises": "croît par zéro",
    "falls": "décroît par zéro",
    # -- methods -------------------------------------------------------------------------------------------------------
    "classical Runge-Kutta": "Runge-Kutta classique",
    "generalised alpha": "alpha généralisé",
    # -- balances ------------------------------------------------------------------------------------------------------
    "energy": "énergie",
    "energy of {}": "énergie de {}",
    "linear momentum": "quantité de mouvement",
    "angular momentum": "moment cinétique",
    "loops and constraints": "boucles et liaisons",
    "contacts and stops": "contacts et butées",
    "impacts": "impacts",
    # -- axes of figures -----------------------------------------------------------------------------------------------
    "time": "temps",
    "angle": "angle",
    "position": "position",
    "angular speed": "vitesse angulaire",
    "speed": "vitesse",
    "angular acceleration": "accélération angulaire",
    "acceleration": "accélération",
    "force": "force",
    "torque": "couple",
    "power": "puissance",
    "current": "courant",
    "voltage": "tension",
    "momentum": "quantité de mouvement",
    "seen from above": "vue de dessus",
    "seen from the side": "vue de côté",
    "seen from behind": "vue de derrière",
    "origin of {}": "origine de {}",
    "friction {}": "frottement {}",
    "rate of {}": "dérivée de {}",
    "second derivative of {}": "dérivée seconde de {}",
    "kinetic energy": "énergie cinétique",
    "potential energy": "énergie potentielle",
    "mechanical energy": "énergie mécanique",
    "total energy": "énergie totale",
    "energy error": "erreur d’énergie",
    "linear momentum error": "erreur de quantité de mouvement",
    "angular momentum error": "erreur de moment cinétique",
    "loops and constraints gap": "écart des boucles et liaisons",
    "contacts and stops gap": "écart des contacts et butées",
    "energy of {} error": "erreur d’énergie de {}",
    "no unit": "sans unité",
    "unit quaternion": "quaternion unitaire",
    "seen from above, y stretched": "vue de dessus, y dilaté",
    "seen from the side, z stretched": "vue de côté, z dilaté",
    "seen from behind, z stretched": "vue de derrière, z dilaté",
    "reaches {} at the start": "atteint {} au départ",
    "reaches {} and {} at the start": "atteint {} et {} au départ",
    # -- figures of identifications ------------------------------------------------------------------------------------
    "measured": "mesuré",
    "predicted": "prédit",
    "difference": "différence",
    "{}: residual {} %": "{} : résidu {} %",
    "deviations": "écarts types",
    "lag": "décalage",
    "estimate over its magnitude, with two standard deviations; | is the value of the model file": "estimation "
    "rapportée à sa grandeur, à deux écarts types ; | est la valeur du fichier",
    # -- figures of vehicles -------------------------------------------------------------------------------------------
    "forward speed": "vitesse longitudinale",
    "lateral speed": "vitesse latérale",
    "forward": "vers l’avant",
    "to the left": "vers la gauche",
    "yaw rate": "vitesse de lacet",
    "roll and pitch": "roulis et tangage",
    "travel from the start": "débattement depuis le départ",
    "vertical load": "charge verticale",
    "friction used": "adhérence utilisée",
    "longitudinal slip": "glissement longitudinal",
    "side slip angle": "angle de dérive",
    "longitudinal force": "effort longitudinal",
    "lateral force": "effort latéral",
    "aligning moment": "moment d’auto-alignement",
    # -- schemes -------------------------------------------------------------------------------------------------------
    "planar base: {}": "base plane : {}",
    "floating base: {}": "base flottante : {}",
    "drawn at {}; other coordinates 0": "tracé pour {} ; autres coordonnées nulles",
    "lengths without value drawn as {} m: {}": "longueurs sans valeur tracées comme {} m : {}",
    "angles without value drawn as {}": "angles sans valeur tracés comme {}",
    "loops and couplings do not close from this pose; the gaps are drawn": "boucles et couplages ne se ferment pas "
    "dans cette posture ; les écarts sont tracés",
    "not drawn, for no body moves with them: {}": "non tracées, car aucun corps ne bouge avec elles : {}",
    "too many bodies for one picture": "trop de corps pour une seule image",
    # -- operations ----------------------------------------------------------------------------------------------------
    "base": "base",
    "world": "repère fixe",
    "free form": "cinématique libre",
}


AXES: dict[str, str] = {
    "yaw": "lacet",
    "roll": "roulis",
    "pitch": "tangage",
    "steering": "braquage",
    "camber": "carrossage",
    "articulation": "articulation",
}
"""Of axes alone: elsewhere these may be names that a user gave."""


def translated(text: str, language: Language) -> str:
    """A phrase in a language; as it is where nobody knows better.

    >>> translated("rotation about z, by the right-hand rule", Language.FRENCH)
    'rotation autour de z, dans le sens direct'
    """
    if language is Language.ENGLISH:
        return text
    for pattern, french in _patterns():
        if match := pattern.fullmatch(text):
            return french.replace("%", "%%").replace("{}", "%s") % tuple(_with_commas(part) for part in match.groups())
    return text


def _with_commas(text: str) -> str:
    """Numbers in a phrase."""
    return re.sub(r"(?<=\d)\.(?=\d)", ",", text)


def is_known(text: str) -> bool:
    """Whether a phrase has a French one."""
    return any(pattern.fullmatch(text) for pattern, _ in _patterns())


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The most particular ones first."""
    ordered = sorted(PHRASES.items(), key=lambda item: ("{}" in item[0], -len(item[0].replace("{}", ""))))
    return tuple(
        (re.compile(re.escape(english).replace(r"\{\}", "(.+?)"), re.DOTALL), french) for english, french in ordered
    )
