"""`inject`, and what `survival` says of governance and rules."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from leafward.base.paths import config_dir, data_dir
from leafward.cli.main import main
from leafward.compaction.injection.findings import kept_findings
from leafward.session.injected_block import enclose
from tests.acting import Acting, call
from tests.claude_transcript import Transcript
from tests.workspaces import anchor, idumb, put, spec

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    made = Acting(tmp_path / "s.jsonl")
    made.user("Port src/parser.py to the new grammar, please")
    made.said("", call("edit", "c1", path="src/lexer.py", oldText="a", newText="b"))
    made.answered("c1", "edit")
    return made


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return idumb(spec(tmp_path / "w"), [anchor("never push", "critical")], 7)


class TestInject:
    def test_keys_and_lines(self, done: Run, file: Acting, workspace: Path) -> None:
        document = done("inject", file.path, "--workspace", workspace, "--json").document
        assert set(document) == {
            "at",
            "text",
            "lines",
            "sections",
            "omitted",
            "diagnostics",
            "tokens",
            "digest",
        }
        assert "\n".join(line["text"] for line in document["lines"]) == document["text"]
        for line in document["lines"]:
            assert set(line) == {"text", "section", "sources"}
            assert not line["text"].startswith("- ") or line["sources"]
            assert all(
                source["kind"] in {"entry", "file", "config", "static", "derived"}
                for source in line["sources"]
            )
        for section in document["sections"]:
            assert {"key", "title", "tokens", "shown", "omitted"} <= set(section)
        (lexer,) = [line for line in document["lines"] if line["text"] == "- src/lexer.py"]
        assert lexer["section"] == "workingset.modified"
        assert lexer["sources"] == [{"kind": "entry", "entry": "00000002", "call": "c1", "note": "edit"}]
        assert document["tokens"]["total"] == document["tokens"]["envelope"] + sum(
            section["tokens"] for section in document["sections"]
        )
        (gate,) = [
            line
            for line in document["lines"]
            if line["section"] == "stage.transition_gate" and line["text"][:2] == "- "
        ]
        assert next(source["kind"] for source in gate["sources"]) == "static"

    def test_what_is_printed_is_what_is_sent(self, done: Run, file: Acting, workspace: Path) -> None:
        for budget in (8000, 900, 120, 0):
            options = ("inject", file.path, "--workspace", workspace, "--budget", str(budget))
            text = done(*options, "--json").document["text"]
            outcome = subprocess.run(
                [sys.executable, "-m", "leafward", *map(str, options)],
                capture_output=True,
                check=True,
                timeout=60,
            )
            assert outcome.stdout == text.encode()
            assert len(text) <= budget

    def test_nothing_fits_into_nothing(self, run: Run, file: Acting) -> None:
        outcome = run("inject", file.path, "--budget", "0")
        assert (outcome.code, outcome.out) == (0, "")
        document = run("inject", file.path, "--budget", "0", "--json").document
        assert document["text"] == ""
        assert document["lines"] == []
        assert [remark["code"] for remark in document["diagnostics"]] == ["budget"]

    def test_off_pins_and_another_entry(self, done: Run, file: Acting, workspace: Path) -> None:
        document = done(
            "inject", file.path, "--at", "#0", "--workspace", workspace, "--off", "stage", "--off", "gov.anchors",
            "--pin", "keep the first one", "--pin", "keep the second one", "--json",
        ).document  # fmt: skip
        shown = {section["key"] for section in document["sections"]}
        assert not any(key.startswith("stage.") for key in shown)
        assert {"pins", "gov.language", "workingset.mentioned"} <= shown
        assert "- keep the first one\n- keep the second one" in document["text"]
        assert "src/lexer.py" not in document["text"]

    def test_a_pinned_token_is_the_sentence_that_says_it_or_is_refused(
        self, run: Run, done: Run, file: Acting
    ) -> None:
        text = done("inject", file.path, "--pin", "src/lexer.py", "--json").document["text"]
        (line,) = [
            line
            for line in text.split("\n")
            if line.startswith("- ") and "src/lexer.py" in line and len(line.split()) > 4
        ][:1]
        assert line
        for verb in (("inject",), ("compact", "--keep-recent", "0")):
            outcome = run(verb[0], file.path, *verb[1:], "--pin", "zebraToken")
            assert (outcome.code, outcome.out) == (1, "")
            assert "nothing in the session says 'zebraToken': pin a whole sentence" in outcome.err

    def test_a_wrong_value_is_a_wrong_use(self, run: Run, file: Acting, tmp_path: Path) -> None:
        for options in (
            ("--off", "nonsense"),
            ("--now", "yesterday"),
            ("--workspace", tmp_path / "absent"),
            ("--budget", "-1"),
            ("--order", "size"),
        ):
            outcome = run("inject", file.path, *options)
            assert (outcome.code, outcome.out) == (2, "")
        assert run("inject", file.path, "--at", "nowhere").code == 1

    def test_now_decides_which_anchors_are_recent(self, done: Run, file: Acting, tmp_path: Path) -> None:
        root = tmp_path / "w"
        put(
            root,
            ".leafward/governance.toml",
            "[[anchors]]",
            'content = "x"',
            "modified = 2026-11-20T00:00:00Z",
        )
        for now, shown in (("2026-11-22T00:00:00Z", True), ("2026-11-22T00:00:01+00:00", False)):
            document = done("inject", file.path, "--workspace", root, "--now", now, "--json").document
            assert ("[HIGH] context: x" in document["text"]) is shown
        # Without it, the entry's time.
        assert "[HIGH] context: x" in done("inject", file.path, "--workspace", root).out

    def test_configuration(self, done: Run, run: Run, file: Acting) -> None:
        put(
            config_dir(),
            "config.toml",
            "[injection]",
            "budget = 300",
            'off = ["stage", "gov"]',
            'order = "alpha"',
        )
        put(data_dir(), "governance.toml", 'phase = "everywhere"')
        document = done("inject", file.path, "--json").document
        assert document["tokens"]["budget"] == 300
        assert "everywhere" not in document["text"]
        assert {section["key"] for section in document["sections"]} <= {
            "workingset.modified",
            "workingset.mentioned",
        }
        put(config_dir(), "config.toml", "[injection]", "off = 5")
        outcome = run("inject", file.path, "--json")
        assert "- Phase: everywhere" in outcome.document["text"]
        assert "injection.off" in outcome.err

    def test_nothing_that_acts_reaches_the_terminal(self, done: Run, tmp_path: Path) -> None:
        file = Acting(tmp_path / "t.jsonl")
        file.user("Look at src/\x1b]0;x\x07a.py and \u202esrc/b.py \x9b2J")
        out = done("inject", file.path).out
        assert "\x1b" not in out
        assert "\x9b" not in out
        assert "\u202e" not in out


class TestSurvival:
    def test_rules_and_items(self, done: Run, file: Acting, workspace: Path) -> None:
        put(workspace, ".opencode/rules/python.md", "---", "globs: ['src/**/*.py']", "---", "typed")
        put(workspace, ".opencode/rules/kind.md", "be kind")
        kept = file.user("something else")
        file.compacted(kept, "In spec-execute; never push.")
        document = done("survival", file.path, "--workspace", workspace, "--json").document
        rules = {rule["rule"]: rule for rule in document["rules"]}
        assert rules["python.md"]["status"] == "recovered"
        assert {"condition": "globs", "text": "src/lexer.py"} in rules["python.md"]["before"]
        assert rules["python.md"]["after"] == []
        assert (rules["kind.md"]["status"], rules["kind.md"]["always"]) == ("kept", True)
        items = {(item["section"], item["text"]): item["status"] for item in document["items"]}
        assert items["stage.canonical_stage", "spec-execute"] == "verbatim"
        assert items["gov.anchors", "never push"] == "verbatim"
        assert items["gov.phase", "phase-2"] == "absent"
        assert document["injection"] == {"stored": False}
        out = done("survival", file.path, "--workspace", workspace).out
        assert "recovered" in out
        assert "python.md" in out
        assert "absent in the summary" in out

    def test_what_a_compaction_carries_itself(self, done: Run, file: Acting, workspace: Path) -> None:
        put(workspace, ".opencode/rules/python.md", "---", "globs: ['src/**/*.py']", "---", "typed")
        kept = file.user("something else")
        file.compacted(kept, "Short.\n\n" + enclose("## Working Set: Modified Files\n- src/lexer.py"))
        document = done("survival", file.path, "--workspace", workspace, "--json").document
        assert document["injection"] == {"stored": True}
        assert document["rules"][0]["injected"] == [{"condition": "globs", "text": "src/lexer.py"}]
        facts = {(fact["kind"], fact["text"]): fact["status"] for fact in document["facts"]}
        assert facts["path", "src/lexer.py"] == "injected"

    def test_without_a_workspace(self, done: Run, file: Acting) -> None:
        kept = file.user("something else")
        file.compacted(kept, "Short.")
        document = done("survival", file.path, "--json").document
        assert document["rules"] == []
        assert "governance and workflow" not in done("survival", file.path).out


LOADED = """
import json, os, sys
from leafward.cli.main import main
assert main({arguments!r}) == 0
with open(os.environ["MODULES_TO"], "w") as report:
    json.dump(sorted(sys.modules), report)
"""
MOST_LOADED = 206
NOT_NEEDED = {
    *("click", "difflib", "msgspec", "pathspec", "sqlite3", "textual", "tomllib", "yaml"),
    *("leafward.agents.codex.agent", "leafward.agents.opencode.agent", "leafward.agents.recognition"),
    *(f"leafward.compaction.injection.builders.{name}" for name in ("artifacts", "rules", "stores", "workflow", "worklog")),
}  # fmt: skip
"""What the text of a session of Claude Code is made without, in a project without stores, rules and workflows."""


def test_what_is_loaded_for_the_text_behind_an_earlier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """An agent waits for it: what takes longest is to load modules."""
    monkeypatch.setattr(kept_findings, "_SMALLEST", 0)
    monkeypatch.setattr(kept_findings, "_STEP", 0)
    project = tmp_path / "orchard"
    project.mkdir()
    (project / "AGENTS.md").write_text("Never push to main.\n")
    talk = Transcript(tmp_path / ".claude")
    talk.defaults = {"cwd": str(project)}
    talk.prompt("Port src/parser.py to the new grammar, please.")
    for number in range(8):
        talk.call(
            "Edit", f"c{number}", file_path=f"{project}/src/{number}.py", old_string="a", new_string="b"
        )
        talk.result(f"c{number}")
    talk.reply("Done.")
    assert main(["inject", str(talk.path)]) == 0
    text = capfdbinary.readouterr().out
    assert b"src/7.py" in text
    assert kept_findings.load(talk.path) is not None
    monkeypatch.setenv("MODULES_TO", str(tmp_path / "modules"))
    code = LOADED.format(arguments=["inject", str(talk.path)])
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == text
    loaded = set(json.loads((tmp_path / "modules").read_text()))
    assert not loaded & NOT_NEEDED
    assert len([name for name in loaded if name.startswith("leafward")]) < MOST_LOADED
