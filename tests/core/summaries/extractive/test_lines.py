"""The lines that an extractive summary takes, and their words."""

from __future__ import annotations

import re
from typing import Any

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.calls.printed_errors import printed_errors
from leafward.summaries.facts.sentences.responses import takes_back
from leafward.summaries.summarizers.extractive.answers.sentence_sections import section_of_sentence
from leafward.summaries.summarizers.extractive.candidates import quoted
from leafward.summaries.summarizers.outline import SummarySection, read_outline
from tests.core.linear_time import in_linear_time
from tests.core.told import (
    DAY,
    FOLDER,
    lines_of,
    made,
    ran,
    reply,
    result,
    span,
    summarize,
    told_in,
    user,
    worked,
)


def test_what_was_done_to_a_file_is_added_up_over_summaries() -> None:
    once = summarize(span(*DAY, *worked("src/tree.py", "one", "two")))
    assert "`src/tree.py` 2×" in once.text
    twice = summarize(span(*worked("src/tree.py", "three"), previous=once.text, previous_entry=EntryIndex(3)))
    told = [text for _, text in lines_of(twice) if text.startswith("Changed: ")]
    assert len(told) == 1
    assert "`src/tree.py` 3×" in told[0]
    assert {"parse_one", "parse_three"} <= set(re.findall(r"parse_\w+", twice.text))
    assert twice.text.count("Names that came up:") <= 1


def test_a_file_that_only_commands_name_was_not_read() -> None:
    call = ("a", "bash", {"command": "git mv src/old.py src/new.py"})
    looked = ("b", "read", {"path": "src/read.py"})
    made = summarize(
        span(user("rename the parser module"), reply("", call, looked), result("a", ""), result("b", "x"))
    )
    assert "- Named in calls: `src/new.py`\n- Read: `src/read.py`" in made.text
    assert "- [x] Renamed `src/old.py` to `src/new.py`" in made.text


def test_a_command_that_works_again_is_no_longer_in_the_way() -> None:
    previous = "## Goal\n- Port it\n\n### Blocked\n- Failed with exit 2: `make check`\n- waits for the key of the shop"
    messages = [
        user("go on with the port"),
        reply("", ("a", "bash", {"command": "make check"})),
        result("a", "ok"),
    ]
    blocked = [
        text
        for section, text in lines_of(summarize(span(*messages, previous=previous)))
        if section is SummarySection.BLOCKED
    ]
    assert blocked == ["waits for the key of the shop"]


def test_the_head_of_a_traceback_says_nothing() -> None:
    printed = (
        "Traceback (most recent call last):\n  File x\nOverflowError: too large\n\nCommand exited with code 1"
    )
    made = summarize(
        span(
            user("run the port of the parser"),
            reply("", ("a", "bash", {"command": "make check"})),
            result("a", printed, True),
        )
    )
    assert "OverflowError: too large" in made.text
    assert "Traceback" not in made.text


def test_the_goal_is_what_was_worked_on() -> None:
    greeting, work = (
        user("hope you are well after lunch"),
        user("alright, port the lexer of orchard to a table"),
    )
    said = [user("/theme"), greeting, reply("I am."), work, *ran("a", "make all"), user("ok")]
    assert told_in(SummarySection.GOAL, *said) == ["port the lexer of orchard to a table"]
    assert told_in(SummarySection.IN_PROGRESS, *said) == []


def test_a_long_request_ends_with_a_sentence() -> None:
    first = (
        "Rewrite the parser of orchard as a table, in small steps that can each be measured and taken back."
    )
    said = user(f"{first} " + "It has grown by many hands over the years, " * 20)
    assert told_in(SummarySection.GOAL, said) == [f"{first} …"]


def test_closed_questions_and_small_talk_are_not_in_progress() -> None:
    said = [user("port the lexer of orchard to a table"), *ran("a", "ls src")]
    for place, text in enumerate(
        ["what does the lexer of the printer do?", "show me the whole parser file again"]
    ):
        said += [user(text), *ran(f"b{place}", "ls lib")]
    said += [user("rename the table of the parser to grammar"), *ran("c", "ls doc"), user("go on")]
    assert told_in(SummarySection.IN_PROGRESS, *said) == [
        "Last request: rename the table of the parser to grammar"
    ]


def test_done_is_what_was_reached_not_what_is_liked() -> None:
    work = [
        user("port the lexer of orchard"),
        reply("", ("a", "edit", {"path": "src/lexer.py", "oldText": "x", "newText": "y"})),
        result("a", "ok"),
    ]
    liked = reply("It works, and I don't like it. Perfect, this is excellent work.")
    asked = "Last request, answered: port the lexer of orchard → "
    assert told_in(SummarySection.DONE, *work, liked) == [f"{asked}changed `lexer.py`"]
    reached = reply("Done. Moved the table out of `src/lexer.py`; 26 tests pass.")
    assert told_in(SummarySection.DONE, *work, reached) == [
        f"{asked}the reply says: “Moved the table out of `src/lexer.py`; 26 tests pass.”"
    ]
    only_said = [user("how would you port the lexer"), reply("Moved the table out of the lexer in my mind.")]
    assert "Moved the table out of the lexer in my mind." not in told_in(SummarySection.DONE, *only_said)


def test_a_check_that_passed_last_is_done() -> None:
    said = [user("port the lexer of orchard"), *ran("a", "make check"), *ran("b", "make check")]
    assert told_in(SummarySection.DONE, *said) == ["`make check` passes (2 times)"]
    once = summarize(span(*said))
    again = [user("and the printer of orchard"), *ran("c", "make check"), *ran("d", "make check")]
    assert len(told_in(SummarySection.DONE, *again, previous=once.text)) == 1
    piped = [
        user("port the lexer of orchard"),
        *ran("a", "make check | tee x"),
        *ran("b", "make check | tee x"),
    ]
    assert told_in(SummarySection.DONE, *piped) == []


def test_a_command_that_is_only_named_was_not_run() -> None:
    said = [
        user("Keep `python3 check.py` running."),
        *ran("a", "python3 check.py"),
        reply("I ran `python3 check.py`, and will run `npm run lint` next."),
        user("Run `npm run lint` please, and `python3 check.py` again."),
        *ran("b", "python3 check.py"),
    ]
    assert "`python3 check.py` passes (2 times)" in told_in(SummarySection.DONE, *said)
    assert "(once)" not in summarize(span(*said)).text


def test_a_page_of_examples_is_no_context() -> None:
    page = (
        "# Everything\n\nThis is **bold text** and this is *italic text* and this is both of them.\n\n"
        "- Bold item with `inline code`\n- Normal item with [a link](https://example.com)\n\n"
        "Here is a [link](https://example.com) in the middle of a long sentence.\n\n> A quote\n"
    )
    said = [user("write all of markdown in the chat"), reply(page)]
    work = [user("make the lexer of orchard faster"), *ran("a", "ls src")]
    assert told_in(SummarySection.CONTEXT, *work, *said) == ["Asked before: make the lexer of orchard faster"]


def test_short_items_stand_behind_what_introduces_them() -> None:
    said = reply("The levels are now:\n- `levelOff`: #666666\n- `levelLow`: #303030\n")
    (told,) = told_in(
        SummarySection.DONE,
        user("dim the levels of the theme"),
        said,
        user("thanks for that"),
        reply("You are welcome."),
    )
    assert told.endswith(f" → {quoted('The levels are now: `levelOff`: #666666; `levelLow`: #303030')}")


def test_lists_of_names_and_files_are_capped() -> None:
    names = " ".join(f"def rowOf{place}x(): ..." for place in range(60))
    given = {"path": "src/rows.py", "oldText": "x", "newText": names}
    looked = [(f"r{place}", "read", {"path": f"src/part{place}.py"}) for place in range(14)]
    bare = [
        (f"e{place}", "edit", {"path": f"doc/n{place}.md", "oldText": "x", "newText": "y"})
        for place in (1, 2)
    ]
    calls = [("a", "edit", given), *bare, *looked]
    done = [result(key, "ok") for key, _, _ in calls]
    said = [user("port the rows of orchard"), reply("", *calls), *done]
    told = told_in(SummarySection.CONTEXT, *said)
    (listed,) = [line for line in told if "rowOf" in line]
    assert re.fullmatch(r"`src/rows.py` changed: (\w+, ){5}\w+ and \d+ more", listed)
    assert [line.count("`") for line in told if line.startswith("Read: ")] == [22, 8]
    assert "Changed: `doc/n1.md`, `doc/n2.md`" in told


def _edit(key: str, old: str, new: str) -> list[dict[str, Any]]:
    given = {"path": "src/theme.py", "oldText": old, "newText": new}
    return [reply("", (key, "edit", given)), result(key, "ok")]


def test_a_name_that_an_edit_took_out_of_a_file_is_not_listed_after_it() -> None:
    told = told_in(
        SummarySection.CONTEXT,
        user("Give the theme of orchard its own greys."),
        *_edit("a", "x", "link_grey = 1\ndeep_green = 2"),
        *_edit("b", "link_grey = 1", "dim_grey = 1"),
    )
    (line,) = [line for line in told if line.startswith("`src/theme.py`")]
    assert set(re.findall(r"\w+_\w+", line)) == {"deep_green", "dim_grey"}
    assert not any("link_grey" in line for line in told), "it is not in use either"


def test_changes_of_a_file_that_was_removed_since_are_not_counted() -> None:
    """They fail where a file of the same name that is written anew counts as the old one."""
    told = told_in(
        SummarySection.CONTEXT,
        user("Give the theme of orchard its own greys."),
        *_edit("a", "x", "link_grey = 1"),
        *_edit("b", "y", "deep_green = 2"),
        *ran("c", "rm src/theme.py"),
        *_edit("d", "", "pale_blue = 3"),
    )
    (line,) = [line for line in told if line.startswith("`src/theme.py`")]
    assert line == "`src/theme.py` changed: pale_blue"


def test_a_count_of_lines_is_one_that_was_printed_behind_the_last_change() -> None:
    """It fails where a file's planned size, or its size before it was changed, is told as its size."""
    asked = user("Give the theme of orchard its own greys.")
    changed = _edit("a", "x", "y")
    planned = [
        reply("A `src/theme.py` of ~200 lines would do.", ("l", "bash", {"command": "ls"})),
        result("l", "x"),
    ]
    counted = [reply("", ("w", "bash", {"command": "wc -l src/theme.py"})), result("w", "310 src/theme.py")]
    for work, line in (
        ((*planned, *changed, *counted), "`src/theme.py` changed, 310 lines"),
        ((*changed, *planned), "`src/theme.py` changed"),
        ((*counted, *changed), "`src/theme.py` changed"),
    ):
        told = told_in(SummarySection.CONTEXT, asked, *work)
        assert [one for one in told if one.startswith("`src/theme.py`")] == [line]
    for command, changes in (
        ("sed -i 's/grey/pale/' src/theme.py", True),
        ("sed -i 's/grey/pale/' src/*.py", True),
        ("for file in $(ls src); do sed -i 's/grey/pale/' $file; done", True),
        ("cp src/pale.py src/theme.py", True),
        ("git stash", True),
        ("ruff format .", True),
        ("sed -i 's/grey/pale/' src/pale.py", False),
        ("git commit -am 'Greys' && cat src/theme.py", False),
    ):
        told = told_in(SummarySection.CONTEXT, asked, *changed, *counted, *ran("c", command))
        assert any("310 lines" in one for one in told) != changes, command


def test_a_report_of_finished_work_is_a_decision_only_with_its_reason() -> None:
    assert section_of_sentence("Changed the frost table to columns instead of rows.") is SummarySection.DONE
    reasoned = "Changed the frost table to columns instead of rows because the shop reads columns."
    assert section_of_sentence(reasoned) is SummarySection.DECISIONS
    assert section_of_sentence("We keep the frost table instead of a new one.") is SummarySection.DECISIONS
    assert (
        section_of_sentence("Split `FrostTable` into `FrostRows` and `FrostColumns`.")
        is SummarySection.CONTEXT
    ), "proposed or done"


def test_what_the_user_pasted_stands_under_no_reply() -> None:
    """It fails where the last request, which nobody has answered yet, is quoted as the reply that ended its turn."""
    pasted = "The frost table of the orchard was read before `prune_rows` had written the whole of it."
    long = "The rows of the valley came late. " * 12
    told = summarize(
        span(user("Port the table."), reply("Ported."), user(f"now tackle this:\n\n{long}\n{pasted}"))
    ).text
    assert pasted not in told.partition("### As replies said it then")[2]


def test_grouped_files_are_carried_on_and_added_up() -> None:
    previous = (
        "## Goal\n- port it\n\n## Critical Context\n- Changed: `a/one.py` 2×, `a/two.py`\n- Read: `a/three.py` 4×\n"
        "- `a/four.py` changed 3×: rowCount and 7 more"
    )
    edit = ("a", "edit", {"path": "a/one.py", "oldText": "x", "newText": "y"})
    looked = ("b", "read", {"path": "a/three.py"})
    done = [reply("", edit, looked), result("a", "ok"), result("b", "x")]
    told = told_in(SummarySection.CONTEXT, user("go on with the port of it"), *done, previous=previous)
    assert "Changed: `a/one.py` 3×, `a/two.py`" in told
    assert "Read: `a/three.py` 5×" in told
    assert any(line.startswith("`a/four.py` changed 3×: rowCount") and "7 more" not in line for line in told)


def test_files_of_a_shared_folder_are_carried_on_and_added_up() -> None:
    previous = (
        "## Critical Context\n- Changed: `a/four.py`; in `packages/orchard/src/`: `one.py` 2×, `deep/two.py`"
    )
    edits = [
        (key, "edit", {"path": f"packages/orchard/src/{name}", "oldText": "x", "newText": "y"})
        for key, name in (("a", "one.py"), ("b", "three.py"))
    ]
    said = (user("go on with the port of it"), reply("", *edits), result("a", "ok"), result("b", "ok"))
    told = told_in(SummarySection.CONTEXT, *said, previous=previous)
    listed = "in `packages/orchard/src/`: `one.py` 3×, `three.py`, `deep/two.py`"
    assert f"Changed: `a/four.py`; {listed}" in told


def test_what_programs_say_names_nothing() -> None:
    reminder = user("<system-reminder>\nuse TaskCreate and total_tokens\n</system-reminder>")
    beside = {"role": "custom", "content": [{"type": "text", "text": "<env>\nfile_system: x\n</env>"}]}
    text = summarize(span(user("port the lexer of orchard"), reminder, beside, *ran("a", "ls src"))).text
    assert not re.search("TaskCreate|total_tokens|file_system", text)


def test_the_lines_of_a_drawing_are_no_lines_of_a_summary() -> None:
    previous = "## Key Decisions\n- Keep the old code\n```\nsrc/\n├── core/\n│   └── paths.ts\n```\n"
    told = [text for _, text, _ in read_outline(previous)]
    assert told == ["Keep the old code", "src/"]


def test_a_numbered_summary_has_sections_as_well() -> None:
    text = (
        "Analysis:\n1. Asked to fix the parser.\n\nSummary:\n1. Primary Request and Intent:\n   Fix the parser.\n\n"
        "3. Files and Code Sections:\n   - parser.py\n\n5. Problem Solving:\n   - the tokens were off by one\n\n"
        "7. Pending Tasks:\n   - write the test\n   ```\n   assert parse(x)\n   ```\n\n"
        "8. Current Work:\n   Reading lexer.py.\n\n"
        "If you need specific details from before compaction, read x.jsonl\n"
    )
    assert [(section, line) for section, line, _ in read_outline(text)] == [
        (SummarySection.GOAL, "Fix the parser."),
        (SummarySection.CONTEXT, "parser.py"),
        (SummarySection.CONTEXT, "the tokens were off by one"),
        (SummarySection.NEXT, "write the test"),
        (SummarySection.CONTEXT, "assert parse(x)"),
        (SummarySection.IN_PROGRESS, "Reading lexer.py."),
    ]


@pytest.mark.parametrize("prompt", ["mach weiter " * 24 + "x", "if i do ok ok ok ok " * 10 + "x"])
def test_a_prompt_of_the_same_words_again_and_again_takes_no_long_time(prompt: str) -> None:
    works = [
        reply("", ("a", "edit", {"path": "src/tree.py", "edits": []})),
        result("a", "done"),
        reply("Done."),
    ]
    later = user("rename the parser module and its tests")
    with in_linear_time(5):
        summarize(span(user(prompt), *works, later, *works))


def test_a_field_of_a_stored_prompt_is_no_command_that_was_typed() -> None:
    stored = {**user("port it to quinces"), "command": "/medlars"}
    made = summarize(span(stored, *worked("src/tree.py", "one", "two")))
    assert "port it to quinces" in made.text
    assert "medlars" not in made.text


def test_whether_a_prompt_takes_back_is_told_in_linear_time() -> None:
    assert takes_back("please could you just undo that")
    with in_linear_time(5):
        assert not takes_back("please " * 20_000 + "x")


def edited(key: str, path: str, name: str) -> list[dict[str, Any]]:
    given = {"path": path, "oldText": "x", "newText": f"def {name}(): ..."}
    return [reply("", (key, "edit", given)), result(key, "ok")]


@pytest.mark.parametrize(
    ("back", "printed", "failed"),
    [
        ("git checkout HEAD -- src/parser.py", "", False),
        ("git checkout -- . && rm -rf trial", "", False),
        ("git restore src/parser.py", "", False),
        ("git reset --hard", "HEAD is now at 1a2b3c4", False),
        ("git checkout src/parser.py", "Updated 1 path from the index", False),
        # The checkout was done: what fails is the build behind it.
        ("git checkout HEAD -- src/parser.py && make", "make: *** [all] Error 1", True),
    ],
)
def test_a_file_that_git_brought_back_was_not_changed(back: str, printed: str, failed: bool) -> None:
    said = [
        user("Port the parser of orchard to a table."),
        *edited("a", "src/parser.py", "parse_table"),
        *edited("b", "src/lexer.py", "read_token"),
        *ran("c", "git add src/lexer.py && git commit -m 'Read tokens from the table' -- src/lexer.py"),
        *edited("d", "src/parser.py", "parse_tree"),
        *edited("e", "src/parser.py", "parse_twice"),
        reply("", ("f", "bash", {"command": back})),
        result("f", printed, failed),
    ]
    text = summarize(span(*said)).text
    # What is left of the parser's edits is from before that of the lexer.
    assert "Last file edited: `src/lexer.py`" in text
    assert "`src/parser.py` 3×" not in text
    assert "parse_twice" not in "".join(line for line in text.split("\n") if "changed" in line)
    first = [said[0], *said[7:]]
    text = summarize(span(*first)).text
    assert not any("parser.py" in line for line in text.split("\n") if "hanged" in line or "edited" in line)
    again = summarize(span(*first, *edited("g", "src/parser.py", "parse_once"))).text
    assert "Last file edited: `src/parser.py`" in again
    assert "src/parser.py` changed 2×" not in again


@pytest.mark.parametrize(
    ("command", "printed", "failed"),
    [
        ("git checkout HEAD -- src/parser.py", "error: pathspec 'src/parser.py' did not match", True),
        ("make && git checkout HEAD -- src/parser.py", "make: *** [all] Error 1", True),
        # A branch, and what is only taken out of the index.
        ("git checkout src", "Switched to branch 'src'", False),
        ("git restore --staged src/parser.py", "", False),
        ("git stash && make; git stash pop", "ok", False),
    ],
)
def test_what_was_not_brought_back_is_changed(command: str, printed: str, failed: bool) -> None:
    said = [
        user("Port the parser of orchard to a table."),
        *edited("a", "src/parser.py", "parse_table"),
        reply("", ("b", "bash", {"command": command})),
        result("b", printed, failed),
    ]
    text = summarize(span(*said)).text
    assert text.endswith("- `src/parser.py` changed")


def test_changes_that_were_put_aside_count_once_they_are_back() -> None:
    said = [
        user("Port the parser of orchard to a table."),
        *edited("a", "src/parser.py", "parse_table"),
        *ran("b", "git stash"),
    ]
    aside = summarize(span(*said)).text
    assert not any("parser.py" in line for line in aside.split("\n") if "hanged" in line)
    assert summarize(span(*said, *ran("c", "git stash pop"))).text.endswith("- `src/parser.py` changed")


@pytest.mark.parametrize("name", ["README.md", ".prettierrc.yaml"])
def test_a_file_named_by_its_whole_path_is_no_other_of_the_same_name(name: str) -> None:
    # Fails where it is told under the only longer path that ends in its name.
    given = {"path": f"{FOLDER}/{name}", "oldText": "x", "newText": "y"}
    patch = f"*** Begin Patch\n*** Update File: {FOLDER}/{name}\n@@\n-x\n+y\n*** End Patch"
    read = [user("Tidy orchard."), *ran("a", f"cat vendor/press/{name}")]
    for call in (("b", "edit", given), ("b", "apply_patch", {"input": patch})):
        text = summarize(span(*read, reply("", call), result("b", "ok"))).text
        assert f"`{name}` changed" in text
        assert f"`vendor/press/{name}` changed" not in text
    # A name alone may be the end of the longer path.
    assert f"`{name}`" not in summarize(span(*read, *ran("b", f"cd vendor/press && cat {name}"))).text


def test_files_of_a_patch_are_changed_deleted_and_renamed() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/parser.py\n@@\n-x\n+y\n*** Update File: src/old.py\n"
        "*** Move to: src/new.py\n@@\n-x\n+y\n*** Delete File: src/trial.py\n*** End Patch"
    )
    said = [
        user("Port the parser of orchard to a table."),
        *edited("a", "src/trial.py", "try_it"),
        *[
            message
            for key in "bc"
            for message in (reply("", (key, "apply_patch", {"input": patch})), result(key, "Success"))
        ],
    ]
    text = summarize(span(*said)).text
    assert "`src/parser.py` 2×" in text
    assert "Deleted `src/trial.py`" in text
    assert "Renamed `src/old.py` to `src/new.py`" in text
    assert not any("trial.py" in line for line in text.split("\n") if "hanged" in line)


def test_a_search_beside_a_reading_reads_nothing() -> None:
    """Fails where the search counts as a second reading."""
    both = reply("", ("r", "read", {"path": "src/a.py"}), ("g", "grep", {"pattern": "x", "path": "src/a.py"}))
    said = [user("port it"), both, result("r", "x = 1"), result("g", "1: x = 1"), *made("src/b.py", "b")]
    assert "Read: `src/a.py`" in told_in(SummarySection.CONTEXT, *said)


@pytest.mark.parametrize(
    "command", ["perl -pi -e 's/old.txt/x/' src/pears.py", 'cd src && perl -0pi -e "s/old.txt/x/" pears.py']
)
def test_the_files_behind_a_quoted_program_are_named(command: str) -> None:
    """Fails where all that follows `-e` is the program."""
    told = told_in(SummarySection.CONTEXT, user("port it"), *made("src/b.py", "b"), *ran("c", command))
    named = [line for line in told if line.startswith("Named in calls")]
    assert named == ["Named in calls: `src/pears.py`"]


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("pears are not ripe\nChunk ID: 0f3\nWall time: 0.1 seconds\nOutput:\n", "pears are not ripe"),
        ("pears are not ripe\n\n}\n===\n100%", "pears are not ripe"),
        ("pears are not ripe\n$ orchard pick", "pears are not ripe"),
    ],
)
def test_the_last_line_of_a_failure_is_one_that_says_something(printed: str, told: str) -> None:
    """Fails where the head of an output, a bracket or the command itself is quoted."""
    assert [line for line in printed_errors(printed, failed=True) if "ime:" not in line] == [told][
        : bool(told)
    ]
