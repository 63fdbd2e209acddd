"""Workspaces for the injection: folders with the files that its builders read; and what is put in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from leafward.compaction.injection.injection import inject
from leafward.compaction.injection.values import Injection, InjectionSettings
from tests.acting import Acting, reading

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def put(root: Path, path: str, *lines: str) -> Path:
    """Writes a file of lines."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def refactoring(root: Path) -> Path:
    """An ordinary session log, no workflow."""
    put(
        root,
        "SESSION.md",
        "# Session State",
        "",
        "<!-- prepend new entries. Format: [Focus: <area>] YYYY-MM-DD — Branch `<branch>` -->",
        "",
        "[Focus: refactor-auth] 2026-03-11 — Branch `refactor/auth-cleanup`",
        "- Moved the token checks into `src/auth/validate.ts`.",
        "- Took the second middleware out of `src/routes/api.ts`.",
        "- Decision: the old exports stay until version 3.",
        "",
        "Reality Check — tests rerun? ✅; lint clean? ✅.",
        "",
        "Next Operator Brief",
        "",
        "- Open Work: move the last callers of `validateSession()` over.",
        "- Pending Tests: integration tests of the new validator.",
        "- Blockers: none.",
    )
    put(root, "AGENTS.md", "# Notes")
    return root


def spec(root: Path) -> Path:
    """A spec in execution: one task of three done."""
    name = "001-prd-compaction"
    folder = f".codex/specs/{name}"
    put(
        root,
        "SESSION.md",
        "# Session State",
        "",
        "[Focus: execution] 2026-03-10 — Branch `feature/spec-create`",
        f"- Continue `/spec-execute next {name}` after compaction.",
        f"- Active files: `src/stage-aware.ts`, `{folder}/tasks.md`.",
        "- Blockers: none.",
    )
    put(
        root,
        "AGENTS.md",
        "- Specs: `.codex/specs/`",
        "- Flow: spec-create, spec-design, spec-tasks, spec-execute",
    )
    put(root, f"{folder}/requirements.md", "# Requirements", "ready")
    put(root, f"{folder}/design.md", "# Design", "ready")
    put(
        root,
        f"{folder}/tasks.md",
        "# Tasks",
        "",
        "## Batch 1 — Foundation",
        "- [x] 1. Read the log (csv)",
        "- [ ] 2. Build the context (draft)",
        "",
        "## Batch 2 — Validation",
        "- [ ] 3. Add tests",
    )
    put(
        root,
        f"{folder}/context.md",
        "# Execution Context",
        "",
        "## Status",
        "Last completed batch: 0",
        "",
        "## Decisions Made",
        "- [Batch 0] Decision: only inject, since the default prompt stays as it is.",
        "",
        "## Key Discoveries",
        "- [Batch 0] `output.context` takes more than one text.",
    )
    return root


def bug(root: Path, name: str = "session-resume-regression") -> Path:
    """A bug whose fix was approved."""
    folder = f".codex/bugs/{name}"
    put(
        root,
        "SESSION.md",
        "# Session State",
        "",
        "[Focus: bugfix] 2026-03-10 — Branch `feature/bug-verify`",
        f"- Continue `bug-fix {name}` after compaction.",
        f"- Active files: `{folder}/analysis.md`, `src/stage-aware.ts`.",
    )
    put(root, f"{folder}/report.md", "# Bug Report", "it can be reproduced")
    put(
        root,
        f"{folder}/analysis.md",
        "# Bug Analysis",
        "",
        "## Risks / Trade-offs",
        "- The smallest fix in the hook, without a store of its own.",
    )
    put(root, f"{folder}/harness/progress.md", "- bug-fix approved; write the fix and its regression test")
    return root


def idumb(root: Path, anchors: Iterable[dict[str, Any]], actions: int = 0, **state: Any) -> Path:
    """The store of the iDumb plugin, version 1."""
    document = {
        "version": "0.1.0",
        "initialized": "2026-02-01T00:00:00Z",
        "framework": "planning",
        "phase": "phase-2",
        "lastValidation": None,
        "validationCount": 0,
        "anchors": list(anchors),
        "history": [
            {
                "timestamp": f"2026-02-01T0{n}:00:00Z",
                "action": f"step {n}",
                "agent": "builder",
                "result": "pass",
            }
            for n in range(actions)
        ],
        **state,
    }
    put(root, ".idumb/brain/state.json", json.dumps(document, indent=2))
    language = {"communication": "vietnamese", "documents": "english"}
    put(root, ".idumb/config.json", json.dumps({"user": {"language": language}}))
    return root


def anchor(
    content: str, priority: str, type_: str = "decision", created: str = "2026-02-01T00:00:00Z"
) -> dict[str, Any]:
    """An anchor of version 1."""
    return {"id": content[:4], "created": created, "type": type_, "content": content, "priority": priority}


def injected(file: Acting, **settings: object) -> Injection:
    """Text inserted at the end of a session."""
    with reading(file.path) as session:
        return inject(session, session.leaf, InjectionSettings(**settings))  # type: ignore[arg-type]  # a test's own keys
