"""CAGeM listings (.mu), the way EasyDyn's symbolic front end writes a mechanism down: a pose for every body."""

from torseur.formats.cagem.reader import read_mu, read_mu_study
from torseur.formats.format import Format, ModelFile, Reading

__all__ = ["CAGEM", "read_mu", "read_mu_study"]


def _read(file: ModelFile) -> Reading:
    mechanism, settings = read_mu_study(file.data, file.name, file.where)
    return Reading(mechanism, lambda fault: fault.in_file(file.where), settings)


CAGEM = Format("CAGeM", _read)
