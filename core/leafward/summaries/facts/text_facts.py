"""The facts in one text, by who wrote it: prose, a request with what was pasted into it, output, code."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING

from leafward.summaries.facts.calls.declined_calls import DECLINED, is_declined
from leafward.summaries.facts.calls.printed_errors import (
    UNTOLD,
    error_key,
    named_errors,
    outcome_of,
    printed_errors,
)
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.forms.spaced_paths import without
from leafward.summaries.facts.forms.words import words
from leafward.summaries.facts.known_texts import Known
from leafward.summaries.facts.sentences import demands, pasting, prose, questions
from leafward.summaries.facts.sentences.checklists import checkboxes
from leafward.summaries.facts.sentences.decisions import changes_mind, decides
from leafward.summaries.facts.sentences.negation import sentence_key
from leafward.summaries.facts.sentences.remaining_work import remains
from leafward.summaries.facts.sentences.replies import announces
from leafward.summaries.facts.sentences.standing_rules import listed_rules
from leafward.summaries.facts.values import FactKind, Sighting, Voice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from leafward.session.entries import Body, EntryIndex

_COUNTED = re.compile(r"(?m)^\s{0,12}(\d{1,9}) (\S{1,300}\.\w{1,10})$")
_OPENERS = "The|Let|Looking|But|Wait|Actually|Since|However|Given|This|Now|Also|Here|There|So"
_GLUED = re.compile(rf"[A-Z]?[a-z]{{2,40}}(?:{_OPENERS})(?!\w)")
"""A word and the first one of the next sentence, where blocks of thinking were joined without anything between them."""
_JOINT = re.compile(rf"(?<=[a-z0-9)`\]\"])(?=(?:{_OPENERS}|I|We|It|If|That|Then|To)(?:['’]\w+)? )")
"""The place where they were joined."""
_BREAK = re.compile(r"[\n。！？；.!?;](?:(?<![.!?;])|(?= ))")
"""The end of a line or a sentence: a number behind it is not about a path before it."""
_NEAR = 2
"""Sentences behind a decision in which it is taken back."""
AGREED_PLAN = "Implement the following plan:"
"""The beginning of the prompt by which Claude Code (2.1) continues from a plan that it made."""


new_sighting: Callable[[tuple[object, ...]], Sighting] = partial(tuple.__new__, Sighting)
"""A constructor without a Python frame, for a hundred thousand calls."""


class TextFacts:
    """The facts in texts of one folder's messages. They depend on the text and its voice alone."""

    def __init__(self, cwd: str, known: Known | None = None) -> None:
        """`known` is shared by all who read messages of the same folder: each text is read once for all."""
        self.cwd = cwd
        self.known = Known() if known is None else known
        """The facts of each text read so far."""

    def prose(self, text: str, voice: Voice, entry: EntryIndex) -> list[Sighting]:
        """The facts of a text that somebody wrote."""
        return self._once(("prose", text, voice), entry, lambda: self._prose(text, voice, entry))

    def named(self, text: str, voice: Voice, entry: EntryIndex) -> Iterator[Sighting]:
        """The facts of such a text by their form, without demands, decisions and open work in its sentences."""
        for form in forms.commands(text):
            yield Sighting(FactKind.COMMAND, form.key, form.text, voice, entry)
        yield from self.by_form(text, voice, entry)
        for found in named_errors(text):
            yield Sighting(FactKind.ERROR, error_key(found), found, voice, entry)

    def _prose(self, text: str, voice: Voice, entry: EntryIndex) -> Iterator[Sighting]:
        yield from self.named(text, voice, entry)
        # A plan that the user agrees to is the agent's: its steps are work, not rules.
        user = voice is Voice.USER and not text.lstrip().startswith(AGREED_PLAN)
        ruled = listed_rules(text) if user else ()
        for sentence in prose.sentences(text) if voice is not Voice.THOUGHT else _thoughts(text):
            if sentence.endswith((":", "：")):
                user = user and not demands.gives_text(sentence)
                continue
            if user and questions.asks(sentence):
                # A question makes no rule and no decision, and leaves only the answer to be done.
                continue
            if user and (demands.demands(sentence) or sentence in ruled):
                kind = FactKind.CONSTRAINT
            elif decides(sentence, strictly=voice is Voice.THOUGHT):
                kind = FactKind.DECISION
            elif voice is not Voice.THOUGHT and remains(sentence) and not announces(sentence):
                kind = FactKind.TODO
            else:
                continue
            key = sentence_key(sentence)
            if len(key) >= 3:
                yield Sighting(kind, key, sentence, voice, entry)
        for item, is_open, heading in checkboxes(text):
            key = sentence_key(item)
            if key:
                yield Sighting(FactKind.TODO, key, item, voice, entry, about=heading, is_open=is_open)

    def by_form(
        self, text: str, voice: Voice, entry: EntryIndex, *, names: bool = True, numbers: bool = True
    ) -> list[Sighting]:
        """The facts that a text holds by their form."""
        return self._once(
            ("forms", text, voice, names, numbers),
            entry,
            lambda: self._formed(text, voice, entry, names=names, numbers=numbers),
        )

    def _formed(
        self, text: str, voice: Voice, entry: EntryIndex, *, names: bool, numbers: bool
    ) -> list[Sighting]:
        if " " in self.cwd and self.cwd in text:
            # Its blanks would cut each path in it.
            text = text.replace(f"{self.cwd}/", "")
        addresses = list(forms.urls(text))
        seen = [Sighting(FactKind.URL, form.key, form.text, voice, entry) for form in addresses]
        if addresses:
            text = without(text, addresses)
        # A module's imports from its own folder are not files that anybody named.
        beside = voice not in {Voice.CODE, Voice.OUTPUT}
        found, named = words(self.cwd, relative=beside, calls=voice is not Voice.CODE, names=names).read(text)
        seen += [
            new_sighting((FactKind.PATH, key, said, voice, entry, "", "", True)) for said, key, _ in found
        ]
        if numbers:
            places = sorted((form.start, form.key) for form in found)
            counted = list(forms.numbers(text))
            breaks = [end.start() for end in _BREAK.finditer(text)] if places and counted else []
            for form in counted:
                about = _nearest(places, form.start, breaks)
                seen.append(Sighting(FactKind.NUMBER, form.key, form.text, voice, entry, about=about))
        seen += [
            new_sighting((FactKind.IDENTIFIER, key, said, voice, entry, "", "", True))
            for said, key, _ in named
            if voice is not Voice.THOUGHT or _GLUED.match(said) is None
        ]
        return seen

    def typed(self, text: str, entry: EntryIndex) -> Iterator[Sighting]:
        """The facts of a person's text: a pasted log counts as a tool's output and makes no rules."""
        own, pasted = pasting.divided(text)
        yield from self.prose(prose.unwrapped(own), Voice.USER, entry)
        if pasted:
            yield from self.printed(pasted, entry, failed=False)

    def printed(self, text: str, entry: EntryIndex, *, failed: bool) -> list[Sighting]:
        """The facts of a tool's output: those it holds by their form, and its errors."""
        return self._once(("printed", text, failed), entry, lambda: self._in_print(text, entry, failed))

    def _in_print(self, text: str, entry: EntryIndex, failed: bool) -> Iterator[Sighting]:
        yield from self.by_form(text, Voice.OUTPUT, entry, names=False)
        for line in printed_errors(text, failed=failed):
            yield Sighting(FactKind.ERROR, error_key(line), line.strip()[:300], Voice.OUTPUT, entry)

    def ended(self, command: str, result: Body, printed: str, entry: EntryIndex) -> list[Sighting]:
        """How a command ended, by its result and what that says it printed; nothing where they do not tell."""
        failed, code = bool(result.get("isError")), result.get("exitCode")
        code = code if isinstance(code, int) else None
        return self._once(
            ("ended", printed, failed, command, code),
            entry,
            lambda: _ended(command, printed, entry, failed=failed, code=code),
        )

    def line_counts(self, text: str, entry: EntryIndex) -> Iterator[Sighting]:
        """The line counts of `wc -l`, whose numbers alone do not show that they count lines."""
        for match in _COUNTED.finditer(text):
            path = forms.canonical_path(match[2], self.cwd)
            lines = f"{match[1]} lines"
            yield Sighting(FactKind.NUMBER, f"{int(match[1])} line", lines, Voice.OUTPUT, entry, about=path)

    def _once(
        self, what: tuple[object, ...], entry: EntryIndex, read: Callable[[], Iterable[Sighting]]
    ) -> list[Sighting]:
        """The facts of a text, read at its first occurrence: agents send the same text many times."""
        found = self.known.found(what)
        if found is None:
            found = self.known[what] = list(read())
        if not found or found[0].entry == entry:
            return found
        return [
            new_sighting((kind, key, text, voice, entry, outcome, about, is_open))
            for kind, key, text, voice, _, outcome, about, is_open in found
        ]


def _ended(
    command: str, printed: str, entry: EntryIndex, *, failed: bool, code: int | None
) -> Iterator[Sighting]:
    outcome = DECLINED if failed and is_declined(printed) else outcome_of(printed, failed, command, code)
    if outcome not in ("", UNTOLD):
        key = forms.canonical_command(command)
        yield Sighting(FactKind.COMMAND, key, command, Voice.CALL, entry, outcome=outcome)


def _thoughts(text: str) -> list[str]:
    """The sentences of thinking that decide something; only those are split where blocks were joined.

    A decision that is taken back right behind it, in the same thinking, is none.
    """
    found: list[str] = []
    latest = none = -_NEAR - 1
    for place, sentence in enumerate(prose.sentences(text)):
        if latest >= place - _NEAR and changes_mind(sentence):
            found.pop()
            latest = none
        if decides(sentence, strictly=True):
            found += _JOINT.split(sentence)
            latest = place
    return found


def _nearest(named: list[tuple[int, str]], start: int, breaks: list[int]) -> str:
    """The nearest path in the same sentence as a number; empty where there is none. The paths and the ends of sentences are in order."""
    line = bisect_left(breaks, start)
    close = []
    behind = bisect_left(named, (start, ""))
    if behind < len(named) and bisect_left(breaks, named[behind][0]) == line:
        close.append((named[behind][0] - start, named[behind][1]))
    if behind and bisect_left(breaks, place := named[behind - 1][0]) == line:
        close.append((start - place, named[bisect_left(named, (place, ""))][1]))
    return min(close)[1] if close else ""
