"""Settings of the injected context from the user's configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.paths import data_dir
from leafward.compaction.injection.sections import keys_of
from leafward.compaction.injection.values import InjectionSettings

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.base.config import Config

GOVERNANCE = "governance.toml"
"""The user's own governance file, in our data folder."""


def configured_settings(config: Config, workspace: Path | None = None) -> InjectionSettings:
    """The settings from the configuration; `workspace` is the folder to read instead of the session's own."""
    return InjectionSettings(
        budget=config.injection_budget,
        order=config.injection_order,
        workspace=workspace,
        off=frozenset(key for name in config.injection_off for key in keys_of(name)),
        governance=data_dir() / GOVERNANCE,
    )
