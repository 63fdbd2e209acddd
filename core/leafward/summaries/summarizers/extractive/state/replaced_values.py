"""Values and names that later answers replaced: what an answer told of the older one is left out, or its outcome renewed."""

from __future__ import annotations

import re
from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.prose import sentences
from leafward.summaries.summarizers.extractive.answers.passages import quotable
from leafward.summaries.summarizers.extractive.candidates import OUTCOME, quoted
from leafward.summaries.summarizers.extractive.requests.request_texts import OUTCOME_LIMIT
from leafward.summaries.summarizers.outline import SummarySection, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.summaries.summarizers.extractive.candidates import Evidence, LineCandidate
    from leafward.summaries.summarizers.extractive.turns import Turn

_CHANGED = late(
    r"(?i)\b(changed|set|raised|lowered|increased|reduced|decreased|bumped|switched|renamed|moved|converted|replaced|swapped)\s+"
    r"(?:the |its |all )?([^.;,!?\n]{2,80}?)\s+(?:back )?(?:to|by|with|→)\s+([^,;!?\n]{1,60})"
)
"""A change told with its new value: the verb, the thing, and what stands behind."""
_GIVEN = late(r"`([^`\n]{2,60})`\s*(?::|=|→|is now|now uses|uses)\s+(?:back to )?`([^`\n]{1,60})`")
"""A name in code with its value in code."""
_NOW = late(
    r"(?i)^(?:the |its )?([^.;,:!?\n]{2,60}?) (?:is|are) (?:now )?`?([\w#.%-]{1,40})`?(?: now)?[.!]?$"
)
"""A thing with its value: `the default port is 8080 now`."""
_OPPOSITES = (
    ("added", "removed"),
    ("enabled", "disabled"),
    ("created", "deleted"),
    ("installed", "uninstalled"),
    ("upgraded", "downgraded"),
    ("switched on", "switched off"),
    ("turned on", "turned off"),
    ("hinzugefügt", "entfernt"),
    ("eingeschaltet", "ausgeschaltet"),
)
"""Verbs of which the later one undoes what the earlier one did to the same thing."""
_PAIR = {verb: pair for pair in _OPPOSITES for verb in pair}
_TOGGLED = late(
    rf"(?i)^(?:i(?:['’]ve| have)? |now )?({'|'.join(_PAIR)}) (?:the |an? )?((?:[\w ]{{1,30}} )?`[^`\n]{{2,80}}`|[^.;,:!?`\n]{{3,60}}?)(?: (?:to|from|in|for|on|of|because|again|so) ([^.;,!?\n]*)|(?=[.;,:!?]|$))"
)
"""Work that another verb would undo, its object, and where."""
_SIZED = late(
    r"(?i)\b([a-z]{3,30}) (?:now )?(?:of|have|has|holds?|takes?) (?:now )?(\d[\d,.]{0,12}) ([a-z]{2,20})\b"
)
"""A thing with a figure and its unit: `batches of 500 rows`."""
_USES = late(
    r"(?i)\b(?:use|uses|using|chose|picked|took|went with|go with|going with) ((?:`[^`\n]{1,40}`|[\w.+#-]+)(?: [\w.+#-]+)?) (?:for|as) (?:the |our |its )?([^.;,:!?\n]{2,60}?)(?= now\b|[.,;:!?]| because| since| so |$)"
)
"""A thing with what is used for it: `we use SQLite for the queue`."""
_REPLACES = frozenset({"renamed", "moved", "converted", "replaced", "swapped", "switched"})
"""Verbs whose object was there before, and is not any more."""
_BRACKETS = late(r" \([^()\n]*\)")
"""A remark in brackets."""
_WHERE = late(r"(?i)[^\w(]*(?:\w+ )?(?:in|for|on|at|of|by) ([^.;,(\n]*)")
_FIRST_WORDS = late(
    r"`[^`]+`|[^\s`(]+(?: (?!in |for |of |and |on |at |so |because |from |instead )[^\s`(]+){0,2}"
)
_DIGITS = late(r"\d[\d,.]*\d|\d")
_STATES = late(
    r"(?i)\b(?:is|are|has|have|takes?|needs?|costs?|uses?|weighs?|runs in|holds?|changed|set|raised|lowered|increased|reduced"
    r"|ist|sind|hat|jetzt|dauert|braucht|est|sont|maintenant|prend|está|ahora|tarda|теперь|стал[аои]?)\b|现在|改为|设为|変更|設定"
)
"""Words of a sentence that tells a figure which has only one value at a time."""
_FILES = late(r" \(changed `[^()]{1,200}\)$")
"""The files behind an outcome of ours."""
_COUNTS = late(r"\b(\d[\d,]{1,9}) (?:→|->) (\d[\d,]{1,9}) ([a-z]{3,20})\b")
"""A figure that grew or shrank, with its unit."""

_QUOTES = ("Committed: ", "Taken back: ", "Undone by the user: ", "Done anew ", "Declined by the user: ")
"""Leads of lines that quote no answer."""


class _Value(NamedTuple):
    """What an answer says that a thing is now."""

    name: tuple[str, ...]
    value: str
    former: str
    """What it replaced; empty where that is not told."""
    where: frozenset[str]
    """The words behind it: the same thing may stand in several places."""
    place: int
    said: str
    """The sentence."""


class _Newer(NamedTuple):
    """A sentence that replaces what was told before its place."""

    place: int
    said: str


class _Figure(NamedTuple):
    """A figure of which an answer says that it grew or shrank."""

    place: int
    old: str
    unit: str


class _Later(NamedTuple):
    """What the answers tell that may replace what others told before."""

    values: list[_Value]
    by_name: dict[tuple[str, ...], list[int]]
    """The numbers of the values, by name."""
    by_former: dict[str, list[int]]
    """The same by what they replaced."""
    measured: dict[tuple[str, ...], _Newer]
    """The last sentence with a figure, by the sentence without it."""
    figures: list[_Figure]


def renew(evidence: Evidence, turns: Sequence[Turn]) -> None:
    """Leaves out told values that a later answer replaced; a request whose outcome they were gets the later one."""
    lines = [
        one
        for one in evidence.candidates
        if (one.tells_work or one.section is SummarySection.DECISIONS) and not one.text.startswith(_QUOTES)
    ]
    later = _read(turns, [one.came for one in lines])
    if not any(later):
        return
    looked_at = set(map(id, lines))
    evidence.candidates = [
        candidate
        for candidate in evidence.candidates
        if id(candidate) not in looked_at or _holds(candidate, evidence.place_of(candidate), turns, later)
    ]


def _read(turns: Sequence[Turn], texts: Sequence[str]) -> _Later:
    """Reads from the answers what may concern some texts."""
    words = {
        word
        for text in texts
        for value in _told(text, 0)
        for word in (*value.name[:1], *value.name[-1:], value.value)
    }
    masks = {masked for text in texts for one in sentences(_FILES.sub("", text)) if (masked := _masked(one))}
    later = _Later([], {}, {}, {}, [])
    for turn in turns:
        low = turn.answer.casefold()
        if any(map(low.__contains__, words)):
            later.values.extend(_told(turn.answer, turn.last))
        if masks and _DIGITS.search(low):
            for one in sentences(turn.answer):
                if (masked := _masked(one)) in masks:
                    later.measured[masked] = _Newer(turn.last, one)
        if "→" in low or "->" in low:
            later.figures.extend(
                _Figure(turn.last, old, unit) for old, _, unit in _COUNTS.findall(turn.answer)
            )
    for number, value in enumerate(later.values):
        later.by_name.setdefault(value.name, []).append(number)
        later.by_former.setdefault(value.former, []).append(number)
    return later


def _holds(candidate: LineCandidate, place: int, turns: Sequence[Turn], later: _Later) -> bool:
    """Whether a line stays, with what later answers replaced in it changed or left out."""
    if candidate.asks:
        _answer_anew(candidate, place, turns, later)
    elif _renewed(candidate.text, place, later) is not None:
        if candidate.section is SummarySection.DECISIONS:
            return False
        parts = candidate.text.split("; ")
        left = [part for part in parts if _renewed(part, place, later) is None]
        if not left or len(left) == len(parts):
            return False
        candidate.text = "; ".join(left)
    for figure in later.figures:
        if figure.place > place and f"{figure.old} {figure.unit}" in candidate.text:
            aside = re.escape(f"{figure.old} {figure.unit}")
            candidate.text = re.sub(rf"(?: [-–—] | ?\(|, ){aside}\)?(?=$|[;,.])", "", candidate.text)
    return True


def _answer_anew(candidate: LineCandidate, place: int, turns: Sequence[Turn], later: _Later) -> None:
    """Gives a request the last outcome: what replaced its own may have been replaced too."""
    asked, arrow, whole = candidate.text.partition(OUTCOME)
    came = candidate.came
    is_quoted = came != whole
    if arrow:
        place = next((turn.last for turn in turns if turn.entry in candidate.sources), place)
    newest = None
    while (newer := _renewed(came, place, later)) is not None:
        newest, came, place = newer, newer.said, newer.place
    if newest is not None:
        said = harmless(newest.said, OUTCOME_LIMIT)
        candidate.text = f"{asked}{OUTCOME}{quoted(said) + whole.rpartition('”')[2] if is_quoted else said}"


def _renewed(text: str, place: int, later: _Later) -> _Newer | None:
    """The sentence by which a later answer replaced what a text tells; None where none did."""
    for mine in _told(text, place):
        # Those of the same name, and those that replaced its value, the newest first.
        same = merge(
            reversed(later.by_name.get(mine.name, ()) if mine.name else ()),
            reversed(later.by_former.get(mine.value, ()) if mine.value else ()),
            reverse=True,
        )
        for other in (later.values[number] for number in same):
            if other.place <= place:
                break
            same_place = not (mine.where and other.where) or mine.where == other.where
            if mine.name and mine.name == other.name and mine.value != other.value and same_place:
                return _Newer(other.place, other.said)
            if mine.value and mine.value == other.former and same_place:
                return _Newer(other.place, other.said)
    for one in sentences(_FILES.sub("", text)):
        newer = later.measured.get(_masked(one) or ())
        if newer is not None and newer.place > place and newer.said != one:
            return newer
    return None


def _told(text: str, place: int) -> Iterator[_Value]:
    """The values that a text tells."""
    for line in quotable(text, shortest=8) if "\n" in text else sentences(text):
        for name, value in _GIVEN.findall(line):
            yield _Value((_plain(name),), _plain(value), "", frozenset(), place, line)
        for verb, thing, rest in _CHANGED.findall(_BRACKETS.sub("", line)):
            begun = _FIRST_WORDS.match(rest)
            if begun is None:
                continue
            thing, _, former = thing.partition(" from ")
            replaces = verb.casefold() in _REPLACES
            value = _plain(begun[0])
            yield _Value(
                _name(thing),
                value,
                _plain(former or thing) if (former or replaces) else "",
                _where(rest[begun.end() :]),
                place,
                line,
            )
        for thing, figure, unit in _SIZED.findall(line):
            yield _Value((thing.casefold(), unit.casefold()), figure, "", frozenset(), place, line)
        for used, thing in _USES.findall(line):
            yield _Value(tuple(content_words(thing)), _plain(used), "", frozenset(), place, line)
        if (found := _TOGGLED.match(line)) is not None:
            verb, thing, where = found.groups()
            if words := content_words(thing):
                name = (*_PAIR[verb.casefold()], *words)
                yield _Value(name, verb.casefold(), "", frozenset(content_words(where or "")), place, line)
        if (found := _NOW.match(line)) is not None and " now" in line and _DIGITS.search(found[2]):
            yield _Value(_name(found[1]), _plain(found[2]), "", frozenset(), place, line)


def _where(rest: str) -> frozenset[str]:
    """The words behind a value that say where it holds."""
    found = _WHERE.match(rest)
    return frozenset(content_words(found[1])) if found is not None else frozenset()


def _name(thing: str) -> tuple[str, ...]:
    bare = _plain(thing)
    return (bare,) if thing.strip().startswith("`") else tuple(content_words(bare))


def _plain(text: str) -> str:
    return text.strip(" .`*!").casefold().removeprefix("the ")


def _masked(sentence: str) -> tuple[str, ...] | None:
    """A sentence without its figures, where it tells a figure; else None."""
    if _DIGITS.search(sentence) is None or _STATES.search(sentence) is None or "#" in sentence:
        return None
    return tuple(word for word in content_words(_DIGITS.sub(" ", sentence)) if word != "now") or None
