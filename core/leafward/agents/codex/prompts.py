"""Which messages under the user's name a person typed.

Codex writes what it puts in itself under the same name. What was typed it tells a second time, in an event, which comes behind
the message or right before it; rollouts without such events leave it to how a message begins.
"""

from __future__ import annotations

from typing import Any

from leafward.agents.codex.items import is_injected
from leafward.session.entries import Kind

_USER, _INJECTED = Kind.USER, Kind.INJECTED


def _joined(text: str) -> str:
    """A text without white space: the event joins the parts of a message with nothing between them."""
    return "".join(text.split())


class Prompts:
    """Messages and events in the order of a rollout."""

    def __init__(self) -> None:
        self.spoken = 0
        """The latest reply."""
        self.waiting: list[tuple[int, str, bool]] = []
        """Messages since the last reply or result of which an event may say that they were typed, with their texts, and whether
        they begin like what Codex puts in: then the event has to say just that."""
        self._events = 0
        self._unsure: list[int] = []
        """Messages before the first event, of which nothing else says who wrote them."""
        self._early: str | None = None
        """What an event says that no message said before it."""

    def begin_apart(self) -> None:
        """What comes first is not known: events told before what was typed, and none is waited for."""
        self._events = 1

    @property
    def are_settled(self) -> bool:
        """Whether what comes next says nothing of what came before."""
        return bool(self._events) and not self.waiting and not self._unsure and self._early is None

    def extend(self, others: Prompts, base: int) -> None:
        """Goes on behind a run of entries that begins at an entry, and before which all was settled."""
        self.waiting = [(base + index, text, looks) for index, text, looks in others.waiting]
        self._early = others._early

    def begin(self) -> None:
        """A new segment begins."""
        self.waiting = []
        self._early = None

    def take(self, index: int, payload: dict[str, Any], text: str) -> Kind | None:
        """What a message that becomes the entry `index` counts as for now; None where it repeats what an event said before it."""
        by_user = payload.get("role") == "user"
        if by_user and self._early is not None and _joined(text) == _joined(self._early):
            self._early = None
            return None
        injected = is_injected(payload, text)
        if injected and by_user and self._unsure:
            # Instructions and environment come before what is typed, never behind it.
            self._unsure = [one for one in self._unsure if one < self.spoken]
        unsure = injected is None and not self._events
        if unsure:
            self._unsure.append(index)
        looks = by_user and is_injected(payload, "") is None
        if not injected or looks:
            self.waiting.append((index, text.strip(), bool(injected)))
        return _INJECTED if injected or unsure else _USER

    def typed(self, text: str, kinds: bytearray) -> bool:
        """An event says what was typed: its message becomes the user's. False where no message says it so far."""
        if not self._events:
            self._unsure.clear()
        self._events += 1
        prompt = text.strip()
        for place in range(len(self.waiting) - 1, -1, -1):
            index, known, looks = self.waiting[place]
            if prompt == known or (not looks and prompt in known) or _joined(prompt) == _joined(known):
                kinds[index] = _USER
                del self.waiting[: place + 1]
                return True
        self._early = prompt
        return False

    def settle(self, kinds: bytearray) -> None:
        """Decides at the end of the file: where there was no event at all, whatever does not look injected is the user's."""
        if not self._events:
            for index in self._unsure:
                kinds[index] = _USER
        self._unsure.clear()
