"""The picture of the tree: rails, junctions and nodes as they are drawn, before and after a proposed move."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import headline
from leafward.session.session import Session
from leafward_tui.explorer.model.exploration import Exploration, Filter, Findings
from leafward_tui.explorer.model.folds import Folds, LineKind
from leafward_tui.explorer.model.ghost import Ghost, PathMembership
from leafward_tui.explorer.model.gutter import GutterMaker
from leafward_tui.explorer.model.row_columns import LANE_WIDTH
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE, Glyphs
from tests.pi_file import NO_PARENT_GIVEN, PiFile
from tests.trees import Plan, plans, session_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Named(PiFile):
    """Prompts by name."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.ids: dict[str, str] = {}

    def prompt(self, name: str, after: str = "") -> None:
        self.ids[name] = self.user(name, self.ids[after] if after else NO_PARENT_GIVEN)


Explore = Callable[[Callable[[Named], object]], tuple[Exploration, Named]]
"""Makes a session by a function that fills its file, and explores it."""


def drawn(
    exploration: Exploration, ghost: Ghost | None = None, glyphs: Glyphs = UNICODE, lanes: int = 9
) -> str:
    """Verdict and lanes of every line, then what it is."""
    session, layout = exploration.session, exploration.layout
    maker = GutterMaker(session, layout, glyphs, ghost, lanes)
    rows = []
    for y in range(len(exploration.lines)):
        line = exploration.lines.line(y)
        gutter = maker.make(line)
        signs = gutter.verdict[0] + " " + "".join(sign for sign, _ in gutter.lanes)
        name = headline(session, layout.head[line.row]).text.split("  ")[0]
        if line.kind is not LineKind.ROW:
            name += f" {line.rows} {line.kind.name.lower()}"
        rows.append(f"{signs.rstrip():11}{name}")
    return "\n".join(rows)


def drawing(*rows: str) -> str:
    return "\n".join(rows)


@pytest.fixture
def explore(tmp_path: Path) -> Iterator[Explore]:
    with ExitStack() as stack:

        def make(build: Callable[[Named], object]) -> tuple[Exploration, Named]:
            file = Named(tmp_path / "session.jsonl")
            build(file)
            session = stack.enter_context(closing(Session.open(file.path)))
            return Exploration(session, height=99), file

        yield make


def nested(file: Named) -> None:
    """a b k is the path; c leaves a; e f and h leave that branch."""
    file.prompt("a")
    file.prompt("b")
    file.prompt("c", "a")
    file.prompt("d", "c")
    file.prompt("e", "c")
    file.prompt("f", "e")
    file.prompt("g", "d")
    file.prompt("h", "d")
    file.prompt("k", "b")


def ghost_of(exploration: Exploration, file: Named, name: str) -> Ghost:
    session = exploration.session
    return Ghost.of(exploration.layout, session.columns.index(file.ids[name]))


def test_a_branch_begins_with_its_junction(explore: Explore) -> None:
    exploration, _ = explore(nested)
    assert drawn(exploration) == drawing(
        "  ●        a",
        "  ┠─○      c",
        "  ┃ ├─○    e",
        "  ┃ │ ○    f",
        "  ┃ ○      d",
        "  ┃ ├─○    h",
        "  ┃ ○      g",
        "  ●        b",
        "  ◎        k",
    )


def test_the_arm_of_a_branch_that_begins_with_a_reply_turns_into_its_rail(explore: Explore) -> None:
    def build(file: Named) -> None:
        file.prompt("a")
        file.reply("one")
        file.prompt("b")
        file.reply("another", parent=file.ids["a"])
        file.prompt("c")
        file.prompt("d", "b")

    exploration, file = explore(build)
    assert drawn(exploration) == drawing(
        "  ●        a", "  ┠─┐      another", "  ┃ ○      c", "  ●        b", "  ◎        d"
    )
    assert "┡━┐" in drawn(exploration, ghost_of(exploration, file, "c"))


def test_many_branches_at_one_point_use_one_lane(explore: Explore) -> None:
    def build(file: Named) -> None:
        file.prompt("a")
        for name in "xyzw":
            file.prompt(name, "a")

    exploration, _ = explore(build)
    assert exploration.lines.lanes == 2
    assert drawn(exploration) == drawing(
        "  ●        a",
        "  ┠─○      x",
        "  ┠─○      y",
        "  ┠─○      z",
        "  ◎        w",
    )


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (
            "h",
            (
                "  ●        a",
                "+ ┡━●      c",
                "  ┆ ┠─○    e",
                "  ┆ ┃ ○    f",
                "+ ┆ ●      d",
                "+ ┆ ┡━●    h",
                "  ┆ ○      g",
                "− ○        b",
                "− ◎        k",
            ),
        ),
        (
            "f",
            (
                "  ●        a",
                "+ ┡━●      c",
                "+ ┆ ┡━●    e",
                "+ ┆ │ ●    f",
                "  ┆ ○      d",
                "  ┆ ├─○    h",
                "  ┆ ○      g",
                "− ○        b",
                "− ◎        k",
            ),
        ),
        (
            "a",
            (
                "  ●        a",
                "  ├─○      c",
                "  ┆ ├─○    e",
                "  ┆ │ ○    f",
                "  ┆ ○      d",
                "  ┆ ├─○    h",
                "  ┆ ○      g",
                "− ○        b",
                "− ◎        k",
            ),
        ),
    ],
)
def test_a_proposed_move_shows_the_tree_as_it_would_be(
    target: str, expected: tuple[str, ...], explore: Explore
) -> None:
    exploration, file = explore(nested)
    assert drawn(exploration, ghost_of(exploration, file, target)) == drawing(*expected)


def test_the_same_in_ascii(explore: Explore) -> None:
    exploration, file = explore(nested)
    text = drawn(exploration, ghost_of(exploration, file, "h"), ASCII)
    assert text.isascii()
    assert text == drawing(
        "  *        a",
        "+ +=*      c",
        "  : +-o    e",
        "  : | o    f",
        "+ : *      d",
        "+ : +=*    h",
        "  : o      g",
        "- o        b",
        "- @        k",
    )


def test_lanes_without_room_are_packed_into_one_with_their_number(
    explore: Explore,
) -> None:
    exploration, _ = explore(nested)
    assert drawn(exploration, lanes=2) == drawing(
        "  ●        a",
        "  ┠─○      c",
        "  2├○      e",
        "  2│○      f",
        "  ┃ ○      d",
        "  2├○      h",
        "  ┃ ○      g",
        "  ●        b",
        "  ◎        k",
    )


def test_no_number_of_lanes_stands_beside_the_number_of_what_is_hidden(explore: Explore) -> None:
    exploration, file = explore(nested)
    exploration.session.labels[exploration.session.columns.index(file.ids["f"])] = "here"
    exploration.filter = Filter.LABELLED
    exploration.fold_again()
    told = drawn(exploration, lanes=1).splitlines()
    assert not any(line.strip()[0].isdigit() for line in told if "hidden" in line), told


def test_what_lies_below_the_leaf_ends_the_rail(explore: Explore) -> None:
    def build(file: Named) -> None:
        file.prompt("a")
        file.prompt("b")
        file.prompt("c")
        file.entry("custom", file.ids["b"], customType="leafward.leaf", data={"op": "x"})

    exploration, file = explore(build)
    assert drawn(exploration) == drawing("  ●        a", "  ◎        b", "  └─○      c")
    assert drawn(exploration, ghost_of(exploration, file, "c")) == drawing(
        "  ●        a", "  ◎        b", "+ ┗━●      c"
    )


def test_before_everything_all_is_off_the_path(explore: Explore) -> None:
    def build(file: Named) -> None:
        file.prompt("a")
        file.prompt("b")
        file.entry("custom", None, customType="leafward.leaf", data={"op": "x"})

    exploration, _ = explore(build)
    assert drawn(exploration) == drawing("  ○        a", "  ○        b")


def test_the_tree_of_the_leaf_is_the_last_of_several(
    explore: Explore,
) -> None:
    def build(file: Named) -> None:
        file.prompt("a")
        file.ids["x"] = file.user("x", None)
        file.prompt("y")
        file.prompt("z", "x")
        file.prompt("b", "a")

    exploration, file = explore(build)
    assert drawn(exploration) == drawing(
        "  ○        x",
        "  ├─○      z",
        "  ○        y",
        "  ●        a",
        "  ◎        b",
    )
    assert drawn(exploration, ghost_of(exploration, file, "y")) == drawing(
        "+ ●        x",
        "  ┠─○      z",
        "+ ●        y",
        "− ○        a",
        "− ◎        b",
    )


def test_every_kind_has_its_sign(explore: Explore) -> None:
    def build(file: Named) -> None:
        file.prompt("a")
        file.reply("reply")
        file.entry("compaction", summary="s", firstKeptEntryId="00000001", tokensBefore=9)
        file.reply("goes on")
        file.entry("branch_summary", fromId="root", summary="s")
        file.raw("{bad")
        file.entry(
            "message", message={"role": "bashExecution", "command": "make", "output": "", "exitCode": 0}
        )
        file.entry("context_edit", targetId="00000001", replacement=None)
        file.ids["o"] = file.user("orphan", "ffffffff")
        file.user("end", "00000007")

    exploration, _ = explore(build)
    assert drawn(exploration) == drawing(
        "  !        orphan",
        "  ●        a",
        "  ◆        compaction",
        "  ┃        goes on",
        "  ◇        branch summary",
        "  !        malformed",
        "  ●        make",
        "  ≠        omits",
        "  ◎        end",
    )


class TestFolded:
    @staticmethod
    def build(file: Named) -> None:
        for name in "abcde":
            file.prompt(name)
        file.prompt("x", "b")
        file.prompt("y")
        file.prompt("f", "e")
        file.prompt("g")

    def test_runs_and_branches(self, explore: Explore) -> None:
        exploration, _ = explore(self.build)
        exploration.fold_everything()
        assert drawn(exploration) == drawing(
            "  ●        a",
            "  ●        b",
            "  ┠─▸      x 2 folded_branch",
            "  ║        c 4 folded_run",
            "  ◎        g",
        )

    def test_a_filter_keeps_count(self, explore: Explore) -> None:
        exploration, file = explore(self.build)
        exploration.session.labels[exploration.session.columns.index(file.ids["y"])] = "here"
        exploration.filter = Filter.LABELLED
        exploration.fold_again()
        assert drawn(exploration) == drawing(
            "  ┊        a 3 hidden",
            "  ┃ ○      y",
            "  ┊        c 5 hidden",
        )

    def test_an_archived_branch_leaves_a_gap_in_the_rail(self, explore: Explore) -> None:
        exploration, file = explore(self.build)
        exploration.findings = Findings(archived=[exploration.session.columns.index(file.ids["x"])])
        exploration.fold_again()
        assert drawn(exploration).splitlines()[2] == "  ┃ ┊      x 2 archived"


@given(plans(30), st.data())
def test_a_rail_passes_where_something_of_its_branch_still_comes(plan: Plan, data: st.DataObject) -> None:
    with session_of(plan) as session:
        exploration = Exploration(session, height=999)
        layout = exploration.layout
        exploration.folds = Folds()
        exploration.fold_again()
        target = data.draw(st.integers(0, len(session) - 1))
        ghost = Ghost.of(layout, session.tree.content_at(target)) if data.draw(st.booleans()) else None
        lanes = exploration.lines.lanes
        maker = GutterMaker(session, layout, UNICODE, ghost, lanes)
        for row in range(len(layout)):
            gutter = maker.make(exploration.lines.line(exploration.lines.y_of(row)))
            assert len(gutter.lanes) == LANE_WIDTH * lanes
            branch = layout.branch_of(row)
            lane = layout.branches[branch].lane
            assert gutter.lanes[LANE_WIDTH * lane][0].strip()
            assert all(sign == " " for sign, _ in gutter.lanes[LANE_WIDTH * lane + 1 :])
            while (above := layout.branches[branch].above) >= 0:
                lane = layout.branches[above].lane
                passes = layout.branch_rows[branch] < layout.branch_rows[above]
                begins = row == layout.branches[branch].first_row
                assert bool(gutter.lanes[LANE_WIDTH * lane][0].strip()) == (passes or begins)
                branch = above


@given(plans(30), st.data())
def test_verdicts_are_what_a_move_would_enter_and_leave(plan: Plan, data: st.DataObject) -> None:
    with session_of(plan) as session:
        exploration = Exploration(session, height=999)
        layout, tree = exploration.layout, session.tree
        target = tree.content_at(data.draw(st.integers(0, len(session) - 1)))
        if target < 0 or layout.leaf < 0:
            return
        ghost = Ghost.of(layout, target)
        maker = GutterMaker(session, layout, UNICODE, ghost, exploration.lines.lanes)
        now, then = set(tree.path(layout.leaf)), set(tree.path(target))
        for y in range(len(exploration.lines)):
            line = exploration.lines.line(y)
            if line.kind is not LineKind.ROW or session.columns.kind[layout.head[line.row]] == Kind.MALFORMED:
                continue
            entry = layout.head[line.row]
            expected = {
                (True, True): (PathMembership.ON, " "),
                (True, False): (PathMembership.LEFT, "−"),
                (False, True): (PathMembership.ENTERED, "+"),
                (False, False): (PathMembership.OFF, " "),
            }[entry in now, entry in then]
            gutter = maker.make(line)
            assert (gutter.standing, gutter.verdict[0]) == expected
