"""Declarations of options: each option once, as a typed field of the value passed to its verb.

The classes are in the modules beside this one. They are imported when a verb's options are needed, as creating all of them takes longer than listing the verbs.
"""

from __future__ import annotations

from dataclasses import MISSING, field, fields
from importlib import import_module
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

import click

if TYPE_CHECKING:
    from collections.abc import Mapping
    from dataclasses import Field

_DECLARATION = "click"
"""Key of an option's declaration in the metadata of its field."""

_Default = TypeVar("_Default", str, int)


class WholeNumber(click.ParamType[int]):
    """A whole number that is not below `least`."""

    name = "whole number"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number that was typed, or an error that says what is asked for."""
        try:
            number = int(value)
        except ValueError:
            number = self.least - 1
        if number < self.least:
            self.fail(f"{value!r} is not a whole number of at least {self.least}", param, ctx)
        return number


class AgentName(click.ParamType[str]):
    """The name of an agent that there is."""

    name = "agent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name that was typed, or an error with the names that there are."""
        from leafward.agents.registry import known_name
        from leafward.base.errors import NotFound

        try:
            return known_name(value)
        except NotFound as error:
            self.fail(str(error), param, ctx)


class Seconds(click.FloatRange):
    """A length of time above 0; the word `nan`, which is not below 0 either, is none."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number that was typed, or an error where it is no length of time."""
        seconds: float = super().convert(value, param, ctx)
        if isnan(seconds):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return seconds


class NamedPath(click.Path):
    """A path; an empty one, as a variable of a shell without a value gives it, does not mean the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path that was typed, or an error where nothing was."""
        if value == "":
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


FOLDER = NamedPath(exists=True, file_okay=False, path_type=Path)
"""An existing folder."""


@overload
def option(*names: str, is_flag: Literal[True], help: str) -> bool: ...


@overload
def option(*names: str, multiple: Literal[True], metavar: str, help: str) -> tuple[str, ...]: ...


@overload
def option(*names: str, required: Literal[True], metavar: str, help: str) -> str: ...


@overload
def option(
    *names: str,
    default: _Default,
    help: str,
    type: click.ParamType[Any] | None = None,
    metavar: str | None = None,
    show_default: bool = False,
) -> _Default: ...


@overload
def option(
    *names: str, help: str, type: click.ParamType[Any] | None = None, metavar: str | None = None
) -> None: ...


def option(*names: str, **declaration: Any) -> object:
    """A field of a class of options, from its names on the command line and click's declaration.

    The parameter has the name of the field. The field's default is click's value for a missing option, so that a value created
    without the command line means the same.
    """
    default: object = None
    if declaration.get("required"):
        default = MISSING
    elif "default" in declaration:
        default = declaration["default"]
    elif declaration.get("is_flag"):
        default = False
    elif declaration.get("multiple"):
        default = ()
    return field(default=default, metadata={_DECLARATION: (names, declaration)})


def option_of(name: str, declared: object) -> click.Option:
    """The option declared by a field, as a parameter of that name."""
    names, declaration = cast("Field[object]", declared).metadata[_DECLARATION]
    return click.Option((*names, name), **declaration)


class Options:
    """The options of one verb: a class of this package, given by module and name, imported when it is needed."""

    def __init__(self, name: str) -> None:
        self._module, _, self.name = name.partition(".")

    def _kind(self) -> Any:
        return getattr(import_module(f"leafward.cli.options.{self._module}"), self.name)

    def declared(self) -> list[click.Option]:
        """An option for each field of the class, in order."""
        return [option_of(one.name, one) for one in fields(self._kind())]

    def gather(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters with those that are fields of the class gathered in one value, `options`."""
        kind = self._kind()
        names = [one.name for one in fields(kind)]
        rest = {name: value for name, value in parameters.items() if name not in names}
        return {**rest, "options": kind(**{name: parameters[name] for name in names})}


def at_field() -> str | None:
    """`--at ENTRY`."""
    return option("--at", metavar="ENTRY", help="The entry to look from (default: the leaf).")


def base_field() -> Path | None:
    """`--base FOLDER`."""
    return option(
        "--base",
        type=FOLDER,
        metavar="FOLDER",
        help="Start from the files in FOLDER, or in git there, if every recorded edit applies to them.",
    )


def select_field() -> str | None:
    """`--select QUERY`, which narrows what is shown."""
    return option(
        "--select", metavar="QUERY", help="Only entries that QUERY selects (see `leafward select`)."
    )


def query_field() -> str | None:
    """`--select QUERY`, which names the entries to work on."""
    return option("--select", metavar="QUERY", help="The entries that QUERY selects (see `leafward select`).")


def model_field(
    about: str = "Who summarises: a model by its name, or extractive (default: as configured).",
) -> str | None:
    """`--model MODEL`."""
    return option("--model", metavar="MODEL", help=about)


def base_url_field() -> str | None:
    """`--base-url URL`."""
    return option("--base-url", metavar="URL", help="Address of the model's server.")


def summary_field() -> str:
    """`--summary none|extractive|model`."""
    return option(
        "--summary",
        type=click.Choice(["none", "extractive", "model"]),
        default="none",
        show_default=True,
        help="Add a summary of the abandoned branch.",
    )


def focus_field() -> str | None:
    """`--focus TEXT`."""
    return option("--focus", metavar="TEXT", help="What the summary should emphasise.")


def onto_field() -> str | None:
    """`--onto ENTRY`."""
    return option("--onto", metavar="ENTRY", help="Append below this entry (default: the leaf).")
