"""The path as it was when an operation was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.context.price import price_of_move
from leafward.session.journal.session_operations import label, move
from leafward_tui.log.path_then import PathThen
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE

if TYPE_CHECKING:
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from tests.tui.logged import Hands


class TestThePathThen:
    def drawn(self, hands: Hands, rows: int, glyphs: Glyphs = UNICODE) -> list[str]:
        deeds = hands.deeds(glyphs)
        found = PathThen(deeds).rows(deeds.log[-1], rows)
        return [f"{''.join(sign for sign, _ in row.signs)} {row.text} {row.behind}".rstrip() for row in found]

    def test_of_a_move_to_another_branch(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        assert self.drawn(hands, 9) == [
            "●   a prompt",
            "●   b prompt",
            "┠─○ c prompt abandoned: 4 entries",
            "●   x prompt",
            "◎   y prompt  leaf",
        ]

    def test_of_a_move_up(self, hands: Hands) -> None:
        move(hands.session, hands.end("b"), hands.writing())
        assert self.drawn(hands, 9) == [
            "●   a prompt",
            "◎   b prompt  leaf",
            "└─○ c prompt abandoned: 4 entries",
        ]

    def test_what_is_left_behind_is_counted_as_the_move_counts_it(self, hands: Hands) -> None:
        """Metadata of the agent is dropped too; notes of ours are no entries for either."""
        hands.file.entry("thinking_level_change", thinkingLevel="high")
        hands.file.turn("more")
        hands.session.refresh()
        label(hands.session, hands.prompt("x"), "here", hands.writing())
        assert price_of_move(hands.session, hands.end("b")).left.entries == 7
        move(hands.session, hands.end("b"), hands.writing())
        assert self.drawn(hands, 9)[2].endswith("abandoned: 7 entries")

    def test_of_a_label(self, hands: Hands) -> None:
        label(hands.session, hands.prompt("x"), "here", hands.writing())
        assert self.drawn(hands, 9) == ["●   a prompt", "●   b prompt", "●   x prompt [here]"]

    def test_of_a_move_before_everything(self, hands: Hands) -> None:
        move(hands.session, -1, hands.writing())
        assert self.drawn(hands, 9)[0] == "◎   the beginning  leaf"
        assert self.drawn(hands, 9)[1] == "└─○ a prompt abandoned: 12 entries"

    @pytest.mark.parametrize("room", range(1, 9))
    def test_folds_what_has_no_room(self, room: int, hands: Hands) -> None:
        for number in range(9):
            hands.file.turn(f"n{number}")
        hands.session.refresh()
        move(hands.session, hands.end("y"), hands.writing())
        drawn = self.drawn(hands, room)
        assert len(drawn) <= room
        assert drawn[-1].endswith("leaf")
        move(hands.session, hands.end("n8"), hands.writing())
        drawn = self.drawn(hands, room)
        assert len(drawn) <= room
        assert drawn[-1].endswith("leaf")
        if 4 <= room < 9:
            assert any("▸" in row for row in drawn)

    def test_the_first_turn_of_a_long_abandoned_branch_is_found_without_its_others(
        self, hands: Hands, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(200):
            hands.file.turn(f"n{number}")
        hands.session.refresh()
        move(hands.session, hands.end("y"), hands.writing())
        asked = []

        def counted(_path: PathThen, _above: int, _entry: int, most: int) -> list[int]:
            asked.append(most)
            return []

        monkeypatch.setattr(PathThen, "_heads", counted)
        deeds = hands.deeds()
        assert PathThen(deeds)._left_row(hands.end("n199"), hands.end("b"), last=True).text == "c prompt"
        assert not asked

    def test_in_ascii(self, hands: Hands) -> None:
        move(hands.session, hands.end("y"), hands.writing())
        assert "".join(self.drawn(hands, 9, ASCII)).isascii()
