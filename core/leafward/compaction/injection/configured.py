"""What is injected by the user's configuration, where nothing else is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.paths import data_dir
from leafward.compaction.injection.sections import keys_of
from leafward.compaction.injection.values import InjectionSettings

if TYPE_CHECKING:
    from leafward.base.config import Config

GOVERNANCE = "governance.toml"
"""The user's own governance file, in our data folder."""


def configured(config: Config) -> InjectionSettings:
    """The settings of a configuration. Names of sections that do not exist are left out."""
    off = frozenset(key for name in config.injection_off for key in keys_of(name))
    return InjectionSettings(
        budget=config.injection_budget,
        order=config.injection_order,
        off=off,
        governance=data_dir() / GOVERNANCE,
    )
