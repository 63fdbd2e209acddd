"""Choosing a summariser: by name, by configuration, or the built-in one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.base.config import DEFAULT_WINDOW
from leafward.summaries.summarizers.extractive.summarizer import Extractive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.base.config import Config
    from leafward.summaries.summarizers.model.settings import ModelSettings
    from leafward.summaries.summarizers.summary import Summarizer

CONFIGURED = "model"
"""The name for the configured model."""


def summarizer(name: str | None, config: Config, base_url: str | None = None) -> Summarizer:
    """The summariser of a name: None or `extractive` is the built-in one, `model` the configured model, else a model's name.

    `base_url` takes precedence over configured addresses, and these over those of the environment. Raises SummaryFailed for
    `model` where none is configured. Nothing heavy is loaded before a summary is requested.
    """
    if name is None or name == Extractive.name:
        return Extractive()
    from leafward.summaries.summarizers.model.summarizer import Model

    return Model(model_settings(name, config, base_url))


def model_settings(name: str, config: Config, base_url: str | None = None) -> ModelSettings:
    """The configured settings of a model.

    Raises SummaryFailed for `model` where none is configured, and for an address that no request may go to.
    """
    from leafward.summaries.summarizers.model.addresses import environment_url, refuse_unfit
    from leafward.summaries.summarizers.model.failures import SummaryFailed
    from leafward.summaries.summarizers.model.settings import ModelSettings, is_ollama

    if name == CONFIGURED:
        if config.model is None:
            raise SummaryFailed(
                'no model is configured; set model = "provider/name" in config.toml, or name one'
            )
        name = config.model
    window: int | None = config.windows.get(name) or config.windows.get(name.rpartition("/")[2])
    if window is None and config.window != DEFAULT_WINDOW and not is_ollama(name):
        window = config.window
    address = base_url or _of(config.base_urls, name) or environment_url(name, os.environ)
    if address is not None:
        address = address.strip()
        refuse_unfit(name, address.rstrip("/"))
    return ModelSettings(
        name,
        address,
        _of(config.keys, name),
        window,
        config.summaries_timeout,
        config.summaries_deadline,
        config.summaries_attempts,
        parallel=config.summaries_parallel,
    )


def _of(table: Mapping[str, str], name: str) -> str | None:
    """The value in a table for a model: under its name, else under its provider's."""
    return table.get(name) or table.get(name.partition("/")[0])
