"""The knowledge about one file during the replay of a path: its text, some of its lines, or nothing.

Nothing is guessed: a content that a step makes uncertain is dropped, and a note gives the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.file_replay.overlaps import ends_aside, may_begin_before, may_overlap, tangled
from leafward.files.file_replay.patches import patched
from leafward.files.file_replay.recorded_diffs import proven_by
from leafward.files.file_replay.remarks import CONTRADICTIONS, StepRemark
from leafward.files.file_replay.spans import KnownLines, agree, around, ends_off, joined, steady
from leafward.files.text_replacement import EditedText, EditMatch, Replacement, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.files.patch_format import PatchPlace
    from leafward.files.reads import Shown
    from leafward.session.entries import EntryIndex


class Certainty(StrEnum):
    """The extent to which a file is known."""

    EXACT = "exact"
    """All of it, as the recorded calls left it."""
    PARTIAL = "partial"
    """Some lines of it, or texts that occur in it."""
    UNKNOWN = "unknown"
    ABSENT = "absent"
    """The file is known not to exist."""


CALL_BASES = frozenset({"", "write", "read", "result"})
"""Bases of a content that come from the session's own calls; others are contents of the workspace."""

KNOWN = (Certainty.EXACT, Certainty.ABSENT)
"""Certainties of a wholly known file: a missing file is known, too."""


_REMARKS = {
    EditMatch.LOOSE: StepRemark.LOOSE,
    EditMatch.AMBIGUOUS: StepRemark.AMBIGUOUS,
    EditMatch.ABSENT: StepRemark.NOT_FOUND,
    EditMatch.LINE_ENDS: StepRemark.LINE_ENDS,
}


class Staged(NamedTuple):
    """The content of a file in the index of git."""

    text: str | None
    """None where the index does not have it."""
    newline: bool
    base: str
    home: str
    """The folder of the command that put it there."""
    tracked: bool
    """Whether git certainly tracks the file."""
    seen: bool
    """Whether git tracks or ignores the file."""
    ends: bool = True
    """Whether its line ends are known."""


PIECES = 64
"""Texts that are kept of a file whose lines are not known: the latest ones."""


@dataclass(slots=True)
class FileState:
    """The state of one file during the replay."""

    text: str | None = None
    """The whole text, where it is known."""
    newline: bool = True
    """Whether it is known if the text ends in a newline."""
    absent: bool = False
    spans: tuple[KnownLines, ...] = ()
    """Known lines where the text is not known, in order, no two adjacent."""
    total: int | None = None
    """The number of lines in the file, where that is known besides: the text split at newlines."""
    pieces: tuple[str, ...] = ()
    """Texts that edits put somewhere into the file, where even their lines are not known. Their line ends are not known."""
    base: str = ""
    """The source of the content: `write`, `read`, `result` or the name of a base."""
    remarks: tuple[tuple[EntryIndex, StepRemark], ...] = ()
    was: tuple[str, ...] = ()
    """Earlier names of the file."""
    untouched: bool = True
    """Whether nothing changed it since the replay began or branched off."""
    proofs: int = 0
    """Edits that found their old text, and results that showed the known text."""

    staged: Staged | None = None
    """The file in the index of git, where that is known."""
    ends: bool = True
    """Whether its line ends and a leading byte order mark are known; else newlines replace the line ends."""

    def copy(self) -> FileState:
        """A copy to continue from."""
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
            self.staged,
            self.ends,
        )

    @property
    def certainty(self) -> Certainty:
        """The extent to which the file is known."""
        if self.absent:
            return Certainty.ABSENT
        if self.text is not None:
            return Certainty.EXACT
        return Certainty.PARTIAL if self.spans or self.pieces else Certainty.UNKNOWN

    def remark(self, entry: EntryIndex, what: StepRemark) -> None:
        """Records a remark about a step."""
        self.remarks = (*self.remarks, (entry, what))
        if what in CONTRADICTIONS:
            # The content may have been different when it was put into the index.
            self.staged = None

    def may_differ(self, entry: EntryIndex, why: StepRemark) -> None:
        """Records that an entry may have changed the file, and why."""
        self.untouched = False
        self.forget()
        if why is not StepRemark.BY_COMMAND or not self.remarks or self.remarks[-1][0] != entry:
            # The remark that names the command is enough.
            self.remark(entry, why)

    def forget(self) -> None:
        """Forgets the content."""
        self.text, self.newline, self.absent, self.spans, self.total, self.pieces, self.ends = (
            None,
            True,
            False,
            (),
            None,
            (),
            True,
        )

    def written(self, text: str, base: str = "write") -> None:
        """Sets `text` as the whole content."""
        self.forget()
        self.text, self.base = text, base

    def gone(self) -> None:
        """Notes that the file was removed."""
        self.forget()
        self.absent = True

    def seen(self, shown: Shown, entry: EntryIndex) -> None:
        """Applies the lines that a read shows, which count more than the known ones."""
        if self._contradicts(shown):
            self.remark(entry, StepRemark.CHANGED_OUTSIDE)
            self.forget()
        elif self.text is not None:
            self.proofs += 1
        self.absent = False
        if self.text is not None:
            return
        if not (shown.ends and self.ends):
            self.spans = tuple(KnownLines(one.first, ends_off(one.lines, one.first)) for one in self.spans)
            self.ends = False
        if shown.whole:
            self._known("\n".join(shown.lines), shown.newline)
            return
        self.spans = joined(self.spans, KnownLines(shown.first, shown.lines))
        if shown.to_end:
            self.total = shown.first + len(shown.lines) - 1
        if self.total is not None and len(self.spans) == 1:
            only = self.spans[0]
            if only.first == 1 and len(only.lines) == self.total:
                self._known("\n".join(only.lines), shown.newline or not shown.to_end)

    def before(self, text: str, entry: EntryIndex, *, ends: bool = True) -> None:
        """Applies the whole content before an edit from its result; `ends` tells whether its line ends are the file's."""
        if not ends:
            self._before_but_ends(text, entry)
        elif self.text != text:
            known = self.text is not None or bool(self.spans)
            lines = tuple(text.split("\n"))
            if known and (
                self.text is not None
                or any(lines[one.first - 1 : one.after - 1] != one.lines for one in self.spans)
            ):
                self.remark(entry, StepRemark.CHANGED_OUTSIDE)
            self.written(text, "result")
        self.absent = False

    def _before_but_ends(self, text: str, entry: EntryIndex) -> None:
        lines = ends_off(text.split("\n"))
        if self.text is not None:
            known = ends_off(self.text.split("\n"))
            if known == lines:
                self.text, self.newline = self.text if self.ends else text, True
                return
            if not self.newline and known == _without_end(lines):
                self.text += "\r\n" if self.text.count("\r\n") else "\n"
                self.newline = True
                return
            self.remark(entry, StepRemark.CHANGED_OUTSIDE)
        elif any(
            lines[one.first - 1 : one.after - 1] != ends_off(one.lines, one.first) for one in self.spans
        ):
            self.remark(entry, StepRemark.CHANGED_OUTSIDE)
        self.written(text, "result")
        self.ends = False

    def edited(
        self,
        replacements: list[Replacement],
        entry: EntryIndex,
        *,
        keeps_ends: bool = True,
        diff: Callable[[], str] = str,
    ) -> None:
        """Applies an edit that the agent reports as made; `diff` gives the unified diff in its result, where there is one."""
        if self.absent and replacements and not replacements[0].old:
            self.written(replacements[0].new)
            replacements = replacements[1:]
        self.absent = False
        if not replacements:
            return
        if self.text is not None:
            self._edit_text(self.text, replacements, entry, keeps_ends=keeps_ends, diff=diff)
        elif tangled(replacements):
            self.forget()
            self._keep_pieces(replacements)
        elif self.spans:
            for one in replacements:
                self._edit_spans(one)
        else:
            self.total = None
            self._keep_pieces(replacements)

    def patched(self, places: Sequence[PatchPlace], entry: EntryIndex) -> None:
        """Applies a patch that the agent reports as applied."""
        self.absent = False
        if self.text is None:
            # The position of a place depends on everything before it.
            self.forget()
            self._keep_added(places)
            return
        before = self.text
        made = patched(before, places)
        if made.match in (EditMatch.ABSENT, EditMatch.AMBIGUOUS):
            self.forget()
            if made.match is EditMatch.ABSENT:
                self._keep_added(places)
            self.remark(
                entry, StepRemark.NOT_FOUND if made.match is EditMatch.ABSENT else StepRemark.AMBIGUOUS
            )
            return
        if made.match is EditMatch.LOOSE:
            self.remark(entry, StepRemark.LOOSE)
        if made.text is not None:
            self.text = made.text
            self.proofs += 1
            return
        self.forget()
        if made.regions:
            self.spans = tuple(around(before.split("\n"), made.regions))
        self._keep_added(places)

    def _keep_added(self, places: Sequence[PatchPlace]) -> None:
        """Keeps the lines that a patch added where nothing else is known: they are in the file."""
        for place in places:
            for sign, run in groupby(place.lines, key=itemgetter(0)):
                text = "\n".join(line for _, line in run)
                if sign == "+" and text and not any(text in piece for piece in self.pieces):
                    self.pieces = (*self.pieces, text)[-PIECES:]

    def _edit_text(
        self,
        text: str,
        replacements: list[Replacement],
        entry: EntryIndex,
        *,
        keeps_ends: bool,
        diff: Callable[[], str],
    ) -> None:
        made = replace(text, replacements, keeps_ends=keeps_ends)
        if made.match is EditMatch.EXACT:
            self.text = made.text
            self.proofs += 1
            return
        self.remark(entry, _REMARKS[made.match])
        if made.match is EditMatch.LOOSE and (proven := proven_by(text, diff())) is not None:
            self.text = proven
            return
        self.forget()
        if made.match is EditMatch.LOOSE:
            self._beside(made)
        self._keep_pieces(replacements)

    def _beside(self, made: EditedText) -> None:
        """Keeps the lines beside loose matches.

        Older tools rewrote the whole text without the differences that they ignore.
        """
        lines = made.text.split("\n")
        self.total = len(lines)
        unsure = set[int]()
        for begin, end in made.loose:
            unsure.update(range(made.text.count("\n", 0, begin), made.text.count("\n", 0, end) + 1))
        self.spans = tuple(steady(1, lines, unsure))

    def _edit_spans(self, one: Replacement) -> None:
        """Applies an edit to a partly known file: lines after a place that is not known shift by an unknown number."""
        hits = [
            place for place, span in enumerate(self.spans) if one.old and one.old in "\n".join(span.lines)
        ]
        shift = one.new.count("\n") - one.old.count("\n")
        if len(hits) == 1 and not one.everywhere:
            place = hits[0]
            span = self.spans[place]
            known = "\n".join(span.lines)
            made = replace(known, [one])
            if made.match is EditMatch.EXACT and not may_begin_before(known, one.old):
                changed = KnownLines(span.first, tuple(made.text.split("\n")))
                behind = tuple(
                    KnownLines(later.first + shift, later.lines) for later in self.spans[place + 1 :]
                )
                self.spans = (*self.spans[:place], changed, *behind)
                self.total = self.total + shift if self.total is not None else None
                self._touch_pieces(one)
                return
        if hits or shift or one.everywhere:
            self.spans, self.total = (), None
        self.spans = tuple(
            left
            for span in self.spans
            if not may_overlap("\n".join(span.lines), one.old)
            for left in steady(span.first, span.lines)
        )
        self._keep_pieces([one])

    def _keep_pieces(self, replacements: Sequence[Replacement]) -> None:
        replacements = [
            one._replace(old=ends_aside(one.old), new=ends_aside(one.new)) for one in replacements
        ]
        for one in replacements:
            self._touch_pieces(one)
        unsure = tangled(replacements)
        for one in replacements:
            if unsure and any(may_overlap(one.new, other.old) for other in replacements):
                continue
            if one.new and not any(one.new in piece for piece in self.pieces):
                self.pieces = (*self.pieces, one.new)[-PIECES:]

    def _touch_pieces(self, one: Replacement) -> None:
        """Updates known texts for a replacement, and drops those that it may have reached into."""
        self.pieces = tuple(
            piece.replace(one.old, one.new) if one.old in piece else piece
            for piece in self.pieces
            if one.old in piece or not may_overlap(piece, one.old)
        )

    def appended(self, text: str) -> None:
        """Appends a text."""
        if self.absent:
            self.written(text)
        elif self.text is not None and not self.newline and text:
            # It is not known whether the text begins a line or continues the last one.
            lines = tuple(self.text.split("\n"))[:-1]
            self.text, self.newline, self.total = None, True, None
            self.spans = (KnownLines(1, lines),) if lines else ()
        elif self.text is not None:
            self.text += text
        elif self.spans:
            *others, last = self.spans
            if self.total is not None and last.after == self.total + 1:
                grown = KnownLines(
                    last.first, tuple("\n".join((*last.lines[:-1], last.lines[-1] + text)).split("\n"))
                )
                self.spans, self.total = (*others, grown), grown.after - 1
            else:
                # The text may have been appended to the last known line.
                shorter = KnownLines(last.first, last.lines[:-1])
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
            seen = shown.lines
            if not (shown.ends and self.ends):
                lines, seen = ends_off(lines), ends_off(seen, shown.first)
            if not shown.newline or not self.newline:
                lines, seen = _without_end(lines), _without_end(seen)
            known = lines[shown.first - 1 : shown.first - 1 + len(seen)]
            return known != seen or (shown.to_end and len(lines) != shown.first - 1 + len(seen))
        if shown.ends and self.ends:
            return not agree(self.spans, KnownLines(shown.first, shown.lines))
        spans = [KnownLines(one.first, ends_off(one.lines, one.first)) for one in self.spans]
        return not agree(spans, KnownLines(shown.first, ends_off(shown.lines, shown.first)))


def _without_end(lines: tuple[str, ...]) -> tuple[str, ...]:
    return lines[:-1] if lines and not lines[-1] else lines
