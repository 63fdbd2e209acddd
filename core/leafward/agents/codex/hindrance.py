"""What keeps Codex from running the hooks that were installed in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from leafward.agents.codex.configuration import configuration
from leafward.agents.codex.hooks import HOOKS
from leafward.agents.storage.settings_file import json_settings, toml_settings
from leafward.session.entries import object_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


_SWITCHES = "hooks", "codex_hooks"
_EVENTS = {"PreCompact": "pre_compact", "SessionStart": "session_start"}


def hindrance(env: Mapping[str, str], folder: Path) -> str:
    """0.171: `hooks` among the features, and what the user said when Codex asked about each hook."""
    home = HOOKS.folder(env)
    every = configuration(home, str(folder))
    for file, settings in every:
        features = object_at(settings, "features")
        said = [features[name] for name in _SWITCHES if isinstance(features.get(name), bool)]
        if said:
            if not said[0]:
                return f"{file}: `features.hooks` keeps Codex from running any hook"
            break
    own = home / "config.toml"
    state = object_at(object_at(toml_settings(own), "hooks"), "state")
    reviews = [_review(state, place) for place in _places(HOOKS.file(env))]
    if any(review.get("enabled") is False for review in reviews):
        return f"{own}: a hook of Leafward's is switched off; switch it on in Codex with /hooks"
    if not all(review.get("trusted_hash") for review in reviews):
        return "Codex does not run the hooks before you have reviewed them: it asks at its next start; a Codex older than 0.133 has no such hook"
    return ""


def _places(file: Path) -> Iterator[str]:
    """The names of our hooks among those that the user was asked about."""
    hooks = object_at(json_settings(file), "hooks")
    for event, name in _EVENTS.items():
        groups = hooks.get(event)
        for place, group in enumerate(groups if isinstance(groups, list) else ()):
            yield from (f"{file}:{name}:{place}:{number}" for number in HOOKS.ours_in(group))


def _review(state: Mapping[str, Any], place: str) -> dict[str, Any]:
    return object_at(dict(state), place) or object_at(dict(state), os.path.realpath(place))
