"""The built wheel in an environment of its own: the command line runs a shipped example by its name."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import torseur as ts

ROOT = Path(__file__).resolve().parent.parent
BUILD = "import hatchling.build as h; print(h.build_wheel({!r}))"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-c", BUILD.format(str(folder))], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return folder / done.stdout.split()[-1]


def test_the_wheel_holds_the_package_its_types_and_the_examples(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "torseur/py.typed" in names
    assert "torseur/example_files/rx90/motion.yaml" in names
    shipped = {
        f"torseur/example_files/{p.relative_to(ROOT / 'examples').as_posix()}"
        for p in ts.examples.folder().rglob("*.yaml")
    }
    assert shipped <= set(names)
    assert not [name for name in names if not name.startswith(("torseur/", "torseur-"))]


def test_the_wheel_runs_a_shipped_example_by_its_name(wheel, tmp_path):
    """The packages it depends on are those of this environment; the checkout is not seen."""
    home = tmp_path / "clean"
    venv.create(home, with_pip=False)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    site = next(home.rglob("site-packages"))
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", "--quiet"]
    subprocess.run([*pip, str(wheel)], check=True, env={**os.environ, "PIP_CONFIG_FILE": os.devnull})
    depends = {Path(__import__(n).__file__).parent.parent for n in ("numpy", "llvmlite", "yaml", "click", "pydantic")}
    bare = (
        tmp_path / "bare"
    )  # a folder of links: no other package, nor the editable install of the checkout, comes along
    bare.mkdir()
    for folder in depends:
        for item in folder.iterdir():
            if not item.name.lower().startswith(("torseur", "_editable", "__editable")) and item.suffix != ".pth":
                target = bare / item.name
                if not target.exists():
                    target.symlink_to(item)
    (site / "dependencies.pth").write_text(str(bare), encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment["TORSEUR_CACHE"] = str(tmp_path / "cache")

    def run(*arguments):
        command = [str(python.with_name("torseur")), *arguments]  # the script that pip has made
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    where = subprocess.run(
        [str(python), "-I", "-c", "import torseur; print(torseur.__file__)"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(home), where.stderr
    listed = run("examples")
    assert "planar_2r/pd_control" in listed.stdout
    done = run("simulate", "planar_2r/pd_control", "-o", "results", "--no-playback", "--no-figures")
    assert done.returncode == 0, done.stderr
    assert "audit holds" in done.stdout
    assert json.loads((tmp_path / "results" / "summary.json").read_text(encoding="utf-8"))
