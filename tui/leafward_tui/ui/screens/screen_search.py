"""A search within one screen: it follows as the user types, steps through hits around the ends, and ends on leaving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from leafward.base.errors import Cancelled
from leafward.session.entries import EntryIndex, Kind
from leafward.session.messages import message_text, messages_of
from leafward_tui.ui.bars.price_line import KeyHint
from leafward_tui.ui.bars.title_bar import Fact
from leafward_tui.ui.text.hits import hit_beside, which_hit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.services import AppServices
    from leafward_tui.ui.sheets.sheet import Sheet


class SearchedPlaces(Protocol):
    """The places of a screen that can be searched. Places are numbers that grow down the screen."""

    def place(self) -> int:
        """The place of the cursor."""
        ...

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on a hit, or back to its old place."""
        ...

    def look_for(self, words: str) -> None:
        """Searches for words, and gives the places to `ScreenSearch.found`, at once or later."""
        ...

    def show_hits(self) -> None:
        """Shows how many hits there are, and which of them the cursor is on."""
        ...


class SearchingScreen(Protocol):
    """The screen, as its search sees it."""

    def show_hints(self) -> None:
        """Shows the keys that matter now."""
        ...

    def open_sheet(self, sheet: Sheet, done: Callable[[str | None], None] | None = None) -> None:
        """Opens a sheet; `done` gets its answer, None where it was cancelled."""
        ...


class ScreenSearch:
    """The search within one screen, for the controller that has its keys."""

    def __init__(self, places: SearchedPlaces, screen: SearchingScreen) -> None:
        self._places, self._screen = places, screen
        self.words = ""
        """The words searched for; empty for none."""
        self.hits: Sequence[int] = ()
        """The places that hold them, in order."""
        self._origin = -1
        """The place that the search began at; -1 where the cursor is to stay."""
        self._first = 1

    def ask(self, title: str, placeholder: str, *, first: int = 1) -> None:
        """Asks for the words of a search, and follows as the user types.

        `first` is -1 to go to the nearest hit above, else the nearest below.
        """
        from leafward_tui.ui.sheets.sheet import TextSheet

        before = self._places.place()

        def typed(words: str) -> None:
            if words != self.words:
                self._origin, self._first = before, first
                self.search(words)

        def done(words: str | None) -> None:
            if words is None:
                self.end()
                self._places.go_to_place(before)
            else:
                typed(words)

        sheet = TextSheet(
            title,
            self.words,
            placeholder=placeholder,
            commit="keep, then n N",
            changed=typed,
            selected=True,
        )
        self._screen.open_sheet(sheet, done)

    def search(self, words: str) -> None:
        """Searches for words; no words end the search."""
        self.words, self.hits = words, ()
        if words:
            self._places.look_for(words)
        else:
            self.found(words, ())

    def found(self, words: str, hits: Sequence[int]) -> None:
        """Takes the hits of a search; the first time, goes to the nearest."""
        if words != self.words:
            return
        self.hits = hits
        origin, self._origin = self._origin, -1
        if origin >= 0:
            # A hit where the search began is the nearest there is.
            nearest = hit_beside(hits, origin - self._first, self._first)
            self._places.go_to_place(origin if nearest is None else nearest)
        self._places.show_hits()
        self._screen.show_hints()

    @property
    def origin(self) -> int:
        """The place that the search began at; -1 where the cursor is to stay."""
        return self._origin

    def move_origin(self, place: int) -> None:
        """Sets the present place of the search's origin, after lines were laid out again."""
        if self._origin >= 0:
            self._origin = place

    def fact(self) -> Fact | None:
        """The number of hits, for a title; None without a search."""
        if not self.words:
            return None
        found = which_hit(self.hits, self._places.place()) if self.hits else "no"
        return Fact(found, "hit" if len(self.hits) == 1 else "hits", keep=6, hue="warn")

    def tell_hits(
        self, services: AppServices, tell: Callable[..., object], following: str, preceding: str
    ) -> None:
        """Shows how many hits there are and which one the cursor is on, with the keys of the two intents that step."""
        if not self.words:
            tell("")
        elif not self.hits:
            tell(f"nothing found: {self.words}", "warn")
        else:
            named = ((following, "next"), (preceding, "previous"), ("mode.leave", "end search"))
            keys = [KeyHint(intent, services.keymap.label(intent), name) for intent, name in named]
            glyphs = services.glyphs
            quoted = f"{glyphs.quote_open}{self.words}{glyphs.quote_close}"
            tell(f"{which_hit(self.hits, self._places.place())} with {quoted}", "", keys)

    def end(self) -> None:
        """Forgets the search."""
        self.search("")

    def leave(self, close: Callable[[], object]) -> None:
        """Ends the search; without one, closes the screen."""
        if self.words:
            self.end()
        else:
            close()

    def step(self, step: int) -> bool:
        """Goes to the next hit, or the one before; whether there is one."""
        at = hit_beside(self.hits, self._places.place(), step)
        if at is not None:
            self._places.go_to_place(at)
            self._places.show_hits()
        return at is not None


def entries_holding(session: Session, entries: Iterable[int], words: str, job: Job) -> set[int]:
    """The entries whose messages hold words, case ignored. Raises Cancelled, LeafwardError, OSError."""
    lowered, kinds = words.lower(), session.columns.kind
    found: set[int] = set()
    for index, body in session.bodies(map(EntryIndex, sorted(set(entries)))):
        if job.unwanted():
            raise Cancelled
        texts = (message_text(message) for message in messages_of(body or {}, Kind(kinds[index])))
        if any(lowered in text.lower() for text in texts):
            found.add(index)
    return found
