"""Options of the command line are values, declared once."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, fields
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest

from leafward import cli
from leafward.cli.declarations.verbs import leafward as group
from leafward.cli.main import main
from tests.cli.test_main import VERBS

MODULES = ("branch_options", "catalogue_options", "compaction_options", "session_options")
KINDS: dict[str, Any] = {
    name: kind
    for module in MODULES
    for name, kind in vars(import_module(f"leafward.cli.options.{module}")).items()
    if name.endswith("Options") and name != "NarrowingOptions"
}


def kind_of(command: click.Command) -> Any:
    """The class whose value a verb gets as `options`; None where it has parameters only."""
    assert command.callback is not None
    named = command.callback.__annotations__.get("options")
    return KINDS[named] if named is not None else None


def missing(kind: Any) -> dict[str, str]:
    """Values for the required options."""
    return {one.name: "leaf" for one in fields(kind) if one.default is MISSING}


@pytest.mark.parametrize("name", [name for name in VERBS if kind_of(group.commands[name]) is not None])
def test_a_verb_gets_the_class_that_it_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command = group.commands[name]
    kind = kind_of(command)
    got: dict[str, object] = {}
    monkeypatch.setattr(command, "callback", got.update)
    # A command remembers its help option from whoever asks first, so its parent is there as it is on the command line.
    parent = click.Context(group, info_name="leafward", **group.context_settings)
    context = click.Context(command, info_name=name, parent=parent)
    arguments = [one for one in command.get_params(context) if isinstance(one, click.Argument)]
    given = ["text" for one in arguments if one.required]
    asked = [part for one in missing(kind) for part in (f"--{one}", "leaf")]
    command.invoke(command.make_context(name, [*given, *asked], parent=parent))
    # What is not said means the same on the command line and in a value that code makes.
    assert got["options"] == kind(**missing(kind))
    assert type(got["options"]) is kind


def test_every_class_belongs_to_a_verb() -> None:
    assert {kind_of(group.commands[name]) for name in VERBS} - {None} == set(KINDS.values())


def test_no_verb_takes_a_mapping_of_options() -> None:
    for name in VERBS:
        callback = group.commands[name].callback
        assert callback is not None
        kinds = {one.kind for one in inspect.signature(callback).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds, name
    folder = Path(cli.__file__).parent
    assert [file.name for file in folder.glob("*.py") if "asked: Mapping" in file.read_text()] == []


@pytest.mark.parametrize("value", ["abc", "-5", "1.5"])
def test_a_number_that_is_none_is_told_in_words(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "session", "--keep-recent", value]) == 2
    assert f"{value!r} is not a whole number of at least 0" in capsys.readouterr().err


def test_an_option_without_its_value_names_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "--by"]) == 2
    assert "see leafward ls --help" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "  "])
def test_a_search_for_nothing_is_a_wrong_use(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", text]) == 2
    assert "nothing to search for" in capsys.readouterr().err
