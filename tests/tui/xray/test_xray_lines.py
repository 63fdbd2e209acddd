"""Lines of the X-ray: each row once on its side, sums, folds, what is kept, words for every line."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.compaction.xray.alignment import Link, Share, What, XRay
from leafward.compaction.xray.xray import xray_edited, xray_of
from leafward.export.demo import demo_session
from leafward.session.entries import EntryIndex, Kind
from leafward.session.injected_block import CLOSING, OPENING
from leafward.session.session import Session
from leafward.summaries.fates.report import survival_of
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from leafward_tui.ui.appearance.palette import built_in_theme
from leafward_tui.ui.appearance.theme import Styles
from leafward_tui.ui.text.cells import count
from leafward_tui.xray.model.about import about as about_line
from leafward_tui.xray.model.arrangement import Arrangement, Side
from leafward_tui.xray.model.captions import Teller
from leafward_tui.xray.model.earlier_lines import earlier_lines
from leafward_tui.xray.model.fates import Fates
from leafward_tui.xray.model.painting import Painter, SideColumns
from leafward_tui.xray.widgets.foot import ledger_columns
from leafward_tui.xray.widgets.summaries_head import fitting
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def folds_of(arrangement: Arrangement) -> list[str]:
    sides = (line.side(side) for line in arrangement.lines for side in Side)
    return [piece.fold for piece in sides if piece is not None and piece.fold]


def shown_rows(arrangement: Arrangement, side: Side) -> list[int]:
    return [row for line in arrangement.lines if (piece := line.side(side)) for row in piece.rows]


def test_every_row_is_on_its_side_once_however_much_is_folded(demo: XRay) -> None:
    whole = {
        Side.BEFORE: [at for at, row in enumerate(demo.rows) if row.before is not None],
        Side.AFTER: [at for at, row in enumerate(demo.rows) if row.after is not None],
    }
    opened: frozenset[str] = frozenset()
    seen = -1
    while True:
        for fold_kept in (False, True):
            arrangement = Arrangement(demo, opened, fold_kept=fold_kept)
            for side in Side:
                assert shown_rows(arrangement, side) == whole[side]
        keys = frozenset(folds_of(Arrangement(demo, opened)))
        if keys <= opened:
            break
        assert len(Arrangement(demo, opened)) > seen
        seen = len(Arrangement(demo, opened))
        opened |= keys
    assert any(key.startswith("run:") for key in opened)


def test_what_the_lines_say_adds_up_to_the_ledger(demo: XRay) -> None:
    before, after = (share for share in zip(*((one.before, one.after) for one in demo.ledger), strict=True))
    for fold_kept in (False, True):
        lines = Arrangement(demo, fold_kept=fold_kept).lines
        assert sum(line.before.tokens for line in lines if line.before) == sum(before)
        assert sum(line.after.tokens for line in lines if line.after) == sum(after)


def test_one_kind_alone_leaves_a_count_of_the_others(demo: XRay) -> None:
    arrangement = Arrangement(demo, only=Link.PREFIX)
    hidden = [line.hidden for line in arrangement.lines if line.hidden]
    shown = {line.link for line in arrangement.lines if line.before or line.after}
    assert shown == {Link.PREFIX}
    assert sum(hidden) + sum(
        band.stop - band.start for band in demo.bands if band.link is Link.PREFIX
    ) == len(demo.rows)


def test_next_change_goes_over_what_is_kept(demo: XRay) -> None:
    arrangement = Arrangement(demo)
    at, found = 0, []
    while (following := arrangement.change(Side.AFTER, at, 1)) != at:
        at = following
        found.append(arrangement.lines[at].link)
    assert found == [Link.REPLACED, Link.PREFIX]
    assert arrangement.lines[arrangement.change(Side.AFTER, at, -1)].link is Link.REPLACED


def test_what_an_edit_replaced_is_not_drawn_as_the_same() -> None:
    with demo_session() as path, closing(Session.open(path)) as session:
        edits = [at for at, kind in enumerate(session.columns.kind) if kind == Kind.CONTEXT_EDIT]
        xray = xray_edited(session, edits[-1])
        arrangement = Arrangement(xray)
        painter = Painter(
            arrangement,
            Teller(xray, UNICODE),
            Styles.of(built_in_theme("understory")),
            SideColumns.fitting(120, Side.BEFORE),
            -1,
            Side.BEFORE,
            frozenset(),
            focused=True,
        )
        drawn = ["".join(segment.text for segment in painter.line(at)) for at in range(len(arrangement))]
        assert [line.split()[0] for line in drawn if "≠≠≠≠≠≠" in line] == ["bash"]
        assert any("══════" in line for line in drawn), "all else is the same"
        shares = [share for share in xray.ledger if share.before or share.after]
        heads = [head for head, _ in ledger_columns(shares, 120, UNICODE, of_edits=True)[1]]
        assert "≠ cut" in heads
        assert "− dropped" not in heads, "something stands for it"


def test_a_line_that_the_earlier_summary_had_says_so(tmp_path: Path) -> None:
    """A summary written anew is no single change: most of it is as it was."""
    older = "## Goal\nShip the queue.\n\n## Next\n- run the tests of the queue twice\n- tell Ada"
    newer = "## Goal\nShip the queue.\n\n## Next\n- run the tests of the queue once\n- write the notes\n\n## Done\n- tell Ada"
    file = PiFile(tmp_path / "s.jsonl")
    file.user("ship it")
    file.entry("compaction", summary=older, firstKeptEntryId="none0000", tokensBefore=900)
    file.user("go on")
    file.entry("compaction", summary=newer, firstKeptEntryId="none0000", tokensBefore=900)
    with closing(Session.open(file.path)) as session:
        found = [
            xray_of(session, EntryIndex(at))
            for at, kind in enumerate(session.columns.kind)
            if kind == Kind.COMPACTION
        ]
        notes = [
            {
                (caption := teller.cell(row.after, row.link)).text: caption.note
                for row in xray.rows
                if row.after is not None and row.after.what is What.LINE
            }
            for xray in found
            for teller in [Teller(xray, UNICODE, earlier_lines(xray))]
        ]
    assert set(notes[0].values()) == {""}, "there was none before"
    assert notes[1] == {
        "Ship the queue.": "as before",
        "run the tests of the queue once": "rewritten",
        "write the notes": "",
        "tell Ada": "",
    }


def test_a_reply_that_only_calls_is_told_apart_from_its_result(demo: XRay) -> None:
    """Both have the subject of the call, as in the tab Context."""
    teller = Teller(demo, UNICODE)
    cells = [row.before for row in demo.rows if row.before is not None and row.before.what is What.MESSAGE]
    replies = [teller.cell(cell, Link.KEPT) for cell in cells if cell.role == "assistant"]
    results = [teller.cell(cell, Link.KEPT) for cell in cells if cell.role == "toolResult"]
    assert {one.word for one in replies} == {"ai"}
    assert any(one.text.startswith("calls ") for one in replies)
    assert not any(one.word == "ai" or one.text.startswith("calls ") for one in results)


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_an_error_below_nothing_has_the_minus_of_the_ledger(demo: XRay, glyphs: Any) -> None:
    assert Teller(demo, glyphs).size(-26) == f"{glyphs.minus}26"


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_every_line_has_words(demo: XRay, glyphs: Any) -> None:
    teller = Teller(demo, glyphs)
    demo.origins.fill()
    fates = Fates.of(survival_of(demo.session, demo.compaction))
    for line in Arrangement(demo).lines:
        for side in Side:
            piece = line.side(side)
            if piece is not None and line.link is not None:
                told = teller.piece(piece, line.link)
                assert told.text
                assert "\n" not in told.text
                about = about_line(teller, piece, side, line.link, fates)
                assert about[0]
                assert (
                    glyphs is UNICODE
                    or piece.cell.what is not What.REST
                    or all(text.isascii() for line in about for text, _ in line)
                )


@pytest.fixture
def demo() -> Iterator[XRay]:
    with demo_session() as path, closing(Session.open(path)) as session:
        yield xray_of(session, session.columns.kind.index(Kind.COMPACTION))


def test_the_estimation_error_has_its_whole_name_where_there_is_room() -> None:
    shares = [Share(link, 1_000, 1_000) for link in Link]
    assert "estimation error" in [head for head, _ in ledger_columns(shares, 200, UNICODE)[1]]


def test_a_sign_stands_beside_one_head_of_the_ledger() -> None:
    """It fails where what is summarised and the beginning of a split turn share a sign."""
    heads = [
        head for head, _ in ledger_columns([Share(link, 1_000, 1_000) for link in Link], 200, UNICODE)[1]
    ]
    signs = [head[0] for head in heads if not head[0].isalpha()]
    assert len(set(signs)) == len(signs)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_sums_have_all_their_digits_and_heads_stand_apart(width: int) -> None:
    amounts = {Link.KEPT: (95, 142), Link.REPLACED: (154_363, 1_518), Link.REST: (4_234, 4_234)}
    amounts |= {Link.SYSTEM: (5_365, 5_365), Link.INJECTED: (0, 372), Link.ERROR: (55_754, -2_580)}
    if width > 80:
        amounts |= {Link.PREFIX: (0, 0), Link.CUT: (0, 0)}
    shares = [Share(link, *both) for link, both in amounts.items()]
    for glyphs in (UNICODE, ASCII):
        _, columns = ledger_columns(shares, width, glyphs)
        for share, (head, cells) in zip(shares, columns, strict=True):
            assert (
                cells - max(len(head), *(len(f"{amount:,}") for amount in (share.before, share.after))) >= 2
            )


def test_a_narrow_ledger_leaves_room_for_the_sign_of_a_large_error() -> None:
    """It fails where a column of short sums has no room for `−110.8k`, which was cut and ran into the one before."""
    amounts = {Link.REPLACED: (141_124, 38), Link.CUT: (300, 0), Link.REST: (2_608, 2_608)}
    amounts[Link.ERROR] = (-110_784, -30)
    name, columns = ledger_columns([Share(link, *both) for link, both in amounts.items()], 60, UNICODE)
    assert [head for head, _ in columns] == ["summarised", "dropped", "not in file", "error"]
    assert columns[-1][1] > len("-110.8k")
    assert name + sum(cells for _, cells in columns) <= 60 - 13


@pytest.mark.parametrize(("width", "most"), [(60, 6), (80, 8)])
def test_short_sums_stand_apart_where_heads_are_cut(width: int, most: int) -> None:
    """It fails where columns of one width are too narrow for `155.7k`, which ran into the sum before it."""
    amounts = {Link.SYSTEM: (5_365, 5_365), Link.KEPT: (95, 95), Link.REPLACED: (155_726, 1_605)}
    amounts |= {Link.INJECTED: (0, 358), Link.REST: (4_669, 4_669), Link.ERROR: (53_956, -2_485)}
    amounts |= {Link.PREFIX: (12_222, 9), Link.CUT: (1_234, 0)}
    shares = [Share(link, *both) for link, both in amounts.items()][:most]
    name, columns = ledger_columns(shares, width, UNICODE)
    for share, (head, cells) in zip(shares, columns, strict=True):
        assert cells > max(len(head), *(len(count(amount)) for amount in (share.before, share.after)))
    assert name + sum(cells for _, cells in columns) <= width - 13


def test_injected_lines_below_no_heading_have_a_size_each_and_are_in_no_fold(tmp_path: Path) -> None:
    block = f"{OPENING}\nread the notes first\n\n## Rules\n- be brief\n{CLOSING}"
    file = PiFile(tmp_path / "s.jsonl")
    file.user("ship it")
    file.entry("compaction", summary=f"Shipped.\n\n{block}", firstKeptEntryId="none0000", tokensBefore=900)
    with closing(Session.open(file.path)) as session:
        xray = xray_of(session, EntryIndex(len(session) - 1))
        head = next(at for at, row in enumerate(xray.rows) if row.after and row.after.what is What.SECTION)
        pieces = [line.after for line in Arrangement(xray, frozenset({f"list:{head}"})).lines if line.after]
    assert [(piece.cell.text, piece.inside) for piece in pieces if piece.cell.what is What.ADDED] == [
        ("read the notes first", ""),
        ("be brief", f"list:{head}"),
    ]


def test_names_of_summaries_lose_whole_parts() -> None:
    name = ("compaction #146", "17 Nov 10:53", "667 tokens")
    assert fitting(name, 60) == "compaction #146   17 Nov 10:53   667 tokens"
    assert fitting(name, 30) == "compaction #146   667 tokens"
    assert fitting(name, 20) == "compaction #146"
    assert fitting(("compaction #146", "", "667 tokens"), 60) == "compaction #146   667 tokens"
