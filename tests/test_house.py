"""The house: public names, import rule, and files that are the same on every machine."""

import ast
import graphlib
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import torseur

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "torseur"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# -- public names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", torseur.__all__)
def test_every_public_name_can_be_used(name):
    assert getattr(torseur, name) is not None


def test_the_table_the_list_and_what_type_checkers_see_agree():
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    guard = next(node for node in tree.body if isinstance(node, ast.If))
    for_checkers = {alias.name for node in guard.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(torseur._HOMES) == for_checkers == set(torseur.__all__)
    assert dir(torseur) == sorted(torseur.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        torseur.no_such_name  # noqa: B018


# -- the import rule: quick, and without import-linter, which `make lint` runs on the same list -----------------------

LAYERS = [name.strip("()") for name in PROJECT["tool"]["importlinter"]["contracts"][0]["layers"]]


def layers_imported(source: str) -> set[str]:
    """The layers a module names in its import statements, wherever they stand."""
    modules = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in modules if name.startswith("torseur.")} & set(LAYERS)


def imports_upwards(source: str, layer: str) -> set[str]:
    return {other for other in layers_imported(source) if LAYERS.index(other) < LAYERS.index(layer)}


@pytest.mark.parametrize("layer", [name for name in LAYERS if (SOURCE / name).is_dir()])
def test_no_module_imports_upwards(layer):
    for path in sorted((SOURCE / layer).rglob("*.py")):
        assert not imports_upwards(path.read_text(encoding="utf-8"), layer), path


def test_the_import_rule_has_teeth():
    assert imports_upwards("def f():\n    from torseur import emit, errors", "graph") == {"emit"}
    assert imports_upwards("import torseur.cli.bench", "emit") == {"cli"}
    assert imports_upwards("from torseur.graph.nodes import Node", "emit") == set()


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}


def own_imports(node: ast.AST, *, in_function: bool = False) -> Iterator[tuple[str, str, bool]]:
    """(module, name, whether inside a function) of what is imported from this package when a program runs."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torseur":
        yield from ((node.module, alias.name, in_function) for alias in node.names)
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield from own_imports(child, in_function=in_function or isinstance(node, ast.FunctionDef))


TAKEN = {name: list(own_imports(tree)) for name, tree in MODULES.items()}


def test_no_import_goes_round_in_a_circle():
    graph = {
        name: {f"{a}.{b}" if f"{a}.{b}" in MODULES else a for a, b, late in taken if not late} - {name}
        for name, taken in TAKEN.items()
    }
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) >= len(MODULES)


def test_only_the_command_line_imports_the_package_inside_functions():
    late = {name for name, taken in TAKEN.items() if any(in_function for _, _, in_function in taken)}
    assert not [name for name in late if not name.startswith("torseur.cli")]
    assert late


def test_no_module_uses_private_names_of_another():
    for name, tree in MODULES.items():
        taken = TAKEN[name]
        assert not [x for _, x, _ in taken if re.match("_[^_]", x)], name
        modules = {b for a, b, _ in taken if f"{a}.{b}" in MODULES}
        used = [x for x in ast.walk(tree) if isinstance(x, ast.Attribute) and re.match("_[^_]", x.attr)]
        assert not [x.attr for x in used if isinstance(x.value, ast.Name) and x.value.id in modules], name


def test_every_folder_is_a_layer():
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert folders <= set(LAYERS)


# -- files ------------------------------------------------------------------------------------------------------------

# Written in pieces, so that this file does not contain what it looks for.
FORBIDDEN = re.compile("|".join(["/" + "work/", "/" + "root/", "/" + "home/", "pypi" + r"\.", "python" + "hosted"]))


def files_of_the_project() -> list[Path]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in (ROOT / line for line in listed.stdout.splitlines()) if path.is_file()]


def test_no_file_names_a_machine_or_a_registry():
    found = []
    for path in files_of_the_project():
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}:{k}" for k, line in enumerate(lines, 1) if FORBIDDEN.search(line)]
    assert not found


def test_make_help_names_every_target():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", text, flags=re.MULTILINE)[1].split())
    explained = set(re.findall(r'^\t@echo "make (\S+)', text, flags=re.MULTILINE))
    assert explained == targets - {"help", "install-oracles"}


def test_the_conda_recipe_says_what_the_package_says():
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    project, needs = PROJECT["project"], recipe["requirements"]
    assert recipe["context"]["version"] == torseur.__version__
    assert recipe["about"]["summary"] == project["description"]
    assert recipe["about"]["license"] == project["license"]
    assert (ROOT / recipe["about"]["license_file"]).is_file()
    wanted = {text.lower() for text in project["dependencies"]} | {f"python{project['requires-python']}"}
    assert {text.replace(" ", "") for text in needs["run"]} == wanted
    assert set(PROJECT["build-system"]["requires"]) <= {text.replace(" ", "") for text in needs["host"]}
    commands = [f"{name} = {where}" for name, where in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == commands


def test_the_core_needs_no_optional_package():
    core = {re.split(r"[<>=\[]", text)[0] for text in PROJECT["project"]["dependencies"]}
    extras = PROJECT["project"]["optional-dependencies"]
    assert not core & {re.split(r"[<>=\[]", text)[0] for name in extras for text in extras[name]}
