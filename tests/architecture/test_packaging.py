"""sdist, then wheel, then import: what a release would ship is whole, and runs without this checkout."""

from __future__ import annotations

import re
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.architecture.trees import PACKAGES, ROOT, copy_checkout, copy_tree, run, tracked_files

# A release holds every file of the packages, but for descriptions of folders, which are for readers of the source.
NOT_SHIPPED = {"README.md"}


def build(tree: Path, output: Path) -> tuple[Path, Path]:
    """Builds the sdist of a tree and the wheel of that sdist, with the build backend of this environment."""
    result = run([sys.executable, "-m", "build", "--no-isolation", "--outdir", output, tree], cwd=tree)
    assert result.returncode == 0, result.stdout + result.stderr
    (sdist,), (wheel,) = output.glob("*.tar.gz"), output.glob("*.whl")
    return sdist, wheel


def missing_from_wheel(wheel: Path) -> list[str]:
    """Package files of this checkout that the wheel lacks."""
    shipped = set(zipfile.ZipFile(wheel).namelist())
    expected = [path for path in tracked_files(*PACKAGES) if path.name not in NOT_SHIPPED]
    return [str(path) for path in expected if f"radixflow/{path.as_posix()}" not in shipped]


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    tree = copy_tree(tmp_path_factory.mktemp("tree"))
    return build(tree, tmp_path_factory.mktemp("dist"))


def test_the_wheel_holds_every_module_and_view(distributions: tuple[Path, Path]) -> None:
    _, wheel = distributions
    assert missing_from_wheel(wheel) == []
    names = zipfile.ZipFile(wheel).namelist()
    assert sum(name.startswith("radixflow/") and name.endswith(".py") for name in names) > 10
    assert any(name.startswith("radixflow/schema/views/") and name.endswith(".sql") for name in names)
    assert not [name for name in names if not name.startswith(("radixflow/", "radixflow-"))]


def test_licence_and_description_travel(distributions: tuple[Path, Path]) -> None:
    sdist, wheel = distributions
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "pyproject.toml"} <= names
    with zipfile.ZipFile(wheel) as archive_:
        (metadata_name,) = [name for name in archive_.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(archive_.read(metadata_name).decode())
        licences = [name for name in archive_.namelist() if name.endswith(".dist-info/licenses/LICENSE")]
    assert licences
    assert metadata["License-Expression"] == "Apache-2.0"
    assert str(metadata.get_payload()).strip() == (ROOT / "README.md").read_text().strip()


def test_the_installed_wheel_works_alone(distributions: tuple[Path, Path], tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    assert run([sys.executable, "-m", "venv", "--without-pip", venv], cwd=tmp_path).returncode == 0
    python = venv / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
    installed = run([*pip, distributions[1]], cwd=tmp_path)
    assert installed.returncode == 0, installed.stderr
    # The dependencies come from this environment by path, which follows no .pth: radixflow itself must be the wheel's.
    dependencies = sysconfig.get_paths()["purelib"]
    code = (
        "import radixflow.schema.tables.columns as c, radixflow.schema.reading.connection as k; print(c.__file__)\n"
        "from radixflow.schema.reading.view_descriptions import describe; print(len(list(describe())))"
    )
    result = run([python, "-c", code], cwd=Path("/"), PYTHONPATH=dependencies)
    assert result.returncode == 0, result.stderr
    file, num_views = result.stdout.splitlines()
    assert Path(file).is_relative_to(venv)
    assert int(num_views) >= 10
    for command in ("radixflow-collect", "radixflow-report"):
        said = run([venv / "bin" / command, "--help"], cwd=Path("/"), PYTHONPATH=dependencies)
        assert said.returncode == 0, said.stderr
        assert command in said.stdout


def test_a_wheel_built_without_the_file_lists_is_found_out(tmp_path: Path) -> None:
    """Hatchling meets each folder first through its link; without only-include the wheel of the sdist is empty."""
    tree = copy_tree(tmp_path / "tree")
    pyproject = tree / "pyproject.toml"
    lines = pyproject.read_text().splitlines()
    sdist = lines.index("[tool.hatch.build.targets.sdist]")
    del lines[sdist : sdist + 2]
    pyproject.write_text("\n".join(lines) + "\n")
    _, wheel = build(tree, tmp_path / "dist")
    assert "schema/tables/columns.py" in missing_from_wheel(wheel)


def folders_imported_by_tests(tree: Path) -> set[str]:
    """Top folders of a tree from which its tests import modules."""
    texts = [path.read_text() for path in (tree / "tests").rglob("*.py")]
    names = {name for text in texts for name in re.findall(r"^ *(?:from|import) (\w+)", text, re.MULTILINE)}
    return {name for name in names if (tree / name).is_dir()}


def shipped_folders(tree: Path) -> set[str]:
    settings = tomllib.loads((tree / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["sdist"]
    return set(settings["only-include"])


def test_the_sdist_holds_the_folders_that_its_tests_import(tmp_path: Path) -> None:
    assert {"tests", "benchmarks"} <= folders_imported_by_tests(ROOT) <= shipped_folders(ROOT)
    tree = copy_tree(tmp_path)
    (tree / "left_out").mkdir()
    (tree / "tests" / "test_planted.py").write_text("from left_out.module import thing\n")
    assert folders_imported_by_tests(tree) - shipped_folders(tree) == {"left_out"}


COLLECT = (
    "import sys; modules, installed, *tests = sys.argv[1:]; sys.path[1:1] = [modules, installed]; import pytest; "
    "sys.exit(pytest.main(['-q', '--collect-only', *tests]))"
)


def collect_tests(tree: Path, output: Path, *tests: str) -> tuple[set[str], str]:
    """Collects tests in the unpacked sdist of a tree as a packager would, over the modules of its wheel alone.

    Returns:
        The files in which tests were found, none after an error, and what pytest said.
    """
    sdist, wheel = build(tree, output)
    with tarfile.open(sdist) as archive:
        archive.extractall(output, filter="data")
    zipfile.ZipFile(wheel).extractall(output / "modules")
    (unpacked,) = (path for path in output.iterdir() if (path / "pyproject.toml").is_file())
    # With -S no .pth file is followed, so an editable install of this checkout cannot stand in for the sdist.
    paths = [output / "modules", sysconfig.get_paths()["purelib"]]
    result = run([sys.executable, "-S", "-c", COLLECT, *paths, *tests], cwd=unpacked)
    found = set(re.findall(r"^(tests/[\w/]+\.py)::", result.stdout, re.MULTILINE))
    return (found if result.returncode == 0 else set()), result.stdout + result.stderr


@pytest.mark.long
def test_every_test_is_found_in_the_unpacked_sdist(tmp_path: Path) -> None:
    found, said = collect_tests(copy_checkout(tmp_path / "tree"), tmp_path / "dist", "tests")
    assert found == {path.as_posix() for path in tracked_files("tests/**/test_*.py")}, said[-2000:]


@pytest.mark.long
def test_an_sdist_without_what_its_tests_import_is_found_out(tmp_path: Path) -> None:
    tree = copy_checkout(tmp_path / "tree")
    pyproject = tree / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace('"benchmarks", ', ""))
    found, said = collect_tests(tree, tmp_path / "dist", "tests/schema/reading/test_windows.py")
    assert found == set()
    assert "No module named 'benchmarks'" in said
