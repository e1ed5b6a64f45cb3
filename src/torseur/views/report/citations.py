"""Which model or method comes from where; a report lists what it used, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from torseur.views.report.document import Emphasis, Line, Section, Text
from torseur.views.report.terms import TERMS
from torseur.views.report.words import Words

__all__ = ["REFERENCES", "USES", "Citations", "Reference"]


@dataclass(frozen=True)
class Reference:
    """Authors, title, and where and when it appeared."""

    authors: str
    title: str
    source: str

    @property
    def line(self) -> Line:
        return Text(f"{self.authors}. "), Emphasis(self.title), Text(f". {self.source}.")


REFERENCES: dict[str, Reference] = {
    "besselink2010": Reference(
        "I. Besselink, A. Schmeitz, H. Pacejka",
        "An improved Magic Formula/Swift tyre model that can handle inflation pressure changes",
        "Vehicle System Dynamics 48 (S1), 2010, 337–352",
    ),
    "burckhardt1993": Reference("M. Burckhardt", "Fahrwerktechnik: Radschlupf-Regelsysteme", "Vogel, 1993"),
    "chung1993": Reference(
        "J. Chung, G. Hulbert",
        "A time integration algorithm for structural dynamics with improved numerical dissipation: "
        "the generalized-α method",
        "Journal of Applied Mechanics 60, 1993, 371–375",
    ),
    "arnold2007": Reference(
        "M. Arnold, O. Brüls",
        "Convergence of the generalized-α scheme for constrained mechanical systems",
        "Multibody System Dynamics 18, 2007, 185–202",
    ),
    "denavit1955": Reference(
        "J. Denavit, R. S. Hartenberg",
        "A kinematic notation for lower-pair mechanisms based on matrices",
        "Journal of Applied Mechanics 22, 1955, 215–221",
    ),
    "desantis1996": Reference(
        "R. M. DeSantis",
        "Modélisation dynamique de systèmes mécaniques sous contraintes holonomes et nonholonomes",
        "École Polytechnique de Montréal, 1996",
    ),
    "dormand1980": Reference(
        "J. R. Dormand, P. J. Prince",
        "A family of embedded Runge-Kutta formulae",
        "Journal of Computational and Applied Mathematics 6, 1980, 19–26",
    ),
    "dugoff1970": Reference(
        "H. Dugoff, P. S. Fancher, L. Segel",
        "An analysis of tire traction properties and their influence on vehicle dynamic performance",
        "SAE 700377, 1970",
    ),
    "featherstone2008": Reference("R. Featherstone", "Rigid Body Dynamics Algorithms", "Springer, 2008"),
    "hairer1993": Reference(
        "E. Hairer, S. P. Nørsett, G. Wanner",
        "Solving Ordinary Differential Equations I",
        "2nd edition, Springer, 1993",
    ),
    "hairer1996": Reference(
        "E. Hairer, G. Wanner", "Solving Ordinary Differential Equations II", "2nd edition, Springer, 1996"
    ),
    "hilber1977": Reference(
        "H. M. Hilber, T. J. R. Hughes, R. L. Taylor",
        "Improved numerical dissipation for time integration algorithms in structural dynamics",
        "Earthquake Engineering and Structural Dynamics 5, 1977, 283–292",
    ),
    "hirschberg2007": Reference(
        "W. Hirschberg, G. Rill, H. Weinfurter", "Tire model TMeasy", "Vehicle System Dynamics 45 (S1), 2007, 101–119"
    ),
    "khalil1986": Reference(
        "W. Khalil, J.-F. Kleinfinger",
        "A new geometric notation for open and closed-loop robots",
        "IEEE International Conference on Robotics and Automation, 1986, 1174–1180",
    ),
    "khalil1987": Reference(
        "W. Khalil, J.-F. Kleinfinger",
        "Minimum operations and minimum parameters of the dynamic models of tree structure robots",
        "IEEE Journal of Robotics and Automation 3, 1987, 517–526",
    ),
    "khatib1987": Reference(
        "O. Khatib",
        "A unified approach for motion and force control of robot manipulators: the operational space formulation",
        "IEEE Journal of Robotics and Automation 3, 1987, 43–53",
    ),
    "kiencke2000": Reference("U. Kiencke, L. Nielsen", "Automotive Control Systems", "Springer, 2000"),
    "kutta1901": Reference(
        "W. Kutta",
        "Beitrag zur näherungsweisen Integration totaler Differentialgleichungen",
        "Zeitschrift für Mathematik und Physik 46, 1901, 435–453",
    ),
    "leine2008": Reference(
        "R. I. Leine, N. van de Wouw",
        "Stability and Convergence of Mechanical Systems with Unilateral Constraints",
        "Springer, 2008",
    ),
    "llibre1983": Reference(
        "M. Llibre, R. Mampey, J.-P. Chrétien",
        "Simulation de la dynamique des robots manipulateurs motorisés",
        "Congrès AFCET Automatique, Besançon, 1983",
    ),
    "luh1980": Reference(
        "J. Y. S. Luh, M. W. Walker, R. P. C. Paul",
        "On-line computational scheme for mechanical manipulators",
        "Journal of Dynamic Systems, Measurement, and Control 102, 1980, 69–76",
    ),
    "maakaroun2011": Reference(
        "S. Maakaroun",
        "Modélisation et simulation dynamique d’un véhicule urbain innovant en utilisant le formalisme de la robotique",
        "Thèse, École des Mines de Nantes, 2011",
    ),
    "newmark1959": Reference(
        "N. M. Newmark",
        "A method of computation for structural dynamics",
        "Journal of the Engineering Mechanics Division 85, 1959, 67–94",
    ),
    "oliveira2021": Reference(
        "I. F. D. Oliveira, R. H. C. Takahashi",
        "An enhancement of the bisection method average performance preserving minmax optimality",
        "ACM Transactions on Mathematical Software 47 (1), 2021, 5",
    ),
    "pacejka1987": Reference(
        "E. Bakker, L. Nyborg, H. Pacejka", "Tyre modelling for use in vehicle dynamics studies", "SAE 870421, 1987"
    ),
    "pacejka1989": Reference(
        "E. Bakker, H. Pacejka, L. Lidner",
        "A new tire model with an application in vehicle dynamics studies",
        "SAE 890087, 1989",
    ),
    "pacejka2012": Reference("H. Pacejka", "Tire and Vehicle Dynamics", "3rd edition, Butterworth-Heinemann, 2012"),
    "prince1981": Reference(
        "P. J. Prince, J. R. Dormand",
        "High order embedded Runge-Kutta formulae",
        "Journal of Computational and Applied Mathematics 7, 1981, 67–75",
    ),
    "rill2012": Reference("G. Rill", "Road Vehicle Dynamics: Fundamentals and Modeling", "CRC Press, 2012"),
    "udwadia1992": Reference(
        "F. E. Udwadia, R. E. Kalaba",
        "A new perspective on constrained motion",
        "Proceedings of the Royal Society A 439, 1992, 407–410",
    ),
    "verlinden2007": Reference(
        "O. Verlinden, G. Kouroussis",
        "EasyDyn 1.2.4: C++ library for the easy simulation of dynamic problems",
        "Faculté Polytechnique de Mons, 2007",
    ),
    "walker1982": Reference(
        "M. W. Walker, D. E. Orin",
        "Efficient dynamic computer simulation of robotic mechanisms",
        "Journal of Dynamic Systems, Measurement, and Control 104, 1982, 205–211",
    ),
}

USES: dict[str, tuple[str, ...]] = {
    "place.mdh": ("khalil1986",),
    "place.dh": ("denavit1955",),
    "base.carrier": ("maakaroun2011",),
    "method.newton_euler": ("luh1980", "khalil1987"),
    "method.composite_body": ("walker1982", "featherstone2008"),
    "method.constraints": ("udwadia1992",),
    "method.events": ("oliveira2021",),
    "method.impacts": ("leine2008",),
    "method.audit": ("llibre1983",),
    "load.motor": ("llibre1983",),
    "load.transmission": ("khalil1987",),
    "solver.dop853": ("prince1981", "hairer1993"),
    "solver.dopri5": ("dormand1980", "hairer1993"),
    "solver.rk4": ("kutta1901", "hairer1993"),
    "solver.rodas": ("hairer1996",),
    "solver.newmark": ("newmark1959",),
    "solver.easydyn": ("newmark1959", "verlinden2007"),
    "solver.hht": ("hilber1977",),
    "solver.generalised_alpha": ("chung1993", "arnold2007"),
    "tyre.linear": ("pacejka2012",),
    "tyre.burckhardt": ("burckhardt1993", "kiencke2000"),
    "tyre.pacejka_1987": ("pacejka1987",),
    "tyre.pacejka_1989": ("pacejka1989", "maakaroun2011"),
    "tyre.magic_formula_52": ("pacejka2012",),
    "tyre.magic_formula_61": ("pacejka2012", "besselink2010"),
    "tyre.dugoff": ("dugoff1970",),
    "tyre.tmeasy": ("hirschberg2007", "rill2012"),
    "block.computed_torque": ("desantis1996",),
    "block.pd_regulator": ("desantis1996",),
    "block.operational_space": ("khatib1987",),
}
"""What is used -> where it comes from. The first part of a name is its family."""


@dataclass
class Citations:
    """What a report has cited so far, by number."""

    numbers: dict[str, int] = field(default_factory=dict)
    uses: dict[str, list[str]] = field(default_factory=dict)

    def knows(self, use: str) -> bool:
        return use in USES

    def cite(self, use: str) -> Text:
        """'[1, 2]' for what something comes from."""
        references = []
        for key in USES[use]:
            number = self.numbers.setdefault(key, len(self.numbers) + 1)
            uses = self.uses.setdefault(key, [])
            if use not in uses:
                uses.append(use)
            references.append(str(number))
        return Text(f"[{', '.join(references)}]")

    def section(self, words: Words) -> Section:
        """All that was cited, in order, each with what it was used for."""
        rows: list[tuple[Line, ...]] = []
        for key, number in self.numbers.items():
            purposes = dict.fromkeys(_purpose(use) for use in self.uses[key])
            rows.append(((Text(f"[{number}]"),), REFERENCES[key].line, words.listed([words.say(p) for p in purposes])))
        table = words.table("references.intro", ("", "head.reference", "head.used_for"), rows)
        return Section(words.say("section.references"), (table,))


def _purpose(use: str) -> str:
    """The term of a use, or of its family."""
    return f"use.{use}" if f"use.{use}" in TERMS else f"use.{use.partition('.')[0]}"
