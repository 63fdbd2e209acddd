from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import leafward

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {"leafward": "core", "leafward_tui": "tui", "leafward_themes": "themes"}
DATA_SUFFIXES = {".json", ".jsonl", ".py", ".tcss", ".toml", ".tsv", ".typed"}
PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[0-9][A-Za-z0-9.!+]*)")

MADE_ON = {
    "os_name": "posix",
    "platform_system": "Linux",
    "python_full_version": "3.11.7",
    "python_version": "3.11",
    "sys_platform": "linux",
}
"""Where the constraints come from: requirements for other systems are not among them."""


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    loaded: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return loaded


@pytest.fixture(scope="module")
def pins() -> dict[str, str]:
    """Every line of the constraints that is no comment, as name and version."""
    found = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        pin = PIN.fullmatch(line)
        assert pin, f"not a bare name==version: {line!r}"
        found[canonical(pin["name"])] = pin["version"]
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def sources(package: str) -> set[str]:
    """Files of a package in this checkout, caches left out, as paths that start with the package's name."""
    root = ROOT / SOURCES[package]
    return {
        path.relative_to(root).as_posix()
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.startswith(".")
    }


@pytest.mark.parametrize("package", SOURCES)
def test_the_wheel_carries_every_file_of_the_package(package: str, wheel: Path) -> None:
    expected = sources(package)
    assert {Path(name).suffix for name in expected} <= DATA_SUFFIXES, (
        "a kind of file nobody has decided to ship"
    )
    packed = {
        path.relative_to(wheel).as_posix()
        for path in (wheel / package).rglob("*")
        # Another test runs the command from here, and Python keeps what it compiled.
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == expected
    assert f"{package}/py.typed" in packed


def test_the_wheel_has_nothing_beside_the_three_packages(wheel: Path) -> None:
    assert {path.name for path in wheel.iterdir()} == {*SOURCES, f"leafward-{leafward.__version__}.dist-info"}


def test_the_wheel_says_who_it_is(wheel: Path) -> None:
    (info,) = wheel.glob("*.dist-info")
    metadata = HeaderParser().parsestr((info / "METADATA").read_text())
    assert metadata["Name"] == "leafward"
    assert metadata["Version"] == leafward.__version__
    assert metadata["License-Expression"] == "MIT"
    assert (info / "licenses" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert "leafward = leafward_tui.__main__:main" in (info / "entry_points.txt").read_text()


def test_the_command_runs_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    script = (
        "import sys, leafward, leafward_tui, leafward_themes\n"
        "print(leafward.__file__, leafward_tui.__file__, leafward_themes.__file__, sep='\\n')\n"
        "sys.argv = ['leafward', '--version']\n"
        "from leafward_tui.__main__ import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(wheel)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *files, version = done.stdout.splitlines()
    assert [Path(file).parent.parent for file in files] == [wheel] * 3
    assert leafward.__version__ in version


def test_this_run_tests_this_checkout() -> None:
    assert Path(leafward.__file__).is_relative_to(ROOT / "core")


def test_the_version_is_written_in_one_place() -> None:
    holders = [
        path.relative_to(ROOT).as_posix()
        for folder in SOURCES.values()
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"^__version__\s*[:=]", path.read_text(), re.MULTILINE)
    ]
    assert holders == ["core/leafward/__init__.py"]


def test_runtime_requirements_are_ranges(project: dict[str, Any]) -> None:
    for text in project["dependencies"]:
        operators = {part.operator for part in Requirement(text).specifier}
        assert operators & {">=", ">"}, text
        assert not operators & {"==", "==="}, text


def test_the_constraints_pin_everything_within_its_range(
    project: dict[str, Any], pins: dict[str, str]
) -> None:
    for text in [*project["dependencies"], *project["optional-dependencies"]["test"]]:
        requirement = Requirement(text)
        assert requirement.specifier.contains(pins[canonical(requirement.name)]), text


def test_the_constraints_are_closed(project: dict[str, Any], pins: dict[str, str]) -> None:
    """Whatever a pinned package needs where the set was made, with the extras asked for, is pinned too."""
    waiting = [
        Requirement(text) for text in [*project["dependencies"], *project["optional-dependencies"]["test"]]
    ]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonical(requirement.name)
        assert name in pins, f"{name} is required and not pinned"
        for extra in ("", *requirement.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            try:
                needs = importlib.metadata.requires(requirement.name) or []
            except importlib.metadata.PackageNotFoundError:
                continue  # for another platform than this one
            for text in needs:
                needed = Requirement(text)
                if needed.marker is None or needed.marker.evaluate({**MADE_ON, "extra": extra}):
                    waiting.append(needed)


def test_ci_runs_what_a_developer_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text()


TOP = {
    *("core", "tui", "themes", "tests", "screenshots", "docs", ".ci"),
    *("README.md", "AGENTS.md", "CHANGELOG.md", "LICENSE"),
    *("pyproject.toml", "constraints.txt", "Makefile", ".gitignore", ".gitattributes"),
}
"""All that lies at the top of the repository; another file or folder there is a decision."""


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no checkout")
def test_nothing_else_lies_at_the_top_of_the_repository() -> None:
    # Whoever the checkout belongs to.
    git = ["git", "-c", "safe.directory=*", "ls-files"]
    listed = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {name.partition("/")[0] for name in listed.stdout.splitlines()} == TOP
