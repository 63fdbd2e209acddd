"""The settings of the user, for verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.config import Config, load
from leafward.base.figures import counted
from leafward.cli.output.page import note, page, say

if TYPE_CHECKING:
    from leafward.base.config import ConfigProblem

_MOST = 8
"""Problems that are printed; more would hide the answer."""


def configured() -> Config:
    """The user's settings; problems in them are printed on stderr."""
    settings, problems = load()
    for remark in remarks_on(problems):
        note(remark)
    return settings


def remarks_on(problems: list[ConfigProblem]) -> list[str]:
    """The first problems of the settings, and how many more there are."""
    more = len(problems) - _MOST
    return [
        *map(str, problems[:_MOST]),
        *([f"the settings have {more} more problems: leafward doctor lists all"] if more > 0 else ()),
    ]


def say_excluded(number: int) -> None:
    """Says how many sessions the configuration leaves out, if any."""
    if number:
        say(page().style(f"{counted(number, 'session')} excluded by the configuration", "faint"))
