"""Glob patterns as opencode's rules use them: `*`, `**`, `?`, classes, braces; a pattern without `/` matches the file name."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from leafward.base.late_pattern import late

_MAGIC = late(r"[*?\[{]")
_LIMIT = 1_000
"""Code points of a pattern; longer ones match nothing."""
_ALTERNATIVES = 256
"""Patterns that braces may stand for."""


def has_magic(pattern: str) -> bool:
    """Whether a pattern can match more than itself."""
    return _MAGIC.search(pattern) is not None


def base_folder(pattern: str) -> str:
    """The folder that contains all matches of a pattern; the pattern itself without wildcards; empty where no folder is certain."""
    magic = _MAGIC.search(pattern)
    if magic is None:
        return pattern
    return pattern[: magic.start()].rpartition("/")[0]


def matches(path: str, pattern: str) -> bool:
    """Whether a path relative to the project matches. Case counts; `*` and `**` skip names that begin with a dot."""
    path = path.removeprefix("./")
    if not path or path.startswith(("/", "../", "~")) or len(path) > _LIMIT:
        return False
    names = path.split("/")
    for segments in _compiled(pattern.strip().removeprefix("./")):
        # A pattern of one segment is matched against the file's name, in any folder.
        if _match(segments, names[-1:] if len(segments) == 1 and segments[0] is not None else names):
            return True
    return False


Segments = tuple[re.Pattern[str] | None, ...]
"""The parts of a pattern between slashes; None for `**`."""


def _match(segments: Segments, names: list[str]) -> bool:
    """Follows the pattern with all reachable places of the path: work is at most the product of both lengths."""
    places = {0}
    for number, segment in enumerate(segments):
        if segment is not None:
            places = {
                place + 1
                for place in places
                if place < len(names) and segment.fullmatch(names[place]) is not None
            }
            continue
        last = number == len(segments) - 1
        reached: set[int] = set()
        for place in sorted(places):
            if place in reached and not last:
                continue
            if not last:
                reached.add(place)
            while place < len(names) and not names[place].startswith("."):
                place += 1
                reached.add(place)
        places = reached
    return len(names) in places


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> tuple[Segments, ...]:
    if not pattern or len(pattern) > _LIMIT:
        return ()
    found: list[Segments] = []
    for one in expanded(pattern):
        try:
            found.append(
                tuple(None if part == "**" else re.compile(_segment(part)) for part in one.split("/"))
            )
        except re.error:
            continue
    return tuple(found)


def expanded(pattern: str) -> list[str]:
    """The patterns that result from its braces; a pattern with unclosed braces is left as it is."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        one = waiting.pop()
        opening = _brace(one)
        if opening is None or len(done) + len(waiting) > _ALTERNATIVES:
            done.append(one)
            continue
        start, stop, parts = opening
        waiting += [one[:start] + part + one[stop:] for part in reversed(parts)]
    return done


def _brace(pattern: str) -> tuple[int, int, list[str]] | None:
    """The first braces with alternatives: their begin and end, and the alternatives."""
    opened: list[list[int]] = []
    """The places of each open brace and of the commas behind it."""
    marks: list[int] = []
    for place, char in enumerate(pattern):
        if char == "{":
            opened.append([place])
        elif char == "," and opened:
            opened[-1].append(place)
        elif char == "}" and opened:
            closed = [*opened.pop(), place]
            if len(closed) > 2 and (not marks or closed[0] < marks[0]):
                marks = closed
            if marks and not opened:
                break
    if not marks:
        return None
    parts = [pattern[begin + 1 : end] for begin, end in pairwise(marks)]
    return marks[0], marks[-1] + 1, parts


def _members(inner: str) -> str:
    """The members of a class, every character escaped except the dash of a range: `--` may become a set operation in Python."""
    found, place = "", 0
    while place < len(inner):
        is_range = inner[place + 1 : place + 2] == "-" and place + 2 < len(inner)
        found += re.escape(inner[place]) + (f"-{re.escape(inner[place + 2])}" if is_range else "")
        place += 3 if is_range else 1
    return found


def _segment(segment: str) -> str:
    """One segment as a regular expression that looks at each character a bounded number of times.

    The text between two stars is matched at its first place, which is as good as any later one.
    """
    parts: list[str] = [""]
    place = 0
    while place < len(segment):
        char = segment[place]
        if char == "*":
            while segment[place : place + 1] == "*":
                place += 1
            parts.append("")
            continue
        if char == "?":
            parts[-1] += "[^/]"
        elif char == "[" and (end := segment.find("]", place + 2)) > 0:
            inner = segment[place + 1 : end]
            negated = inner[:1] in {"!", "^"}
            parts[-1] += f"[{'^/' if negated else ''}{_members(inner[1:] if negated else inner)}]"
            place = end
        else:
            parts[-1] += re.escape(char)
        place += 1
    hidden = "" if segment[:1] not in {"*", "?", "["} else r"(?!\.)"
    if len(parts) == 1:
        return hidden + parts[0]
    middle = "".join(f"(?>[^/]*?{part})" for part in parts[1:-1])
    return f"{hidden}{parts[0]}{middle}[^/]*{parts[-1]}"
