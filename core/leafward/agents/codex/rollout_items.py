"""Common parts of new rollouts, whether copied or converted: name and place, the provider, and the shapes of their items."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from leafward.agents.codex.store import LIVE_FOLDER
from leafward.agents.fork_draft import ForkDraft
from leafward.agents.resume import Resume, own_variables
from leafward.agents.storage.settings_file import toml_settings
from leafward.base.times import iso_stamp
from leafward.session.journal.lines import encode_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.agents.fork_draft import ForkTerms
    from leafward.session.entries import Body
    from leafward.session.journal.write import WriteRemark

TITLE = "Codex"
"""The agent's name as people write it."""


def provider_of(home: str) -> str:
    """The provider in the user's own settings; interactive Codex does not open a thread without one (0.169)."""
    settings = toml_settings(Path(home, "config.toml"))
    profiles, name = settings.get("profiles"), settings.get("profile")
    profile = profiles.get(name) if isinstance(profiles, dict) and isinstance(name, str) else None
    for place in (profile, settings):
        provider = place.get("model_provider") if isinstance(place, dict) else None
        if isinstance(provider, str) and provider:
            return provider
    return "openai"


def fresh_id(terms: ForkTerms) -> str:
    """A UUID made from the time, in the form of Codex's own (version 7)."""
    milliseconds = int(terms.now.timestamp() * 1000) & ((1 << 48) - 1)
    number = milliseconds << 80 | 7 << 76 | secrets.randbits(12) << 64 | 2 << 62 | secrets.randbits(62)
    return str(UUID(int=number))


def draft_of(
    name: str,
    home: str,
    terms: ForkTerms,
    cwd: str,
    content: Callable[[], Iterable[bytes]],
    kept: int,
    remarks: tuple[WriteRemark, ...],
    env_set: tuple[tuple[str, str], ...],
    left: int = 0,
) -> ForkDraft:
    """A draft of a rollout in today's folder, under the name that Codex would give it."""
    local = terms.now.astimezone()
    folder = Path(home, LIVE_FOLDER, f"{local:%Y}", f"{local:%m}", f"{local:%d}")
    file = folder / f"rollout-{local:%Y-%m-%dT%H-%M-%S}-{name}.jsonl"
    return ForkDraft(
        agent="codex",
        id=name,
        path=file,
        file=file,
        content=content,
        resume=Resume(("codex", "resume", "-C", cwd, name), cwd, own_variables(terms.env), env_set),
        kept=kept,
        left=left,
        remarks=remarks,
    )


def injected_line(terms: ForkTerms, ordinal: int | None = None) -> bytes:
    """The added text, as a message that Codex sends and never shows; numbered in a paginated file."""
    line: Body = {"timestamp": iso_stamp(terms.now)}
    line |= item_of(message_of("user", [text_part("input_text", terms.injected)]))
    return encode_line(line if ordinal is None else {**line, "ordinal": ordinal})


def text_part(kind: str, text: str) -> Body:
    """A part of a message: `input_text` or `output_text`."""
    return {"type": kind, "text": text}


def message_of(role: str, content: list[Body]) -> Body:
    """A message item."""
    return {"type": "message", "role": role, "content": content}


def item_of(item: Body) -> Body:
    """An item as the body of a line."""
    return {"type": "response_item", "payload": item}
