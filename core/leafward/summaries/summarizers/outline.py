"""The outline of a summary: its sections in order, reading and writing summaries by them, and lines made harmless."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.composed_text import composed
from leafward.base.figures import first_few
from leafward.base.safe_text import safe_line
from leafward.summaries.facts.sentences.checklists import LISTED
from leafward.summaries.facts.sentences.negation import sentence_key
from leafward.summaries.summarizers.outline_items import ItemsAbove, WorkState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LINE_LIMIT = 320
"""Characters of one line; a longer one is cut between words."""
PIN_LIMIT = 10_000
"""Characters of a pin, which is in the summary word for word."""


class SummarySection(Enum):
    """The sections in their order: heading and level."""

    GOAL = ("Goal", 2)
    CONSTRAINTS = ("Constraints & Preferences", 2)
    PROGRESS = ("Progress", 2)
    DONE = ("Done", 3)
    IN_PROGRESS = ("In Progress", 3)
    BLOCKED = ("Blocked", 3)
    DECISIONS = ("Key Decisions", 2)
    NEXT = ("Next Steps", 2)
    CONTEXT = ("Critical Context", 2)

    # Each member is unique; Enum's own hash of its name runs Python code, a million times.
    __hash__ = object.__hash__

    @property
    def title(self) -> str:
        """The heading without its marks."""
        return self.value[0]

    @property
    def heading(self) -> str:
        """The heading as a line."""
        return "#" * self.value[1] + " " + self.value[0]


class Provenance(Enum):
    """Where a line of the context comes from, with the heading above such lines.

    What somebody said was true when it was said, and later work may have changed it in words that no rule knows.
    """

    RECORDED = "Recorded"
    """Calls, their results and the user's words."""
    EARLIER = "As the earlier summary had it"
    DATED = "Said before files changed, may no longer hold"
    """Replies behind which files were changed, unless nobody named since what they name."""
    SAID = "As replies said it then"

    __hash__ = object.__hash__

    @property
    def heading(self) -> str:
        """The heading as a line."""
        return f"### {self.value}"


TOLD = tuple(section for section in SummarySection if section is not SummarySection.PROGRESS)
"""The sections that hold lines."""

_NAMES: tuple[tuple[str, SummarySection], ...] = (
    (
        r"next|todo|remaining|to do|outstanding|pending|plan\b|\bnot (?:yet )?(?:done|complete|finished|started)|unfinished|incomplete",
        SummarySection.NEXT,
    ),
    (r"problem solving", SummarySection.CONTEXT),
    (r"primary request", SummarySection.GOAL),
    (r"block|problem|issue|open question", SummarySection.BLOCKED),
    # The heading of opencode (1.1 to 1.3) for the user's instructions.
    (r"constraint|preference|requirement|rule|^instructions?$", SummarySection.CONSTRAINTS),
    (r"decision|agreed|rationale", SummarySection.DECISIONS),
    (r"goal|objective|original request|purpose|task summary", SummarySection.GOAL),
    (r"in progress|current|ongoing|early progress", SummarySection.IN_PROGRESS),
    (r"done|complete|progress|accomplish|finished", SummarySection.DONE),
)
_HEADING = re.compile(r"^\s{0,3}(#{1,6})\s+(.{1,200})$|^\*\*([^*]{1,100}):?\*\*:?\s*$")
_NUMBERED = re.compile(
    r"^\d{1,2}\.\s+(?:\*\*)?((?:[A-Za-z/&-]+ ){0,4}[A-Za-z/&-]+)(?: \([^()\n]{1,60}\))?:(?:\*\*)?\s*$"
)
"""A heading of a summary by Claude Code, which numbers its sections; before 2.1 they are bold."""
_DRAFT = re.compile(r"^Analysis:[^\S\n]*$", re.MULTILINE)
"""The beginning of the thinking before such a summary, which repeats all of it."""
_DRAFTED = re.compile(r"^Summary:[^\S\n]*$", re.MULTILINE)
"""Its end."""
_POINTER = re.compile(
    r"^(?:If you need specific details from before compaction\b.*"
    r"|Please continue the conversation from where we left (?:it )?off\b.{0,200})\Z",
    re.DOTALL | re.MULTILINE,
)
"""The text of Claude Code after such a summary: since 2.1 the place of the transcript, and the request to go on."""
_CONTINUED = re.compile(
    r"\AThis session is being continued from a previous conversation\b[^\n]*\n?(?:[^\n#]{0,200}\bsummar[^\n]{0,200}:\s*\n)?"
)
"""The text of Claude Code before such a summary."""
_LISTS = re.compile(r"<(read-files|modified-files)>.*?(?:</\1>|\Z)", re.DOTALL)
_MARK = re.compile(r"^\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?")
_BOX = re.compile(r"^\[([ xX✓~-])\]\s+")
_RULE = re.compile(r"^[\s|:=*_-]*$")
_DRAWN = re.compile("[─-╿]")
"""Lines of a drawing, such as a tree of folders: alone they have no meaning."""
_CODE = re.compile(r"`[^`\n]{1,200}`")
_OPENER = re.compile(r"(?:#+(?=\s|$)|[>|]+|[=-]+(?=\s|$)|~{3,}|`{3,}|[*+•](?=\s)|\d{1,3}[.)](?=\s))\s*")
"""The beginning of a line that opens a construct; `--force` and `~/notes` are words."""
_TAG = re.compile(
    r"(?i)<(?=/?(?:summary|conversation|previous-summary|read-files|modified-files|leafward[\w-]{0,20}|system[\w-]{0,20})\b)"
)
_FENCE = re.compile(r"`{3,}|~{3,}")
_STEP_SAID = re.compile(r"(?i)^(?:the )?next (?:step|task|action)s? (?:is|are|will be)\b")
"""A line that tells a step, whatever heading it stands below."""
_OF_STATE = {
    WorkState.DONE: SummarySection.DONE,
    WorkState.IN_PROGRESS: SummarySection.IN_PROGRESS,
    WorkState.BLOCKED: SummarySection.BLOCKED,
    WorkState.LEFT: SummarySection.NEXT,
}


def section_of(title: str, under: SummarySection | None = None) -> SummarySection:
    """The section for a heading of any summary; an unknown heading is context."""
    lower = title.casefold()
    for pattern, section in _NAMES:
        if re.search(pattern, lower):
            return section
    return under if under in {SummarySection.NEXT, SummarySection.DECISIONS} else SummarySection.CONTEXT


class OutlineLine(NamedTuple):
    """A line of a summary, marks taken off."""

    section: SummarySection
    text: str
    is_open: bool | None
    """With a checkbox, whether it is open."""
    code_of: str | None = None
    """Of a line in a fence the words that introduce what stands there; None of any other."""
    file: str = ""
    """The file that the item above it names, where it is an item below that; else empty."""
    dated: bool = False
    """Whether our heading above it says that files changed since it was said."""
    intro: str = ""
    """The words of the item above it that lead to it."""
    listed: str = ""
    """Of an item of a list that shares a line of ours with others, the words before them."""


def read_outline(text: str) -> Iterator[tuple[SummarySection, str, bool | None]]:
    """The lines of a summary without their marks, with their sections; with a checkbox, whether it is open.

    File lists are left out: they are carried separately.
    """
    for line in outline_lines(text):
        yield line[:3]


def unframed(summary: str) -> str:
    """A stored summary without the text of Claude Code before and after it."""
    return _POINTER.sub("", _CONTINUED.sub("", summary))


def _without_draft(text: str) -> str:
    """A summary of Claude Code without the thinking before it."""
    begins = _DRAFT.search(text)
    ends = _DRAFTED.search(text, begins.end()) if begins is not None else None
    return text if begins is None or ends is None else text[: begins.start()] + text[ends.end() :]


def outline_lines(text: str) -> Iterator[OutlineLine]:
    """The lines of a summary by section, with those that are code."""
    current = SummarySection.CONTEXT
    top: SummarySection | None = None
    fenced = dated = False
    intro = ""
    above = ItemsAbove()
    lines = unframed(_without_draft(without_lists(text))).split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if "|" in line and following.strip() and _RULE.match(following):
            # The head of a table only names its columns.
            continue
        numbered = _NUMBERED.match(line)
        if numbered is not None:
            top = current = section_of(numbered[1])
            intro = numbered[1]
            above.clear()
            continue
        match = _HEADING.match(line)
        if match is not None:
            level = len(match[1] or "###")
            intro = title = match[2] or match[3]
            dated = title == Provenance.DATED.value
            current = section_of(title, top if level > 2 else None)
            if level <= 2:
                top = current
            above.clear()
            continue
        body = line.strip()
        if body.startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if not body or _RULE.match(body) or is_drawn(body):
            continue
        depth = len(line) - len(line.lstrip())
        body = _MARK.sub("", body)
        box = _BOX.match(body)
        listed = LISTED.match(body)
        if listed is not None and not fenced:
            for one in listed["items"].split("; "):
                yield OutlineLine(current, one, listed["open"] is not None, listed=listed["where"])
            continue
        if fenced:
            # Code is neither a step nor a goal.
            yield OutlineLine(SummarySection.CONTEXT, body, None, intro)
            continue
        intro = body
        item = above.place(body, depth, labels=current in _OF_STATE.values())
        section = _OF_STATE[item.state] if item.state is not None else current
        if section is SummarySection.CONSTRAINTS and _STEP_SAID.match(item.text):
            section = SummarySection.NEXT
        if box is not None:
            yield OutlineLine(section, body[box.end() :].strip(), box[1] in " ~-", file=item.file)
        elif item.text:
            yield OutlineLine(section, item.text, None, file=item.file, dated=dated, intro=item.intro)


def is_drawn(line: str) -> bool:
    """Whether a line belongs to a drawing, such as a tree of folders, and has no meaning alone.

    A line that mentions such signs does not count.
    """
    if line.isascii() or _DRAWN.search(line) is None:
        return False
    return _DRAWN.search(_CODE.sub("", line)) is not None


def named_files(paths: Sequence[str], most: int = 3) -> str:
    """The names of files without their folders, at most so many, and the number of those that are left out.

    Of several with one name each has its folder.
    """
    names = [path.rpartition("/")[2] for path in paths]
    often = Counter(names)
    told = [
        "/".join(path.split("/")[-2:]) if often[name] > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]
    return first_few([f"`{harmless(name, 80)}`" for name in told], most)


def harmless(text: str, limit: int = LINE_LIMIT) -> str:
    """A piece of a session as part of a line of ours: one line, safe, that opens no heading, list, fence or tag."""
    # It is cut first, so that no text costs more than a line does.
    line = safe_line(composed(text[: 8 * limit + 256]))
    for _ in range(4):
        opener = _OPENER.match(line)
        if opener is None or not opener[0]:
            break
        line = line[opener.end() :]
    if "<" in line:
        line = _TAG.sub("‹", line)
    if "```" in line or "~~~" in line:
        line = _FENCE.sub("`", line)
    return cut(line.strip(), limit)


def has_tag(text: str) -> bool:
    """Whether a text has a tag that delimits text of ours or of agents."""
    return "<" in text and _TAG.search(text) is not None


def cut(line: str, limit: int) -> str:
    """A line of at most `limit` characters, cut between words if it has several, never inside a character."""
    if len(line) <= limit:
        return line
    if limit < 3:
        return ""
    end = limit - 2
    while end > 1 and (
        unicodedata.combining(line[end]) or line[end] in "\u200d\ufe0f" or line[end - 1] == "\u200d"
    ):
        end -= 1
    space = line.rfind(" ", 0, end)
    if space > end * 0.6:
        end = space
    kept = line[:end].rstrip(" ,;:(`")
    # An odd backtick would make the rest of the line code.
    return kept + ("`" if kept.count("`") % 2 else "") + "…"


def without_lists(text: str) -> str:
    """A summary without the file lists after it: they are carried separately."""
    return _LISTS.sub("", text)


def without_marks(text: str) -> str:
    """A summary that somebody else wrote, changed so that nothing in it passes for the marks around summaries."""
    return _TAG.sub("‹", text)


def line_key(text: str) -> str:
    """A line in comparable form."""
    return sentence_key(text) or text.casefold()
