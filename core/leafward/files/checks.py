"""Commands that prove something when they succeed: tests, builds, types, linters.

Recognised are the runners of tests, builds, types and linters by their names, and scripts whose own name shows it: `python3
check.py`, `./run-tests.sh`, `node scripts/lint.mjs`. Blame, `why`, comparisons and the exam all follow this one rule.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.files.shell.lexer import Lexer, Unreadable

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from leafward.files.shell.lexer import ShellWord


class Check(StrEnum):
    """The property that a command proves when it succeeds."""

    TEST = "test"
    BUILD = "build"
    TYPES = "types"
    LINT = "lint"


_RUNNER = r"(?:npm|pnpm|yarn|bun)(?:\s+(?:run|exec|--?\S+|-w\s+\S+)){0,8}\s+"
_TASKS = (
    r"(?:make|just|task|(?:mise|turbo|pixi|hatch|pdm|composer)[^\S\n]+(?:run|r)|turbo|composer|rake|invoke|poe|moon[^\S\n]+run)"
    r"(?:[^\S\n]+--?\S+){0,8}[^\S\n]+"
)
"""Programs that run a task of the project; the effect of tasks with other names than these is not known."""


def _script(names: str) -> str:
    """A project's script with one of these names, run by an interpreter or a shell, or by its path."""
    by = r"(?:python[\d.]*|uv\s+run|node|deno\s+run|bun|tsx|ts-node|ruby|perl|php|bash|sh|zsh)(?:\s+-(?![cem])\S*)*\s+"
    return rf"(?:{by}(?:[\w.@~-]*/)*|(?:[\w.@~-]*/)+)(?:{names})(?:\.(?:py|[cm]?[jt]s|rb|pl|php|sh|bash))?"


_CHECKS: tuple[tuple[Check, re.Pattern[str]], ...] = tuple(
    (
        check,
        late(
            rf"(?:^|[;&|(\n][^\S\n]*|\b(?:npx|bunx|uv run|poetry run|bundle exec|python3?\s+-m|time|timeout\s+\S+)\s+)(?:{words})(?=$|[\s;&|)])"
        ),
    )
    for check, words in (
        (
            Check.TEST,
            _RUNNER
            + r"(?:(?:test|vitest|jest)[\w:.-]*|t(?:[:.-][\w:.-]*)?)|npm\s+t|pytest|py\.test|unittest|nose2|tox|nox|vitest|jest|mocha|ava|tsx\s+--test|"
            r"node\s+--test|go\s+test|cargo\s+(?:test|nextest)|(?:mvn|\./mvnw|gradle|\./gradlew)\s+(?:-\S+\s+)*\S*test|rspec|"
            + _TASKS
            + r"(?:tests?|check|verify)[\w:.-]*|"
            r"(?:dotnet|swift|deno|zig|mix|flutter)\s+test|php\s+artisan\s+test|(?:(?:\./)?vendor/bin/)?(?:phpunit|pest)|ctest|bats|"
            + _script(
                r"(?:tests?|checks?|verify|validate)(?:[-_.][\w.-]*)?|specs?|(?:[^\W_]+[-_.]){1,6}(?:tests?|checks?|verify|specs?)"
            ),
        ),
        (
            Check.TYPES,
            _RUNNER
            + r"(?:check|typecheck|type-check|tsc)[\w:.-]*|"
            + _TASKS
            + r"(?:typecheck|type-check|types)[\w:.-]*|tsc|tsgo|mypy|pyright|pyre|cargo\s+check|go\s+vet",
        ),
        (
            Check.BUILD,
            _RUNNER
            + r"build[\w:.-]*|make(?!\s+(?:lint|format|fmt|clean)\b)(?:\s+all)?|"
            + _TASKS
            + r"build[\w:.-]*|"
            r"cargo\s+build|go\s+build|cmake\s+--build|ninja|"
            r"(?:mvn|gradle|\./gradlew)\s+(?:package|build|assemble)|vite\s+build|docker\s+build|"
            + _script(r"(?:run[-_])?build"),
        ),
        (
            Check.LINT,
            _RUNNER + r"(?:lint|format|biome)[\w:.-]*|" + _TASKS + r"(?:lint|format|biome)[\w:.-]*|"
            r"eslint|ruff|flake8|pylint|biome|prettier|clippy|cargo\s+clippy|golangci-lint|"
            + _script(r"(?:run[-_])?lint(?:[-_.]\w+)?"),
        ),
    )
)


@lru_cache(maxsize=1 << 12)
def check_of(command: str) -> Check | None:
    """The property that a command checks, the weightiest where there are several; None for any other command.

    Text that a command only quotes or writes down (`git commit -m 'npm test; done'`, the text of a here-document) is not
    run.
    """
    found = _search(command[:_LOOKED_AT])
    if found is None or not _QUOTES.search(command):
        return found
    try:
        return _search("\n".join(_run(command)))
    except Unreadable:
        return found


_LOOKED_AT = 2000
"""Characters of a command that are read."""
_QUOTES = late(r"['\"]|<<")
_SHELL = late(r"(?:.*/)?(?:ba|da|z|k)?sh")
_SCRIPT_OPTION = late(r"-\w*c")
_SEVERAL = late(r"[\s;&|()]")
_SUBSTITUTION = late(r"\$\(|`")


def _search(text: str) -> Check | None:
    return next((check for check, pattern in _CHECKS if pattern.search(text[:_LOOKED_AT])), None)


def _run(script: str) -> Iterator[str]:
    """The simple commands of a script, without quoted text; scripts for a shell among them follow. Raises Unreadable."""
    for command in Lexer(script).commands():
        if isinstance(command, str):
            continue
        yield " ".join('""' if _is_text(word) else word.text for word in command.words)
        if any(_SHELL.fullmatch(word.text) for word in command.words):
            for option, word in pairwise(command.words):
                if _SCRIPT_OPTION.fullmatch(option.text):
                    yield word.text
            yield from (one.document for one in command.redirections if one.document is not None)


def _is_text(word: ShellWord) -> bool:
    """Whether a word was quoted because it is several words, and holds no command substitution."""
    return bool(_SEVERAL.search(word.text)) and (word.plain or not _SUBSTITUTION.search(word.text))
