"""What later words and work replaced: values, names, explanations, rules, errors, steps that nobody did."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import ran, reply, result, span, summarize, told_in, user, work_told, worked

if TYPE_CHECKING:
    from typing import Any

DONE, NEXT, GOAL = SummarySection.DONE, SummarySection.NEXT, SummarySection.GOAL
BLOCKED, CONTEXT, RULES = SummarySection.BLOCKED, SummarySection.CONTEXT, SummarySection.CONSTRAINTS


def listed(key: str, *items: tuple[str, str]) -> list[dict[str, Any]]:
    todos = [{"content": text, "status": state} for text, state in items]
    return [reply("", (key, "todowrite", {"todos": todos})), result(key, "ok")]


def failed(key: str, command: str, printed: str) -> list[dict[str, Any]]:
    return [reply("", (key, "bash", {"command": command})), result(key, printed, failed=True)]


@pytest.mark.parametrize("state", ["cancelled", "canceled"])
def test_a_cancelled_item_of_the_agents_list_is_not_done(state: str) -> None:
    said = [
        user("Move orchard to the new parser, without the cache"),
        *listed("a", ("Port the lexer", "pending"), ("Add the cache", "pending"), ("Write docs", "pending")),
        *listed("b", ("Port the lexer", "completed"), ("Add the cache", state), ("Write docs", "pending")),
        *worked("src/lexer.py", "c"),
    ]
    assert told_in(DONE, *said) == ["Port the lexer"]
    assert told_in(NEXT, *said) == ["Write docs"]
    assert "Add the cache" not in summarize(span(*said)).text


@pytest.mark.parametrize("item", ["SKIPPED (optional, for later)", "Move the pickers (cancelled)"])
def test_an_item_that_says_itself_that_it_was_skipped_is_not_done(item: str) -> None:
    plan = f"## Steps\n- [ ] Fill the table of the lexer\n- [x] Draw the rows\n- [ ] {item}\n"
    said = [
        user("Port the lexer of orchard to a table."),
        reply("", ("a", "write", {"path": "plan.md", "content": plan})),
        result("a", "ok"),
    ]
    assert told_in(DONE, *said) == ["Steps: Draw the rows"]


def test_a_step_that_stands_under_several_headings_is_not_done_for_all_of_them() -> None:
    check = "- [ ] Verify with `make test`\n"
    plan = "".join(
        f"## WP{number}: {name}\n- [ ] Port the {name}\n{check}\n"
        for number, name in enumerate(("lexer", "printer", "reader"))
    )
    ticked = ("- [ ] Port the lexer\n" + check, "- [x] Port the lexer\n" + check.replace("[ ]", "[x]"))
    said = [
        user("Plan the port of orchard in plan.md and begin"),
        reply("", ("a", "write", {"path": "plan.md", "content": plan})),
        result("a", "ok"),
        *worked("src/lexer.py", "b"),
        reply("", ("c", "edit", {"path": "plan.md", "oldText": ticked[0], "newText": ticked[1]})),
        result("c", "ok"),
        *worked("src/printer.py", "d"),
    ]
    assert told_in(DONE, *said) == ["WP0: lexer: Port the lexer"]


def test_a_request_that_was_corrected_has_the_last_outcome() -> None:
    said = [user("Set the default port of the orchard server to 8080")]
    for key, port, then in (
        ("a", 8080, "no, I meant 9090"),
        ("b", 9090, "no sorry, 7070"),
        ("c", 7070, "hm, actually make it 6060, that one is free"),
        ("d", 6060, ""),
    ):
        said += [*worked("src/server.py", key), reply(f"Changed the default port to {port}.")]
        said += [user(then)] if then else []
    done = work_told(*said)
    assert (
        "Asked: Set the default port of the orchard server to 8080 → the reply says: “Changed the default port to 6060.”"
        in done
    )
    assert not any(f"to {port}." in line for line in done for port in (8080, 9090, 7070))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Changed `dim` from `#444444` to `#585858`.", "Changed `dim` from `#585858` to `#666666`."),
        (
            "Changed `dim` from `#444444` (dark, 68,68,68) to `#585858` (less dark).",
            "Changed `dim` from `#585858` to `#666666` and `link` now uses it.",
        ),
        ("Renamed `parse()` to `read()`.", "Renamed `read()` to `load()`."),
        ("I switched the importer to threads.", "Replaced the threads by batches."),
        ("Updated the theme; `link`: `#b5bd68`.", "Moved the text; `link`: `#8abeb7`."),
        ("The importer has batches of 500 rows now.", "The batches have 100 rows now."),
        ("The default port is 8080 now.", "Changed the default port to 6060."),
    ],
)
def test_a_told_value_that_a_later_answer_replaced_is_not_done(older: str, newer: str) -> None:
    said = [
        user("Look at the importer of orchard"),
        *worked("src/importer.py", "a"),
        reply(older),
        user("That is not what the crates need, take another one"),
        *worked("src/importer.py", "b"),
        reply(newer),
        user("And now the exporter of the crates"),
        *worked("src/exporter.py", "c"),
    ]
    text = "\n".join(work_told(*said))
    for sentence in older.split(". "):
        if any(map(str.isdigit, sentence)) or "`" in sentence or "threads" in sentence:
            assert sentence.rstrip(".") not in text
    assert newer.split(". ", maxsplit=1)[0].rstrip(".") in text


def test_of_a_figure_that_was_told_again_the_last_one_stands() -> None:
    said = [user("Make the importer of orchard faster, it takes 40 seconds")]
    for key, answer, then in (
        (
            "a",
            "I switched the importer to threads. It takes 31 seconds now.",
            "no threads please, use batches",
        ),
        ("b", "Replaced the threads by batches. It takes 12 seconds now.", "100 rows are enough for a batch"),
        ("c", "The batches have 100 rows now. It takes 14 seconds.", "and drop the bar of the progress"),
        ("d", "Removed the progress bar.", ""),
    ):
        said += [*worked("src/importer.py", key), reply(answer)]
        said += [user(then)] if then else []
    text = "\n".join(work_told(*said))
    assert "31 seconds" not in text
    assert "12 seconds" not in text


def test_values_of_several_things_or_places_stay() -> None:
    said = [
        user("Look at the timeouts of orchard"),
        *worked("src/client.py", "a"),
        reply("Changed the timeout to 10 seconds in the client."),
        user("The server of the crates as well, please"),
        *worked("src/server.py", "b"),
        reply("Changed the timeout to 20 seconds in the server."),
        user("And now the exporter of the crates"),
        *worked("src/exporter.py", "c"),
    ]
    text = "\n".join(work_told(*said))
    assert "10 seconds in the client" in text
    assert "20 seconds in the server" in text


def test_a_figure_that_an_answer_says_has_changed_is_left_out_of_older_lines() -> None:
    previous = "## Goal\n- Port orchard\n\n## Progress\n### Done\n- [x] `Reader` created (`src/reader.py`) - 1508 lines\n"
    said = [
        user("make the reader shorter"),
        *worked("src/reader.py", "a"),
        reply("Removed the twins. Result: 1508 → 1362 lines."),
        user("now the writer"),
        *worked("src/writer.py", "b"),
    ]
    done = "\n".join(work_told(*said, previous=previous))
    assert "`Reader` created (`src/reader.py`)" in done
    assert "1508 lines" not in done


def test_a_file_renamed_twice_is_told_once() -> None:
    said = [
        user("Rename src/util.py to src/text.py"),
        *ran("a", "git mv src/util.py src/text.py"),
        reply("Renamed `src/util.py` to `src/text.py`."),
        user("hm, call it src/strings.py"),
        *ran("b", "git mv src/text.py src/strings.py"),
    ]
    renamed = [line for line in told_in(DONE, *said) if line.startswith("Renamed")]
    assert renamed == ["Renamed `src/util.py` to `src/strings.py`"]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Enabled the cache in c.toml.", "Disabled the cache in c.toml."),
        ("Added the button Export to the page.", "Removed the button Export from the page."),
    ],
)
def test_work_that_later_work_undid_is_not_done(older: str, newer: str) -> None:
    said = [
        user("enable the cache of orchard, and a button for it"),
        *worked("c.toml", "a"),
        reply(older),
        user("take that out again, it breaks the login"),
        *worked("c.toml", "b"),
        reply(newer),
        user("now the docs"),
        *worked("d.md", "c"),
    ]
    text = "\n".join(work_told(*said))
    assert older not in text
    assert newer in text


def test_a_file_that_has_its_first_name_again_was_not_renamed() -> None:
    said = [
        user("move src/a.py to lib/a.py"),
        *ran("a", "git mv src/a.py lib/a.py"),
        reply("Moved `src/a.py` to `lib/a.py`."),
        user("hm no, put it back"),
        *ran("b", "git mv lib/a.py src/a.py"),
        reply("`src/a.py` is back."),
    ]
    assert not any("lib/a.py" in line and "name" in line for line in told_in(DONE, *said))


def test_an_explanation_that_was_given_up_is_no_outcome() -> None:
    said = [
        user("The nightly job of orchard hangs, find out why"),
        *ran("a", "tail log.txt"),
        reply("The cause is the connection pool: it has 5 connections and the job opens 8."),
        user("raise it"),
        *worked("src/pool.py", "b"),
        reply("Raised the pool to 10."),
        user("still hangs"),
        *ran("c", "dig db.internal"),
        reply("So the pool was not the cause. The resolver times out after 30 s."),
        user("set its timeout to 2 s"),
        *worked("src/dns.py", "d"),
    ]
    text = summarize(span(*said)).text
    assert "The cause is the connection pool" not in text


def test_errors_that_a_later_run_of_the_compiler_no_longer_prints_block_nothing() -> None:
    first = "src/rows.ts(12,5): error TS2304: Cannot find name 'Crate'.\nsrc/trees.ts(3,9): error TS2554: Expected 1 arguments, but got 0."
    said = [
        user("Port the rows of orchard to types"),
        *worked("src/rows.ts", "a"),
        *failed("b", "npx tsc --noEmit", first),
        *worked("src/rows.ts", "c"),
        *failed("d", "npm run check", "src/trees.ts(3,9): error TS2554: Expected 1 arguments, but got 0."),
    ]
    text = "\n".join(told_in(BLOCKED, *said))
    assert "src/trees.ts(3,9)" in text
    assert "Crate" not in text


def test_errors_that_a_run_in_the_kept_messages_no_longer_prints_block_nothing() -> None:
    said = [
        user("Port the rows of orchard to types"),
        *worked("src/rows.ts", "a"),
        *failed("b", "npx tsc --noEmit", "src/rows.ts(12,5): error TS2304: Cannot find name 'Crate'."),
    ]
    later = [
        *worked("src/rows.ts", "c"),
        *failed("d", "npx tsc --noEmit", "src/trees.ts(3,9): error TS2554: Expected 1 arguments, but got 0."),
    ]
    kept = [SpanMessage(EntryIndex(500 + place), message) for place, message in enumerate(later)]
    assert "Crate" in "\n".join(told_in(BLOCKED, *said))
    assert "Crate" not in "\n".join(told_in(BLOCKED, *said, kept=kept, prefix=4))


def test_a_bare_exit_code_is_no_obstacle() -> None:
    said = [
        user("Port the rows of orchard to types"),
        *worked("src/rows.ts", "c"),
        *failed("a", "npm run check", "src/trees.ts(3,9): error TS2554: Expected 1 arguments, but got 0."),
        *failed("b", "grep -n Rows src/trees.ts", "Command exited with code 1"),
    ]
    assert not any(line.startswith("Command exited") for line in told_in(BLOCKED, *said))


def test_a_thing_to_take_out_is_no_rule_once_it_is_out() -> None:
    said = [
        user("Make the importer of orchard faster"),
        *worked("src/importer.py", "a"),
        reply("The importer reads in batches now."),
        user("and drop the progress bar, nobody wants it"),
        *worked("src/importer.py", "b"),
        reply("Removed the progress bar."),
        user("thanks, now the exporter"),
    ]
    assert told_in(RULES, *said) == []


def test_a_decision_that_another_one_replaced_is_left_out() -> None:
    said = [
        user("Port the queue of orchard"),
        *worked("q.py", "a"),
        reply("We use Redis for the queue, because it is there already."),
        user("ops says no Redis. take Postgres"),
        *worked("q.py", "b"),
        reply("We use Postgres for the queue now, because ops runs no Redis."),
    ]
    decided = told_in(SummarySection.DECISIONS, *said)
    assert decided == ["We use Postgres for the queue now, because ops runs no Redis."]


@pytest.mark.parametrize(
    ("rule", "then", "left"),
    [
        ("Never more than 80 columns.", "make that 100 columns", "make that 100 columns"),
        (
            "Use tabs in all files of orchard, always.",
            "no, from now on use spaces, never tabs",
            "no, from now on use spaces, never tabs",
        ),
        ("Never use mocks in the tests.", "please use fakes there", "Never use mocks in the tests."),
    ],
)
def test_a_rule_that_another_one_replaced_is_no_rule(rule: str, then: str, left: str) -> None:
    said = [
        user(f"Write the report of orchard. {rule}"),
        *worked("r.py", "a"),
        reply("The report is written."),
        user(then),
        *worked("r.py", "b"),
        reply("Done, as you want it."),
    ]
    assert left in told_in(RULES, *said)
    if left != rule:
        assert rule not in told_in(RULES, *said)


def test_of_items_with_the_same_words_the_open_one_is_the_next_step() -> None:
    said = [
        user("Port orchard"),
        *listed("a", ("Phase 1", "completed"), ("Phase 2", "pending"), ("Write the docs", "pending")),
        *worked("src/a.py", "b"),
    ]
    assert "Phase 2" in told_in(NEXT, *said)
    assert "Phase 1" not in told_in(NEXT, *said)


def test_a_command_in_the_background_has_not_passed() -> None:
    said = [
        user("Run the slow tests of orchard in the background"),
        *ran("a", "pytest -q slow &"),
        reply("They run in the background."),
    ]
    assert "passed" not in summarize(span(*said)).text
