"""The names that are listed after the files they were written into, and those that are listed alone."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from leafward.session.messages import message_text
from leafward.session.tokens import utf16_length
from leafward.summaries.facts.values import FactKind
from leafward.summaries.summarizers.extractive.candidates import Evidence, LineCandidate
from leafward.summaries.summarizers.extractive.selection.name_lists import (
    GROUP_LIMIT,
    MORE,
    Names,
    join_bare,
    telling,
)
from leafward.summaries.summarizers.outline import SummarySection, harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.summarizers.extractive.selection.room import Room
    from leafward.summaries.summarizers.extractive.selection.worth import Worth
    from leafward.summaries.survival.spans import SpanMessage

_LISTED = 0.01
"""The likelihood of being needed from which a name is listed."""
_NAMES = "Names that came up:"
_AT_THE_END = 1 << 30


class BareNames:
    """The bare names that a summary lists."""

    def __init__(self, room: Room, worth: Worth, evidence: Evidence, messages: Sequence[SpanMessage]) -> None:
        """`messages` are those of the `evidence`, with the contents of files."""
        self._room = room
        self._worth = worth
        self._evidence = evidence
        self._messages = messages
        self._lists = worth.files
        self._rest = Names(None, LineCandidate(SummarySection.CONTEXT, _NAMES, _AT_THE_END, ()))
        self._rest_lines: list[list[str]] = []
        self._rest_length = 0
        self._listed = 0

    def _taken(self) -> set[int]:
        return {id(candidate) for candidate in self._room.taken[SummarySection.CONTEXT]}

    @cached_property
    def _printed(self) -> str:
        """What calls printed that did not fail, contents of files included: an error names what is not there."""
        printed = (
            message_text(message)
            for _, message in self._messages
            if message.get("role") in ("toolResult", "bashExecution") and not message.get("isError")
        )
        return "\n".join(printed)

    def _is_there(self, name: str) -> bool:
        """Whether a name is more than words: those may name what was never there, what nobody took, or what was pasted by the way."""
        return name not in self._evidence.only_said or name.removesuffix("()") in self._printed

    def fill(self, share: float, *, whole: bool = False) -> None:
        """Lists names that are likely to be needed after the files they were written into, within a share of the text.

        With `whole`, lists as many after a file as fit a line, and others without a file.
        """
        taken = self._taken()
        for names in (*self._lists, self._rest):
            names.more = 0
        owner: dict[str, Names] = {}
        for names in self._lists:
            if id(names.candidate) not in taken:
                continue
            for name, last in names.written().items():
                other = owner.get(name)
                if other is None or other.written()[name] <= last:
                    owner[name] = names
        files = self._evidence.files.values()
        gone = self._evidence.removed.union(*(work.removed for work in files))
        gone.difference_update(*(work.names for work in files))
        listed = []
        for kind, key in self._worth.likely:
            if (
                kind is FactKind.IDENTIFIER
                and key not in gone
                and (kind, key) not in self._worth.covered
                and ((whole and len(key) > 3 and key in owner) or telling(key))
                and (key in owner or key in self._worth.named)
                and (chance := self._worth.likely[kind, key]) > _LISTED
            ):
                listed.append((-chance / (utf16_length(key) + 2), key))
        room = self._room
        limit = int(share * room.size)
        for _, key in sorted(listed):
            if key not in owner and not self._is_there(key):
                continue
            names = owner.get(key, self._rest)
            name = harmless(key, 80)
            price = utf16_length(name) + 2
            if whole and names is not self._rest and names.length + price > GROUP_LIMIT - 40:
                names = self._rest
            if not whole and len(names.names) >= names.most:
                if names is not self._rest and not names.reserved and room.used + MORE <= room.size:
                    names.reserved = True
                    room.used += MORE
                names.more += 1
                continue
            if names is self._rest:
                price += self._new_line(price)
            if self._listed + price > limit or room.used + price > room.size:
                break
            names.names.append(name)
            if names is self._rest:
                self._put_in_rest(name)
            self._listed += price
            room.used += price
            self._worth.covered.add((FactKind.IDENTIFIER, key))

    def _new_line(self, price: int) -> int:
        """The price of a name without a file beyond itself: the beginning of another line where the last one is full."""
        if self._rest_lines and self._rest_length + price <= GROUP_LIMIT - 40:
            return 0
        headings = 0 if self._rest_lines else self._room.headings_cost(self._rest.candidate)
        return utf16_length(_NAMES) + 3 + headings

    def _put_in_rest(self, name: str) -> None:
        price = utf16_length(name) + 2
        if self._new_line(price):
            self._rest_lines.append([])
            self._rest_length = 0
        self._rest_lines[-1].append(name)
        self._rest_length += price

    def write(self) -> None:
        """Writes the names after their files, the likeliest needed first; files without names share a line."""
        taken = self._taken()
        likely = self._worth.likely
        join_bare([names for names in self._lists if id(names.candidate) in taken])
        for names in self._lists:
            if names.names:
                names.names.sort(key=lambda name: (-likely.get((FactKind.IDENTIFIER, name), 0.0), name))
                names.candidate.text += ": " + ", ".join(names.names)
                if names.reserved and names.more:
                    names.candidate.text += f" and {min(names.more, 999)} more"
        for listed in self._rest_lines:
            text = f"{_NAMES} {', '.join(listed)}"
            facts = (self._evidence.facts.get((FactKind.IDENTIFIER, name)) for name in listed)
            sources = tuple(sorted({fact.entry for fact in facts if fact is not None}))
            self._room.put(LineCandidate(SummarySection.CONTEXT, text, _AT_THE_END, sources))
