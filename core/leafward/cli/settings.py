"""The settings of the user, for verbs."""

from __future__ import annotations

from leafward.base.config import Config, load
from leafward.cli.output.page import note


def configured() -> Config:
    """The user's settings; problems in them are printed on stderr."""
    settings, problems = load()
    for problem in problems:
        note(str(problem))
    return settings
