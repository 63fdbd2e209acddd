"""`diff` of many branches and with a workspace, `files` by every way there is, and `--select`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.acting import Acting, call

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

TEXT = "".join(f"line {at}.\n" for at in range(1, 31))


def edit(call_id: str, old: str, new: str, path: str = "a.py") -> dict[str, object]:
    return call("edit", call_id, path=path, edits=[{"oldText": old, "newText": new}])


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    """Three branches: one edits a file that was never read whole, one reads what that one left, one fails its test."""
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("begin")
    file.said(edit("a", "line 3.", "THREE"))
    file.answered("a", "edit")
    file.leaf = fork
    file.user("second branch")
    file.said(call("write", "b", path="b.py", content="one\ntwo\n"))
    file.answered("b", "write")
    file.leaf = fork
    file.user("third branch")
    file.said(call("read", "c1", path="b.py", offset=1, limit=1), edit("c2", "two", "TWO", "b.py"))
    file.answered("c1", "read", "one\n\n[2 more lines in file. Use offset=2 to continue.]")
    file.answered("c2", "edit")
    file.said(call("bash", "c3", command="npm test"))
    file.answered("c3", "bash", "Command exited with code 1", failed=True)
    return file


def test_the_name_of_each_compared_file_is_read(done: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("begin")
    folder = "/home/ada/workspaces/orchard/packages/coding-agent/source/interfaces"
    for name in ("leases.py", "ladders.py"):
        file.said(call("write", name, path=f"{folder}/{name}", content="one\n"))
        file.answered(name, "write")
    left = file.leaf
    file.leaf = fork
    file.user("second branch")
    out = done("diff", file.path, left, "leaf").out
    assert "/leases.py" in out
    assert "/ladders.py" in out


def test_a_file_that_a_command_moved_has_no_lines_added_and_none_removed(done: Run, tmp_path: Path) -> None:
    """No lines are known of it, which is not the same as `+0 -0`."""
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("begin")
    file.said(call("bash", "m", command="git mv old.py new.py"))
    file.answered("m", "bash")
    left = file.leaf
    file.leaf = fork
    file.user("second branch")
    out = done("diff", file.path, left, "leaf").out
    row = next(line for line in out.splitlines() if "old.py" in line)
    assert "changed" in row
    assert "+0" not in out


@pytest.mark.parametrize("what", ["files", "contents", "context", "summary", "outcome"])
def test_no_comparison_ends_with_an_empty_line(done: Run, file: Acting, what: str) -> None:
    out = done("diff", file.path, "#2", "leaf", "--what", what).out
    assert not out.endswith("\n\n")
    assert "\n\n\n" not in out


def test_messages_have_the_words_of_the_context(done: Run, file: Acting) -> None:
    """Not the roles in the file; a call has its subject, not its arguments."""
    messages = done("diff", file.path, "#2", "leaf", "--what", "context").out
    entries = done("select", file.path, "ancestors(leaf)").out
    for out in (messages, entries):
        assert re.search(r" you +\d+  third branch", out)
        assert re.search(r" bash +\d+  npm test", out)
        assert "toolResult" not in out
        assert "path=" not in out


def test_written_files_are_named(done: Run, file: Acting, tmp_path: Path) -> None:
    there = done("files", file.path, "--at", "#5", "--into", tmp_path / "then", "--dry-run").out.splitlines()
    assert there[0].startswith("would write 1 file, 8 bytes, to ")
    assert there[1:] == ["  b.py"]


def test_files_of_before_the_common_ancestor_are_only_counted(done: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    file.said(call("write", "w", path="old.py", content="one\n"))
    fork = file.answered("w", "write")
    file.user("one branch")
    left = file.said(call("write", "x", path="new.py", content="one\n"))
    file.leaf = fork
    file.user("second branch")
    out = done("diff", file.path, left, "leaf").out
    assert "old.py" not in out
    (row,) = (line for line in out.splitlines() if "new.py" in line)
    assert "+1 -0" in row
    assert "1 before the common ancestor only" in out


def test_outcomes_of_many_branches_are_a_table(done: Run, run: Run, file: Acting) -> None:
    shown = done("diff", file.path, "#2", "#5", "#11", "--what", "outcome", "--json").document
    assert [node["failed_commands"] for node in shown["nodes"]] == [0, 0, 1]
    assert [node["edits"] for node in shown["nodes"]] == [1, 1, 1]
    out = done("diff", file.path, "#2", "#5", "#11", "--what", "outcome").out
    row = next(line for line in out.splitlines() if line.startswith("test"))
    assert row.split("  ")[-1].strip() == "failed (1 run, 1 failed)"
    assert row.count("not run") == 2
    refused = run("diff", file.path, "#2", "#5", "#11")
    assert refused.code == 2
    assert "--what outcome" in refused.err


def test_a_file_of_the_workspace_is_a_base_when_asked(
    done: Run, run: Run, file: Acting, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").write_text(TEXT)
    assert run("files", file.path, "--at", "#2", "--rebuild", "a.py").code == 1
    rebuilt = run("files", file.path, "--at", "#2", "--rebuild", "a.py", "--base", work)
    assert rebuilt.out == TEXT.replace("line 3.", "THREE")
    assert "rests on the file on disk" in rebuilt.err
    told = done(
        "files", file.path, "--at", "#2", "--into", tmp_path / "then", "--base", work, "--json"
    ).document
    assert [one["path"] for one in told["rests_on"]] == ["a.py"]
    assert (tmp_path / "then" / "a.py").read_text() == rebuilt.out
    patch = done("diff", file.path, "#2", "#5", "--patch", "a", "--base", work)
    assert "-line 3.\n+THREE\n" in patch.out
    shown = done("diff", file.path, "#2", "#5", "--what", "contents", "--base", work, "--json").document
    assert shown["only_a"][0]["a"]["base"] == "on disk"
    assert (work / "a.py").read_text() == TEXT


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_a_comparison_is_a_document(done: Run, run: Run, file: Acting, tmp_path: Path, form: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").write_text(TEXT)
    plain = done("diff", file.path, "#2", "#5", "--format", form)
    assert "b.py" in plain.out
    assert "THREE" not in plain.out
    rested = done("diff", file.path, "#2", "#5", "--format", form, "--base", work)
    assert "on disk" in rested.out
    assert "-THREE" in rested.out
    path = tmp_path / f"branches.{form}"
    written = done("diff", file.path, "#2", "#5", "--format", form, "--base", work, "-o", path, "--json")
    assert path.read_text() == rested.out
    assert path.stat().st_mode & 0o077 == 0
    told = written.document
    assert (told["what"], told["format"], told["path"]) == ("document", form, str(path))
    assert told["text"] is None
    assert told["a"]["edits"] == 1
    shown = done("diff", file.path, "#2", "#5", "--format", form, "--json").document
    assert shown["text"] == plain.out
    assert (work / "a.py").read_text() == TEXT


def test_a_document_is_of_two_entries_and_no_patch(run: Run, file: Acting, tmp_path: Path) -> None:
    for more in (("#11",), ("--patch", "a")):
        assert run("diff", file.path, "#2", "#5", *more, "--format", "md").code == 2
    assert run("diff", file.path, "#2", "#5", "-o", tmp_path / "x.md").code == 2
    assert run("diff", file.path, "#2", "#5", "--format", "md", "--base", tmp_path / "gone").code == 2
    refused = run("diff", file.path, "#2", "#5", "--format", "md", "-o", file.path)
    assert refused.code == 1
    assert "THREE" in file.path.read_text()


def test_a_patch_has_the_files_that_are_named(done: Run, run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("begin")
    for name in ("src/a.py", "src/b.py", "c.py"):
        file.said(call("write", name, path=name, content="one\n"))
        file.answered(name, "write")
    file.said(edit("e", "line 3.", "THREE", "src/never_read.py"))
    end = file.answered("e", "edit")

    def patched(*named: str) -> dict[str, list[str]]:
        files = [part for name in named for part in ("--file", name)]
        found = done("diff", file.path, fork, end, "--patch", "b", *files, "--json").document
        assert found["patch"].count("diff --git") == len(found["files"])
        return {"files": found["files"], "left_out": [one["path"] for one in found["left_out"]]}

    assert patched() == {"files": ["c.py", "src/a.py", "src/b.py"], "left_out": ["src/never_read.py"]}
    assert patched("./c.py") == {"files": ["c.py"], "left_out": []}
    assert patched("src/") == {"files": ["src/a.py", "src/b.py"], "left_out": ["src/never_read.py"]}
    refused = run("diff", file.path, fork, end, "--patch", "b", "--file", "d.py")
    assert refused.code == 2
    assert "b changed no file named d.py" in refused.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--what", "context", "--file", "a.py"), "--file needs --what files, --what contents or --patch"),
        (("--what", "outcome", "--base", "."), "--base needs --what files"),
        (("--format", "md", "--file", "a.py"), "--file needs"),
        (("--format", "md", "--what", "files"), "choose one of --what, --patch and --format"),
        (("--patch", "b", "--what", "files"), "choose one of --what, --patch and --format"),
        (("--keep-secrets",), "--keep-secrets needs --format"),
        (("--redact",), "--redact needs --patch"),
    ],
)
def test_an_option_without_effect_is_refused(
    run: Run, file: Acting, options: tuple[str, ...], words: str
) -> None:
    refused = run("diff", file.path, "#2", "#5", *options)
    assert refused.code == 2
    assert words in refused.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--timeline", "a.py", "--rebuild", "a.py"), "choose one of --timeline, --rebuild and --into"),
        (("--into", "x", "--rebuild", "a.py"), "choose one of"),
        (("--base", "."), "--base needs --rebuild or --into"),
        (("--timeline", "a.py", "--base", "."), "--base needs --rebuild or --into"),
        (("--rebuild", "a.py", "--dry-run"), "--dry-run needs --into"),
    ],
)
def test_an_option_of_files_without_effect_is_refused(
    run: Run, file: Acting, options: tuple[str, ...], words: str
) -> None:
    refused = run("files", file.path, *options)
    assert refused.code == 2
    assert words in refused.err


def test_a_branch_that_worked_on_what_another_left(done: Run, run: Run, file: Acting) -> None:
    first = done("show", file.path, "#0", "--json").document["id"]
    file.leaf = first
    file.said(call("write", "d1", path="b.py", content="mine\n"))
    end = file.answered("d1", "write")
    file.leaf = first
    file.said(call("write", "e1", path="b.py", content="x\nTWO\n"))
    file.answered("e1", "write")
    file.leaf = end
    file.said(edit("d2", "TWO", "2", "b.py"))
    file.answered("d2", "edit")
    rebuilt = run("files", file.path, "--rebuild", "b.py")
    assert (rebuilt.code, rebuilt.out) == (0, "x\n2\n")
    assert "with the calls of other branches" in rebuilt.err


def test_chosen_entries_only(done: Run, run: Run, file: Acting) -> None:
    every = done("tree", file.path).out
    assert "third branch" in every
    chosen = done("tree", file.path, "--select", 'changed("a.py")').out
    assert "begin" in chosen
    assert "third branch" not in chosen
    listed = done("tree", file.path, "--select", "prompts()", "--json").document
    assert [one["id"] for one in listed["entries"]] == [
        one["id"] for one in done("select", file.path, "prompts()", "--json").document["entries"]
    ]
    exported = done("export", file.path, "--all", "--select", "prompts()", "--format", "md").out
    assert "third branch" in exported
    assert "TWO" not in exported
    for form in ("html", "json"):
        text = done("export", file.path, "--all", "--select", "prompts()", "--format", form).out
        assert "third branch" in text
        assert "THREE" not in text
    assert done("search", "branch", file.path, "--json").document["hits"]
    found = done("search", "branch", file.path, "--select", "results()", "--json").document
    assert found["hits"] == []
    for words in (("tree", file.path), ("export", file.path), ("search", "x", file.path)):
        assert run(*words, "--select", "tool(").code == 2


def test_what_summaries_list_is_carried(done: Run, file: Acting) -> None:
    file.entry(
        "branch_summary",
        summary="was left",
        fromId="x",
        details={"readFiles": ["r.py", "b.py"], "modifiedFiles": ["m.py"]},
    )
    file.entry(
        "branch_summary",
        summary="of an extension",
        fromId="x",
        fromHook=True,
        details={"readFiles": ["no.py"]},
    )
    shown = done("files", file.path, "--json").document
    assert [one["path"] for one in shown["carried"]["read"]] == ["r.py"]
    assert [one["path"] for one in shown["carried"]["modified"]] == ["m.py"]
    assert "listed by summaries" in done("files", file.path).out


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("prompts() & foo(3)", 12),
        ('"日本" | foo()', 9),
        ("prompts() | " * 30 + "foo()", None),
        ("\x1b[31m & (", None),
    ],
)
def test_what_is_wrong_with_a_query_is_shown_in_it(
    run: Run, file: Acting, query: str, place: int | None
) -> None:
    for verb in (
        ("select",),
        ("edit-context", "--omit", "--select"),
        ("graft", "--select"),
        ("tree", "--select"),
    ):
        first, *options = verb
        found = run(first, file.path, *options, query)
        assert found.code == 2
        _, shown, mark = found.err.splitlines()
        assert mark.strip() == "^"
        assert "\x1b" not in found.err
        assert len(shown) < 100
        if place is not None:
            assert mark.index("^") - 2 == place
        else:
            assert shown[mark.index("^") :] in ("foo()", "")


def test_behind_an_edit_the_leaf_is_still_the_last_message(run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("first " * 50)
    file.said("second")
    last = file.user("third " * 50)
    assert run("edit-context", file.path, "#1", "--omit").code == 0
    made = run("edit-context", file.path, "leaf", "--keep", "5", "--json").document
    assert [one["entry"] for one in made["edits"]] == [last]


def test_the_log_counts_the_edits_of_one_operation(run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("first " * 50)
    file.said("second")
    file.user("third " * 50)
    for entries in (("#0", "#2"), ("#1",)):
        assert run("edit-context", file.path, *entries, "--omit").code == 0
    first, second = run("log", file.path).out.splitlines()[1:]
    assert "2 edits, the last" in first
    assert "edits" not in second.partition("edit-context")[2]


def test_branches_without_a_conflict_take_no_choice(run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    fork = file.user("begin")
    file.said("begun")
    file.leaf = fork
    file.said("Compare the pears with the plums, never touch the figs")
    refused = run("merge-summaries", file.path, "#1", "leaf", "--choose", "9=a", "--dry-run")
    assert refused.code == 2
    assert "the branches have no conflict: leave out --choose" in refused.err


def test_a_merge_that_waits_for_a_decision_has_the_keys_of_a_write(run: Run, tmp_path: Path) -> None:
    """Of them only `op` and `dry_run` were there, and what is missing was told on stderr alone."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("Begin with the orchard: build the parser")
    fork = file.said("begun")
    file.user("The goal is now: ship the parser by Friday")
    file.leaf = fork
    file.user("Forget that; write the report about pears")
    before = file.path.read_bytes()
    command = ("merge-summaries", file.path, "#2", "leaf")
    written = run(*command, "--prefer", "a", "--dry-run", "--json").document
    for more, code in (((), 1), (("--dry-run",), 0)):
        waits = run(*command, *more, "--json")
        assert (waits.code, waits.err) == (code, "")
        document = waits.document
        assert document.keys() == written.keys()
        assert (document["op"], document["entries"], document["summary"]) == (None, [], None)
        assert document["from"] == document["leaf"] == file.leaf
        (missing,) = document["diagnostics"]
        assert missing["code"] == "undecided"
        assert run(*command, *more).err == f"leafward: {missing['text']}; nothing was written\n"
    assert file.path.read_bytes() == before
