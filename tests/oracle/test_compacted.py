"""The real pi, resuming sessions that Leafward compacted or left with a summary: what it sends, and what it goes on from.

Runs where `test_resume.py` does.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.acting import Acting, call, usage
from tests.oracle.installed_agents import NODE, PI, needs_pi
from tests.oracle.test_resume import (
    assert_context_is_request,
    assert_request,
    entries_of,
    expected_request,
    leafward,
    resumed,
    session,  # noqa: F401  # a fixture
)

if TYPE_CHECKING:
    from tests.oracle.resume import Sent

pytestmark = [needs_pi]
KEEP = ("--keep-recent", "200")


def assert_pi_follows(home: Path, path: Path) -> list[Sent]:
    """pi sends what `leafward context` shows and what the slow projection says; the request is returned."""
    entries = entries_of(path)
    context = leafward(home, "context", str(path))
    sent, result = resumed(path)
    assert_request(sent, expected_request(entries, len(entries) - 1))
    assert_context_is_request(context, entries, sent)
    assert result.appended[0]["parentId"] == entries[-1]["id"]
    return sent


def prepared(path: Path, keep: int = 0) -> dict[str, Any]:
    """Tokens that pi counts at the leaf, and the base of its own next compaction."""
    script = Path(__file__).with_name("prepare.mjs")
    ran = subprocess.run(
        [NODE, str(script), PI, str(keep), str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


@pytest.mark.parametrize(
    ("session", "options", "splits"),
    [
        ("branches", KEEP, False),
        ("compacted-twice", KEEP, True),
        ("print-tools", KEEP, True),
        ("compacted-twice", (*KEEP, "--inject", "--pin", "weights stay in grams"), True),
        ("compacted-twice", ("--strategy", "codex"), False),
        ("branches", ("--strategy", "codex", "--keep-recent", "30"), False),
        ("print-tools", ("--strategy", "opencode", *KEEP), None),
        ("branches", ("--strategy", "pi", "--behaviour", "0.73", *KEEP), None),
    ],
    indirect=["session"],
)
def test_pi_sends_the_summary_and_what_was_kept(
    session: Path,  # noqa: F811
    options: tuple[str, ...],
    splits: bool | None,
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    before = session.read_bytes()
    # Of sessions this small a summary with what is put beside it may be larger than what it replaces.
    compacted = leafward(home, "compact", str(session), *options, "--larger")
    assert session.read_bytes().startswith(before)
    assert splits in (None, compacted["split_turn"])
    line = entries_of(session)[-1]
    assert (line["type"], line["id"]) == ("compaction", compacted["entry"])
    assert line["summary"] == compacted["summary"]
    sent = assert_pi_follows(home, session)
    assert compacted["summary"] in sent[0].text
    context = leafward(home, "context", str(session))
    of_pi = compacted["as_pi"]["tokens_after"]
    assert context["tokens"]["as_pi"] == of_pi == prepared(session)["tokens"]
    assert context["tokens"]["total"] == compacted["tokens_after"]
    if compacted["first_kept"] is None:
        assert line["firstKeptEntryId"] == line["id"]
        assert len(sent) == 1


@pytest.mark.parametrize("session", ["version-1", "version-2"], indirect=True)
def test_an_old_file_is_migrated_by_the_same_write(session: Path, tmp_path: Path) -> None:  # noqa: F811
    home = tmp_path / "home"
    compacted = leafward(home, "compact", str(session), "--at", "#9", "--keep-recent", "20", "--larger")
    sent = assert_pi_follows(home, session)
    assert compacted["summary"] in sent[0].text


def long_tail(path: Path) -> Acting:
    """A turn whose last result alone is far over any budget."""
    file = Acting(path)
    file.user("Start with a look at src/a.py.")
    file.said("It is short.", tokens=usage(60))
    file.user("Then read the log.")
    file.said("Here it comes.", call("read", "c1", path="big.log"), tokens=usage(120))
    file.answered("c1", "read", "line of the log\n" * 1500)
    return file


def many_results(path: Path) -> Acting:
    """Results of five thousand tokens each, old ones among them."""
    file = Acting(path)
    for turn in range(22):
        file.user(f"Read part {turn}. " * 120)
        file.said("Reading.", call("read", f"c{turn}", path=f"part{turn}.txt"), tokens=usage(100 + turn))
        file.answered(f"c{turn}", "read", f"part {turn} " * 3000)
    file.said("All read.", tokens=usage(500))
    return file


def test_results_cut_short_are_edited_in_the_same_write(tmp_path: Path) -> None:
    home, path = tmp_path / "home", long_tail(tmp_path / "session.jsonl").path
    compacted = leafward(home, "compact", str(path), "--keep-recent", "800")
    edit, line = entries_of(path)[-2:]
    assert (edit["type"], edit["targetId"]) == ("context_edit", compacted["pruned"][0])
    assert line["parentId"] == edit["id"]
    sent = assert_pi_follows(home, path)
    assert len(sent[-1].text) < 4000
    assert prepared(path)["tokens"] == compacted["as_pi"]["tokens_after"]


def test_opencodes_pruning_reaches_into_the_tail(tmp_path: Path) -> None:
    home, path = tmp_path / "home", many_results(tmp_path / "session.jsonl").path
    compacted = leafward(home, "compact", str(path), "--strategy", "opencode", "--keep-recent", "55000")
    edited = [line["targetId"] for line in entries_of(path) if line["type"] == "context_edit"]
    assert edited
    assert set(edited) <= set(compacted["pruned"]) & set(compacted["kept"])
    sent = assert_pi_follows(home, path)
    assert compacted["summary"] in sent[0].text
    assert prepared(path)["tokens"] == compacted["as_pi"]["tokens_after"]
    leafward(home, "undo", str(path))
    assert sum("part 3 part 3" in one.text for one in assert_pi_follows(home, path)) == 1


@pytest.mark.parametrize("session", ["branches"], indirect=True)
def test_off_the_leaf_undone_and_redone(session: Path, tmp_path: Path) -> None:  # noqa: F811
    home, before = tmp_path / "home", entries_of(session)
    compacted = leafward(home, "compact", str(session), "--at", "#28", "--keep-recent", "40", "--larger")
    assert "moves-leaf" in {one["code"] for one in compacted["diagnostics"]}
    assert entries_of(session)[-1]["parentId"] == before[28]["id"]
    assert compacted["summary"] in assert_pi_follows(home, session)[0].text
    leafward(home, "undo", str(session))
    sent = assert_pi_follows(home, session)
    assert_request(sent, expected_request(before, len(before) - 1))
    leafward(home, "redo", str(session))
    assert compacted["summary"] in assert_pi_follows(home, session)[0].text


@pytest.mark.parametrize("session", ["compacted-twice"], indirect=True)
def test_a_compaction_of_pis_is_repaired_beside_itself(session: Path, tmp_path: Path) -> None:  # noqa: F811
    home, before = tmp_path / "home", entries_of(session)
    wrong = max(index for index, line in enumerate(before) if line["type"] == "compaction")
    # A step of the summary before stands in neither, which the gate would stop at.
    pin = ("--pin", "every weight is in grams", "--accept-loss")
    repaired = leafward(home, "compact", str(session), "--repair", f"#{wrong}", *pin)
    line = entries_of(session)[-1]
    assert line["parentId"] == before[wrong]["parentId"]
    assert line["firstKeptEntryId"] == before[wrong]["firstKeptEntryId"]
    assert line["systemMessage"]["sections"] == before[wrong]["systemMessage"]["sections"]
    first = assert_pi_follows(home, session)[0].text
    assert "- every weight is in grams" in first
    assert before[wrong]["summary"].splitlines()[0] in first
    assert repaired["pins"] == ["every weight is in grams"]


@pytest.mark.parametrize("session", ["branches"], indirect=True)
@pytest.mark.parametrize("at", [6, 12, 28])
def test_a_branch_left_with_a_summary(session: Path, at: int, tmp_path: Path) -> None:  # noqa: F811
    home, before = tmp_path / "home", entries_of(session)
    moved = leafward(home, "move", str(session), f"#{at}", "--summary", "extractive")
    line = entries_of(session)[-1]
    assert (line["type"], line["id"]) == ("branch_summary", moved["summary_entry"])
    assert (line["parentId"], line["fromId"]) == (before[at]["id"], before[-1]["id"])
    sent = assert_pi_follows(home, session)
    assert moved["summary"]["text"] in sent[-1].text
    assert prepared(session)["tokens"] == moved["price"]["context"]["after"]
    leafward(home, "undo", str(session))
    assert_request(assert_pi_follows(home, session), expected_request(before, len(before) - 1))


@pytest.mark.parametrize("session", ["compacted-twice", "branches"], indirect=True)
def test_pis_own_next_compaction_goes_on_from_ours(session: Path, tmp_path: Path) -> None:  # noqa: F811
    home = tmp_path / "home"
    compacted = leafward(home, "compact", str(session), *KEEP, "--larger")
    with session.open("a", encoding="utf-8") as stream:
        for number, text in enumerate(("And now?", "Go on.")):
            message = {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}
            parent = compacted["leaf"] if not number else "0000aaa0"
            line = {"type": "message", "id": f"0000aaa{number}", "parentId": parent, "message": message}
            stream.write(json.dumps({**line, "timestamp": "2026-11-22T00:00:00.000Z"}) + "\n")
    plan = prepared(session, keep=1)["plan"]
    assert plan["previous_summary"] == compacted["summary"]
    assert {*compacted["files"]["modified"]} <= {*plan["modified"]}
    assert {*compacted["files"]["read"]} <= {*plan["read"], *plan["modified"]}
