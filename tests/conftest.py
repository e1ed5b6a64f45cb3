"""What every test shares: hypothesis profiles, plots without a screen, and a cache of compiled code for itself."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # there is a worker for each core already

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")

# Set while this file is read, so that examples in docstrings and processes started by tests keep to it as well. Workers
# that share the tests out inherit it from the process that started them.
_IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ
_SHARED = os.environ.get("TORSEUR_TEST_CACHE")
"""A folder that several sessions use one after the other, and that is cleared by who made it."""
if not _IS_WORKER:
    os.environ["TORSEUR_CACHE"] = _SHARED or tempfile.mkdtemp(prefix="torseur-test-cache-")
os.environ.pop("TORSEUR_CACHE_LIMIT", None)


@pytest.fixture
def interrupt_key() -> Iterator[None]:
    """Ctrl-C interrupts, also where the process was started with that signal ignored (nohup, in the background)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)  # None: not set by Python


def pytest_unconfigure() -> None:
    if not (_IS_WORKER or _SHARED):
        shutil.rmtree(os.environ["TORSEUR_CACHE"], ignore_errors=True)
