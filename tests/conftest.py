"""What every test shares: hypothesis profiles, plots without a screen, and a cache of compiled code for itself."""

import os
import shutil
import tempfile

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# Set while this file is read, so that examples in docstrings and processes started by tests keep to it as well.
_CACHE = tempfile.mkdtemp(prefix="torseur-test-cache-")
os.environ["TORSEUR_CACHE"] = _CACHE
os.environ.pop("TORSEUR_CACHE_LIMIT", None)


def pytest_unconfigure() -> None:
    shutil.rmtree(_CACHE, ignore_errors=True)
