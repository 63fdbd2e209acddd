"""`show`, `context` and `files`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.acting import Acting, call
from tests.oracle.golden import GOLDEN, load
from tests.pi_file import HEADER, PiFile, conversation

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


class TestShow:
    def test_one_entry_whole(self, done: Run, sessions: Path) -> None:
        path = sessions / "branches.jsonl"
        shown = done("show", path, "ab33712d", "--json").document
        raw = path.read_bytes()
        line = raw[shown["offset"] : shown["offset"] + shown["size"]]
        assert shown["body"] == json.loads(line)
        assert raw[shown["offset"] + shown["size"] :].startswith(b"\n")
        assert (shown["id"], shown["kind"], shown["role"]) == ("ab33712d", "message", "assistant")
        assert shown["children"] == ["4177fb18", "5fd43d12"]
        assert shown["damage"] is None

    def test_the_summary_of_a_compaction_comes_before_the_prompt_it_keeps(
        self, done: Run, path: Path
    ) -> None:
        out = done("show", path, "4611234d").out
        assert (
            0
            < out.index("## Goal")
            < out.index("## Next Steps")
            < out.index("system prompt kept by the compaction")
        )

    def test_without_an_entry_it_is_the_place(self, done: Run, sessions: Path) -> None:
        path = sessions / "branches.jsonl"
        assert done("show", path, "--json").document["id"] == "9a122741"
        assert done("show", path, "leaf", "--json").document["kind"] == "session_info"

    @pytest.mark.parametrize(
        ("selector", "index"), [("root", 0), ("#3", 3), ("fe48", 3), ("fe48189d", 3), ("leaf", 49)]
    )
    def test_ways_to_name_an_entry(self, selector: str, index: int, done: Run, sessions: Path) -> None:
        assert done("show", sessions / "branches.jsonl", selector, "--json").document["index"] == index

    def test_a_line_that_is_no_entry_is_shown_as_it_is(self, done: Run, tmp_path: Path) -> None:
        file = conversation(tmp_path / "s.jsonl", 1)
        file.raw('{"half": \x00')
        shown = done("show", file.path, "#2", "--json").document
        assert (shown["kind"], shown["damage"], shown["body"]) == ("malformed", "malformed", None)
        assert shown["raw"] == '{"half": \x00'
        assert '{"half": ␀' in done("show", file.path, "#2").out

    def test_for_a_person(self, done: Run, sessions: Path) -> None:
        out = done("show", sessions / "branches.jsonl", "0ad0914a").out
        assert out.startswith("0ad0914a  message assistant\n")
        assert "calls edit" in out
        assert "path: report.py" in out

    @pytest.mark.parametrize("selector", ["zz", "#50", "#-1", "#", "", "5"])
    def test_no_such_entry(self, selector: str, run: Run, sessions: Path) -> None:
        outcome = run("show", sessions / "branches.jsonl", selector)
        assert (outcome.code, outcome.out) == (1, "")
        assert outcome.err.startswith("leafward: ")
        assert outcome.err.count("\n") == 1


class TestContext:
    @pytest.mark.parametrize(
        "name", ["branches", "compacted-twice", "retain-none", "edits-and-extras", "rpc-errors"]
    )
    def test_agrees_with_pi(self, name: str, done: Run, sessions: Path) -> None:
        path = sessions / f"{name}.jsonl"
        entries = done("tree", path, "--json").document["entries"]
        for node in load(GOLDEN / f"{name}.json").nodes[::7]:
            at = entries[node.at]["id"]
            found = done("context", path, "--at", at, "--json").document
            assert found["at"] == at
            assert found["thinking"] == node.thinking
            assert (found["model"]["provider"], found["model"]["id"]) == (node.model or (None, None))
            for key, theirs in (("as_pi", "total"), ("from_usage", "from_usage"), ("trailing", "trailing")):
                assert found["tokens"][key] == (node.tokens or {})[theirs]
            got = [(one["entry"], one["role"], one["tokens"]) for one in found["messages"]]
            assert got == [(entries[row.entry]["id"], row.role, row.tokens) for row in node.messages]

    def test_the_ledger_sums_to_the_total(self, done: Run, sessions: Path) -> None:
        for path in sessions.glob("*.jsonl"):
            found = done("context", path, "--json").document
            parts = found["ledger"]
            assert parts["total"] == found["tokens"]["total"]
            assert (
                sum(
                    parts[name]
                    for name in ("system", "summary", "kept", "after", "not_in_file", "error", "unsent")
                )
                == parts["total"]
            )

    def test_a_summary_names_its_compaction(self, done: Run, sessions: Path) -> None:
        found = done("context", sessions / "compacted-twice.jsonl", "--json").document
        (summary,) = (one for one in found["messages"] if one["role"] == "compactionSummary")
        assert (summary["entry"], summary["kind"]) == (found["compaction"], "compaction")
        assert summary["text"].startswith("## Goal\n")

    def test_an_entry_that_an_edit_left_out_is_named(self, done: Run, tmp_path: Path) -> None:
        file = conversation(tmp_path / "s.jsonl", 2)
        file.entry("context_edit", targetId="00000002", replacement=None)
        assert "00000002  left out by a context edit, which frees ~" in done("context", file.path).out

    def test_a_context_edit_is_named(self, done: Run, tmp_path: Path) -> None:
        file = conversation(tmp_path / "s.jsonl", 1)
        edit = file.entry("context_edit", targetId="00000001", replacement={"content": "better"})
        first = done("context", file.path, "--json").document["messages"][0]
        assert (first["text"], first["edited"], first["entry"]) == ("better", edit, "00000001")

    def test_an_empty_session_has_an_empty_context(self, done: Run, tmp_path: Path) -> None:
        found = done("context", PiFile(tmp_path / "s.jsonl").path, "--json").document
        assert (found["at"], found["messages"], found["tokens"]["total"]) == (None, [], 0)
        assert [remark["code"] for remark in found["diagnostics"]] == ["empty"]

    def test_damage_on_the_path_is_told(
        self, done: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        file.user("orphan", parent="ffffffff")
        found = done("context", file.path, "--json").document
        assert [remark["code"] for remark in found["diagnostics"]] == ["damage"]
        shown = done("context", file.path).out
        assert f"! {found['diagnostics'][0]['text']}" in shown.splitlines()
        monkeypatch.setattr("leafward.cli.verbs.context._REMARKS", 0)
        assert "! 1 more remark; --json has all" in done("context", file.path).out.splitlines()

    def test_usage_of_path_and_session(self, done: Run, tmp_path: Path) -> None:
        file = conversation(tmp_path / "s.jsonl", 2)
        file.reply("aside", parent="00000001")
        usage = done("context", file.path, "--json").document["usage"]
        assert (usage["path"]["total"], usage["session"]["total"]) == (15, 45)

    @pytest.mark.parametrize(("recorded", "said"), [({"total": 0}, 0.0), ({"total": 0.5}, 0.5), (None, None)])
    def test_a_cost_that_nobody_recorded_is_null_in_every_verb(
        self, done: Run, tmp_path: Path, recorded: object, said: float | None
    ) -> None:
        file = Acting(tmp_path / "s.jsonl")
        file.user("hello")
        tokens = {"input": 900, "output": 100, "totalTokens": 1000} | ({"cost": recorded} if recorded else {})
        file.said("hi", tokens=tokens)
        found = done("context", file.path, "--json").document["usage"]
        assert [found[part]["cost"] for part in ("path", "session")] == [said, said]
        assert done("tree", file.path, "--json").document["session"]["usage"]["cost"] == said
        assert done("ls", file.path, "--json").document["sessions"][0]["cost"] == said

    def test_for_a_person(self, done: Run, sessions: Path) -> None:
        out = done("context", sessions / "compacted-twice.jsonl").out
        assert "1,712  tokens" in out
        assert "summary of the compaction" in out


class TestFiles:
    def test_paths_are_relative_and_name_their_entries(self, done: Run, sessions: Path) -> None:
        found = done("files", sessions / "branches.jsonl", "--json").document
        assert [use["path"] for use in found["modified"]] == ["report.py"]
        assert found["read"] == [
            {"path": "harvest.py", "entries": ["7d1573d4"]},
            {"path": "notes/frost.txt", "entries": ["bf3ea4fa"]},
        ]

    def test_at_an_earlier_entry(self, done: Run, sessions: Path) -> None:
        found = done("files", sessions / "branches.jsonl", "--at", "dfc51629", "--json").document
        assert [use["path"] for use in found["modified"]] == ["kilos.py"]

    def test_a_file_that_is_read_and_changed_by_a_command_is_told_as_changed(
        self, done: Run, tmp_path: Path
    ) -> None:
        acting = Acting(tmp_path / "s.jsonl")
        acting.said(
            call("read", "c1", path="a.py"), call("bash", "c2", command="sed -i s/a/b/ a.py; cat a.py")
        )
        acting.answered("c1", "read")
        acting.answered("c2", "bash")
        found = done("files", acting.path, "--json").document
        assert [use["path"] for use in found["read"]] == ["a.py"]
        assert [use["path"] for use in found["inferred"]["modified"]] == ["a.py"]
        assert found["inferred"]["read"] == []

    def test_a_path_without_files_says_so(self, done: Run, tmp_path: Path) -> None:
        path = conversation(tmp_path / "s.jsonl").path
        assert done("files", path, "--json").document == {
            "at": "00000006",
            "read": [],
            "modified": [],
            "inferred": {"read": [], "modified": []},
            "carried": {"read": [], "modified": []},
            "searched": [],
        }
        assert done("files", path).out == "no file was read or modified on this path\n"


def test_versions_1_and_2_are_read_without_being_written(done: Run, sessions: Path) -> None:
    for name in ("version-1", "version-2"):
        path = sessions / f"{name}.jsonl"
        before = path.read_bytes(), path.stat().st_mtime_ns
        first = done("tree", path, "--json").document
        assert first == done("tree", path, "--json").document
        assert first["session"]["version"] == int(name[-1])
        done("context", path, "--json")
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_header_facts_of_another_shape_do_no_harm(done: Run, tmp_path: Path) -> None:
    header = HEADER | {"timestamp": 7, "cwd": ["x"], "parentSession": {"a": 1}}
    file = PiFile(tmp_path / "s.jsonl", header)
    file.user("x")
    session = done("tree", file.path, "--json").document["session"]
    assert (session["cwd"], session["created"], session["parent_session"]) == ("", None, None)
    assert done("tree", file.path).out


@pytest.mark.parametrize("role", ["user", "assistant", "toolResult"])
def test_blocks_of_an_unknown_type_are_shown_and_exported(run: Run, tmp_path: Path, role: str) -> None:
    """A version of pi to come may write them: nothing of a message is left out unseen."""
    file = PiFile(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
    blocks = [{"type": "text", "text": "A pear."}, {"type": "smell", "of": "ghp_" + "a1B2" * 9}]
    file.entry("message", message={"role": role, "content": blocks})
    assert '[smell] {"of":"ghp_a1B2' in run("show", file.path, "#0").out
    exported = run("export", file.path).out
    assert '\\[smell\\] {"of":"\\[redacted' in exported
    assert "a1B2" not in exported
