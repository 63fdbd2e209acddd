"""What is typed into a search or a filter: words, phrases, patterns and terms. One grammar for cards and for all text.

Words are parts of a text, case ignored, and all of them are needed; a phrase stands in double quotes. Terms narrow further.
A filter of cards knows some of them only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches

from leafward.base.times import parse_time

TERMS = {
    "file": "part of the name of a file read or changed",
    "since": "30m, 12h, 7d, 6w, 3mo, 1y, today or a date",
    "agent": "an agent's name, or its beginning",
    "project": "part of the project's path",
    "not": "a word or phrase that must not be there",
}
"""What may stand before a colon in any query, and what it takes."""

TEXT_TERMS = {
    "tool": "a tool's name, * for any characters: its calls and results",
    "in": "summary, prompt, reply, thinking, call, result, name, injected or system",
    "error": "nothing, or part of the text of what failed; with file: what failed on that file",
    "re": "a pattern, case ignored, in quotes where it has spaces; /pattern/ is the same",
}
"""What else may stand there in a search of all text."""

PARTS = ("summary", "prompt", "reply", "thinking", "call", "result", "name", "injected", "system")
"""What an entry is made of, as `in:` names it."""

_TOKEN = re.compile(
    r"(?<!\S)/(?P<slashed>(?:[^/\\\n]|\\.)+)/(?!\S)"
    r'|(?<!\S)(?i:re):(?:"(?P<quoted>(?:[^"\\\n]|\\.)*)"?|(?P<bare>[^\s"]\S*))'
    r"|(?P<empty>[A-Za-z]+):(?=\s|$)"
    r'|(?:(?P<key>[A-Za-z]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))'
)
_SPAN = re.compile(r"(\d{1,6})(mo|[mhdwy])")
_MINUTES = {"m": 1, "h": 60, "d": 1440, "w": 10_080, "mo": 43_200, "y": 525_600}


@dataclass(frozen=True, slots=True)
class QueryProblem:
    """A term that means nothing as it stands."""

    term: str
    """As typed."""
    text: str
    """What is wrong with it, on one line."""
    fatal: bool = False
    """Whether there is nothing sensible to look for without it."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. Texts are in lower case, patterns as typed."""

    words: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    since: int | None = None
    """Milliseconds since 1970; sessions last modified before are left out."""
    problems: tuple[QueryProblem, ...] = ()
    excluded: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    """Any of them."""
    parts: tuple[str, ...] = ()
    """Any of them."""
    failed: bool = False
    """Only what failed."""

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return (
            self.looks_inside or bool(self.agents or self.projects or self.excluded) or self.since is not None
        )

    @property
    def narrows(self) -> bool:
        """Whether it leaves out sessions by what their cards say."""
        return self.since is not None or bool(self.agents or self.projects)

    @property
    def looks_inside(self) -> bool:
        """Whether it asks for anything that only the text of a session tells, or a card's words."""
        return bool(self.words or self.files or self.patterns or self.tools or self.parts or self.failed)


def parse(text: str, now: int, *, whole: bool = False) -> Query:
    """A query as typed; `now` in milliseconds since 1970. Never fails: what is wrong is in `problems` and left out.

    `whole`: it is looked for in all text; else in cards, which know neither patterns nor the terms of `TEXT_TERMS`.
    """
    reading = _Reading(now, whole)
    for token in _TOKEN.finditer(text):
        reading.take(token)
    found = reading.found
    return Query(
        words=tuple(dict.fromkeys(found["word"])),
        files=tuple(found["file"]),
        agents=tuple(found["agent"]),
        projects=tuple(found["project"]),
        since=reading.since,
        problems=tuple(reading.problems),
        excluded=tuple(dict.fromkeys(found["not"])),
        patterns=tuple(dict.fromkeys(found["re"])),
        tools=tuple(found["tool"]),
        parts=tuple(dict.fromkeys(found["in"])),
        failed=reading.failed,
    )


class _Reading:
    """A query while it is read, term by term."""

    def __init__(self, now: int, whole: bool) -> None:
        self.now = now
        self.whole = whole
        self.found: dict[str, list[str]] = {
            name: [] for name in ("word", "file", "agent", "project", "not", "re", "tool", "in")
        }
        self.since: int | None = None
        self.failed = False
        self.problems: list[QueryProblem] = []

    def take(self, token: re.Match[str]) -> None:
        """One word, phrase, pattern or term."""
        typed = token[0]
        pattern = next(
            (token[name] for name in ("slashed", "quoted", "bare") if token[name] is not None), None
        )
        if pattern is not None:
            self._pattern(typed, pattern)
            return
        key = (token["key"] or token["empty"] or "").lower()
        value = token["phrase"] if token["phrase"] is not None else token["word"] or ""
        if not key:
            self._add("word", value)
        elif key in TEXT_TERMS and not self.whole:
            if token["empty"] is None or key == "error":
                self.problems.append(QueryProblem(typed, f"{key}: works in the search of all text only"))
        elif key == "since":
            self._since(typed, value.lower())
        elif key == "error":
            self.failed = True
            self._add("word", value)
        elif key == "in":
            self._part(typed, value.lower())
        elif key in self.found and key != "word":
            self._add(key, value)
        elif token["empty"] is not None:
            self._add("word", f"{key}:")
        else:
            close = get_close_matches(key, (*TERMS, *(TEXT_TERMS if self.whole else ())), 1, 0.7)
            if close:
                self.problems.append(QueryProblem(typed, f"unknown term {key}: (did you mean {close[0]}:?)"))
            self._add("word", f"{key}:{value}")

    def _add(self, name: str, value: str) -> None:
        if value.strip():
            self.found[name].append(value.lower())

    def _since(self, typed: str, value: str) -> None:
        if not value:
            return
        moment = _moment(value, self.now)
        if moment is None:
            self.problems.append(QueryProblem(typed, f"since: takes {TERMS['since']}"))
        else:
            self.since = moment if self.since is None else max(self.since, moment)

    def _part(self, typed: str, value: str) -> None:
        if not value:
            return
        part = next((part for part in PARTS if part.startswith(value)), None)
        if part is None:
            self.problems.append(QueryProblem(typed, f"in: takes {TEXT_TERMS['in']}"))
        else:
            self.found["in"].append(part)

    def _pattern(self, typed: str, pattern: str) -> None:
        if not self.whole:
            # A path stands between slashes as well: among cards it is a word.
            if typed.startswith("/"):
                self._add("word", typed)
            else:
                self.problems.append(QueryProblem(typed, "re: works in the search of all text only"))
            return
        if typed.startswith("/"):
            pattern = pattern.replace("\\/", "/")
        from leafward.query.search.patterns import complaint

        wrong = complaint(pattern) if pattern else None
        if wrong is not None:
            self.problems.append(QueryProblem(typed, wrong, fatal=True))
        elif pattern:
            self.found["re"].append(pattern)


def _moment(value: str, now: int) -> int | None:
    span = _SPAN.fullmatch(value)
    if span is not None:
        return now - int(span[1]) * _MINUTES[span[2]] * 60_000
    if value == "today":
        midnight = (
            datetime.fromtimestamp(now / 1000, UTC)
            .astimezone()
            .replace(hour=0, minute=0, second=0, microsecond=0)
        )
        return int(midnight.timestamp() * 1000)
    return parse_time(value + "T00:00") if re.fullmatch(r"\d{4}-\d\d-\d\d", value) else None
