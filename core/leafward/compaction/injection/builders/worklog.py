"""`SESSION.md`: a log that a person or an agent keeps, the newest entry first.

An entry begins with `[Focus: area] date — Branch name` at the start of a line, goes on with bullets, and may close with a
`Reality Check` line and a `Next Operator Brief` of `Open Work`, `Pending Tests` and `Blockers`. Blockers and open
work of an old entry are history: only the newest entry describes the present.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from leafward.base.late_pattern import late

_HEADER = re.compile(r"^(?:#{1,6}\s+|\*\*|[-*]\s+)?\[Focus:\s*([^\]\n]{1,200})\]\s*(.*)$", re.IGNORECASE)
_LINE_LIMIT = 2_000
"""Most code points of a line that are read."""
_DATE = late(r"\b(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?")
_HEADING = late(r"^#{1,6}\s+(.*)$")
_BRIEF = re.compile(r"^(?:#{1,6}\s+|\*\*)?\s*Next Operator Brief\b", re.IGNORECASE)
_CHECK = re.compile(r"^(?:#{1,6}\s+|\*\*|[-*]\s+)?\s*Reality Check\b", re.IGNORECASE)
_RULE = late(r"^\s*(?:-{3,}|\*{3,}|_{3,})\s*$")
_BULLET = late(r"^(\s*)[-*+]\s+(.*)$")
_NUMBERED = late(r"^\d{1,3}[.)]\s+")
_FENCE = late(r"^\s{0,3}(```|~~~)")
_FIELD = re.compile(
    r"^(?:\*\*|__)?(Open Work|Pending Tests?|Blockers?|Active Files?)(?:\*\*|__)?\s*:(?:\*\*|__)?\s*(.*)$",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"^(?:none|n/?a|nil|nothing|no(?:\s+(?:open work|known|pending|blockers?|tests?|pending tests?))?|[-–—])"
    r"(?:\s+(?:yet|known|so far|recorded|pending|open|left|remaining|blockers?|tests?|currently|right now|at (?:the moment|this time)))*"
    r"\s*(?:$|[.;,!:(–—]|-\s)",
    re.IGNORECASE,
)
_BLOCKED = late(r"(?i)(?<![\w-])blocked(?![\w-])")
_NOT_BLOCKED = late(r"(?i)\b(?:no longer|not|never|isn'?t|aren'?t|wasn'?t|un-?)\s+blocked|\bno blockers?\b")
_DECISION = late(r"(?i)\b(?:decisions?|decided|chose|prefer(?:red|s)?|chosen|approved)\b")
_UNDECIDED = late(
    r"(?i)\b(?:not (?:yet )?(?:approved|decided|chosen)|(?:pending|awaiting|needs?|ask(?:ing|ed)? for|request(?:ed|ing)?) (?:an? )?(?:\w+ )?(?:approval|decision)|undecided|to be decided)\b"
)
_APPROVAL = late(r"(?i)\bapprov(?:al|ed|e)\b")
_TICKED = late(r"^\[([ xX])\]\s+(.*)$")
_GOING_ON = late(r"(?i)^(?:continue|resume|next(?: step)?:)\b")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a log, and its line."""

    text: str
    number: int
    """Line number, from 1."""


@dataclass(slots=True)
class LogEntry:
    """One entry of the log."""

    focus: str
    header: Statement
    date: str
    bullets: list[Statement] = field(default_factory=list)
    """Bullets on finished work; other bullets are in the lists below."""
    open_work: list[Statement] = field(default_factory=list)
    pending_tests: list[Statement] = field(default_factory=list)
    blockers: list[Statement] = field(default_factory=list)
    decisions: list[Statement] = field(default_factory=list)
    pending: list[Statement] = field(default_factory=list)
    """Lines that ask for an approval."""
    file_lines: list[Statement] = field(default_factory=list)
    """Lines in which files may be named."""
    lines: list[Statement] = field(default_factory=list)
    """All lines; the header is without its branch."""
    brief: str = ""
    """Form in which its brief begins: `heading`, `line`, or empty if it has none."""


def says_nothing(text: str) -> bool:
    """Whether the value of a field means "none"."""
    return not text.strip() or _NONE.match(text.strip()) is not None


def plain(text: str) -> str:
    """A bullet's text without a tick box or list number in front; `3.12` is no list number."""
    ticked = _TICKED.match(text)
    return _NUMBERED.sub("", ticked[2] if ticked else text).strip()


def visible_lines(text: str) -> list[Statement]:
    """The lines of a Markdown text without comments and fenced blocks, with their line numbers in the file."""
    found: list[Statement] = []
    comment = False
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        line = line[:_LINE_LIMIT]
        if fence:
            if line.strip().startswith(fence):
                fence = ""
            continue
        rest, kept = line, ""
        while rest:
            if comment:
                _, closed, rest = rest.partition("-->")
                comment = not closed
            else:
                before, opened, rest = rest.partition("<!--")
                kept += before
                comment = bool(opened)
        if not comment and (opening := _FENCE.match(kept)):
            fence = opening[1]
            continue
        found.append(Statement(kept.rstrip(), number))
    return found


def read_log(text: str) -> list[LogEntry]:
    """The entries of a log, the newest first; a single entry without a header if the file has none.

    If all entries are dated and the last is newer than the first, their order is reversed.
    """
    entries: list[LogEntry] = []
    groups: list[list[Statement]] = [[]]
    for line in visible_lines(text):
        header = _HEADER.match(line.text)
        if header is not None and not header[1].strip().startswith("<"):
            date = _DATE.search(header[2])
            entries.append(LogEntry(header[1].strip(), line, date[0] if date else ""))
            groups.append([])
        else:
            groups[-1].append(line)
    if not entries:
        only = LogEntry("", Statement("", 1), "")
        _read_entry(only, groups[0])
        return [only]
    for entry, lines in zip(entries, groups[1:], strict=True):
        branch = re.split(r"(?i)\s+[—–-]+\s+branch\b|\bbranch\s+`", entry.header.text, maxsplit=1)[0]
        entry.lines.append(Statement(branch, entry.header.number))
        _read_entry(entry, lines)
    if all(entry.date for entry in entries) and entries[-1].date > entries[0].date:
        entries.reverse()
    _lend_brief(entries, groups[0])
    return entries


def _lend_brief(entries: list[LogEntry], preamble: list[Statement]) -> None:
    """Gives a brief of the whole file to the newest entry if that has none of its own.

    Such a brief comes before all entries, or it is the only brief in the file and under a heading.
    """
    newest = entries[0]
    if newest.brief or newest.open_work or newest.pending_tests or newest.blockers:
        return
    above = LogEntry("", Statement("", 1), "")
    if any(_BRIEF.match(line.text) for line in preamble):
        _read_entry(above, preamble, only_brief=True)
    else:
        briefs = [entry for entry in entries if entry.brief]
        if len(briefs) == 1 and briefs[0].brief == "heading":
            above = briefs[0]
    newest.open_work, newest.pending_tests, newest.blockers = (
        above.open_work,
        above.pending_tests,
        above.blockers,
    )


def _read_entry(entry: LogEntry, lines: list[Statement], *, only_brief: bool = False) -> None:
    in_brief = False
    done = only_brief
    section = ""
    last_field: list[Statement] | None = None
    outermost = min((len(bullet[1]) for line in lines if (bullet := _BULLET.match(line.text))), default=0)
    for line in lines:
        text = line.text
        entry.lines.append(line)
        if _BRIEF.match(text):
            in_brief, done, section, last_field = True, True, "", None
            entry.brief = "heading" if text.startswith("#") else "line"
            continue
        if _CHECK.match(text) or _RULE.match(text):
            done, last_field = True, None
            in_brief = in_brief and not _RULE.match(text)
            continue
        heading = _HEADING.match(text)
        if heading is not None:
            in_brief, last_field = False, None
            section = "decisions" if _DECISION.search(heading[1]) else ""
            done = done or bool(entry.bullets)
            continue
        bullet = _BULLET.match(text)
        inner = (bullet[2] if bullet else text).strip()
        if not inner:
            continue
        depth = len(bullet[1]) if bullet else 0
        field_match = _FIELD.match(inner)
        if field_match is not None and (not only_brief or in_brief):
            last_field = _field(
                entry, field_match[1].casefold(), Statement(plain(field_match[2]), line.number)
            )
            continue
        if bullet is None:
            continue
        if last_field is not None and depth > outermost:
            if not says_nothing(inner):
                last_field.append(Statement(plain(inner), line.number))
            continue
        last_field = None
        if in_brief or only_brief:
            continue
        _bullet(entry, inner, line.number, section, done=done or depth > outermost)


def _field(entry: LogEntry, name: str, value: Statement) -> list[Statement]:
    if name.startswith("open"):
        target = entry.open_work
    elif name.startswith("pending"):
        target = entry.pending_tests
    elif name.startswith("blocker"):
        target = entry.blockers
    else:
        entry.file_lines.append(value)
        return entry.file_lines
    if not says_nothing(value.text):
        target.append(value)
    return target


def _bullet(entry: LogEntry, inner: str, number: int, section: str, *, done: bool) -> None:
    """Sorts a bullet of the work itself: a blocker, a decision, open work or finished work."""
    ticked = _TICKED.match(inner)
    line = Statement(plain(inner), number)
    if not line.text:
        return
    entry.file_lines.append(line)
    if _APPROVAL.search(line.text) and _UNDECIDED.search(line.text):
        entry.pending.append(line)
    if _BLOCKED.search(_NOT_BLOCKED.sub("", line.text)):
        entry.blockers.append(line)
    elif section == "decisions" or (_DECISION.search(line.text) and not _UNDECIDED.search(line.text)):
        entry.decisions.append(line)
    elif (ticked is not None and ticked[1] == " ") or _GOING_ON.match(line.text):
        entry.open_work.append(line)
    elif not done:
        entry.bullets.append(line)
