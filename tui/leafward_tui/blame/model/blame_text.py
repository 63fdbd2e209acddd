"""The lines of a blame in words: names of turns, blocks of lines that one turn wrote, facts of a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.base.safe_text import safe, safe_line
from leafward.branches.line_reason import check_words
from leafward.files.line_origins import UNSURE
from leafward.query.blame import NOBODY
from leafward_tui.ui.text.cells import expand_tabs
from leafward_tui.ui.text.spans import shown
from leafward_tui.ui.text.times import moment_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.branches.line_reason import Reason
    from leafward.query.blame import Author, Blame, BlameLine

_LABEL = 28
"""Cells of the widest name of a turn."""
_LONG = 2_000
"""Characters of a line, a request or an answer that are shown."""


class LineFact(NamedTuple):
    """A fact of a line."""

    name: str
    text: str
    ink: str = "text"


class BlameText:
    """A blame in words. All texts are safe to show."""

    def __init__(self, blame: Blame, short: dict[str, str]) -> None:
        """Takes a while for a long file. `short` has the shortest unique beginning of each session's id, by id."""
        self.blame = blame
        self._short = short
        self.labels = [self._turn(one) for one in blame.authors]
        self._lines = [shown(expand_tabs(line.text[:_LONG])) for line in blame.lines]
        self._folded = [line.text.casefold() for line in blame.lines]
        nobody = [NOBODY[line.author] for line in blame.lines if line.author < 0]
        self.label_cells = max(map(cell_len, [*self.labels, *nobody]), default=0)
        self.number_cells = max(2, len(str(len(blame.lines))))

    def __len__(self) -> int:
        return len(self.blame.lines)

    def _turn(self, one: Author) -> str:
        return safe_line(
            f"{one.card.agent} {self._short.get(one.card.id, one.card.id)} turn {one.turn}", _LABEL
        )

    # --- lines --------------------------------------------------------------------------------------------------------

    def line(self, at: int) -> BlameLine:
        """A line, counted from 0."""
        return self.blame.lines[at]

    def words(self, at: int) -> str:
        """The text of the line."""
        return self._lines[at]

    def label(self, at: int) -> str:
        """The name of the line's author."""
        author = self.line(at).author
        return self.labels[author] if author >= 0 else NOBODY[author]

    def begins_block(self, at: int) -> bool:
        """Whether the line before has another author."""
        return at == 0 or self.line(at).author != self.line(at - 1).author

    def blocks(self) -> list[int]:
        """The first lines of all blocks that name an author."""
        return [at for at in range(len(self)) if self.begins_block(at) and not self.line(at).is_bare]

    def author(self, at: int) -> Author | None:
        """The turn that wrote a line; None where no author is claimed."""
        author = self.line(at).author if 0 <= at < len(self) else -1
        return self.blame.authors[author] if author >= 0 else None

    def matching(self, words: str) -> Sequence[int]:
        """The lines that hold words, or whose author's request does."""
        sought = words.casefold()
        of_turns = enumerate(zip(self.labels, self.blame.authors, strict=True))
        authors = {at for at, one in of_turns if sought in f"{one[0]}\n{one[1].request}".casefold()}
        authors |= {author for author, name in NOBODY.items() if sought in name.casefold()}
        lines = zip(self.blame.lines, self._folded, strict=True)
        return [at for at, (line, text) in enumerate(lines) if sought in text or line.author in authors]

    # --- figures ------------------------------------------------------------------------------------------------------

    def figures(self) -> list[tuple[int, str]]:
        """Number of lines by author; those of turns first."""
        lines = self.blame.lines
        known = sum(line.author >= 0 for line in lines)
        found = [(known, "line by a turn" if known == 1 else "lines by turns")]
        found += [(sum(line.author == author for line in lines), name) for author, name in NOBODY.items()]
        bare = sum(line.is_bare for line in lines)
        found = [
            (count, "unsure (empty)" if name == NOBODY[UNSURE] and count == bare else name)
            for count, name in found
        ]
        return [one for one in found if one[0]]

    # --- one line -----------------------------------------------------------------------------------------------------

    def facts(self, at: int, reason: Reason | str | None) -> list[LineFact]:
        """The facts of a line; `reason` is the purpose of its turn, why that cannot be read, or None while it is read."""
        line, author = self.line(at), self.author(at)
        if author is None:
            return [LineFact("", line.unclaimed, "sub"), *self._others(line)]
        found = [LineFact("asked", _text(author.request) or "(nothing: no prompt came before it)")]
        if isinstance(reason, str):
            found.append(LineFact("", reason, "warn"))
        elif reason is None:
            found.append(LineFact("", "reading the agent's reply and the checks after it", "faint"))
        else:
            found += _reasons(reason)
        return [*found, *self._others(line)]

    def _others(self, line: BlameLine) -> list[LineFact]:
        return [
            LineFact("also", f"{self.labels[other]}, on a branch off the path, wrote the same line", "sub")
            for other in line.also
        ]

    def head(self, at: int) -> tuple[str, str]:
        """The author of a line, and further facts of that turn."""
        author = self.author(at)
        if author is None:
            return f"line {at + 1:,}: {self.label(at)}", ""
        when = moment_at(author.written) if author.written else ""
        place = "off the path" if author.abandoned else "on the path"
        return f"line {at + 1:,}: {self.label(at)}", "   ".join(filter(None, (place, when)))


def _reasons(reason: Reason) -> list[LineFact]:
    found = [LineFact("said", _text(reason.words))] if reason.words else []
    found += [LineFact("decided", _text(one)) for one in reason.decisions]
    later = f", {counted(reason.turns_later, 'turn')} later" if reason.turns_later else ""
    checks = "; ".join(check_words(one) for one in reason.checks)
    missing = "no test, build, linter or check script ran after it"
    return [
        *found,
        LineFact("checked", f"{checks}{later}" if checks else missing, "text" if checks else "sub"),
    ]


def _text(text: str) -> str:
    return " ".join(safe(text[:_LONG]).split())
