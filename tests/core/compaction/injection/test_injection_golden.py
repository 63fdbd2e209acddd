"""The injected text in known situations."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings, TriggerRule
from leafward.session.injected_block import CLOSING, OPENING
from tests.acting import Acting, call, reading, usage
from tests.workspaces import anchor, bug, idumb, injected, put, refactoring, spec

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.compaction.injection.values import Injection

GENERIC = [
    "Primary Objective",
    "Current Step",
    "Status",
    "Completed",
    "Remaining",
    "Decisions",
    "Active Files",
    "Blockers / Risks",
    "Next Action",
]
WORKFLOW = [
    "Workflow Type",
    "Canonical Workflow Stage",
    "Source Artifacts",
    "Current Artifact",
    "Artifact Status",
    "Transition Gate",
    "Approved Decisions",
    "Pending Decisions / Open Questions",
    "Dependencies / Preconditions",
    "Verification / Done Criteria",
]


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    return Acting(tmp_path / "session.jsonl")


def told(made: Injection) -> dict[str, list[str]]:
    """The values under each heading."""
    found: dict[str, list[str]] = {}
    for line in made.text.split("\n"):
        if line.startswith("## "):
            found[line[3:]] = []
        elif line.startswith("- "):
            found[list(found)[-1]].append(line[2:])
    return found


def in_workspace(file: Acting, root: Path, **settings: object) -> dict[str, list[str]]:
    file.user("go on")
    return told(injected(file, workspace=root, off=frozenset({"gov.recent_actions"}), **settings))


def used(file: Acting, tool: str, *paths: str) -> None:
    for number, path in enumerate(paths):
        name = f"{tool}-{file.count}-{number}"
        file.said("", call(tool, name, path=path))
        file.answered(name, tool)


class TestWorkingSet:
    def test_paths_of_the_session_under_one_title(self, file: Acting) -> None:
        used(file, "read", "src/utils/helpers.ts", "src/components/Button.tsx")
        made = injected(file)
        assert told(made)["Working Set: Read Files"] == ["src/components/Button.tsx", "src/utils/helpers.ts"]
        assert made.text.startswith(OPENING + "\n")
        assert made.text.endswith("\n" + CLOSING)

    def test_paths_that_the_user_names(self, file: Acting) -> None:
        file.user("Look at src/utils/helpers.ts and src/components/Button.tsx, and/or https://x.org/a/b.ts")
        assert told(injected(file))["Working Set: Mentioned Files"] == [
            "src/components/Button.tsx",
            "src/utils/helpers.ts",
        ]

    @pytest.mark.parametrize(("order", "dropped"), [("recent", {1, 2, 3, 4, 5}), ("alpha", {5, 6, 7, 8, 9})])
    def test_twenty_of_twenty_five(self, file: Acting, order: str, dropped: set[int]) -> None:
        used(file, "read", *(f"path/to/file{number}.ts" for number in range(1, 26)))
        made = injected(file, order=order)
        assert len(re.findall(r"path/to/file\d+\.ts", made.text)) == 20
        assert "… and 5 more paths" in made.text.split("\n")
        shown = told(made)["Working Set: Read Files"]
        assert shown == sorted(shown)
        assert {f"path/to/file{number}.ts" for number in range(1, 26)} - set(shown) == {
            f"path/to/file{number}.ts" for number in dropped
        }
        assert [left.reason.value for left in made.omitted] == ["cap"] * 5

    def test_twenty_in_all_what_was_changed_first(self, file: Acting) -> None:
        used(file, "read", *(f"r{number:02}.py" for number in range(15)))
        used(file, "write", *(f"w{number:02}.py" for number in range(12)))
        made = injected(file)
        values = told(made)
        assert len(values["Working Set: Modified Files"]) == 12
        assert values["Working Set: Read Files"] == [f"r{number:02}.py" for number in range(7, 15)]
        assert "… and 7 more paths" in made.text
        used(file, "edit", *(f"e{number:02}.py" for number in range(12)))
        text = injected(file).text
        # A heading with nothing but a count below it tells nobody anything.
        assert "## Working Set: Read Files" not in text
        assert "… and 15 more paths" not in text
        assert "… and 4 more paths" in text

    def test_one_more_path(self, file: Acting) -> None:
        used(file, "read", *(f"{number:02}.py" for number in range(21)))
        assert "… and 1 more path\n" in injected(file).text

    def test_hostile_paths(self, file: Acting) -> None:
        used(file, "read", "a\r\nb\tc.py", "d/" * 200, "src/another.ts\n- [INJECTION]", "e\x1b[31m\u202e.py")
        values = told(injected(file))["Working Set: Read Files"]
        assert "a b c.py" in values
        assert [len(value) for value in values if value.startswith("d/")] == [300]
        assert "src/another.ts - [INJECTION]" in values
        assert "e.py" in values

    def test_a_failed_call_touches_nothing(self, file: Acting) -> None:
        file.said("", call("read", "c1", path="gone.py"))
        file.answered("c1", "read", "no such file", failed=True)
        assert injected(file).text == ""

    def test_order_is_by_casefold_then_raw(self, file: Acting) -> None:
        used(file, "read", "zebra", "Beta", "gamma", "alpha", "beta")
        assert told(injected(file))["Working Set: Read Files"] == ["alpha", "Beta", "beta", "gamma", "zebra"]

    def test_what_a_branch_summary_carries(self, file: Acting) -> None:
        file.entry(
            "branch_summary",
            fromId="x",
            summary="s",
            details={"readFiles": ["a.py"], "modifiedFiles": ["b.py"]},
        )
        file.user("go on", parent=file.leaf)
        values = told(injected(file))
        assert values["Working Set: Modified Files"] == ["b.py"]
        assert values["Working Set: Read Files"] == ["a.py"]

    def test_siblings_say_nothing(self, file: Acting) -> None:
        first = file.user("start")
        used(file, "edit", "left.py")
        file.user("again", parent=first)
        used(file, "edit", "right.py")
        assert told(injected(file))["Working Set: Modified Files"] == ["right.py"]


class TestContinuity:
    def test_a_session_without_a_workflow(self, file: Acting, tmp_path: Path) -> None:
        values = in_workspace(file, refactoring(tmp_path / "w"))
        assert list(values) == GENERIC
        assert values["Status"] == ["Active: working on refactor-auth"]
        assert values["Remaining"] == [
            "move the last callers of `validateSession()` over.",
            "Pending tests: integration tests of the new validator.",
        ]
        assert values["Decisions"] == ["Decision: the old exports stay until version 3."]
        assert values["Completed"] == [
            "Moved the token checks into `src/auth/validate.ts`.",
            "Took the second middleware out of `src/routes/api.ts`.",
        ]
        assert values["Active Files"] == ["src/auth/validate.ts", "src/routes/api.ts"]
        assert values["Blockers / Risks"] == ["none recorded"]
        assert values["Next Action"] == ["move the last callers of `validateSession()` over."]

    def test_a_spec_in_execution(self, file: Acting, tmp_path: Path) -> None:
        folder = ".codex/specs/001-prd-compaction"
        values = in_workspace(file, spec(tmp_path / "w"))
        assert list(values) == GENERIC + WORKFLOW
        assert values["Canonical Workflow Stage"] == ["spec-execute"]
        assert values["Workflow Type"] == ["spec"]
        assert values["Status"] == ["1 tasks complete, 2 remaining"]
        (following,) = values["Next Action"]
        for part in (
            "001-prd-compaction",
            "spec-execute",
            "2 — Build the context (draft)",
            "(Batch 1 — Foundation)",
        ):
            assert part in following
        assert values["Source Artifacts"] == [
            f"{folder}/{name}.md" for name in ("requirements", "design", "tasks", "context")
        ]
        assert values["Current Artifact"] == [f"{folder}/tasks.md"]
        assert len(values["Approved Decisions"]) == 3
        assert all("inferred" in value for value in values["Approved Decisions"])
        assert values["Decisions"] == [
            "[Batch 0] Decision: only inject, since the default prompt stays as it is."
        ]
        assert len(values["Transition Gate"]) == 1
        assert len(values["Verification / Done Criteria"]) == 3
        assert values["Remaining"][0].startswith("2 — Build the context")
        assert values["Active Files"] == ["src/stage-aware.ts"]
        assert values["Pending Decisions / Open Questions"] == ["none recorded"]

    def test_a_bug_being_fixed(self, file: Acting, tmp_path: Path) -> None:
        values = in_workspace(file, bug(tmp_path / "w"))
        folder = ".codex/bugs/session-resume-regression"
        assert list(values) == GENERIC + WORKFLOW
        assert values["Canonical Workflow Stage"] == ["bug-fix"]
        assert "bug-fix approved; write the fix and its regression test" in values["Status"][0]
        assert len(values["Completed"]) == 3
        assert len(values["Remaining"]) == 2
        assert values["Decisions"] == ["The smallest fix in the hook, without a store of its own."]
        assert values["Current Artifact"] == [f"{folder}/analysis.md"]
        assert len(values["Approved Decisions"]) == 2
        assert "hand-off to bug-verify" in values["Next Action"][0]
        assert "session-resume-regression" in values["Next Action"][0]

    def test_an_analysis_in_draft(self, file: Acting, tmp_path: Path) -> None:
        root = tmp_path / "w"
        put(root, "SESSION.md", "# Session State")
        put(root, ".codex/bugs/draft-analysis/report.md", "# Bug Report", "confirmed")
        put(root, ".codex/bugs/draft-analysis/analysis.md", "# Bug Analysis", "", "Working draft.")
        assert in_workspace(file, root)["Canonical Workflow Stage"] == ["bug-analyze"]

    def test_nothing_known(self, file: Acting, tmp_path: Path) -> None:
        root = tmp_path / "w"
        put(root, "SESSION.md", "# Session State", "", "Next Operator Brief", "- Blockers: none.")
        put(root, "AGENTS.md", "# Notes")
        values = in_workspace(file, root)
        assert list(values) == GENERIC
        assert values["Blockers / Risks"] == ["none recorded"]
        assert "SESSION.md" in values["Next Action"][0]

    def test_an_empty_log(self, file: Acting, tmp_path: Path) -> None:
        root = tmp_path / "w"
        put(root, "SESSION.md", "# Session State")
        values = in_workspace(file, root)
        assert list(values) == GENERIC
        assert values["Next Action"]

    def test_blockers_and_pending_tests(self, file: Acting, tmp_path: Path) -> None:
        root = tmp_path / "w"
        put(
            root,
            "SESSION.md",
            "[Focus: perf-tuning] 2026-03-11 — Branch `perf/query`",
            "- Rewrote the query in `src/db/users.ts`.",
            "- BLOCKED: waiting for the migration on staging.",
            "",
            "Next Operator Brief",
            "",
            "- Open Work: benchmark the new query.",
            "- Pending Tests: load test with 10k users.",
            "- Blockers: database migration on staging.",
        )
        values = in_workspace(file, root)
        assert values["Status"][0].startswith("At risk: ")
        assert len(values["Blockers / Risks"]) == 2
        assert values["Completed"] == ["Rewrote the query in `src/db/users.ts`."]
        assert [bool(re.search("benchmark|load test", value)) for value in values["Remaining"]] == [
            True,
            True,
        ]

    def test_without_a_workspace_the_session_itself_speaks(self, file: Acting) -> None:
        file.user("Port the parser to the new grammar.")
        file.user("yes")
        values = told(injected(file))
        assert values["Primary Objective"] == ["The user's last request: Port the parser to the new grammar."]
        assert list(values) == ["Primary Objective", "Next Action"]


class TestGovernance:
    def test_the_order_of_the_sections_and_what_is_left_out(self, file: Acting, tmp_path: Path) -> None:
        anchors = [
            anchor("the public API stays", "high"),
            anchor("never push to main", "critical"),
            anchor("a small thing", "normal"),
        ]
        root = idumb(tmp_path / "w", anchors, actions=7)
        file.user("go on")
        made = injected(file, workspace=root)
        values = told(made)
        assert list(values)[:4] == ["Language", "Phase", "Active Anchors", "Recent Actions"]
        assert [value.split(" (")[0] for value in values["Language"]] == [
            "Communication: VIETNAMESE",
            "Documents: ENGLISH",
        ]
        assert values["Phase"] == ["Phase: phase-2", "Framework: planning", "Last validation: Never"]
        assert values["Active Anchors"] == [
            "[CRITICAL] decision: never push to main",
            "[HIGH] decision: the public API stays",
        ]
        assert values["Recent Actions"] == [f"step {number} → pass (builder)" for number in range(2, 7)]
        assert "… and 2 more actions" in made.text
        assert [(left.text, left.reason.value) for left in made.omitted if left.section == "gov.anchors"] == [
            ("[NORMAL] decision: a small thing", "priority")
        ]


def test_the_trigger_is_strictly_greater(file: Acting) -> None:
    """A window of 200,000 with a reserve of 16,384: 183,616 does not reach it, 183,617 does."""
    file.user("x")
    for total, reached in ((183_616, False), (183_617, True)):
        file.said("y", tokens=usage(total))
        with reading(file.path) as session:
            settings = PlanSettings(window=200_000, reserve=16_384, trigger=TriggerRule.FIXED)
            assert plan(measure(session), settings).trigger.reached is reached
