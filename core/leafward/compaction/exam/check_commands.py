"""Commands of tests and of formatters, as far as questions depend on what they did."""

from __future__ import annotations

import re

from leafward.base.late_pattern import late
from leafward.files.checks import Check, check_of

_PARTS = re.compile(r"&&|\|\||[;\n]")
_FORMATS = late(
    r"(?:^|[;&|(\n]\s*|\b(?:run|npx|bunx|exec|-m)\s+)"
    r"(?:(?:[\w./-]+\s+){0,3}(?:fmt|format)(?![\w.])|(?:gofmt|goimports|gofumpt)\s+(?:-\w+\s+)*-w|rustfmt|black|isort"
    r"|[^;&|\n]{0,80}(?:lint|format|check):fix|[^;&|\n]{0,120}\s--(?:fix|write)(?!\S))"
)
_LOOKS = late(r"\s(?:--check|--diff|--dry-run|-n|-l|-d|--list-different)(?=[\s;&|]|$)")


def other_checks(command: str) -> bool:
    """Whether a command of tests makes other checks too, whose counts could be the printed ones."""
    return any(check_of(part.strip()) not in (None, Check.TEST) for part in _PARTS.split(command))


def formats(command: str) -> bool:
    """Whether a command may write files anew without naming them, as formatters and fixing linters do."""
    return any(_FORMATS.search(part) and not _LOOKS.search(part) for part in _PARTS.split(command))
