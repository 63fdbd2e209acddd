"""What is known of one file while the steps of a path are replayed: its text, some of its lines, or nothing.

Nothing is guessed: what a step leaves uncertain is forgotten, and a note says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from leafward.rebuilding.texts import Match, Replacement, replace

if TYPE_CHECKING:
    from leafward.entries import EntryIndex
    from leafward.reads import Shown


class Certainty(StrEnum):
    """How much of a file is known."""

    EXACT = "exact"
    """All of it, as the recorded calls left it."""
    PARTIAL = "partial"
    """Some lines of it, or texts that stand in it."""
    UNKNOWN = "unknown"
    ABSENT = "absent"
    """It is known not to be there."""


KNOWN = (Certainty.EXACT, Certainty.ABSENT)
"""What is known as a whole: a file that is not there is known, too."""


class Remark(StrEnum):
    """What is to be said of a step."""

    CHANGED_OUTSIDE = "changed outside"
    """The file is shown with another content than the steps before it leave."""
    NOT_FOUND = "did not apply"
    """The agent says that the edit was made, but its old text is not there."""
    AMBIGUOUS = "ambiguous"
    """The old text is there more than once."""
    LOOSE = "applied loosely"
    """The old text is there but for spaces or typographic signs."""
    UNANSWERED = "no result"
    BY_COMMAND = "by a command"
    """A command changed it, in a way that its words do not tell."""
    CELL = "a cell changed"
    """Of a notebook: where in the file it stands is not known."""


class Span(NamedTuple):
    """Lines of a file that are known."""

    first: int
    """Number of the first one, from 1."""
    lines: tuple[str, ...]

    @property
    def after(self) -> int:
        """Number of the line behind the last."""
        return self.first + len(self.lines)


PIECES = 64
"""Texts that are kept of a file whose lines are not known: the latest ones."""


@dataclass(slots=True)
class FileState:
    """One file while steps are replayed."""

    text: str | None = None
    """All of it, where that is known."""
    newline: bool = True
    """Whether it is known if the text ends in a newline."""
    absent: bool = False
    spans: tuple[Span, ...] = ()
    """Known lines where the text is not, in order, none touching the next."""
    total: int | None = None
    """Lines of the file, where that is known beside them: the text split at newlines."""
    pieces: tuple[str, ...] = ()
    """Texts that edits put somewhere into it, where even their lines are not known."""
    base: str = ""
    """Where the content comes from: `write`, `read`, `result` or what a base was called."""
    remarks: tuple[tuple[EntryIndex, Remark], ...] = ()
    was: tuple[str, ...] = ()
    """Names it had before it was moved."""
    untouched: bool = True
    """Whether nothing changed it since the replay began, or was branched off."""
    proofs: int = 0
    """Edits that found their old text, and results that showed what was known."""

    def copy(self) -> FileState:
        """The same, to go on from."""
        return FileState(
            self.text,
            self.newline,
            self.absent,
            self.spans,
            self.total,
            self.pieces,
            self.base,
            self.remarks,
            self.was,
            self.untouched,
            self.proofs,
        )

    @property
    def certainty(self) -> Certainty:
        """How much is known."""
        if self.absent:
            return Certainty.ABSENT
        if self.text is not None:
            return Certainty.EXACT
        return Certainty.PARTIAL if self.spans or self.pieces else Certainty.UNKNOWN

    def remark(self, entry: EntryIndex, what: Remark) -> None:
        """Notes something of a step."""
        self.remarks = (*self.remarks, (entry, what))

    def forget(self) -> None:
        """Nothing of its content is known any more."""
        self.text, self.newline, self.absent, self.spans, self.total, self.pieces = (
            None,
            True,
            False,
            (),
            None,
            (),
        )

    def written(self, text: str, base: str = "write") -> None:
        """All of it is `text` now."""
        self.forget()
        self.text, self.base = text, base

    def gone(self) -> None:
        """It is not there any more."""
        self.forget()
        self.absent = True

    def seen(self, shown: Shown, entry: EntryIndex) -> None:
        """Takes in what a read shows, which counts more than what was known."""
        if self._contradicts(shown):
            self.remark(entry, Remark.CHANGED_OUTSIDE)
            self.forget()
        elif self.text is not None:
            self.proofs += 1
        self.absent = False
        if self.text is not None:
            return
        if shown.whole:
            self._known("\n".join(shown.lines), shown.newline)
            return
        self._join(Span(shown.first, shown.lines))
        if shown.to_end:
            self.total = shown.first + len(shown.lines) - 1
        if self.total is not None and len(self.spans) == 1:
            only = self.spans[0]
            if only.first == 1 and len(only.lines) == self.total:
                self._known("\n".join(only.lines), shown.newline or not shown.to_end)

    def before(self, text: str, entry: EntryIndex) -> None:
        """Takes in the whole content that a result says an edit found."""
        if self.text != text:
            known = self.text is not None or bool(self.spans)
            lines = tuple(text.split("\n"))
            if known and (
                self.text is not None
                or any(lines[one.first - 1 : one.after - 1] != one.lines for one in self.spans)
            ):
                self.remark(entry, Remark.CHANGED_OUTSIDE)
            self.written(text, "result")
        self.absent = False

    def edited(self, replacements: list[Replacement], entry: EntryIndex, *, in_order: bool) -> None:
        """Takes in an edit that is said to have been made."""
        if self.absent and replacements and not replacements[0].old:
            self.written(replacements[0].new)
            replacements = replacements[1:]
        self.absent = False
        if not replacements:
            return
        if self.text is not None:
            self._edit_text(self.text, replacements, entry, in_order=in_order)
        elif self.spans:
            for one in replacements:
                self._edit_spans(one)
        else:
            self._keep_pieces(replacements)

    def _edit_text(
        self, text: str, replacements: list[Replacement], entry: EntryIndex, *, in_order: bool
    ) -> None:
        made = replace(text, replacements, in_order=in_order)
        if made.match is Match.EXACT:
            self.text = made.text
            self.proofs += 1
            return
        if made.match is Match.LOOSE:
            self.remark(entry, Remark.LOOSE)
            lines = made.text.split("\n")
            above, below = made.text.count("\n", 0, made.begin), made.text.count("\n", 0, made.end)
            self.forget()
            self.total = len(lines)
            for span in (Span(1, tuple(lines[:above])), Span(below + 2, tuple(lines[below + 1 :]))):
                if span.lines:
                    self.spans = (*self.spans, span)
            self.pieces = (made.text[made.begin : made.end],)
            return
        self.remark(entry, Remark.AMBIGUOUS if made.match is Match.AMBIGUOUS else Remark.NOT_FOUND)
        self.forget()
        self._keep_pieces(replacements)

    def _edit_spans(self, one: Replacement) -> None:
        """An edit of a file of which some lines are known: what lies behind a place that is not known moves by an unknown way."""
        hits = [
            place for place, span in enumerate(self.spans) if one.old and one.old in "\n".join(span.lines)
        ]
        shift = one.new.count("\n") - one.old.count("\n")
        if len(hits) == 1 and not one.everywhere:
            place = hits[0]
            span = self.spans[place]
            made = replace("\n".join(span.lines), [one])
            if made.match is Match.EXACT:
                changed = Span(span.first, tuple(made.text.split("\n")))
                behind = tuple(Span(later.first + shift, later.lines) for later in self.spans[place + 1 :])
                self.spans = (*self.spans[:place], changed, *behind)
                self.total = self.total + shift if self.total is not None else None
                self._touch_pieces(one)
                return
        if hits or shift or one.everywhere:
            self.spans, self.total = (), None
        self.spans = tuple(span for span in self.spans if not _may_overlap("\n".join(span.lines), one.old))
        self._keep_pieces([one])

    def _keep_pieces(self, replacements: list[Replacement]) -> None:
        for one in replacements:
            self._touch_pieces(one)
            if one.new and not any(one.new in piece for piece in self.pieces):
                self.pieces = (*self.pieces, one.new)[-PIECES:]

    def _touch_pieces(self, one: Replacement) -> None:
        """What was replaced may have reached into a text that is known to stand there."""
        self.pieces = tuple(
            piece.replace(one.old, one.new) if one.old in piece else piece
            for piece in self.pieces
            if one.old in piece or not _may_overlap(piece, one.old)
        )

    def appended(self, text: str) -> None:
        """Takes in that a text was put behind what is there."""
        if self.absent:
            self.written(text)
        elif self.text is not None:
            self.text += text
        elif self.spans:
            *others, last = self.spans
            if self.total is not None and last.after == self.total + 1:
                grown = Span(
                    last.first, tuple("\n".join((*last.lines[:-1], last.lines[-1] + text)).split("\n"))
                )
                self.spans, self.total = (*others, grown), grown.after - 1
            else:
                # The last known line may be the one that was appended to.
                shorter = Span(last.first, last.lines[:-1])
                self.spans = (*others, shorter) if shorter.lines else tuple(others)
                self.total = None

    def _known(self, text: str, newline: bool) -> None:
        self.text, self.newline, self.spans, self.pieces = text, newline, (), ()
        self.base = "read"

    def _contradicts(self, shown: Shown) -> bool:
        if self.absent:
            return True
        if self.text is not None:
            lines: tuple[str, ...] = tuple(self.text.split("\n"))
            if not shown.newline or not self.newline:
                lines, seen = _without_end(lines), _without_end(shown.lines)
            else:
                seen = shown.lines
            known = lines[shown.first - 1 : shown.first - 1 + len(seen)]
            return known != seen or (shown.to_end and len(lines) != shown.first - 1 + len(seen))
        for span in self.spans:
            low, high = max(span.first, shown.first), min(span.after, shown.first + len(shown.lines))
            if low < high and (
                span.lines[low - span.first : high - span.first]
                != shown.lines[low - shown.first : high - shown.first]
            ):
                return True
        return False

    def _join(self, new: Span) -> None:
        """Adds lines that agree with those that are known."""
        joined, kept = new, []
        for span in self.spans:
            if span.after < joined.first or joined.after < span.first:
                kept.append(span)
                continue
            head = span.lines[: max(0, joined.first - span.first)]
            tail = span.lines[max(0, joined.after - span.first) :] if span.after > joined.after else ()
            joined = Span(min(span.first, joined.first), (*head, *joined.lines, *tail))
        self.spans = tuple(sorted((*kept, joined)))


def _without_end(lines: tuple[str, ...]) -> tuple[str, ...]:
    return lines[:-1] if lines and not lines[-1] else lines


def _may_overlap(known: str, old: str) -> bool:
    """Whether a text that stood in the file may have lain partly within another that does, or around it."""
    return known in old or any(
        known.endswith(old[:size]) or known.startswith(old[-size:])
        for size in range(1, min(len(known), len(old)) + 1)
    )
