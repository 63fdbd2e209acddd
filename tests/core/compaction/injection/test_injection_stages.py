"""The session log and the workflows: what earlier tools got wrong, and how the work under way is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafward.compaction.injection.builders.artifacts import tasks_of
from leafward.compaction.injection.builders.continuity import is_file, quoted_names
from leafward.compaction.injection.builders.worklog import plain, read_log, says_nothing
from leafward.compaction.injection.injection import inject
from leafward.compaction.injection.values import InjectionSettings
from leafward.compaction.injection.workflows.workflow import workflows
from tests.acting import Acting, reading
from tests.workspaces import bug, put, refactoring, spec

if TYPE_CHECKING:
    from pathlib import Path


def sections(root: Path) -> dict[str, list[str]]:
    """The values of the stage sections, by key."""
    file = Acting(root.parent / "session.jsonl")
    file.user("go on")
    with reading(file.path) as session:
        made = inject(session, session.leaf, InjectionSettings(workspace=root))
    found: dict[str, list[str]] = {}
    for line in made.lines:
        if line.section.startswith("stage.") and line.text.startswith("- "):
            found.setdefault(line.section.removeprefix("stage."), []).append(line.text[2:])
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    return folder


class TestLog:
    def test_a_section_is_read_to_its_end(self, root: Path) -> None:
        put(
            root,
            "SESSION.md",
            "[Focus: a] 2026-03-11 — Branch `b`",
            "- did it",
            "",
            "## Decisions",
            "- first",
            "- second",
            "",
            "## Next Operator Brief",
            "- Open Work: go on",
            "- Pending Tests: load test",
            "- Blockers: none",
        )
        found = sections(root)
        assert found["decisions"] == ["first", "second"]
        assert found["remaining"] == ["go on", "Pending tests: load test"]

    def test_the_newest_entry_speaks_of_now(self, root: Path) -> None:
        put(
            root,
            "SESSION.md",
            "<!-- [Focus: <area>] YYYY -->",
            "[Focus: new] 2026-03-12 — Branch `b`",
            "- finished",
            "",
            "[Focus: old] 2026-03-11 — Branch `b`",
            "- begun",
            "- Blockers: the build is red",
            "- Open Work: old work",
        )
        found = sections(root)
        assert found["status"] == ["Active: working on new"]
        assert found["blockers"] == ["none recorded"]
        assert found["completed"] == ["begun", "finished"]
        assert "old work" not in str(found)

    def test_a_log_that_appends(self, root: Path) -> None:
        put(root, "SESSION.md", "[Focus: old] 2026-03-11 — x", "- a", "[Focus: new] 2026-03-12 — x", "- b")
        assert sections(root)["status"] == ["Active: working on new"]

    def test_a_template_is_no_entry(self) -> None:
        log = read_log("[Focus: <area>] date\n- x\n```\n[Focus: fenced] d\n```\n")
        assert [entry.focus for entry in log] == [""]

    @pytest.mark.parametrize(
        "text",
        [
            "none",
            "none.",
            "None yet",
            "N/A",
            "n/a;",
            "none; all pass",
            "nothing",
            "no blockers",
            "—",
            "-",
            "no open work",
            "",
            "none (so far)",
        ],
    )
    def test_values_that_mean_nothing(self, text: str) -> None:
        assert says_nothing(text)

    @pytest.mark.parametrize(
        "text", ["none of the tests run", "nonexistent file", "not sure", "no database", "-1 in the sum"]
    )
    def test_values_that_mean_something(self, text: str) -> None:
        assert not says_nothing(text)

    def test_unblocked_is_no_blocker(self, root: Path) -> None:
        put(
            root,
            "SESSION.md",
            "[Focus: ci] 2026-03-11 — x",
            "- unblocked the CI",
            "- the deploy is no longer blocked",
            "- Blockers: N/A",
            "- Open Work: none",
            "- Pending Tests: none; all pass",
        )
        found = sections(root)
        assert found["blockers"] == ["none recorded"]
        assert found["completed"] == ["unblocked the CI", "the deploy is no longer blocked"]
        assert found["objective"] == ["Continue the work on ci."]
        assert found["status"] == ["Active: working on ci"]

    def test_a_blocker_is_not_done(self, root: Path) -> None:
        put(root, "SESSION.md", "[Focus: ci] 2026-03-11 — x", "- BLOCKED: no runner", "- wrote the job")
        found = sections(root)
        assert found["completed"] == ["wrote the job"]
        assert found["status"] == ["At risk: BLOCKED: no runner"]

    @pytest.mark.parametrize(
        ("bullet", "text"),
        [
            ("3.12 upgrade done", "3.12 upgrade done"),
            ("1. first", "first"),
            ("[x] 2) second", "second"),
            ("12 monkeys", "12 monkeys"),
        ],
    )
    def test_numbers_that_stay(self, bullet: str, text: str) -> None:
        assert plain(bullet) == text

    def test_more_than_the_cap_is_counted(self, root: Path) -> None:
        put(root, "SESSION.md", "[Focus: x] 2026-03-11 — y", *(f"- did {number}" for number in range(9)))
        file = Acting(root.parent / "session.jsonl")
        file.user("go on")
        with reading(file.path) as session:
            made = inject(session, session.leaf, InjectionSettings(workspace=root))
        assert sections(root)["completed"] == [f"did {number}" for number in range(4, 9)]
        assert "… and 4 more items" in made.text.split("\n")

    def test_every_line_names_its_line(self, root: Path) -> None:
        refactoring(root)
        file = Acting(root.parent / "session.jsonl")
        file.user("go on")
        lines = (root / "SESSION.md").read_text("utf-8").split("\n")
        with reading(file.path) as session:
            made = inject(session, session.leaf, InjectionSettings(workspace=root))
        checked = 0
        for line in made.lines:
            for source in line.sources:
                if source.file == "SESSION.md" and source.line and line.section == "stage.completed":
                    assert line.text[2:] in lines[source.line - 1]
                    checked += 1
        assert checked == 2

    @given(st.text("[]Focus: ab\n-*#`<>!1.xX", max_size=200))
    def test_any_text_is_a_log(self, text: str) -> None:
        read_log(text)


class TestFiles:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("src/auth/validate.ts", True),
            ("SESSION.md", True),
            ("output.context", False),
            ("experimental.session.compacting", False),
            ("feature/auth-x", False),
            ("/spec-execute", False),
            ("https://x.org/a.md", False),
            ("validateSession()", False),
            ("src/auth", True),
            ("../outside.md", False),
            ("go.mod", False),
            ("3.12", False),
        ],
    )
    def test_quoted_names(self, name: str, expected: bool) -> None:
        assert is_file(name, None) is expected

    def test_quotes(self) -> None:
        assert quoted_names("`a.py` and `b c` and `d.py") == ["a.py"]


class TestWorkflow:
    def test_workflows_name_what_they_have(self) -> None:
        spec, bug = workflows()
        assert [stage.name for stage in spec.stages] == [
            "spec-create",
            "spec-design",
            "spec-tasks",
            "spec-execute",
        ]
        assert [stage.name for stage in bug.stages] == [
            "bug-create",
            "bug-analyze",
            "bug-fix",
            "bug-verify",
        ]
        for workflow in workflows():
            for stage in workflow.stages:
                assert stage.artifact in workflow.artifacts
                assert stage.objective
                assert stage.needs
                assert stage.done
                assert stage.name.startswith(f"{workflow.type}-")
                assert (
                    max(map(len, (stage.gate, stage.step, stage.objective, *stage.needs, *stage.done))) < 300
                )

    def test_a_branch_name_and_a_static_list_are_no_hint(self, root: Path) -> None:
        spec(root)
        log = (
            (root / "SESSION.md")
            .read_text("utf-8")
            .replace("/spec-execute next 001-prd-compaction", "the work")
        )
        (root / "SESSION.md").write_text(log, "utf-8")
        put(root, ".codex/specs/001-prd-compaction/tasks.md", "# Tasks", "to be listed")
        put(root, ".codex/specs/001-prd-compaction/context.md", "")
        assert sections(root)["canonical_stage"] == ["spec-tasks"]

    def test_an_old_mention_gives_way_to_the_artifacts(self, root: Path) -> None:
        put(root, "SESSION.md", "[Focus: x] 2026-03-11 — y", "- wrote spec-create for one")
        put(root, ".codex/specs/one/tasks.md", "- [x] 1. a", "- [ ] 2. b")
        found = sections(root)
        assert found["canonical_stage"] == ["spec-execute"]
        assert found["current_artifact"] == [".codex/specs/one/tasks.md"]
        assert found["approved"] == ["tasks.md: approved, since spec-execute follows it (inferred)"]

    def test_a_missing_artifact_is_named(self, root: Path) -> None:
        put(root, "SESSION.md", "[Focus: x] 2026-03-11 — y", "- Continue `bug-verify crash`")
        put(root, ".codex/bugs/crash/report.md", "# R", "crash")
        found = sections(root)
        assert found["canonical_stage"] == ["bug-create"]
        put(root, ".codex/bugs/empty/notes.md", "x")
        put(root, "SESSION.md", "[Focus: x] 2026-03-11 — y", "- Continue `bug-verify empty`")
        found = sections(root)
        assert found["canonical_stage"] == ["bug-verify"]
        assert found["current_artifact"] == [".codex/bugs/empty/verification.md (not written yet)"]
        assert found["source_artifacts"] == ["none recorded"]

    def test_preparing_a_hand_off_is_not_the_next_stage(self, root: Path) -> None:
        bug(root)
        put(root, "SESSION.md", "# Session State")
        progress = root / ".codex/bugs/session-resume-regression/harness/progress.md"
        progress.write_text("- bug-fix approved\n- next: prepare the hand-off to bug-verify\n", "utf-8")
        assert sections(root)["canonical_stage"] == ["bug-fix"]
        progress.write_text("- bug-fix done\n- bug-verify started\n", "utf-8")
        assert sections(root)["canonical_stage"] == ["bug-verify"]

    def test_the_state_file_of_a_bug(self, root: Path) -> None:
        bug(root)
        put(
            root,
            ".codex/bugs/session-resume-regression/harness/bug_state.json",
            "{",
            '  "status": "fix under review"',
            "}",
        )
        assert sections(root)["artifact_status"] == ["session-resume-regression: fix under review"]

    def test_the_longer_name_is_not_the_shorter(self, root: Path) -> None:
        for name in ("auth", "auth-crash"):
            put(root, f".codex/bugs/{name}/report.md", "# R", "x")
        put(root, "SESSION.md", "[Focus: x] 2026-03-11 — y", "- look into auth-crash")
        assert "auth-crash" in sections(root)["next_action"][0]
        put(root, "SESSION.md", "[Focus: x] 2026-03-11 — y", "- look into auth")
        assert "auth-crash" not in sections(root)["next_action"][0]

    def test_without_a_name_the_one_with_open_tasks(self, root: Path) -> None:
        put(root, ".codex/specs/001-a/tasks.md", "- [ ] 1. x")
        put(root, ".codex/specs/002-b/tasks.md", "- [x] 1. x")
        put(root, ".codex/specs/attic/tasks.md", "- [ ] 1. x")
        assert "001-a" in sections(root)["next_action"][0]
        put(root, ".codex/specs/010-c/tasks.md", "- [ ] 1. y")
        put(root, ".codex/specs/009-d/tasks.md", "- [ ] 1. y")
        assert "010-c" in sections(root)["next_action"][0]

    def test_tasks_are_named_by_number_and_heading(self) -> None:
        found = tasks_of(
            "## Batch 1 — Found (a)\n- [x] 1. one (csv)\n  - [ ] 1.1 inner\n* [X] 2) two\n### Notes\n- [ ] three\n## Else\n- [ ] 3.1 four\n```\n- [ ] fenced\n```\n"
        )
        assert [task.label for task in found] == [
            "1 — one (csv) (Batch 1 — Found (a))",
            "2 — two (Batch 1 — Found (a))",
            "three (Batch 1 — Found (a))",
            "3.1 — four",
        ]
        assert [task.done for task in found] == [True, True, False, False]

    def test_a_hint_without_folders_is_no_workflow(self, root: Path) -> None:
        put(root, "SESSION.md", "[Focus: spec-execute] 2026-03-11 — y", "- x")
        assert "canonical_stage" not in sections(root)


@pytest.mark.parametrize(
    "line",
    [
        "# " + " " * 250_000 + "x",
        "<!---->" * 36_000,
        "- " + "none " * 50_000,
        "`" * 250_000,
        "[Focus: " + "[" * 200_000,
    ],
)
def test_hostile_lines_take_no_time(root: Path, line: str) -> None:
    put(root, "SESSION.md", line)
    put(root, ".codex/bugs/x/harness/progress.md", line)
    put(root, ".codex/specs/y/tasks.md", line)
    assert "next_action" in sections(root)
