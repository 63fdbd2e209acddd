"""Commands that prove something when they end well: tests, builds, types, linters.

Known are the runners of tests, builds, types and linters by their names, and scripts whose own name says it: `python3 check.py`,
`./run-tests.sh`, `node scripts/lint.mjs`. Blame, `why`, comparisons and the exam all go by this one rule.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Check(StrEnum):
    """What a command proves when it ends well."""

    TEST = "test"
    BUILD = "build"
    TYPES = "types"
    LINT = "lint"


_RUNNER = r"(?:npm|pnpm|yarn|bun)(?:\s+(?:run|exec|--?\S+|-w\s+\S+)){0,8}\s+"


def _script(names: str) -> str:
    """A script of the project with one of these names, which a program of a language or a shell runs, or that runs by its path."""
    by = r"(?:python[\d.]*|uv\s+run|node|deno\s+run|bun|tsx|ts-node|ruby|perl|php|bash|sh|zsh)(?:\s+-(?![cem])\S*)*\s+"
    return rf"(?:{by}(?:[\w.@~-]*/)*|(?:[\w.@~-]*/)+)(?:{names})(?:\.(?:py|[cm]?[jt]s|rb|pl|php|sh|bash))?"


_CHECKS: tuple[tuple[Check, re.Pattern[str]], ...] = tuple(
    (
        check,
        re.compile(
            rf"(?:^|[;&|(\n][^\S\n]*|\b(?:npx|bunx|uv run|poetry run|python3?\s+-m|time|timeout\s+\S+)\s+)(?:{words})(?=$|[\s;&|)])"
        ),
    )
    for check, words in (
        (
            Check.TEST,
            _RUNNER
            + r"(?:test|t|vitest|jest)[\w:.-]*|npm\s+t|pytest|py\.test|unittest|nose2|tox|nox|vitest|jest|mocha|ava|tsx\s+--test|"
            r"node\s+--test|go\s+test|cargo\s+(?:test|nextest)|(?:mvn|gradle|\./gradlew)\s+\S*test|(?:make|just|task)\s+(?:tests?|check|verify)[\w:.-]*|rspec|"
            r"(?:dotnet|swift|deno|zig|mix|flutter)\s+test|phpunit|ctest|bats|"
            + _script(
                r"(?:tests?|checks?|verify|validate)(?:[-_.][\w.-]*)?|specs?|(?:[^\W_]+[-_.]){1,6}(?:tests?|checks?|verify|specs?)"
            ),
        ),
        (
            Check.TYPES,
            _RUNNER
            + r"(?:check|typecheck|type-check|tsc)[\w:.-]*|tsc|tsgo|mypy|pyright|pyre|cargo\s+check|go\s+vet",
        ),
        (
            Check.BUILD,
            _RUNNER
            + r"build[\w:.-]*|make(?:\s+(?:all|build))?|cargo\s+build|go\s+build|cmake\s+--build|ninja|"
            r"(?:mvn|gradle|\./gradlew)\s+(?:package|build|assemble)|vite\s+build|docker\s+build|"
            + _script(r"(?:run[-_])?build"),
        ),
        (
            Check.LINT,
            _RUNNER
            + r"(?:lint|format|biome)[\w:.-]*|eslint|ruff|flake8|pylint|biome|prettier|clippy|cargo\s+clippy|golangci-lint|"
            + _script(r"(?:run[-_])?lint(?:[-_.]\w+)?"),
        ),
    )
)


def check_of(command: str) -> Check | None:
    """What a command checks, the weightiest where it does several; None for any other command."""
    head = command[:2000]
    return next((check for check, pattern in _CHECKS if pattern.search(head)), None)
