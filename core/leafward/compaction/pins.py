"""Facts that the user wants in every summary, word for word: stored with a compaction, and carried on to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.redact import Redactor
from leafward.summaries.summarizers.outline import harmless
from leafward.summaries.survival import compactions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.entries import Body
    from leafward.session.session import Session


def carried_pins(session: Session, at: int) -> tuple[str, ...]:
    """The pins that the compactions on the path to an entry hold, oldest first."""
    found: dict[str, None] = {}
    for index in compactions(session, at):
        found.update(dict.fromkeys(pins_in(session.body(index) or {})))
    return tuple(found)


def pins_in(body: Body) -> list[str]:
    """The pins that a summary entry of ours holds."""
    details = body.get("details")
    ours = details.get("leafward") if isinstance(details, dict) else None
    pins = ours.get("pins") if isinstance(ours, dict) else None
    return [pin for pin in pins if isinstance(pin, str)] if isinstance(pins, list) else []


def clean_pins(pins: Iterable[str]) -> tuple[str, ...]:
    """Pins as they go into a summary: one line each, harmless, secrets taken out, none twice."""
    redactor = Redactor()
    return tuple(dict.fromkeys(line for pin in pins if (line := harmless(redactor.text(pin)))))
