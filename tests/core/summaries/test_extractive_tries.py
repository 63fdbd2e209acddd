"""Failures that are in nobody's way: tried again in another way, or called none of this work's."""

from __future__ import annotations

from typing import Any

import pytest

from leafward.summaries.facts.printed_errors import printed_errors
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, told_in, user, worked

_ASKED = [user("Port the frost parser of orchard to a table."), *worked("src/parser.ts", "a")]
_ERROR = "src/valley/map.ts(12,5): error TS2339: Property 'rows' does not exist on type 'Map'."


def _failed(key: str, command: str, printed: str) -> list[dict[str, Any]]:
    return [reply("", (key, "bash", {"command": command})), result(key, printed, failed=True)]


def _blocked(*said: dict[str, Any]) -> list[str]:
    return told_in(SummarySection.BLOCKED, *_ASKED, *said)


def test_a_try_that_was_made_again_in_another_way_blocks_nothing() -> None:
    first = _failed("b", "createdb orchard && make test:integration", "createdb: error: no server runs")
    again = "docker run -d orchard-db; make test:integration"
    assert len(_blocked(*first)) == 1
    assert _blocked(*first, *ran("c", f"{again} | tail -3")) == []
    # The last try is the one that says what is wrong.
    (line,) = _blocked(*first, *_failed("c", again, "docker: error: the disk is full"))
    assert "the disk is full" in line


@pytest.mark.parametrize(
    "said",
    [
        "The one type error, in `src/valley/map.ts`, is pre-existing and unrelated.",
        "That error was there before.",
        "Nothing of these is in my files.",
        "Der Fehler war schon vorher da.",
        "这个错误与本次修改无关。",
    ],
)
def test_a_failure_that_the_reply_calls_none_of_this_work_blocks_nothing(said: str) -> None:
    check = _failed("b", "npx tsc --noEmit", _ERROR)
    assert len(_blocked(*check, reply("The parser is ported."))) == 1
    assert _blocked(*check, reply(said)) == []
    assert _blocked(*check, reply(said, ("c", "read", {"path": "src/rows.ts"})), result("c", "rows")) == []


@pytest.mark.parametrize(
    "said",
    [
        "It was there before, but the build needs it.",
        "All of these except the first are pre-existing.",
    ],
)
def test_a_failure_that_is_called_so_in_part_still_blocks(said: str) -> None:
    assert len(_blocked(*_failed("b", "npx tsc --noEmit", _ERROR), reply(said))) == 1


def test_of_a_failure_without_an_error_the_line_tells_what_could_not_be_done() -> None:
    printed = "pg_ctl: could not start server\nExamine the log output."
    assert list(printed_errors(printed, failed=True)) == ["pg_ctl: could not start server"]
