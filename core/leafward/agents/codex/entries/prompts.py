"""Messages under the user's name that a person typed.

Codex writes its own additions under the same name. It repeats typed text in an event, which comes behind the message or right
before it; in rollouts without such events, the beginning of a message decides.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from leafward.agents.codex.entries.items import is_injected
from leafward.session.entries import Kind

_USER, _INJECTED = Kind.USER, Kind.INJECTED


def _joined(text: str) -> str:
    """A text without white space: the event joins the parts of a message without separators."""
    return "".join(text.split())


def _digest(text: str) -> bytes:
    return blake2b(_joined(text).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class Prompts:
    """Decides which messages were typed, from messages and events in the order of a rollout."""

    def __init__(self) -> None:
        self.spoken = 0
        """The latest reply."""
        self.waiting: list[tuple[int, str, bool]] = []
        """Messages since the last reply or result that an event may still declare typed, with their texts, and whether they begin like
        Codex's own additions: then the event has to repeat the whole text."""
        self._events = 0
        self._unsure: list[int] = []
        """Messages before the first event, whose author nothing else tells."""
        self._early: bytes | None = None
        """Digest of the text of an event that no message before it had."""

    def begin_apart(self) -> None:
        """Begins behind unknown lines: events declared typed text there, and no message waits for one."""
        self._events = 1

    @property
    def are_known(self) -> bool:
        """Whether later lines can no longer change the kind of earlier messages."""
        return bool(self._events) and not self.waiting and not self._unsure

    @property
    def are_settled(self) -> bool:
        """Whether no later message belongs to what was read, either."""
        return self.are_known and self._early is None

    def extend(self, others: Prompts, base: int) -> None:
        """Continues behind a run of entries that begins at an entry, and before which all was settled."""
        self.waiting = [(base + index, text, looks) for index, text, looks in others.waiting]
        self._early = others._early

    def begin(self) -> None:
        """Begins a new segment."""
        self.waiting = []
        self._early = None

    def take(self, index: int, payload: dict[str, Any], text: str) -> Kind | None:
        """The present kind of a message that becomes the entry `index`; None where it repeats an earlier event."""
        by_user = payload.get("role") == "user"
        if by_user and self._early is not None and _digest(text) == self._early:
            self._early = None
            return None
        injected = is_injected(payload, text)
        if injected and by_user and self._unsure:
            # Instructions and environment come before typed text, never behind it.
            self._unsure = [one for one in self._unsure if one < self.spoken]
        unsure = injected is None and not self._events
        if unsure:
            self._unsure.append(index)
        looks = by_user and is_injected(payload, "") is None
        if not injected or looks:
            self.waiting.append((index, text.strip(), bool(injected)))
        return _INJECTED if injected or unsure else _USER

    def typed(self, text: str, kinds: bytearray) -> bool:
        """Makes a message the user's whose text an event declares typed. False where no message so far has that text."""
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
        self._early = _digest(prompt)
        return False

    def settle(self, kinds: bytearray) -> None:
        """Decides at the end of the file: without any event, every message that does not look injected is the user's."""
        if not self._events:
            for index in self._unsure:
                kinds[index] = _USER
        self._unsure.clear()
