"""CAGeM listings (.mu), the way EasyDyn's symbolic front end writes a mechanism down: a pose for every body."""

from torseur.formats.cagem.reader import read_mu, read_mu_study

__all__ = ["read_mu", "read_mu_study"]
