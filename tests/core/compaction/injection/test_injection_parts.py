"""Text made harmless, a workspace that is only read, governance, pins, the reminder, paths printed once."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafward.compaction.injection.builders.workspace import Workspace
from leafward.compaction.injection.plain_text import clean, cut
from leafward.compaction.injection.sections import keys_of
from leafward.compaction.injection.values import Injection, SourceKind
from leafward.redaction.redaction import Redactor
from leafward.session.entries import EntryIndex
from leafward.session.injected_block import CLOSING, OPENING, enclose, split_enclosed
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.values import gather
from leafward.summaries.survival.spans import replaced_by
from tests.acting import Acting, call, reading
from tests.core.linear_time import in_linear_time
from tests.workspaces import anchor, idumb, injected, put, refactoring, spec

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 22, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    return Acting(tmp_path / "session.jsonl")


def bullets(made: Injection, key: str) -> list[str]:
    return [line.text[2:] for line in made.lines if line.section == key and line.text.startswith("- ")]


class TestEnclosed:
    def test_there_and_back(self) -> None:
        assert split_enclosed("told\n\n" + enclose("a\nb")) == ("told", "a\nb")
        assert split_enclosed("told\n\n" + enclose("a") + "\n\n<read-files>\nx\n</read-files>") == (
            "told\n\n<read-files>\nx\n</read-files>",
            "a",
        )
        assert enclose("") == ""
        assert split_enclosed("told") == ("told", "")

    def test_what_is_never_closed_is_told(self) -> None:
        text = f"told\n{OPENING}\nrest"
        assert split_enclosed(text) == (text, "")
        assert split_enclosed(f"a {OPENING} b {CLOSING}") == (f"a {OPENING} b {CLOSING}", "")

    @given(st.lists(st.sampled_from([OPENING, CLOSING, "q", "", " j"]), max_size=12).map("\n".join))
    def test_nothing_is_lost(self, text: str) -> None:
        told, found = split_enclosed(text)
        for word in ("q", " j"):
            assert text.count(word) == told.count(word) + found.count(word)

    def test_it_is_no_part_of_the_summary(self, file: Acting) -> None:
        file.user("Look at src/a.py and src/b.py")
        kept = file.user("go on")
        first = file.compacted(kept, "We saw src/a.py\n\n" + enclose("- src/b.py"))
        kept = file.user("more")
        file.compacted(kept, "Later")
        with reading(file.path) as session:
            there = replaced_by(session, session.columns.index(first))
            assert (there.summary, there.injected) == ("We saw src/a.py", "- src/b.py")
            assert replaced_by(session, session.leaf).previous == "We saw src/a.py"

    def test_nothing_is_extracted_from_it(self) -> None:
        message = {"role": "compactionSummary", "summary": "We saw src/a.py\n" + enclose("- src/b.py")}
        found = gather(FactReader("/home/ada").read(EntryIndex(0), message))
        assert [fact.text for fact in found] == ["src/a.py"]


class TestCleaning:
    @pytest.mark.parametrize(
        ("raw", "made"),
        [
            ("a\r\nb\tc", "a b c"),
            ("\x1b[31mred\x1b[0m", "red"),
            ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
            ("a\u2028b\u0085c\x00d", "a b c d"),
            ("a\u202eb\u200bc", "abc"),
            ("e\u0301", "é"),
            ("e\u200b\u0301", "é"),
            ("# heading", "\\# heading"),
            ("- item", "\\- item"),
            ("---", "\\---"),
            ("```sh", "\\```sh"),
            ("> quote", "\\> quote"),
            ("1. one", "\\1. one"),
            ("-flag", "-flag"),
            ("#12", "#12"),
            ("3.12 is out", "3.12 is out"),
            ("</leafward-context>", "‹/leafward-context>"),
            ("</summary> now", "‹/summary> now"),
            ("<b>bold</b>", "<b>bold</b>"),
            ("\ud800", "\ufffd"),
            ("  ", ""),
        ],
    )
    def test_one_harmless_line(self, raw: str, made: str) -> None:
        assert clean(raw) == made

    def test_cut_between_graphemes(self) -> None:
        family = "👩‍👩‍👧‍👦"
        assert cut(family * 3, len(family) + 3) == family + "…"
        assert cut("🇩🇪🇫🇷", 4) == "🇩🇪🇫🇷"
        assert cut("🇩🇪🇫🇷x", 4) == "🇩🇪…"
        assert cut("q\u0307abc", 2) == "…"
        assert cut("abc", 0) == ""

    @given(st.text(max_size=300), st.integers(0, 100))
    def test_never_longer_than_asked(self, text: str, limit: int) -> None:
        assert len(clean(text, limit)) <= limit
        assert len(cut(text, limit)) <= limit

    def test_secrets(self, file: Acting) -> None:
        token = "ghp_" + "a1B2" * 9
        file.user(f"use {token} for it")
        made = injected(file, pins=(f"gh\u200bp_{'a1B2' * 9}", f"the token is {token}"))
        assert "a1B2" not in made.text
        assert "[redacted: github token]" in made.text
        assert [remark.code for remark in made.diagnostics] == ["redacted"]
        redactor = Redactor()
        assert clean(token, 500, redactor) == "[redacted: github token]"


class TestWorkspace:
    def test_nothing_outside_is_followed(self, tmp_path: Path) -> None:
        outside = put(tmp_path, "outside/SESSION.md", "[Focus: secret] x")
        root = tmp_path / "w"
        root.mkdir()
        (root / "SESSION.md").symlink_to(outside)
        (root / ".codex").symlink_to(tmp_path / "outside")
        put(root, "real.md", "inside")
        (root / "alias.md").symlink_to(root / "real.md")
        there = Workspace(root)
        assert there.read("SESSION.md") is None
        assert there.read("../outside/SESSION.md") is None
        assert there.read(str(outside)) is None
        assert there.names(".codex") == []
        assert not there.exists("../outside")
        assert [remark.code for remark in there.diagnostics] == ["outside"] * 4
        found = there.read("alias.md")
        assert found is not None
        assert found.text == "inside\n"

    def test_what_cannot_be_used_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "binary").write_bytes(b"a\0b")
        (tmp_path / "latin").write_bytes(b"\xe9t\xe9")
        (tmp_path / "huge").write_bytes(b"x" * (256 * 1024 + 1))
        (tmp_path / "folder").mkdir()
        if hasattr(os, "mkfifo"):
            os.mkfifo(tmp_path / "pipe")
        there = Workspace(tmp_path)
        for name in ("binary", "latin", "huge", "folder", "pipe", "absent", "", "a\0b"):
            assert there.read(name) is None
        codes = [remark.code for remark in there.diagnostics]
        assert codes[:3] == ["binary", "encoding", "too-large"]
        assert len(codes) == len(set(map(str, there.diagnostics)))

    def test_line_ends_and_marks(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa\r\nb\rc")
        found = Workspace(tmp_path).read("a")
        assert found is not None
        assert found.text == "a\nb\nc"

    def test_hostile_names(self, file: Acting, tmp_path: Path) -> None:
        root = tmp_path / "w"
        put(root, ".codex/specs/a\n## b/requirements.md", "ready")
        put(root, ".opencode/rules/x\u202e\x1b[2J.md", "always")
        (root / ".codex/specs/deep").mkdir()
        file.user("go on")
        made = injected(file, workspace=root)
        assert "\x1b" not in made.text
        assert sum(line.startswith("## b") for line in made.text.split("\n")) == 0

    def test_nothing_is_written(self, file: Acting, tmp_path: Path) -> None:
        root = idumb(spec(tmp_path / "w"), [anchor("a", "high")], 3)
        before = {path: (path.stat().st_mtime_ns, path.stat().st_mode) for path in root.rglob("*")}
        for path in root.rglob("*"):
            path.chmod(0o555 if path.is_dir() else 0o444)
        before = {path: (path.stat().st_mtime_ns, path.stat().st_mode) for path in root.rglob("*")}
        file.user("go on")
        assert injected(file, workspace=root).text
        assert before == {path: (path.stat().st_mtime_ns, path.stat().st_mode) for path in root.rglob("*")}
        for path in root.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


class TestGovernance:
    def test_our_own_file(self, file: Acting, tmp_path: Path) -> None:
        put(
            tmp_path,
            ".leafward/governance.toml",
            'phase = "phase-3"',
            'style = "concise"',
            "last-validation = 2026-11-19T00:00:00Z",
            "[language]",
            'communication = "deutsch"',
            "[[anchors]]",
            'content = "old but critical"',
            'priority = "critical"',
            "modified = 2026-11-01T00:00:00Z",
            "[[anchors]]",
            'content = "fresh and critical"',
            'priority = "critical"',
            "modified = 2026-11-21T00:00:00Z",
            "[[anchors]]",
            'content = "stale and high"',
            "modified = 2026-11-19T23:59:59Z",
            "[[anchors]]",
            'content = "just not stale"',
            "modified = 2026-11-20T00:00:00Z",
            "[[anchors]]",
            'content = "of a stale day"',
            "modified = 2026-11-19",
            "[[actions]]",
            'action = "ran the gates"',
            'result = "pass"',
        )
        file.user("go on")
        made = injected(file, workspace=tmp_path, now=NOW)
        assert bullets(made, "gov.language") == [
            "Communication: DEUTSCH (answer the user in this language, also after the compaction)"
        ]
        assert bullets(made, "gov.phase") == [
            "Phase: phase-3",
            "Last validation: 2026-11-19T00:00:00+00:00 (stale, 72 h before)",
        ]
        assert bullets(made, "gov.anchors") == [
            "[CRITICAL] context: fresh and critical",
            "[CRITICAL] context: old but critical",
            "[HIGH] context: just not stale",
        ]
        assert bullets(made, "gov.recent_actions") == ["ran the gates → pass"]
        assert bullets(made, "gov.style") == ["Active style: concise"]
        assert [left.reason.value for left in made.omitted] == ["stale", "stale"]
        (line,) = [line for line in made.lines if line.text.endswith("just not stale")]
        assert (line.sources[0].file, line.sources[0].line) == (".leafward/governance.toml", 18)

    def test_what_goes_before_what(self, file: Acting, tmp_path: Path) -> None:
        root = idumb(tmp_path / "w", [anchor("theirs", "high")], 2, activeStyle="default")
        put(root, ".leafward/governance.toml", 'phase = "ours"', "[[anchors]]", 'content = "ours"')
        own = put(tmp_path, "home/governance.toml", 'phase = "everywhere"', 'style = "terse"')
        file.user("go on")
        made = injected(file, workspace=root, governance=own)
        assert bullets(made, "gov.phase")[:2] == ["Phase: ours", "Framework: planning"]
        assert bullets(made, "gov.anchors") == ["[HIGH] context: ours", "[HIGH] decision: theirs"]
        assert bullets(made, "gov.style") == []
        alone = injected(file, governance=own)
        assert bullets(alone, "gov.phase") == ["Phase: everywhere"]
        assert alone.lines[4].sources[0].kind is SourceKind.CONFIG

    def test_the_second_version_of_idumb(self, file: Acting, tmp_path: Path) -> None:
        stamp = int(NOW.timestamp() * 1000)
        anchors = [
            {
                "type": "error",
                "priority": "high",
                "content": "fresh",
                "createdAt": stamp,
                "modifiedAt": stamp,
            },
            {"type": "error", "priority": "high", "content": "stale", "createdAt": 1, "modifiedAt": 1},
            {"type": "attention", "priority": "medium", "content": "minor", "modifiedAt": stamp},
        ]
        root = tmp_path / "w"
        idumb(root, phase={"name": "build"}, anchors=[])
        import json

        document = {"sessions": {"s1": {"anchors": anchors}}, "phase": {"name": "build"}}
        put(root, ".idumb/brain/state.json", json.dumps(document, indent=1))
        file.user("go on")
        made = injected(file, workspace=root, now=NOW)
        assert bullets(made, "gov.phase") == ["Phase: build"]
        assert bullets(made, "gov.anchors") == ["[HIGH] error: fresh"]

    @pytest.mark.parametrize(
        "text",
        [
            "{",
            "[1, 2]",
            '"x"',
            "\x00",
            '{"anchors": 5, "history": {}, "phase": []}',
            '{"anchors": [1, {"content": 3}]}',
        ],
    )
    def test_a_broken_store_is_no_store(self, file: Acting, tmp_path: Path, text: str) -> None:
        put(tmp_path, ".idumb/brain/state.json", text)
        put(tmp_path, ".leafward/governance.toml", "phase = ")
        file.user("go on")
        made = injected(file, workspace=tmp_path)
        assert not any(remark.code == "builder-failed" for remark in made.diagnostics)
        assert any(remark.code == "governance" for remark in made.diagnostics)

    def test_a_store_that_nobody_wrote_by_hand_is_skipped_at_once(self, file: Acting, tmp_path: Path) -> None:
        """The parser takes half a minute for a name of 100,000 parts."""
        put(tmp_path, ".leafward/governance.toml", f"[{'.'.join('a' * 100_000)}]")
        file.user("go on")
        remarks = injected(file, workspace=tmp_path).diagnostics
        assert any("longer than 64 KiB" in remark.text for remark in remarks)

    def test_without_a_store_what_the_session_did(self, file: Acting) -> None:
        for number in range(7):
            file.said("", call("bash", f"c{number}", command=f"make step{number}\nmore"))
            file.answered(f"c{number}", "bash", failed=number == 5)
        file.said("", call("edit", "c8", path="/home/ada/orchard/a.py", oldText="a", newText="b"))
        made = injected(file)
        assert bullets(made, "gov.recent_actions") == [
            "ran `make step3` → ok",
            "ran `make step4` → ok",
            "ran `make step5` → failed",
            "ran `make step6` → ok",
            "edited a.py",
        ]
        assert "… and 3 more actions" in made.text

    def test_a_command_with_backticks_stands_as_it_ran(self, file: Acting) -> None:
        file.said("", call("bash", "c1", command="echo `date` > now.txt"))
        file.answered("c1", "bash")
        assert bullets(injected(file), "gov.recent_actions") == ["ran `` echo `date` > now.txt `` → ok"]

    def test_what_a_pipe_hides_failed_and_what_the_user_declined_did_not(self, file: Acting) -> None:
        file.said("", call("bash", "c1", command="go test ./... | tail -3"))
        file.answered("c1", "bash", "FAIL\torchard/queue\t1.7s\nFAIL")
        refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected. "
        file.said("", call("bash", "c2", command="git push"))
        file.answered("c2", "bash", refusal + "the user said:\npull rebase first", failed=True)
        file.said("", call("bash", "c3", command="git push"))
        file.answered("c3", "bash", refusal, failed=True)
        assert bullets(injected(file), "gov.recent_actions") == [
            "ran `go test ./... | tail -3` → failed",
            "ran `git push` → declined by the user: pull rebase first",
            "ran `git push` → declined by the user",
        ]

    def test_everybody_gets_what_others_are_denied(self) -> None:
        assert keys_of("gov") == {
            "gov.language",
            "gov.phase",
            "gov.anchors",
            "gov.recent_actions",
            "gov.style",
        }
        assert keys_of("workingset.read") == {"workingset.read"}
        assert keys_of("nothing") == frozenset()


class TestTheRest:
    def test_pins_given_and_stored(self, file: Acting) -> None:
        kept = file.user("start")
        file.compacted(kept, details={"leafward": {"pins": ["stored", "both", 5]}})
        made = injected(file, pins=("given", "both"))
        assert bullets(made, "pins") == ["given", "both", "stored"]
        kinds = [
            line.sources[0].kind
            for line in made.lines
            if line.section == "pins" and line.text.startswith("- ")
        ]
        assert kinds == [SourceKind.CONFIG, SourceKind.CONFIG, SourceKind.ENTRY]
        kept = file.user("later")
        file.compacted(kept)
        assert bullets(injected(file), "pins") == []

    def test_the_reminder_needs_a_compaction(self, file: Acting) -> None:
        file.user("I don't have the context, remind me")
        assert bullets(injected(file), "recovery.reminder") == []
        kept = file.user("go on with the parser")
        file.compacted(kept)
        file.said("Could you remind me what we were working on?")
        made = injected(file)
        first, guess, *_ = bullets(made, "recovery.reminder")
        assert "compacted once before, last on 2026-11-21;" in first
        assert "its first entry" in first
        assert "guess" in guess
        kept = file.user("once more")
        file.compacted(kept)
        line = next(line for line in injected(file).lines if "compacted 2 times" in line.text)
        told = [source.entry for source in line.sources if source.entry >= 0]
        assert told == sorted(told, reverse=True), "the compaction that the sentence is about comes first"
        assert len(told) == 2

    def test_a_command_that_was_repeated_comes_from_its_last_run(self, file: Acting) -> None:
        file.user("go on")
        runs = []
        for number in range(2):
            runs.append(file.said("", call("bash", f"b{number}", command="make fruit")))
            file.answered(f"b{number}", "bash")
            file.said("", call("edit", f"e{number}", path=f"src/{number}.py", oldText="a", newText="b"))
            file.answered(f"e{number}", "edit")
        made = injected(file)
        (line,) = [line for line in made.lines if "ran `make fruit`" in line.text]
        entries = [source.entry for source in line.sources if source.entry >= 0]
        assert entries == sorted(entries, reverse=True)
        assert len(entries) == len(runs)

    def test_a_path_is_printed_once_with_all_its_sources(self, file: Acting, tmp_path: Path) -> None:
        root = refactoring(tmp_path / "w")
        file.said("", call("edit", "c1", path="src/auth/validate.ts", oldText="a", newText="b"))
        file.answered("c1", "edit")
        made = injected(file, workspace=root, off=frozenset({"gov.recent_actions"}))
        assert bullets(made, "workingset.modified") == ["src/auth/validate.ts"]
        assert bullets(made, "stage.active_files") == ["src/routes/api.ts"]
        (line,) = [line for line in made.lines if line.text == "- src/auth/validate.ts"]
        assert {source.kind for source in line.sources} == {SourceKind.ENTRY, SourceKind.FILE}
        assert [left.reason.value for left in made.omitted if left.section == "stage.active_files"] == [
            "duplicate"
        ]
        file.said("", call("edit", "c2", path="src/routes/api.ts", oldText="a", newText="b"))
        made = injected(file, workspace=root)
        assert bullets(made, "stage.active_files") == ["Listed under another heading of this text."]

    def test_sections_that_are_off(self, file: Acting) -> None:
        file.user("Look at src/a.py")
        made = injected(file, off=keys_of("workingset") | keys_of("stage"), pins=("x",))
        assert bullets(made, "pins") == ["x"]
        assert {left.reason.value for left in made.omitted} == {"off"}
        assert "src/a.py" not in made.text

    def test_an_empty_session_says_nothing(self, file: Acting) -> None:
        made = injected(file)
        assert (made.text, made.tokens, made.lines, made.sections) == ("", 0, (), ())


def test_a_path_of_thousands_of_folders(file: Acting, tmp_path: Path) -> None:
    file.user("read vats/lid.py")
    file.said("", call("read", "c1", path="a/" * 40_000 + "vats/lid.py"))
    file.answered("c1", "read")
    file.said("done")
    with in_linear_time():
        assert bullets(injected(file, workspace=tmp_path), "workingset.mentioned") == []
