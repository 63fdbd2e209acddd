"""Files that were made and deleted for one request: neither they nor their runs are told."""

from __future__ import annotations

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, told_in, user

_ASKED = user("Find out why the pump of orchard counts its strokes twice.")
_SUITE = ran("s", "npm test")


def _made(path: str, key: str) -> list[dict[str, object]]:
    given = {"path": path, "content": f"const {key}Strokes = 2"}
    return [reply("", (key, "write", given)), result(key, "ok")]


def _trial(name: str) -> list[dict[str, object]]:
    return [*_made(name, "m"), *ran("r", f"node {name}"), *ran("d", f"rm {name}")]


def test_a_file_that_was_made_and_deleted_for_one_request_is_not_told() -> None:
    said = [_ASKED, *_SUITE, *_trial("test-strokes.cjs")]
    assert told_in(SummarySection.DONE, *said) == []
    told = told_in(SummarySection.CONTEXT, *said)
    assert not any("strokes" in line for line in told if "Run" not in line)
    assert "Last test run: `npm test` passed" in told


def test_one_that_stood_before_or_that_another_request_had_deleted_is() -> None:
    asked = user("delete the trial of the pump again")
    later = [
        _ASKED,
        *_made("src/trial.cjs", "m"),
        reply("Done. It is there."),
        asked,
        *ran("d", "rm src/trial.cjs"),
    ]
    assert "Deleted `src/trial.cjs`" in told_in(SummarySection.DONE, *later)
    read = [reply("", ("q", "read", {"path": "src/old.cjs"})), result("q", "x"), *ran("e", "rm src/old.cjs")]
    assert "Deleted `src/old.cjs`" in told_in(SummarySection.DONE, _ASKED, *read)


def test_a_test_that_is_still_there_is_the_last_run() -> None:
    said = [_ASKED, *_SUITE, *_made("test-strokes.cjs", "m"), *ran("r", "node test-strokes.cjs")]
    assert "Last test run: `node test-strokes.cjs` passed" in told_in(SummarySection.CONTEXT, *said)
