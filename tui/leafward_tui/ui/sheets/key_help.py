"""The list of keys: every key of the screen it was called from, its own keys first, then its signs and words, in as many columns as fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment

from leafward_tui.ui.keys.intents import EVERYWHERE, GROUPS, Intent, intent_bindings, intents_for
from leafward_tui.ui.keys.key_reasons import SCREEN_TITLES
from leafward_tui.ui.keys.legend import Meaning, legend_of
from leafward_tui.ui.sheets.modal import MODAL_MARGIN, Modal
from leafward_tui.ui.text.cells import fit, wrap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.binding import BindingType

    from leafward_tui.ui.appearance.theme import Ground
    from leafward_tui.ui.keys.key_overrides import Keymap
    from leafward_tui.ui.sheets.sheet import Sheet

    Listed: TypeAlias = Intent | Meaning
    """An item of the help: a key, or a sign or word with its meaning."""
    Sections: TypeAlias = Sequence[tuple[str, Sequence[Listed]]]

_LEAST = 40
"""Cells of a column, at least."""
_GAP = 3
_COMMON = "On every screen"


_NOTHING = "no key or sign has these words"


class _Line(NamedTuple):
    """One line of a column: a heading has no title, and a continued title has no key."""

    key: str = ""
    title: str = ""


def sections_of(screen: str) -> list[tuple[str, list[Intent]]]:
    """The intents of a screen by heading: those of the screen first, then those of every screen."""
    own = [entry for entry in intents_for(screen) if not set(EVERYWHERE) <= set(entry.screens)]
    common = [entry for entry in intents_for(screen) if set(EVERYWHERE) <= set(entry.screens)]
    groups = [(group, [entry for entry in own if entry.group == group]) for group in GROUPS]
    return [(title, entries) for title, entries in (*groups, (_COMMON, common)) if entries]


def _keys(entry: Listed, keymap: Keymap) -> Sequence[str]:
    """The keys or the sign at the left of a line."""
    return (entry.sign,) if isinstance(entry, Meaning) else keymap.labels(entry.id)


def matching(sections: Sections, words: str, keymap: Keymap) -> list[tuple[str, list[Listed]]]:
    """The items whose key or sign was typed; without such an item, those whose texts hold every typed word."""
    entries = [entry for _, group in sections for entry in group]
    found = [entry for entry in entries if words.strip() in _keys(entry, keymap)]
    if not found:
        typed = words.lower().split()
        texts = {
            entry: " ".join(
                (
                    *_keys(entry, keymap),
                    entry.title,
                    *((entry.id, entry.hint, entry.also) if isinstance(entry, Intent) else ()),
                )
            ).lower()
            for entry in entries
        }
        found = [entry for entry in entries if all(word in texts[entry] for word in typed)]
    kept = set(found)
    narrowed = [(title, [entry for entry in group if entry in kept]) for title, group in sections]
    return [(title, group) for title, group in narrowed if group]


def columns_of(
    sections: Sections, keymap: Keymap, width: int, height: int
) -> tuple[list[list[_Line]], int, int]:
    """The lines of each column, the cells of its keys and of all of it.

    No more columns than it takes to show everything at once; a title that is too long goes on in the next line.
    """
    labels = {entry: "  ".join(_keys(entry, keymap)) for _, group in sections for entry in group}
    keys = max((cell_len(label) for label in labels.values()), default=0) + 2
    longest = max((cell_len(entry.title) for entry in labels), default=0)
    most = max(1, (width + _GAP) // (_LEAST + _GAP))
    columns: list[list[_Line]] = []
    cells = width
    for number in range(1, most + 1):
        cells = min(keys + longest, (width - _GAP * (number - 1)) // number)
        blocks = _blocks(sections, labels, max(8, cells - keys))
        columns = _dealt(blocks, number)
        if max(map(len, columns), default=0) <= height:
            break
    return columns, keys, cells


def _blocks(sections: Sections, labels: Mapping[Listed, str], room: int) -> list[list[_Line]]:
    """Lines that must stay together: a key or sign with its title, and a heading with its first key or sign."""
    blocks = []
    for title, group in sections:
        lead = [_Line(), _Line(key=title)]
        for entry in group:
            first, *more = wrap(entry.title, room) or [""]
            blocks.append([*lead, _Line(labels[entry], first), *(_Line("", text) for text in more)])
            lead = []
    return blocks


def _dealt(blocks: list[list[_Line]], number: int) -> list[list[_Line]]:
    """The blocks in `number` columns of about one length, in their order."""
    height = max(1, -(-sum(map(len, blocks)) // number))
    while True:
        columns: list[list[_Line]] = [[]]
        for block in blocks:
            if columns[-1] and len(columns[-1]) + len(block) > height:
                columns.append([])
            # No empty line over the first heading of a column.
            columns[-1] += block if columns[-1] or block[0] != _Line() else block[1:]
        if len(columns) <= number:
            return columns
        height += 1


def _texts(sheet: Sheet | None) -> str:
    """The text of a sheet, searched for words to explain."""
    if sheet is None:
        return ""
    about = [line.text for line in sheet.about.lines]
    return "\n".join(
        [sheet.title_line.heading, *about, sheet.operation(), *(words for _, words in sheet.explanations())]
    )


class HelpScreen(Modal):
    """The list of keys at the left and their meanings at the right, by the user's own keymap."""

    NAME = "help"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("help")]

    def __init__(self, screen: str, sheet: Sheet | None = None) -> None:
        """`sheet` lies over the screen: its keys stand instead of those of the screen, which do nothing now."""
        # The key that opened it closes it.
        super().__init__(self._row, {"app.help": self.dismiss, "keys.find": self.ask})
        self._screen, self._sheet = screen, sheet
        self._sections: Sections = ()
        self._title = ""
        self._words = ""
        self._columns: list[list[_Line]] = []
        self._keys = self._cells = 0

    def on_mount(self) -> None:
        """Shows all keys."""
        place, sheet = SCREEN_TITLES.get(self._screen, self._screen), self._sheet
        legend = legend_of(self._screen, self.services.glyphs, _texts(sheet))
        what = "Keys, signs and words" if legend else "Keys"
        if sheet is None:
            self._title = f"{what} of the {place}"
            self._sections = [*sections_of(self._screen), *legend]
        else:
            self._title = f"{what}: {sheet.title_line.heading}"
            own: list[Listed] = [Meaning(*one) for one in sheet.explanations()]
            if sheet.NAME:
                own = [one for title, group in sections_of(sheet.NAME) if title != _COMMON for one in group]
            below = [(f"{title} of the {place}" if title == "Signs" else title, of) for title, of in legend]
            self._sections = [("Keys", own), *below]
        self._lay_out()

    def on_resize(self) -> None:
        """Lays out as many columns as there is room for."""
        self._lay_out()

    def _lay_out(self) -> None:
        keymap, size = self.services.keymap, self.app.size
        room = (size.width - MODAL_MARGIN.width, size.height - MODAL_MARGIN.height)
        columns, keys, cells = columns_of(self._sections, keymap, *room)
        width, height = (cells + _GAP) * len(columns) - _GAP, max(map(len, columns), default=1)
        self._columns, self._keys, self._cells = columns, keys, cells
        title, leaves = self._title, "close"
        if self._words:
            found = matching(self._sections, self._words, keymap)
            # The frame keeps its size while the user types.
            self._columns, self._keys, self._cells = columns_of(found, keymap, width, height)
            number = sum(len(group) for _, group in found)
            if not number:
                self._columns, self._keys, self._cells = [[_Line("", _NOTHING)]], 0, width
            title, leaves = f"{title}: {number:,} with {self._words}", "all keys"
        self.frame(
            title,
            max(map(len, self._columns), default=0),
            ("row.down", "scroll"),
            ("keys.find", "search"),
            ("mode.leave", leaves),
            width=width,
            height=height,
        )

    def ask(self) -> None:
        """Asks for the words of a search; the keys follow as the user types."""
        from leafward_tui.ui.sheets.sheet import TextSheet

        def typed(words: str | None) -> None:
            if words != self._words:
                self._words = words or ""
                self._lay_out()

        sheet = TextSheet(
            "Search the keys",
            self._words,
            placeholder="a key or a sign, or words of what it does",
            changed=typed,
            selected=True,
        )
        self.app.push_screen(sheet, typed)

    def leave(self) -> None:
        """Shows all keys again after a search; else closes."""
        if self._words:
            self._words = ""
            self._lay_out()
        else:
            super().leave()

    def _row(self, number: int, width: int, ground: Ground) -> list[Segment]:  # noqa: ARG002  columns have their own
        """A line of each column: a heading, or a key with its sentence."""
        pieces = []
        for at, column in enumerate(self._columns):
            line = column[number] if number < len(column) else _Line()
            pieces.append(Segment(" " * (_GAP if at else 0), ground.blank))
            if line.key and not line.title:
                pieces.append(Segment(fit(line.key, self._cells, pad=True), ground.strong))
                continue
            room = self._cells - self._keys
            pieces += [
                Segment(fit(line.key, self._keys, pad=True), ground.text),
                Segment(fit(line.title, room, pad=True, ellipsis=self.services.glyphs.ellipsis), ground.sub),
            ]
        return pieces
