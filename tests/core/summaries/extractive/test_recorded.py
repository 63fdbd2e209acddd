"""What calls and their results say in a summary: the end in its own words, runs, reads, the request of a split turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.session.entries import EntryIndex
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import FOLDER, ran, reply, result, span, stored, summarize, told_in, user

if TYPE_CHECKING:
    from pathlib import Path


def test_of_a_span_far_longer_than_its_summary_the_end_stands() -> None:
    work = [
        message
        for place in range(60)
        for message in ran(f"c{place}", f"inspect part{place} " + "of it " * 40)
    ]
    said = [
        user("Look through all parts of orchard."),
        *work,
        reply("The culprit is `zebraCrossing` in part 59."),
    ]
    text = summarize(span(*said), 400).text
    assert "- At the end, `bash`: inspect part59" in text
    # A piece of a longer text says that it goes on.
    long = [*said[:-1], reply("The culprit stands here, " + "and there, " * 90)]
    pieces = [line for line in summarize(span(*long), 400).text.split("\n") if "At the end, reply" in line]
    assert [line.partition("reply: ")[2].startswith("… ") for line in pieces] == [
        False,
        *[True] * (len(pieces) - 1),
    ]
    assert len(pieces) > 1
    kept = span(*said).messages[-4:]
    assert "At the end" not in summarize(span(*said[:-4], kept=kept), 400).text
    # It is the end no more once something follows.
    later = span(
        *ran("z", "inspect the next part"), previous=text, previous_entry=span(*said).messages[0].entry
    )
    assert "part59" not in summarize(later, 400).text


def test_a_file_that_could_not_be_read_is_not_told_as_read() -> None:
    def read(key: str, path: str, *, failed: bool) -> list[dict[str, Any]]:
        return [
            reply("", (key, "read", {"path": path})),
            result(key, "File does not exist." if failed else "x", failed),
        ]

    work = [*read("a", "src/grove.py", failed=True), *read("b", "src/tree.py", failed=False)]
    text = summarize(span(user("Look for the parser."), *work)).text
    assert "src/tree.py" in text
    assert "src/grove.py" not in text


def test_where_the_cut_splits_a_turn_its_request_is_the_goal() -> None:
    first, last = (
        "Port the parser of orchard to a table.",
        "Look at the colours of the footer, they are too bright.",
    )
    turns = [
        user(first),
        *ran("a", "make parser"),
        reply("It is ported. Shall I also port the printer?"),
        user("Not now, thanks."),
        reply("As you like."),
        user(last),
        *ran("b", "grep colour src/footer.py"),
    ]
    assert told_in(SummarySection.GOAL, *turns, prefix=3) == [last]
    aside = [*turns[:-3], user("why do you read the footer 100 lines at a time?"), *turns[-2:]]
    # An answered request is no goal for an aside; it tells what that is about.
    assert told_in(SummarySection.GOAL, *aside, prefix=3) == [
        f"why do you read the footer 100 lines at a time? (asked before: {first})"
    ]


def test_a_check_of_a_deleted_file_blocks_nothing(corpora: Path) -> None:
    lines = stored(corpora / "pi" / "before-compaction.jsonl", EntryIndex(475))
    assert not any("interactive-mode.ts" in line for line in lines[SummarySection.BLOCKED])


def test_a_run_that_goes_on_has_not_passed() -> None:
    def shell(key: str, printed: str, *, failed: bool = False, **given: Any) -> list[dict[str, Any]]:
        return [
            reply("", (key, "exec_command" if "cmd" in given else "write_stdin", given)),
            result(key, printed, failed),
        ]

    command = "cargo test rustup_component"
    started = shell(
        "a",
        "Chunk ID: 1\nWall time: 30.0 seconds\nProcess running with session ID 45\nOutput:\nwaiting",
        cmd=command,
    )
    polled = shell(
        "b", "Process exited with code 101\nOutput:\nSIGABRT", failed=True, session_id=45, chars=""
    )
    passed = shell("c", "Process exited with code 0\nOutput:\nok", cmd=command)
    told = told_in(SummarySection.DONE, user("test it"), *started, *polled, *passed)
    assert told == [f"`{command}` passes (once; 1 earlier run did not)"]
    assert told_in(SummarySection.DONE, user("test it"), *started) == []
    background = shell("d", "Command running in background with ID: bash_1", cmd=command)
    assert told_in(SummarySection.DONE, user("test it"), *background) == []


def test_the_end_is_told_without_what_codex_puts_around_it() -> None:
    def shell(key: str, number: int, code: int = 0) -> list[dict[str, Any]]:
        head = f"Chunk ID: 1{number}\nWall time: 0.6 seconds\nProcess exited with code {code}\nOriginal token count: 7\nOutput:\n"
        given = {"cmd": f"inspect part{number} " + "of it " * 40, "workdir": f"{FOLDER}/parts"}
        return [reply("", (key, "exec_command", given)), result(key, f"{head}wall {number} is dry", code > 0)]

    work = [message for place in range(60) for message in shell(f"c{place}", place)]
    text = summarize(span(user("Look through all walls."), *work, *shell("z", 60, 1)), 400).text
    assert "- At the end, result: wall 59 is dry" in text
    assert "- At the end, result: Process exited with code 1" in text
    assert f"{FOLDER}/parts" not in text
    assert "Chunk ID" not in text


def test_the_end_is_told_without_the_head_of_a_script() -> None:
    def script(key: str, ended: str, printed: str) -> list[dict[str, Any]]:
        head = f"Script {ended}\nWall time 0.4 seconds\nOutput:\n"
        given = {"cmd": f"inspect {key} " + "of it " * 40}
        return [reply("", (key, "exec_command", given)), result(key, f"{head}{printed}")]

    work = [
        message
        for place in range(60)
        for message in script(f"part{place}", "completed", f"part {place} is dry")
    ]
    text = summarize(
        span(user("Look through all walls."), *work, *script("patch", "completed", "{}")), 400
    ).text
    assert "- At the end, result: part 59 is dry" in text
    assert "Script completed" not in text
    assert "{}" not in text
    text = summarize(
        span(user("Look through all walls."), *work, *script("roof", "failed", "no ladder")), 400
    ).text
    assert "- At the end, result: Script failed Wall time 0.4 seconds Output: no ladder" in text
