"""`move`, `undo`, `redo`, `log`, `label`, `name`, `archive`: what they append and what they say of it."""

from __future__ import annotations

import os
from shlex import quote
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import OLD
from tests.pi_file import PiFile, conversation, last_line

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three turns, last written long ago: prompts 1, 3, 5 and replies 2, 4, 6."""
    file = conversation(tmp_path / "s.jsonl")
    os.utime(file.path, (OLD, OLD))
    return file.path


class TestMove:
    def test_appends_a_line_that_pi_follows(self, done: Run, path: Path) -> None:
        before = path.read_bytes()
        moved = done("move", path, "00000002", "--json").document
        assert path.read_bytes().startswith(before)
        line = last_line(path)
        assert (line["type"], line["customType"], line["parentId"]) == ("custom", "leafward.leaf", "00000002")
        assert (moved["from"], moved["target"], moved["leaf"]) == ("00000006", "00000002", line["id"])
        assert moved["op"] == line["data"]["op"]
        assert moved["entries"] == [line["id"]]
        assert moved["summary_entry"] is None
        assert done("tree", path, "--json").document["leaf"] == line["id"]
        assert done("context", path, "--json").document["messages"][-1]["entry"] == "00000002"

    def test_has_its_price(self, done: Run, run: Run, path: Path) -> None:
        price = done("move", path, "00000002", "--dry-run", "--json").document["price"]
        assert price["ancestor"] == "00000002"
        assert (price["left"]["entries"], price["entered"]["entries"]) == (4, 0)
        assert price["context"]["after"] == price["cached"] + price["sent_again"]
        told = run("move", path, "00000002", "--dry-run").out
        # The model counted more than is estimated: the tokens of the entries would contradict the two sizes.
        assert price["left"]["tokens"] == 10
        assert "drops 4 entries   adds 0 entries   context 15 -> 15   " in told

    def test_a_dry_run_writes_nothing(self, run: Run, path: Path) -> None:
        before = path.read_bytes(), path.stat().st_mtime_ns
        planned = run("move", path, "00000002", "--dry-run", "--json").document
        assert planned["dry_run"] is True
        assert planned["entries"] == []
        outcome = run("move", path, "00000002", "--dry-run")
        assert outcome.out.startswith("would move the leaf to 00000002  answer 0\n")
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before

    def test_where_it_is_already_nothing_is_written(self, done: Run, path: Path) -> None:
        before = path.read_bytes()
        stayed = done("move", path, "leaf", "--json").document
        assert (stayed["op"], stayed["from"], stayed["leaf"]) == (None, "00000006", "00000006")
        assert done("move", path, "leaf").out == "the leaf is already there: 00000006  answer 2\n"
        assert path.read_bytes() == before

    def test_long_words_of_a_place_are_cut_with_an_ellipsis(
        self, done: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "200")
        file = PiFile(tmp_path / "long.jsonl")
        file.user("word " * 40)
        assert done("move", file.path, "leaf").out.endswith(" word word…\n")

    def test_to_a_prompt_is_warned_of(self, run: Run, path: Path) -> None:
        moved = run("move", path, "00000003", "--json").document
        assert "two-prompts" in {remark["code"] for remark in moved["diagnostics"]}
        assert moved["target"] == "00000003"

    def test_before_a_prompt_gives_its_text_back(self, done: Run, path: Path) -> None:
        moved = done("move", path, "00000003", "--before", "--json").document
        assert (moved["target"], moved["prompt"]) == ("00000002", "question 1")
        assert moved["diagnostics"] == []

    def test_before_a_reply_is_no_place_for_a_prompt(self, run: Run, path: Path) -> None:
        before = path.read_bytes()
        outcome = run("move", path, "00000004", "--before", "--dry-run")
        assert (outcome.code, outcome.out) == (1, "")
        assert "--before needs a prompt, and 00000004 is not one" in outcome.err
        assert path.read_bytes() == before

    def test_before_the_first_prompt_is_before_everything(self, run: Run, path: Path) -> None:
        moved = run("move", path, "00000001", "--before", "--json").document
        assert (moved["target"], moved["prompt"]) == (None, "question 0")
        assert last_line(path)["parentId"] is None
        assert run("context", path, "--json").document["messages"] == []
        assert "the leaf is before the first entry" in run("tree", path).out

    def test_a_file_written_a_moment_ago_is_remarked_on(self, run: Run, tmp_path: Path) -> None:
        file = PiFile(
            tmp_path / "s.jsonl",
            {"type": "session", "version": 3, "id": "abc", "cwd": str(tmp_path), "timestamp": ""},
        )
        file.user("x")
        file.reply("y")
        outcome = run("label", file.path, "root", "z")
        assert outcome.code == 0
        assert f"pi --session {quote(str(file.path))}" in outcome.err

    def test_without_a_summary_by_default(self, done: Run, path: Path) -> None:
        moved = done("move", path, "00000002", "--summary", "none", "--json").document
        assert (moved["kind"], moved["summary_entry"]) == ("move", None)
        assert "summary" not in moved

    def test_the_same_said_once_for_a_person(self, run: Run, path: Path) -> None:
        outcome = run("move", path, "00000003")
        assert (outcome.out + outcome.err).count("with no reply between") == 1


class TestUndo:
    def test_there_and_back(self, done: Run, path: Path) -> None:
        moved = done("move", path, "00000002", "--json").document
        undone = done("undo", path, "--json").document
        assert (undone["kind"], undone["undoes"]) == ("undo", moved["op"])
        assert done("show", path, "--json").document["id"] == "00000006"
        redone = done("redo", path, "--json").document
        assert redone["kind"] == "redo"
        assert done("show", path, "--json").document["id"] == "00000002"
        assert [one["kind"] for one in redone["ops"]] == ["move", "undo", "redo"]

    def test_it_says_the_way_that_the_leaf_goes(self, done: Run, path: Path) -> None:
        op = done("move", path, "00000002", "--json").document["op"]
        assert done("undo", path).out.startswith(f"undid move {op}: the leaf goes 00000002 -> 00000006")
        assert done("redo", path).out.startswith(f"redid move {op}: the leaf goes 00000006 -> 00000002")
        edit = done("edit-context", path, "00000002", "--text", "short", "--json").document["op"]
        assert done("undo", path).out.startswith(f"undid edit-context {edit}: the leaf ")

    def test_it_says_which_way_a_name_and_a_label_go(self, done: Run, path: Path) -> None:
        done("name", path, "Orchard")
        done("label", path, "00000002", "one")
        label = done("label", path, "00000002", "two", "--json").document["op"]
        done("name", path, "Quince")
        assert ': "Quince" -> "Orchard"\n' in done("undo", path).out
        assert ': "Orchard" -> "Quince"\n' in done("redo", path).out
        assert ': "two" -> "one" on 00000002' in done("undo", path, "--op", label).out
        assert ': "one" -> "two" on 00000002' in done("redo", path).out
        first = done("log", path, "--json").document["ops"][1]["op"]
        # Set since to another text: that one goes.
        assert ': "two" -> none on 00000002' in done("undo", path, "--op", first).out

    @pytest.mark.parametrize(
        "act",
        [("name", "Orchard"), ("label", "00000002", "one"), ("move", "00000002"), ("archive", "00000003")],
        ids=lambda act: act[0],
    )
    def test_a_dry_run_says_what_the_run_says(
        self, act: tuple[str, ...], run: Run, done: Run, path: Path
    ) -> None:
        assert run(act[0], path, *act[1:]).code == 0
        for verb, word in (("undo", "undid"), ("redo", "redid")):
            would = run(verb, path, "--dry-run").out
            assert would == run(verb, path, "--dry-run").out
            assert would.replace(f"would {verb}", word) == done(verb, path).out

    def test_a_dry_run_writes_nothing(self, run: Run, path: Path) -> None:
        run("label", path, "00000002", "x")
        before = path.read_bytes()
        assert run("undo", path, "--dry-run").code == 0
        assert run("undo", path, "--dry-run", "--json").document["dry_run"] is True
        assert path.read_bytes() == before

    def test_a_named_operation(self, done: Run, path: Path) -> None:
        first = done("label", path, "00000002", "one", "--json").document
        done("name", path, "two", "--json")
        undone = done("undo", path, "--op", first["op"][:6], "--json").document
        assert undone["undoes"] == first["op"]
        document = done("tree", path, "--json").document
        assert document["session"]["name"] == "two"
        assert document["entries"][1]["label"] is None

    @pytest.mark.parametrize("verb", ["undo", "redo"])
    def test_nothing_to_take_back(self, verb: str, run: Run, path: Path) -> None:
        outcome = run(verb, path, "--json")
        assert (outcome.code, outcome.out, outcome.err) == (1, "", f"leafward: nothing to {verb}\n")


def test_log_has_the_agents_moves_too(done: Run, sessions: Path) -> None:
    ops = done("log", sessions / "branches.jsonl", "--json").document["ops"]
    moves = [(one["from"], one["to"]) for one in ops if one["kind"] == "agent-move"]
    assert moves[0] == ("dfc51629", "ab33712d")
    assert all(set(one) >= {"op", "kind", "time", "from", "to", "undone"} for one in ops)
    assert '"start" -> none on ab33712d' in done("log", sessions / "branches.jsonl").out


def test_log_of_nothing(done: Run, path: Path) -> None:
    assert done("log", path, "--json").document == {"ops": [], "restores": []}
    assert done("log", path).out == "no operations yet\n"


class TestLabelAndName:
    def test_the_place_stays(self, done: Run, path: Path) -> None:
        labelled = done("label", path, "00000002", "tests\ngreen", "--json").document
        named = done("name", path, "Orchard", "--json").document
        document = done("tree", path, "--json").document
        assert document["entries"][1]["label"] == "tests green"
        assert document["session"]["name"] == "Orchard"
        assert document["place"] == "00000006"
        assert (labelled["kind"], labelled["target"], named["kind"]) == ("label", "00000002", "name")

    def test_leaf_is_where_the_conversation_stands(self, done: Run, path: Path) -> None:
        done("name", path, "Orchard")
        assert done("label", path, "leaf", "here", "--json").document["target"] == "00000006"

    def test_an_empty_text_takes_it_away(self, done: Run, path: Path) -> None:
        for text in ("x", ""):
            done("label", path, "00000002", text)
            done("name", path, text)
        document = done("tree", path, "--json").document
        assert (document["session"]["name"], document["entries"][1]["label"]) == (None, None)

    def test_the_document_has_the_text_as_it_is_kept(self, done: Run, path: Path) -> None:
        for text, kept in ((" tests\ngreen ", "tests green"), ("  ", None)):
            assert done("label", path, "00000002", text, "--json").document["label"] == kept
            assert done("name", path, text, "--json").document["name"] == kept

    def test_without_an_entry_leaf_names_none(self, run: Run, done: Run, path: Path) -> None:
        done("move", path, "00000001", "--before")
        for verb in (("label", path, "leaf", "x"), ("archive", path, "leaf")):
            assert "the leaf is before the first entry: name an entry" in run(*verb).err
        bare = PiFile(path.with_name("bare.jsonl"))
        for verb in (("label", bare.path, "leaf", "x"), ("archive", bare.path, "leaf")):
            assert run(*verb).err == "leafward: bare.jsonl has no entry yet\n"

    def test_as_it_was_nothing_is_written(self, done: Run, path: Path) -> None:
        done("label", path, "00000002", "x")
        before = path.read_bytes()
        assert done("label", path, "00000002", "x").out.startswith("unchanged: ")
        assert path.read_bytes() == before

    def test_dry_runs_write_nothing(self, run: Run, path: Path) -> None:
        before = path.read_bytes()
        for arguments in (
            ("label", path, "00000002", "x"),
            ("name", path, "x"),
            ("archive", path, "00000003"),
        ):
            outcome = run(*arguments, "--dry-run")
            assert outcome.code == 0
            assert "would write" in outcome.out
        assert path.read_bytes() == before


def test_archive_and_back(done: Run, path: Path) -> None:
    done("move", path, "00000002")
    assert done("archive", path, "00000003", "--json").document["archived"] is True
    assert done("tree", path, "--json").document["archived"] == ["00000003"]
    assert done("archive", path, "00000003", "--undo", "--json").document["archived"] is False
    assert done("tree", path, "--json").document["archived"] == []


def test_an_archived_branch_of_the_path_is_said_to_stay(done: Run, run: Run, path: Path) -> None:
    said = "hidden only once the leaf is on another branch"
    assert said in run("archive", path, "00000003", "--dry-run").err
    (remark,) = done("archive", path, "00000003", "--json").document["diagnostics"]
    assert remark["code"] == "on-path"
    assert said in remark["text"]
    assert done("archive", path, "00000003", "--undo", "--json").document["diagnostics"] == []


def test_an_edit_says_why_it_frees_more_than_the_rows_have(run: Run, tmp_path: Path) -> None:
    """The model counted 300 tokens for prompts that are estimated at a few."""
    file = PiFile(tmp_path / "s.jsonl")
    prompt = file.user("Which orchard?")
    file.reply("this one")
    text = (
        file.path.read_text()
        .replace('"totalTokens":15', '"totalTokens":300')
        .replace('"input":10', '"input":295')
    )
    file.path.write_text(text)
    told = run("edit-context", file.path, prompt, "--omit", "--dry-run")
    assert told.out.startswith("would free ~")
    assert "the provider counted more than the ~4 tokens estimated for the text" in told.err


def test_archiving_what_the_leaf_is_in_says_that_it_is_shown_still(run: Run, done: Run, path: Path) -> None:
    shown = "hidden only once the leaf is on another branch"
    done("label", path, "leaf", "here")
    assert done("show", path, "leaf", "--json").document["id"] == "00000006"
    assert done("move", path, "leaf").out.startswith("the leaf is already there: 00000006  ")
    told = run("archive", path, "leaf")
    assert told.out.startswith("archived the branch at 00000006  ")
    assert shown in told.err
    done("move", path, "00000002")
    assert "archived" in done("tree", path).out
    assert shown not in done("archive", path, "00000003").err


class TestRefusals:
    def test_another_writer(self, run: Run, path: Path) -> None:
        fcntl = pytest.importorskip("fcntl")
        before = path.read_bytes()
        with path.open("ab") as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            outcome = run("name", path, "x")
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.startswith("leafward: ")
        assert outcome.err.count("\n") == 1
        assert path.read_bytes() == before

    def test_a_newer_version(self, run: Run, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl", {"type": "session", "version": 4, "id": "x", "cwd": "/"})
        file.user("x")
        before = file.path.read_bytes()
        for arguments in (("move", file.path, "root", "--before"), ("label", file.path, "root", "x")):
            outcome = run(*arguments)
            assert outcome.code == 1
            assert "version 4" in outcome.err
        assert file.path.read_bytes() == before
        assert run("tree", file.path, "--json").document["session"]["read_only"]

    def test_a_line_that_is_no_entry(self, run: Run, path: Path) -> None:
        with path.open("ab") as file:
            file.write(b"nonsense\n")
        assert run("move", path, "#6").code == 1


def test_the_first_write_to_an_old_version_keeps_a_backup(run: Run, sessions: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    original = (sessions / "version-1.jsonl").read_bytes()
    path.write_bytes(original)
    planned = run("name", path, "x", "--dry-run", "--json").document
    assert "migrates" in {remark["code"] for remark in planned["diagnostics"]}
    assert path.read_bytes() == original
    written = run("name", path, "x", "--json").document
    with open(written["backup"], "rb") as backup:
        assert backup.read() == original
    assert run("tree", path, "--json").document["session"]["version"] == 3


@pytest.mark.parametrize("arguments", [("name", "x"), ("archive",), ("archive", "#2"), ("label", "#2", "x")])
def test_every_first_write_to_an_old_version_says_where_the_backup_is(
    run: Run, sessions: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    path = tmp_path / "old.jsonl"
    path.write_bytes((sessions / "version-1.jsonl").read_bytes())
    verb, *rest = arguments
    said = run(verb, path, *rest).err
    assert "the file was of version 1 and is now version 3; it was copied to a backup" in said
    assert "backup of the old file: " in said
