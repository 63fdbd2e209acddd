"""The import contracts of `pyproject.toml`: each is kept by the code, and broken by an import that it forbids."""

from __future__ import annotations

from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grimp
import pytest
from importlinter.api import read_configuration
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIONS: dict[str, Any] = read_configuration(str(Path(__file__).parent.parent / "pyproject.toml"))
CONTRACTS: list[dict[str, Any]] = OPTIONS["contracts_options"]
NAMES = [one["name"] for one in CONTRACTS]
KINDS: dict[
    str, type[AcyclicSiblingsContract | ForbiddenContract | IndependenceContract | LayersContract]
] = {
    "acyclic_siblings": AcyclicSiblingsContract,
    "forbidden": ForbiddenContract,
    "independence": IndependenceContract,
    "layers": LayersContract,
}
UPWARDS = [("leafward.base", "leafward.session"), ("leafward_tui.ui.text", "leafward_tui.ui.panes")]
"""Neighbours of which the second imports the first: an import of it by the first makes a circle."""


def layers_of(contract: dict[str, Any]) -> list[list[str]]:
    """The modules of each layer, the highest first."""
    (container,) = contract["containers"]
    return [[f"{container}.{one.strip()}" for one in layer.split("|")] for layer in contract["layers"]]


def plants(contract: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Imports that break a contract, from a module that is new: those that are forbidden, of the layer above, of a neighbour.

    Where a container is exhaustive also a module that has no place in it, as an import of itself.
    """
    if contract["type"] == "forbidden":
        for source in contract["source_modules"]:
            yield from ((f"{source}.planted", one) for one in contract["forbidden_modules"])
        return
    if contract["type"] == "independence":
        yield from (
            (f"{one.removesuffix('*')}planted", one.replace("*", "tree")) for one in contract["modules"]
        )
        return
    if contract["type"] == "acyclic_siblings":
        yield from ((f"{below}.planted", above) for below, above in UPWARDS)
        return
    layers = layers_of(contract)
    for above, below in pairwise(layers):
        yield from ((f"{one}.planted", above[0]) for one in below)
    for layer in layers:
        yield from ((f"{one}.planted", other) for one, other in pairwise([*layer, layer[0]]) if one != other)
    if contract.get("exhaustive"):
        yield (f"{contract['containers'][0]}.planted",) * 2


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(
        *OPTIONS["session_options"]["root_packages"], include_external_packages=True, cache_dir=None
    )


def is_kept(graph: grimp.ImportGraph, number: int) -> bool:
    contract = CONTRACTS[number]
    check = KINDS[contract["type"]](contract["name"], OPTIONS["session_options"], contract)
    return bool(check.check(deepcopy(graph), verbose=False).kept)


@pytest.mark.parametrize("number", range(len(CONTRACTS)), ids=NAMES)
def test_an_import_that_a_contract_forbids_breaks_it(graph: grimp.ImportGraph, number: int) -> None:
    found, unseen = list(plants(CONTRACTS[number])), []
    assert found
    assert is_kept(graph, number)
    planted = deepcopy(graph)
    for importer, imported in found:
        new = {importer, imported} - planted.modules
        for module in new:
            planted.add_module(module)
        if importer != imported:
            planted.add_import(importer=importer, imported=imported)
        if is_kept(planted, number):
            unseen.append((importer, imported))
        for module in new:
            planted.remove_module(module)
    assert unseen == []


@pytest.mark.parametrize(
    "number", [number for number, one in enumerate(CONTRACTS) if "ignore_imports" in one]
)
def test_an_exception_that_nothing_needs_is_an_error(graph: grimp.ImportGraph, number: int) -> None:
    planted = deepcopy(graph)
    for line in CONTRACTS[number]["ignore_imports"]:
        importer, imported = line.split(" -> ")
        planted.remove_import(importer=importer, imported=imported)
    with pytest.raises(Exception, match="No matches"):
        is_kept(planted, number)
