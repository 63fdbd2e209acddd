"""Two nodes compared: files in three columns, contents, contexts, outcomes."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from leafward.branches.diff.contents import ContentDifference, Merge, SideContents
from leafward.branches.diff.contexts import compare_contexts
from leafward.branches.diff.file_sets import Flag, compare_files
from leafward.branches.diff.patches import patch_of
from leafward.branches.diff.sides import sides
from leafward.branches.diff.summaries import compare_sides
from leafward.context.entry_metrics import EntryMetrics
from leafward.files.checks import Check
from leafward.files.file_replay.knowledge import Certainty
from leafward.session.entries import Kind
from leafward.session.lines.line_decoding import decode_line
from tests.acting import Acting, call, reading, usage

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.entries import Body

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"


def edit(path: str, call_id: str, old: str, new: str) -> dict[str, object]:
    return call("edit", call_id, path=path, edits=[{"oldText": old, "newText": new}])


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    """A reply that read `both.py` and `same.py`; branch A edits its beginning, branch B, later, its end."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    file.said("reading", call("read", "r1", path="both.py"), call("read", "r2", path="same.py"))
    file.answered("r1", "read", TEXT)
    file.answered("r2", "read", "same\n")
    fork = file.leaf
    file.user("branch A")
    file.said(
        "editing",
        edit("both.py", "a1", "one", "ONE"),
        call("write", "a2", path="only_a.py", content="new\n"),
        tokens=usage(100, cost={"total": 0.5}),
    )
    file.answered("a1", "edit", "ok")
    file.answered("a2", "write", "ok")
    file.said("testing", call("bash", "a3", command="npm test"))
    file.answered("a3", "bash", "1 failed\n\nCommand exited with code 1", failed=True)
    file.said("again", call("bash", "a4", command="npm test"))
    file.answered("a4", "bash", "all pass")
    file.said("A is done.\nMore.")
    file.leaf = fork
    file.user("branch B")
    file.said(
        "editing",
        edit("both.py", "b1", "seven", "SEVEN"),
        call("read", "b2", path="only_b.py"),
        edit("gone.py", "b3", "x", "y"),
    )
    file.answered("b1", "edit", "ok")
    file.answered("b2", "read", "what\n")
    file.answered("b3", "edit", "no such file", failed=True)
    file.said("B is done.")
    return file


A, B = 12, 18


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        (1, 0, "A has a compaction that B has not"),
        (0, 1, "B has a compaction that A has not"),
        (1, 1, "A and B have different compactions"),
    ],
)
def test_who_was_compacted_since_and_what_of_the_system_prompt_a_cache_can_use(
    tmp_path: Path, a: int, b: int, why: str
) -> None:
    file = Acting(tmp_path / "s.jsonl")
    system = {"role": "system", "content": "be brief", "timestamp": 1}

    def compacted(time: int) -> None:
        kept = file.user("kept")
        file.compacted(kept, systemMessage={**system, "timestamp": time})

    compacted(1)
    fork = file.said("here they part")
    ends = []
    for number, times in enumerate((a, b)):
        file.user("go on", fork)
        for time in range(times):
            compacted(10 * number + time)
        ends.append(file.said("done"))
    with reading(file.path) as session:
        found = compare_contexts(session, *(session.columns.index(one) for one in ends))
    assert found.why[:2] == (why, "only the system part is shared")
    assert found.prefix == 1
    assert found.prefix_tokens == found.rows[0].a.tokens > 0  # type: ignore[union-attr]  # both hold it


def test_what_a_branch_wrote_first_is_in_its_patch_and_taken_to_be_new(file: Acting, tmp_path: Path) -> None:
    with reading(file.path) as session:
        made = patch_of(compared := sides(session, A, B), compared.a)
    assert made.files == ("both.py", "only_a.py")
    assert (made.taken_as_new, made.left_out) == (("only_a.py",), ())
    (tmp_path / "both.py").write_text(TEXT)
    command = ["git", "apply", "-"]
    done = subprocess.run(command, input=made.text, text=True, cwd=tmp_path, capture_output=True, check=True)
    assert not done.stderr
    assert (tmp_path / "only_a.py").read_text() == "new\n"
    (tmp_path / "both.py").write_text(TEXT)
    (tmp_path / "only_a.py").write_text("mine\n")
    done = subprocess.run(command, input=made.text, text=True, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode, "git refuses where a file lies there"
    assert (tmp_path / "only_a.py").read_text() == "mine\n"


def test_three_columns(file: Acting) -> None:
    with reading(file.path) as session:
        found = compare_files(sides(session, A, B))
    assert [one.path for one in found.only_a] == ["only_a.py"]
    assert [(one.path, one.changed) for one in found.both] == [("both.py", True), ("same.py", False)]
    assert [one.path for one in found.only_b] == ["only_b.py"], "a call that failed touched nothing"
    both = found.both[0]
    assert both.a is not None
    assert both.b is not None
    assert (both.a.changes, both.a.added, both.a.removed, both.b.changes) == (1, 1, 1, 1)
    assert both.flags == (Flag.EDITED_IN_BOTH, Flag.STALE_B)


def test_a_change_that_failed_or_was_stopped_is_told(file: Acting) -> None:
    file.said("again", edit("both.py", "b4", "nowhere", "x"))
    file.answered("b4", "edit", "could not find it", failed=True)
    file.said("stopped", edit("both.py", "b5", "one", "x"), stop="aborted")
    file.said("unsaved", edit("both.py", "b6", "one", "x"))
    with reading(file.path) as session:
        compared = sides(session, A, session.leaf)
        both = compare_files(compared).both[0]
        assert compared.b.outcomes.aborted == 1
        metrics = EntryMetrics(session)
        metrics.fill(session, compared.b.entries)
        assert sum(metrics.edits[entry] for entry in compared.b.entries) == compared.b.edits, (
            "one rule for both"
        )
        contents = SideContents(compared).of(both)
    assert both.b is not None
    assert (both.b.changes, both.b.refused, both.b.unanswered) == (2, 1, 1)
    assert {Flag.REFUSED, Flag.UNANSWERED} <= set(both.flags)
    assert contents.b.certainty is Certainty.UNKNOWN
    assert [what.value for _, what in contents.b.remarks] == ["no result"]


def test_a_pattern_that_one_side_changed_leaves_its_file_unknown_there(file: Acting) -> None:
    """No call of that side names the file."""
    file.leaf = None
    file.user("begin anew")
    file.said(call("write", "w", path="src/x.py", content="one\n"))
    fork = file.answered("w", "write")
    file.said(edit("src/x.py", "w2", "one", "two"))
    a = file.answered("w2", "edit")
    file.leaf = fork
    file.said(call("bash", "w3", command="sed -i s/one/three/ src/*.py"))
    b = file.answered("w3", "bash")
    with reading(file.path) as session:
        compared = sides(session, session.find(a), session.find(b))
        (found,) = [one for one in compare_files(compared).both if one.path == "src/x.py"]
        contents = SideContents(compared).of(found)
    assert (contents.base.text, contents.a.text) == ("one\n", "two\n")
    assert (contents.b.certainty, contents.merge) == (Certainty.UNKNOWN, Merge.UNKNOWN)


def test_contents_that_are_alike_are_no_difference(file: Acting) -> None:
    """Both sides write the same, one edits and takes it back, one moves it; of one nobody knows what it holds."""
    file.leaf = None
    file.user("begin anew")
    names = ("written.py", "back.py", "moved.py", "edited.py")
    for name in names:
        file.said(call("write", name, path=name, content="one\n"))
        file.answered(name, "write")
    fork = file.leaf
    file.said(call("write", "a1", path="written.py", content="two\n"))
    file.answered("a1", "write")
    for step, (old, new) in enumerate((("one", "two"), ("two", "one"))):
        file.said(edit("back.py", f"a2{step}", old, new))
        file.answered(f"a2{step}", "edit")
    file.said(call("bash", "a3", command="git mv moved.py elsewhere.py"))
    file.answered("a3", "bash")
    file.said(edit("edited.py", "a4", "one", "two"), edit("unseen.py", "a5", "x", "y"))
    file.answered("a4", "edit")
    a = file.answered("a5", "edit")
    file.leaf = fork
    file.said(call("write", "b1", path="written.py", content="two\n"))
    file.answered("b1", "write")
    file.said(edit("unseen.py", "b2", "x", "y"))
    b = file.answered("b2", "edit")
    with reading(file.path) as session:
        compared = sides(session, session.find(a), session.find(b))
        files = compare_files(compared).both
        contents = SideContents(compared)
        same = {one.path: known for one, known in zip(files, contents.same(files), strict=True)}
        assert [contents.same([one])[0] for one in files] == [*same.values()], "together as one by one"
    assert same == {
        "written.py": True,
        "back.py": True,
        "moved.py": False,
        "edited.py": False,
        "unseen.py": None,
    }


def test_contents_are_rebuilt_on_each_side_and_at_the_ancestor(file: Acting) -> None:
    with reading(file.path) as session:
        compared = sides(session, A, B)
        found = compare_files(compared)
        contents = SideContents(compared)
        both, alone = contents.of(found.both[0]), contents.of(found.only_a[0])
    assert both.base.text == TEXT
    assert both.a.text == TEXT.replace("one", "ONE")
    assert both.b.text == TEXT.replace("seven", "SEVEN")
    assert both.merge is Merge.CLEAN
    assert [region.kind for region in both.regions()] == ["a", "same", "b"]
    assert (alone.base.certainty, alone.a.text, alone.b.certainty) == (
        Certainty.UNKNOWN,
        "new\n",
        Certainty.UNKNOWN,
    )
    assert alone.merge is Merge.UNKNOWN


def changed_by_both(file: Acting) -> ContentDifference:
    """The file that A and the leaf both changed."""
    with reading(file.path) as session:
        compared = sides(session, A, session.leaf)
        return SideContents(compared).of(compare_files(compared).both[0])


def test_both_changing_one_line_is_a_conflict(file: Acting) -> None:
    file.said("more", edit("both.py", "b4", "one", "uno"))
    file.answered("b4", "edit", "ok")
    found = changed_by_both(file)
    assert (found.merge, found.conflicts) == (Merge.CONFLICT, 1)
    assert "one place is changed by both" in found.sentence


def test_a_branch_that_saw_the_others_changes_is_rebuilt_with_them(file: Acting) -> None:
    on_disk = TEXT.replace("one", "ONE").replace("seven", "SEVEN")
    file.said("looking", call("read", "b5", path="both.py"))
    file.answered("b5", "read", on_disk)
    file.said("editing", edit("both.py", "b6", "ONE", "first"))
    file.answered("b6", "edit", "ok")
    found = changed_by_both(file)
    assert found.b.text == on_disk.replace("ONE", "first")


def test_an_edit_that_only_fits_the_others_version_needs_all_branches(file: Acting) -> None:
    file.said("editing", edit("both.py", "b6", "ONE", "first"))
    file.answered("b6", "edit", "ok")
    found = changed_by_both(file)
    assert found.b.every_branch
    assert found.b.text == TEXT.replace("one", "first").replace("seven", "SEVEN")


def test_a_file_that_is_moved_is_one_file(file: Acting) -> None:
    file.said("moving", call("bash", "b7", command="git mv both.py moved.py"))
    file.answered("b7", "bash", "(no output)")
    file.said("editing", edit("moved.py", "b8", "SEVEN", "7"))
    file.answered("b8", "edit", "ok")
    with reading(file.path) as session:
        compared = sides(session, A, session.leaf)
        found = compare_files(compared)
        (both,) = [one for one in found.both if one.path == "both.py"]
        contents = SideContents(compared).of(both)
        patch = patch_of(compared, compared.b)
    assert both.b is not None
    assert both.b.path == "moved.py"
    assert contents.b.text == TEXT.replace("seven", "7")
    assert patch.files == ("both.py", "moved.py")
    assert "deleted file mode" in patch.text
    assert "+7\n" in patch.text


def test_the_patch_names_what_it_leaves_out(file: Acting) -> None:
    file.said("blind", edit("unseen.py", "b9", "a", "b"))
    file.answered("b9", "edit", "ok")
    with reading(file.path) as session:
        compared = sides(session, A, session.leaf)
        patch = patch_of(compared, compared.b)
    assert patch.files == ("both.py",)
    assert [path for path, _ in patch.left_out] == ["unseen.py"]
    assert patch.text.splitlines()[-2:] == ["-seven", "+SEVEN"]


def test_what_summaries_cost_is_part_of_the_outcome(tmp_path: Path) -> None:
    file = Acting(tmp_path / "costs.jsonl")
    first = file.user("begin")
    file.said("one", tokens=usage(100, cost={"total": 0.5}))
    spent = {**usage(40, cost={"total": 0.25})}
    file.entry("compaction", summary="said", firstKeptEntryId=first, tokensBefore=100, usage=spent)
    file.entry("branch_summary", fromId=first, summary="left", usage=spent)
    file.entry("usage", kind="title", usage=spent)
    with reading(file.path) as session:
        compared = sides(session, 0, session.leaf)
        assert compared.b.outcomes.usage.cost == 0.5 + 3 * 0.25
        assert compared.b.outcomes.replies == 1


def test_a_branch_that_asked_no_model_cost_nothing(tmp_path: Path) -> None:
    file = Acting(tmp_path / "costs.jsonl")
    file.user("begin")
    asked = file.user("more")
    file.said("no usage here")
    with reading(file.path) as session:
        compared = sides(session, 0, session.leaf)
        assert (compared.a.outcomes.costs_known, compared.a.outcomes.usage.cost) == (True, 0)
        assert not compared.b.outcomes.costs_known
        above = sides(session, session.columns.index(asked), 0).a.outcomes
        assert (above.replies, above.costs_known) == (0, True)


def test_outcomes(file: Acting) -> None:
    with reading(file.path) as session:
        compared = sides(session, A, B)
        a, b = compared.a.outcomes, compared.b.outcomes
    assert [(one.check, one.ok, one.runs, one.failed) for one in a.checks] == [(Check.TEST, True, 2, 1)]
    assert (a.commands, a.failed_commands, a.last_exit, a.errors) == (2, 1, 1, 1)
    assert (b.commands, b.errors, b.checks) == (0, 1, ())
    assert (a.usage.cost, a.costs_known, b.costs_known) == (0.5, True, False)
    assert (a.last_words, b.last_words) == ("A is done.", "B is done.")
    assert (compared.a.turns, compared.a.edits, compared.b.edits) == (1, 2, 1)


def test_contexts_share_what_comes_from_the_same_entries(file: Acting) -> None:
    with reading(file.path) as session:
        found = compare_contexts(session, A, B)
    assert found.prefix == 4
    assert [row.same for row in found.rows[:5]] == [True] * 4 + [False]
    assert found.why == ()


def test_an_edited_message_is_another(file: Acting) -> None:
    file.entry("context_edit", targetId="00000003", replacement={"content": "shorter"})
    with reading(file.path) as session:
        found = compare_contexts(session, A, session.leaf)
    assert found.prefix == 2
    assert found.why == ("A and B differ by a context edit",)


def test_summaries_are_made_on_the_spot_where_none_is_stored(file: Acting) -> None:
    with reading(file.path) as session:
        found = compare_sides(sides(session, A, B))
    assert found.a.entry == found.b.entry == -1
    assert "only_a.py" in found.a.text
    assert "only_a.py" not in found.b.text
    assert any("only_a.py" in fact.text for fact in found.difference.only_before)


@pytest.mark.parametrize(("a", "b"), [(A, A), (0, A), (A, 0), (-1, B)])
def test_one_above_the_other_and_before_everything(file: Acting, a: int, b: int) -> None:
    with reading(file.path) as session:
        compared = sides(session, a, b)
        found = compare_files(compared)
        for one in (*found.only_a, *found.both, *found.only_b):
            SideContents(compared).of(one)
        compare_contexts(session, a, b)
        assert len(compared.a.entries) + len(compared.shared.entries) == len(session.tree.path(a))


def test_each_entry_is_decoded_once(file: Acting, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[bytes] = []

    def counted(line: bytes) -> Body | None:
        decoded.append(line)
        return decode_line(line)

    monkeypatch.setattr("leafward.session.native_file.decode_line", counted)
    with reading(file.path) as session:
        decoded.clear()
        compared = sides(session, A, B)
        compare_files(compared)
        lines = {session.raw(at): at for at in (*session.tree.path(A), *session.tree.path(B))}
        first = [lines[line] for line in decoded]
        assert len(first) == len(set(first)), "what is shown first decodes no entry of the paths twice"
        assert all(session.columns.kind[at] not in (Kind.USER, Kind.TOOL_RESULT) for at in first)
        for side in (compared.shared, compared.a, compared.b):
            assert side.outcomes is side.outcomes
        whole = [lines[line] for line in decoded]
        ends = {
            at
            for side in (compared.shared, compared.a, compared.b)
            for at in (side.entries[0], side.entries[-1])
        }
        assert all(whole.count(at) == 1 or at in ends for at in whole), (
            "nor do the outcomes, but for the time of both ends"
        )
