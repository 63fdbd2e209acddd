"""The lines of the catalogue."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from leafward.base.config import Config
from leafward.base.figures import counted as plural
from leafward.base.shown_path import NO_PROJECT_FOLDER, split_path
from leafward.catalogue.catalogue_status import status_of
from leafward.catalogue.lineage import Sort
from leafward.catalogue.listing import Catalogue
from leafward.catalogue.namesakes import Namesake
from leafward.catalogue.usage.totals import Sum
from leafward_tui.catalogue.display import empty_words, group_hint, order_words, sort_hint
from leafward_tui.catalogue.model.listing import Grouping, LineKind, Stock, View, list_sessions
from leafward_tui.catalogue.widgets.preview import problem_words
from leafward_tui.catalogue.widgets.session_row import RowPainter, SessionColumns, is_live
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.appearance.palette import built_in_theme
from leafward_tui.ui.appearance.theme import Styles
from leafward_tui.ui.text.cells import byte_size, count, fit
from leafward_tui.ui.text.paths import fit_project, tilde
from tests.acting import Acting, usage
from tests.claude_transcript import IDS, Transcript
from tests.core.listed_sessions import DAY, START, Draft
from tests.pi_file import HEADER
from tests.tui.session_store import NOW_MS, SessionFile, groups, lines_of, titles
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.catalogue.model.listing import Listing, ListLine


def nesting(lines: list[ListLine]) -> list[tuple[str, tuple[bool, ...]]]:
    return [(line.card.title, line.nest) for line in lines if line.card is not None]


def test_forks_hang_under_what_they_were_forked_from(store: Path) -> None:
    listing = lines_of(store)
    assert nesting(list(listing.lines))[:4] == [
        ("Port the selectors to the theme system", ()),
        ("Light theme, second attempt", (False,)),
        ("and once more, in blue", (False, False)),
        ("Refactor the agent loop", ()),
    ]


def test_a_fork_whose_parent_is_filtered_out_hangs_under_the_nearest_that_is_shown(store: Path) -> None:
    listing = lines_of(store, text="e")
    assert ("and once more, in blue", (False, False)) in nesting(list(listing.lines))
    only_blue = lines_of(store, text="blue")
    assert nesting(list(only_blue.lines)) == [("and once more, in blue", ())]


def test_counts_of_groups_and_hidden_rows_add_up(store: Path) -> None:
    listing = lines_of(store, text="theme")
    shown = sum(line.shown for line in listing.lines if line.kind is LineKind.GROUP)
    hidden = sum(line.shown for line in listing.lines if line.kind is LineKind.HIDDEN)
    assert shown == listing.shown == 3
    assert shown + hidden == listing.total == 7
    assert listing.archived == 1


def test_what_a_filter_hides_elsewhere_is_not_mixed_with_what_it_hides_here(store: Path) -> None:
    listing = lines_of(store, text="blue")
    (hidden,) = [line for line in listing.lines if line.kind is LineKind.HIDDEN and "filter" in line.words]
    shown = {line.card.project for line in listing.lines if line.card is not None}
    cards = lines_of(store, archived=True).lines
    elsewhere = [line.card for line in cards if line.card is not None and line.card.project not in shown]
    projects = {card.project for card in elsewhere}
    assert 0 < len(elsewhere) < hidden.shown
    assert f"{len(elsewhere)} of them in {len(projects)} other project" in hidden.words
    assert hidden.total == 0


def test_folded_groups_keep_their_count_and_lose_their_rows(store: Path) -> None:
    listing = lines_of(store, folded=frozenset({"/home/ada/orchard"}))
    (group,) = [line for line in listing.lines if line.group == "/home/ada/orchard"]
    assert (group.folded, group.shown, group.total) == (True, 4, 4)
    assert listing.shown == 6


@pytest.mark.parametrize("sort", list(Sort))
@pytest.mark.parametrize("grouping", list(Grouping))
def test_every_session_stands_once_whatever_the_order(store: Path, sort: Sort, grouping: Grouping) -> None:
    listing = lines_of(store, sort=sort, grouping=grouping, archived=True)
    paths = [line.card.path for line in listing.lines if line.card is not None]
    assert len(paths) == len(set(paths)) == 7
    assert all(listing.lines[listing.at[path]].card.path == path for path in paths)  # type: ignore[union-attr]  # sessions
    assert listing.lines[0].kind is (LineKind.SESSION if grouping is Grouping.NONE else LineKind.GROUP)


def test_what_belongs_to_no_project_stands_last(store: Path) -> None:
    (store / "broken.jsonl").write_text("this is not a session\n")
    listing = lines_of(store)
    named = [line.group for line in listing.lines if line.kind is LineKind.GROUP]
    assert named[-1] == ""
    assert "" not in named[:-1]


def test_files_are_found_by_name(store: Path) -> None:
    listing = lines_of(store, text="file:header")
    (line,) = [line for line in listing.lines if line.card is not None]
    assert listing.files_found(sure(line.card).path) == ("src/header.ts",)


@pytest.mark.parametrize("agents", [False, True])
@pytest.mark.parametrize("width", [*range(20, 160, 7)])
def test_columns_fill_the_width_and_the_text_yields_last(width: int, agents: bool) -> None:
    columns = SessionColumns.of(width, agents=agents)
    used = 5 + columns.text + sum(size + gap for _, size, gap in columns.shown)
    assert used == width or columns.text == 0
    names = [name for name, _, _ in columns.shown]
    assert names[-1] == "when"
    if columns.text < 40:
        assert names == ["when"]
    for earlier, later in (("compactions", "branches"), ("branches", "turns"), ("turns", "context")):
        assert later in names or earlier not in names


def test_files_sorted_by_size_show_it(store: Path) -> None:
    listing = lines_of(store, sort=Sort.SIZE)
    columns = SessionColumns.of(79, agents=False, sort=Sort.SIZE)
    assert ["size" in name for name, _, _ in columns.shown] == [False, False, True, False]
    painter = RowPainter(
        listing, Styles.of(built_in_theme("understory")), UNICODE, 79, NOW_MS / 1000, columns
    )
    cards = [line for line in listing.lines if line.card is not None and line.card.problem is None]
    assert all(
        byte_size(line.card.size) in painter.strip(line, selected=False).text for line in cards if line.card
    )


def test_the_home_folder_is_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert tilde("/home/ada/work") == "~/work"
    assert tilde("/home/adam/work") == "/home/adam/work"
    assert "\x1b" not in tilde("/home/ada/\x1b]52;c;x\x07")


def test_only_what_was_written_lately_is_live(store: Path) -> None:
    card = next(line.card for line in lines_of(store).lines if line.card is not None)
    now = card.modified / 1000
    assert [is_live(card, 0, now + ago) for ago in (0, 119, -60, 121, -86_400 * 365)] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert not is_live(card._replace(problem="cannot be read"), 0, now)
    later = now + 86_400
    assert is_live(card, int(later * 1000) - 60_000, later), "a move, a name, whatever was written to it"


def test_a_fork_counts_from_its_making_and_a_write_makes_live(tmp_path: Path) -> None:
    made = START + 30 * DAY
    draft = Draft("aaaa0001")
    draft.user("hello")
    old = draft.write(tmp_path / "a.jsonl", mtime=made)
    fork = Draft("aaaa0002", parent=str(old), start=made)
    fork.lines += draft.lines[1:]
    fork.write(tmp_path / "b.jsonl", mtime=made)
    other = Draft("cccc0001", start=START + 20 * DAY)
    other.user("later")
    other.write(tmp_path / "c.jsonl", mtime=START + 20 * DAY)
    catalogue = Catalogue(Config(), [tmp_path])
    catalogue.refresh()
    stock = Stock(catalogue.cards(), status=partial(status_of, catalogue))
    listing = list_sessions(stock, View(grouping=Grouping.NONE), made + 60_000)
    assert [line.card.id for line in listing.lines if line.card is not None] == [
        "aaaa0001",
        "aaaa0002",
        "cccc0001",
    ]
    painter = RowPainter(
        listing,
        Styles.of(built_in_theme("understory")),
        UNICODE,
        100,
        made / 1000 + 60,
        SessionColumns.of(100, agents=False),
    )
    rows = [painter.strip(line, selected=False).text for line in listing.lines if line.card is not None]
    assert [UNICODE.recent in row for row in rows] == [True, True, False]
    assert [row.split()[-1] for row in rows] == ["4w", "1m", "10d"]


def test_sessions_of_one_title_are_told_apart(tmp_path: Path) -> None:
    first = SessionFile(tmp_path, "/home/ada/orchard", "Fix the login", ago=timedelta(hours=3))
    first.turn("now the tests")
    second = SessionFile(tmp_path, "/home/ada/orchard", "Fix the login", ago=timedelta(hours=2))
    second.turn("and the docs")
    SessionFile(tmp_path, "/home/ada/orchard", "Another", ago=timedelta(hours=1))
    SessionFile(tmp_path, "/home/ada/attic", "Fix the login", ago=timedelta(hours=4))
    apart = {line.card.path: line.apart for line in lines_of(tmp_path).lines if line.card is not None}
    said = [one.prompt for one in apart.values() if one is not None]
    assert sorted(said) == ["and the docs", "now the tests"], "no other has that title in its project"


def test_what_tells_a_session_apart_is_whole_or_not_there_but_for_its_prompt() -> None:
    one = Namesake("now write the tests", "claude-opus", "$0.12")
    assert one.words(80, cell_len, fit) == "last: now write the tests   claude-opus   $0.12"
    assert one.words(40, cell_len, fit) == "last: now write the tests   claude-opus"
    assert one.words(34, cell_len, fit) == "last: now write the tests   $0.12"
    assert one.words(18, cell_len, fit) == "last: now write…"
    assert one.words(12, cell_len, fit) == "claude-opus"
    assert one.words(4, cell_len, fit) == ""


def test_what_two_sessions_share_gives_way_to_what_tells_them_apart(tmp_path: Path) -> None:
    """A third one has another model, so theirs is worth a place, but only behind what they cost."""
    spent = (("now the tests", "opus", 0.5), ("now the tests", "opus", 0.16), ("and the docs", "haiku", 0.1))
    for number, (last, model, cost) in enumerate(spent):
        file = Acting(tmp_path / f"{number}.jsonl", {**HEADER, "id": str(number), "cwd": "/home/ada/orchard"})
        file.user("Fix the login")
        file.said("Done", tokens=usage(100, cost={"total": cost}), model=model)
        file.user(last)
    found = {line.card.id: line.apart for line in lines_of(tmp_path).lines if line.card is not None}
    assert [sure(found[name]).words(30, cell_len, fit) for name in "012"] == [
        "last: now the tests   $0.50",
        "last: now the tests   $0.16",
        "last: and the docs   haiku",
    ]


def test_problems_of_a_file_are_said_in_whole_words() -> None:
    assert problem_words(1, 60) == ("1 damaged entry", " in the file, the rest is readable")
    assert problem_words(1, 38) == ("1 damaged entry", ", the rest is readable")
    assert problem_words(12, 20) == ("12 damaged entries", "")


def test_a_long_title_leaves_room_for_what_tells_it_apart(tmp_path: Path) -> None:
    for number, last in enumerate(("now the tests", "and the docs")):
        file = SessionFile(
            tmp_path, "/home/ada/orchard", "Fix the login of it all", ago=timedelta(hours=number)
        )
        file.turn(last)
    listing = lines_of(tmp_path)
    columns = SessionColumns(32, ())
    painter = RowPainter(
        listing, Styles.of(built_in_theme("understory")), UNICODE, 38, NOW_MS / 1000, columns
    )
    rows = [painter.strip(line, selected=False).text for line in listing.lines if line.card is not None]
    assert len({row.split("last:")[1] for row in rows}) == 2


def test_a_context_that_nobody_counted_carries_the_sign_of_an_estimate(tmp_path: Path) -> None:
    """As in the explorer's gauge."""
    for number, counted in enumerate((None, 41_000)):
        file = Acting(tmp_path / f"{number}.jsonl", {**HEADER, "id": str(number), "cwd": "/home/ada/orchard"})
        file.user("count the pears " * 100)
        file.said("many", tokens=usage(counted) if counted is not None else None)
    listing = lines_of(tmp_path)
    painter = RowPainter(
        listing,
        Styles.of(built_in_theme("understory")),
        UNICODE,
        100,
        NOW_MS / 1000,
        SessionColumns.of(100, agents=False),
    )
    shown = {
        line.card.estimated: painter.strip(line, selected=False).text
        for line in listing.lines
        if line.card is not None
    }
    assert "41.0k" in shown[False]
    assert "~" not in shown[False]
    assert "~4" in shown[True]


def test_a_group_knows_its_sessions_folded_or_not(store: Path) -> None:
    listing = lines_of(store)
    group = groups(listing)[0]
    folded = lines_of(store, folded=frozenset({group}))
    assert [card.title for card in folded.groups[group]] == titles(listing, group)


def test_sub_agents_without_a_task_are_hidden_and_not_called_archived(tmp_path: Path) -> None:
    talk = Transcript(tmp_path)
    talk.turn("go", "gone")
    sleeping = Transcript(tmp_path, "agent-99")
    sleeping.defaults = {"isSidechain": True, "agentId": "99", "sessionId": IDS[5]}
    sleeping.prompt("Warmup")
    listing = lines_of(tmp_path)
    assert titles(listing) == ["go"]
    assert (listing.archived, listing.warm_ups) == (0, 1)
    assert [(line.shown, line.words) for line in listing.lines if line.kind is LineKind.HIDDEN] == [
        (1, "hidden: sub-agents started without a task")
    ]
    assert titles(lines_of(tmp_path, archived=True)) == ["go", "Warmup"]
    for grouping in (Grouping.PROJECT, Grouping.FOREST):
        heads = [lines_of(tmp_path, archived=one, grouping=grouping).lines[0] for one in (False, True)]
        assert heads[0].used == heads[1].used, "a head counts what the totals count"
        assert heads[0].used.sessions == 2
    words = empty_words(
        lines_of(tmp_path, text="warmup"),
        searching=False,
        excluded=0,
        searched=(),
        key={"archived.toggle": "A", "mode.leave": "Q"}.get,
    )
    assert [text for _, text in words][:2] == [
        "Only hidden sessions match.",
        "1 session hidden by the filter",
    ]
    assert words[3][1].startswith("A  shows 1 match: ")
    assert words[4][1] == "Q  clears the filter"


def test_what_is_shown_and_what_is_hidden_are_all_there_are(store: Path) -> None:
    """Archived sessions too, whether the filter finds them or not."""
    assert lines_of(store).archived
    for text in ("", "port", "zebra", "agent:pi"):
        for archived in (False, True):
            listing = lines_of(store, text=text, archived=archived)
            hidden = sum(line.shown for line in listing.lines if line.kind is LineKind.HIDDEN)
            assert listing.shown + (hidden if listing.lines else listing.missed) == listing.total
    words = empty_words(
        lines_of(store, text="zebra"), searching=False, excluded=0, searched=(), key={"search.open": "S"}.get
    )
    assert words[1][1] == f"{lines_of(store).total} sessions hidden by the filter"
    assert words[-1][1] == "S  searches all text of all sessions"


def heads_of(listing: Listing, width: int) -> list[str]:
    painter = RowPainter(
        listing,
        Styles.of(built_in_theme("understory")),
        UNICODE,
        width,
        NOW_MS / 1000,
        SessionColumns.of(width, agents=False),
    )
    heads = [line for line in listing.lines if line.kind is LineKind.GROUP]
    return [painter.strip(line, selected=False).text for line in heads]


def test_sessions_that_a_filter_leaves_out_have_another_word_than_archived_ones(store: Path) -> None:
    """The sums beside them leave out the former and not the latter."""
    hidden = next(head for head in heads_of(lines_of(store), 100) if " of " in head)
    assert " of 2 shown" in hidden or " of 3 shown" in hidden
    heads = [head for head in heads_of(lines_of(store, text="port"), 100) if " of " in head]
    assert heads
    assert all(" match" in head for head in heads)
    for width in range(40, 100):
        # Without room for `1 of 2 shown` the number of all goes, not the word.
        partly = [head for head in heads_of(lines_of(store), width) if " of " in head or " shown" in head]
        assert partly
        assert all(" shown" in head for head in partly), partly


@pytest.mark.parametrize("width", [58, 78, 118])
def test_an_archived_session_says_so_beside_its_problem(store: Path, width: int) -> None:
    stock = Stock([card._replace(archived=True, damage=2) for card in lines_of(store).stock.cards])
    listing = list_sessions(stock, View(archived=True), NOW_MS)
    columns = SessionColumns.of(width, agents=False)
    painter = RowPainter(
        listing, Styles.of(built_in_theme("understory")), UNICODE, width, NOW_MS / 1000, columns
    )
    shown = [
        painter.strip(line, selected=False).text
        for line in listing.lines
        if line.card is not None and line.card.problem is None
    ]
    assert [row for row in shown if "archived  ! 2 damaged" not in row] == []


def test_a_session_that_begins_in_the_middle_says_so_where_its_title_has_room(store: Path) -> None:
    """A title that tells which session it is matters more."""
    titles_shown = ["Prune", "Prune " * 30]
    cards = [card for card in lines_of(store).stock.cards if card.problem is None][:2]
    stock = Stock(
        [card._replace(title=title, midway=True) for card, title in zip(cards, titles_shown, strict=True)]
    )
    painter = RowPainter(
        listing := list_sessions(stock, View(), NOW_MS),
        Styles.of(built_in_theme("understory")),
        UNICODE,
        118,
        NOW_MS / 1000,
        SessionColumns.of(118, agents=False),
    )
    rows = [painter.strip(line, selected=False).text for line in listing.lines if line.card is not None]
    assert ["begins in the middle" in row for row in sorted(rows, key=lambda row: "Prune Prune" in row)] == [
        True,
        False,
    ]


@pytest.mark.parametrize("width", [79, 118])
def test_groups_show_the_sum_that_orders_them(store: Path, width: int) -> None:
    """Fails where groups in the order of their size or turns show their usage: they look unsorted."""
    for sort in (Sort.SIZE, Sort.TURNS, Sort.TOKENS):
        listing = lines_of(store, sort=sort)
        names = [line.group for line in listing.lines if line.kind is LineKind.GROUP]
        for name, head in zip(names, heads_of(listing, width), strict=True):
            cards = listing.groups[name]
            context = sum(card.tokens or 0 for card in cards)
            figure = {
                Sort.SIZE: byte_size(sum(card.size for card in cards)),
                Sort.TURNS: plural(sum(card.turns or 0 for card in cards), "turn"),
                Sort.TOKENS: f"{count(context)} context",
            }[sort]
            assert f" {figure}" in head.replace("~", " ") or (sort is Sort.TOKENS and not context), head
            assert " tokens" not in head or sort is Sort.TOKENS, head


def test_the_project_of_a_relative_is_whole_where_there_is_room(store: Path) -> None:
    """Fails where it is cut at a number of cells that does not follow the width."""
    line = next(one for one in lines_of(store).lines if one.card is not None and one.card.problem is None)
    columns = SessionColumns.of(118, agents=False)
    painter = RowPainter(
        lines_of(store), Styles.of(built_in_theme("understory")), UNICODE, 118, NOW_MS / 1000, columns
    )
    shown = painter.strip(line._replace(elsewhere="/w/agents-md-evaluator", apart=None), selected=False).text
    assert "  agents-md-evaluator" in shown


def test_a_worktree_has_its_projects_name_before_its_own(store: Path) -> None:
    folder = "/home/ada/work/cli/.worktrees/1"
    assert fit_project(folder, 20, "…") == "…/cli/1"
    assert fit_project(folder, 80, "…") == folder
    listing = lines_of(store, grouping=Grouping.FOREST)
    line = next(one for one in listing.lines if one.card is not None and one.card.problem is None)
    columns = SessionColumns.of(118, agents=False)
    painter = RowPainter(
        listing, Styles.of(built_in_theme("understory")), UNICODE, 118, NOW_MS / 1000, columns
    )
    assert "  cli/1" in painter.strip(line._replace(elsewhere=folder, apart=None), selected=False).text


def test_the_head_of_the_families_counts_sessions(store: Path) -> None:
    assert (
        "on their own   1 of 5 sessions"
        in heads_of(lines_of(store, grouping=Grouping.FOREST, text="port"), 100)[0]
    )
    assert all(" sessions" in head for head in heads_of(lines_of(store, grouping=Grouping.FOREST), 100))


def test_a_missing_folder_is_said_in_the_same_words_at_every_width(store: Path) -> None:
    """Before a sum is: that of a folder that is not said to be missing would read as something."""
    listing = lines_of(store)
    heads = [
        line._replace(words=NO_PROJECT_FOLDER, used=Sum(1, 16_200_000, 3.5, 0, 1))
        for line in listing.lines
        if line.kind is LineKind.GROUP
    ]
    missing = replace(listing, lines=heads)
    for width in range(60, 140):
        for line, head in zip(heads, heads_of(missing, width), strict=True):
            assert NO_PROJECT_FOLDER in head, head
            assert "$3.50" in head or width < 72, head
            assert (split_path(line.group)[1] or "no project") in head, head
            assert cell_len(head) == cell_len(heads_of(listing, width)[0])


def test_the_keys_for_order_and_groups_say_what_comes_next() -> None:
    assert [sort_hint(sort) for sort in Sort] == [
        "sort newest first",
        "sort by title",
        "sort by size",
        "sort by turns",
        "sort by context",
    ]
    assert group_hint(Grouping.DAY) == "group by last day"
    assert order_words(View(sort=Sort.SIZE, grouping=Grouping.DAY)) == "by last day, largest first"
    assert group_hint(Grouping.NONE) == "do not group"


def test_the_order_of_the_list_is_said_in_words() -> None:
    assert order_words(View()) == "by project, newest first"
    assert order_words(View(grouping=Grouping.FOREST, sort=Sort.TOKENS)) == "by family, largest context first"
    assert order_words(View(grouping=Grouping.NONE, sort=Sort.NAME)) == "by title"
