"""Each line can be read alone, and what was only offered stands in none: addresses, names and commands of a reply's example."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from leafward.summaries.summarizers.extractive.answers.passages import passages, quotable
from leafward.summaries.summarizers.extractive.answers.sentence_forms import points_back
from leafward.summaries.summarizers.extractive.answers.sentence_sections import section_of_sentence
from leafward.summaries.summarizers.extractive.evidence import collect
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, span, summarize, told_in, user, worked

CONTEXT = SummarySection.CONTEXT
_ASKED = user("How do I publish the letters of orchard?")
_URL = "https://letters.orchard.dev/registry.json"


def test_an_address_in_an_example_of_a_reply_is_not_told() -> None:
    said = [
        _ASKED,
        reply(f"Deploy the folder. Readers then run `orchard add {_URL}`, and see the list at {_URL}."),
    ]
    assert f"Address: {_URL}" not in told_in(CONTEXT, *said)


@pytest.mark.parametrize(
    "said",
    [
        [user(f"Read {_URL} and mend the letters."), reply("They are mended.")],
        [_ASKED, *ran("a", f"curl {_URL}"), reply("It is published.")],
        [
            _ASKED,
            reply("", ("a", "bash", {"command": "orchard publish"})),
            result("a", f"published at {_URL}"),
            reply(f"It is published: {_URL}"),
        ],
    ],
)
def test_an_address_that_was_given_or_made_is_told(said: list[dict[str, object]]) -> None:
    assert f"Address: {_URL}" in told_in(CONTEXT, *said)


def test_an_address_in_a_file_that_was_only_read_is_not_told() -> None:
    said = [
        _ASKED,
        reply("", ("a", "read", {"path": "spec.md"})),
        result("a", f"one day at {_URL}"),
        reply("", ("b", "bash", {"command": "cat plan.md"})),
        result("b", f"perhaps at {_URL}"),
        reply(f"The plan names {_URL} for that."),
    ]
    assert f"Address: {_URL}" not in told_in(CONTEXT, *said)


@pytest.mark.parametrize(
    ("before", "behind", "told"),
    [
        ("Need to disable some rules? Learn more here: ", "", False),
        ("Consider adding a fence. Visit ", " to learn more about fences.", False),
        ("For more information, see ", "", False),
        ("Take the rules of ", " for this.", True),
    ],
)
def test_where_a_program_says_that_more_can_be_read_is_no_address(
    before: str, behind: str, told: bool
) -> None:
    url = "https://letters.orchard.dev/docs/rules"
    said = [user(f"The build fails: {before}{url}{behind}"), *ran("a", "make"), reply("It is mended.")]
    assert (f"Address: {url}" in told_in(CONTEXT, *said)) is told


def test_a_command_that_nobody_ran_is_not_told() -> None:
    said = [
        _ASKED,
        *ran("a", "make letters"),
        reply(
            "The press starts with `docker compose up`.\n\nLater `docker compose up` starts it again, and `make letters` makes them."
        ),
    ]
    told = told_in(CONTEXT, *said)
    assert not any(line.startswith(("Named", "Ran `docker")) for line in told)
    assert "Ran `make letters` (once)" in told


def test_names_that_only_a_reply_offers_are_not_in_use() -> None:
    said = [
        user("Where shall the letters of orchard lie?"),
        reply("", ("a", "read", {"path": "hosts.md"})),
        result("a", "we have letter_host already"),
        reply("", ("b", "bash", {"command": "make check"})),
        result("b", "no module shed_server", True),
        reply("`CrateHost` may be there.", ("c", "grep", {"pattern": "CrateHost"})),
        result("c", "No matches found"),
        reply("Perhaps on `CloudHost`, `letter_host` or the `shed_server`. Which do you want?"),
        user("The last one."),
        reply("Should I make the folder there?"),
        user("yes"),
    ]
    listed = " ".join(line for line in told_in(CONTEXT, *said) if line.startswith("Names that came up"))
    assert "letter_host" in listed
    assert "CloudHost" not in listed
    assert "CrateHost" not in listed
    assert "shed_server" not in listed


def test_a_name_that_the_user_said_once_and_nobody_else_is_but_said() -> None:
    told = user("The port is taken. Something said: turn off PondReceiver.")
    said = [told, *ran("a", "orchard ports"), reply("The port is free now.")]
    for again, once in (([], True), ([told], False)):
        there = span(*said, *again)
        evidence = collect(there, there.messages, "", lambda: False)
        assert ("PondReceiver" in evidence.only_said) is once


def test_names_that_no_file_has_any_more_are_not_listed() -> None:
    def wrote(key: str, path: str, text: str) -> list[dict[str, Any]]:
        return [reply("", (key, "write", {"path": path, "content": text})), result(key, "ok")]

    said = [
        user("Write the rows of orchard."),
        *wrote("a", "rows.py", "def sort_rows(): count_crates()"),
        *wrote("b", "shed.py", "def open_shed(): pass"),
        *ran("c", "mkdir crate_box && ls"),
        *wrote("d", "rows.py", "def join_rows(): count_crates()"),
        *ran("e", "rm shed.py && rm -r crate_box"),
        reply("Wrote the rows anew, without `crate_box`."),
    ]
    text = summarize(span(*said)).text
    assert "def join_rows(): count_crates()" in text
    assert "sort_rows" not in text
    assert "open_shed" not in text
    assert "Names that came up" not in text


_MEND = user("Make the letters of orchard ready.")


def _told(answer: str, section: SummarySection = CONTEXT) -> str:
    said = [_MEND, *worked("src/letters.py", "a"), reply(answer)]
    return "\n".join(told_in(section, *said))


def test_a_list_below_an_item_is_told_with_its_name() -> None:
    answer = (
        "## Files of the shed\n\n1. **sort_rows.go** - the script that:\n   - Reads the crates\n   - Counts them\n"
        "2. **go.mod** - its modules\n3. **hosts.md** (2 KB)\n   - Lists the hosts,"
    )
    assert quotable(answer) == (
        "sort_rows.go - the script that: Reads the crates; Counts them",
        "Files of the shed: sort_rows.go; go.mod - its modules; hosts.md (2 KB): Lists the hosts",
    )


@pytest.mark.parametrize(
    ("lead", "told"),
    [
        ("Your `rows` are:", "Your `rows` are: "),
        ("**The rows of the shed**", "The rows of the shed: "),
        ("## The rows\n\nIt is like that:", "The rows: "),
        ("The shed has none. They could be:", "The shed has none. They could be: "),
        ("It is like that:", None),
        ("Add this:\n```\nrows\n```", None),
    ],
)
def test_a_list_needs_the_words_that_lead_to_it(lead: str, told: str | None) -> None:
    lines = [line for line in quotable(f"{lead}\n- long and wide\n- heavy") if "long" in line]
    assert lines == ([] if told is None else [f"{told}long and wide; heavy"])


def test_of_a_list_without_a_lead_whole_items_are_told() -> None:
    answer = "- `rows.py`: sorts by weight\n- heavy\n- The crates lie in the shed."
    assert quotable(answer) == ("`rows.py`: sorts by weight; The crates lie in the shed.",)


def test_a_sentence_around_a_list_is_not_told_in_halves() -> None:
    assert quotable("Once you have things like:\n- crates\n- hoses\n\nthen the table is small.") == ()


def test_lines_that_pictures_mark_are_a_list_or_head_one() -> None:
    answer = "The shed holds:\n\n✅ The rows\n- long\n- wide\n✅ The hoses"
    assert quotable(answer) == (
        "The shed holds: ✅ The rows: long; wide",
        "The shed holds: ✅ The rows; ✅ The hoses",
    )


def test_what_a_lead_in_begins_its_paragraph_ends() -> None:
    answer = "The shed that holds them is:\n\n**shed-12** in the **valley**\n\nThis shed is:\n- Status: open\n- Age: 7d"
    assert quotable(answer) == ("The shed that holds them is: shed-12 in the valley",)


def test_what_leads_to_a_list_does_not_lead_to_what_is_behind_it() -> None:
    answer = "The shed now holds:\n- long rows\n- wide rows\n\nLetters of the valley\n\n- reddish\n- bluish"
    assert quotable(answer) == (
        "The shed now holds: long rows; wide rows",
        "Letters of the valley",
        "Letters of the valley: reddish; bluish",
    )
    assert "The shed now holds: Lanes" not in quotable(
        "The shed now holds:\n\n- long rows\n\n**Lanes** - dry and wide"
    )


def test_bullets_behind_a_number_stand_below_it() -> None:
    lanes = "shed/lanes.py, which nobody reads any more since the crates of the valley stand there"
    answer = (
        f"What the shed has now:\n\n1. Rows for the wide crates\n\n- Files of before:\n  - {lanes}\n\n"
        "2. Paint for the gate\n\n- The pump is quiet\n- The gate is green"
    )
    # The first item has but heads of lists of their own.
    assert quotable(answer) == (
        f"Files of before: {lanes}",
        "What the shed has now: Rows for the wide crates; Paint for the gate: The pump is quiet, The gate is green",
    )


def test_a_list_of_titles_to_read_states_nothing() -> None:
    answer = "## The pump\n\nSources:\n- Handbook of the quiet pump\n- Letters on wells, by the valley"
    assert quotable(answer) == ()


def test_a_tree_of_folders_and_a_table_without_a_fence_state_nothing() -> None:
    answer = (
        "The files are reorganized.\n\nsrc/\n  main.py                mounts the gate of the shed as it was before\n  rows/\n"
        "    sort.py              was Page: the crates and their hoses\n\nThe gate is green."
    )
    assert quotable(answer, shortest=8) == ("The files are reorganized.", "The gate is green.")


def test_ways_that_are_counted_wait_for_a_choice() -> None:
    ways = "- Light the shed, not the crate. It is dark there.\n- Give each crate a lamp of its own."
    assert quotable(f"There are two ways to handle it:\n{ways}") == ()
    assert len(quotable(f"The lamps do two things:\n{ways}")) == 1


def test_a_choice_that_nobody_agreed_to_has_its_subject() -> None:
    reason = "It skips `rows.json`, because the script of the shed writes that anew."
    asked = user("How does `orchard.toml` sort the crates?")
    for before, line in (
        ("It sorts by weight.", ""),
        ("Rows come by weight.", "- Rows come by weight. It skips"),
    ):
        text = summarize(span(asked, *ran("a", "cat orchard.toml"), reply(f"Yes.\n\n{before} {reason}"))).text
        assert "- It skips" not in text
        assert line in text


def test_a_question_before_what_leads_to_a_list_is_not_told() -> None:
    answer = (
        "Did you open `rows.py` of the shed by hand since? The changes of it are:\n- long rows\n- wide rows"
    )
    assert quotable(answer) == ("The changes of it are: long rows; wide rows",)


def test_the_last_reply_does_not_begin_with_what_points_back() -> None:
    said = [
        _MEND,
        *ran("a", "orchard letters"),
        reply("It uses `crate_rows`, which we fixed.", ("b", "bash", {"command": "ls"})),
    ]
    assert "Last reply" not in summarize(span(*said)).text
    whole = "The gate uses `crate_rows`. It is the only one that does."
    said = [_MEND, *ran("a", "orchard letters"), reply(whole, ("b", "bash", {"command": "ls"}))]
    assert f"Last reply: {whole}" in summarize(span(*said)).text


def test_a_report_of_a_list_has_the_thing_that_it_is_about() -> None:
    items = "- Painted all of the gate\n- Added the order by weight\n- Replaced `crate_rows` in the shed"
    for lead, named in (("Changes of `rows.py`", True), ("The shed now", False)):
        answer = f"I fixed the letters of the valley.\n\n**{lead}:**\n\n{items}"
        text = summarize(span(_MEND, *worked("src/letters.py", "a"), reply(answer))).text
        assert (f"{lead}: Added the order by weight" in text) is named
        assert "Added the order by weight" in text
        assert f"{lead}: Replaced" not in text


@pytest.mark.parametrize(
    ("sentence", "back"),
    [
        ("tools/rows.py now writes it every time that the shed is opened.", True),
        ("Closing the gate returns them to the shed.", True),
        ("The gate makes it easy to leave the shed.", False),
        ("The names it reports are those of the shed.", False),
        ("The pump runs as it should.", False),
        ("I chose it because the table of the orchard has one order.", True),
        ("Inside it, the notes tell how the gate of the orchard opens.", True),
        ("I chose the table because it has one order.", False),
    ],
)
def test_what_is_done_to_a_thing_without_a_name_points_back(sentence: str, back: bool) -> None:
    assert points_back(sentence) is back


def test_a_report_has_its_subject() -> None:
    done = SummarySection.CONTEXT
    assert "Replaced the `crate_rows` of the shed. It now has `row_table` in one column." in _told(
        "Replaced the `crate_rows` of the shed. It now has `row_table` in one column.", done
    )
    assert "It now" not in _told("```\nrows\n```\nIt now has `row_table` in one column.", done)


def test_a_request_is_cut_rather_than_its_outcome() -> None:
    wish = (
        "Sort the crates of the valley by weight, and keep those of the shed apart from the others as they are. "
        * 6
    )
    said = [
        user(wish),
        *worked("src/rows.py", "a"),
        reply("I sorted `crate_rows` by weight and kept the shed apart."),
    ]
    (line,) = [one for one in told_in(SummarySection.DONE, *said) if one.startswith("Last request")]
    assert "… → the reply says: “I sorted `crate_rows` by weight and kept the shed apart" in line
    assert len(line) <= 450


def test_what_a_reply_says_of_an_open_request_is_about_it() -> None:
    said = [
        user("Look at the hoses of the shed, then go on with the crates."),
        *ran("a", "ls hoses"),
        reply("Both `hose_rows` of the shed leak.\n\nThe letters lie ready at the gate."),
        user("Leave it. Paint the gate of the valley."),
        *worked("src/gate.py", "b"),
    ]
    assert "“The letters lie ready" not in summarize(span(*said)).text


def test_a_cause_is_no_decision() -> None:
    cause = (
        "Root cause: the list was empty because `read_rows` used the wrong folder, which can return nothing."
    )
    assert cause not in _told(f"It works now.\n\n{cause}", SummarySection.DECISIONS)
    assert cause in _told(f"It works now.\n\n{cause}")


@pytest.mark.parametrize(
    "line",
    [
        "项目把 `row_table` 注册给内核，当读写完成时，内核会唤醒等待的 `crate_rows` 线程。",
        "`crate_rows` 在初始化之后是旧的，但 `row_table` 已经在仓库里，不会再触发。",
    ],
)
def test_how_things_are_is_no_report_in_chinese(line: str) -> None:
    assert section_of_sentence(line) is CONTEXT
    assert section_of_sentence("已修复 `row_table` 的排序。") is SummarySection.DONE
    assert section_of_sentence("`row_table` 的迁移完成。") is SummarySection.DONE


def test_a_list_that_half_tells_its_reader_what_to_do_states_nothing_once_more_was_asked() -> None:
    tips = "- Check the fence of `frost_rows`\n- The well stays shut\n- Run the pump of the pond"
    facts = "- The fence of `frost_rows` is of wood\n- The well stays shut\n- Run the pump of the pond"
    ask = user("How do I keep frost from the rows of orchard?")
    later = [user("And the lanes of the valley?"), *ran("b", "orchard lanes"), reply("They are dry.")]
    for told, stays in ((tips, False), (facts, True)):
        said = [ask, *ran("a", "orchard rows"), reply(f"Stopgap for the valley:\n\n{told}")]
        assert "The well stays shut" in summarize(span(*said)).text
        assert ("The well stays shut" in summarize(span(*said, *later)).text) is stays


def test_of_a_list_that_weighs_a_way_no_long_item_is_told_alone() -> None:
    long = "It keeps the whole table of the frost rows beside the letters of the valley, which nobody reads any more since spring."
    assert quotable(f"Two ways.\n\n**Cons**\n\n- {long}") == ()
    assert quotable(f"Two ways.\n\n**Lanes**\n\n- {long}") == (long,)


def test_an_item_that_leads_to_code_or_to_nothing_is_not_told_without_it() -> None:
    answer = "Stopgap:\n\n- The well stays shut\n- If the pump stops, run this:\n\n```sh\npump on\n```\n"
    assert quotable(answer) == ("Stopgap: The well stays shut",)
    below = "Stopgap:\n\n- The well stays shut\n- If the pump stops:\n  - The pond is empty\n"
    assert quotable(below) == ("Stopgap: The well stays shut; If the pump stops: The pond is empty",)


def test_a_sentence_that_goes_on_in_the_next_line_is_told_whole() -> None:
    begun = "The pump of the lower pond stays on for the whole night because the switch"
    assert quotable(f"{begun}\nof the upper one holds it.") == (f"{begun} of the upper one holds it.",)
    assert quotable(f"- {begun}\n  of the upper one holds it.") == (f"{begun} of the upper one holds it.",)
    assert quotable(f"# {begun}\nof the upper one, it holds well.") == ("of the upper one, it holds well.",)


@pytest.mark.parametrize(("verb", "bid"), [("Check", 1), ("Oak", 0)])
def test_lists_may_be_nested_as_deep_as_a_text_can_be(verb: str, bid: int) -> None:
    nested = "\n".join(f"{' ' * depth}- {verb} door {depth}" for depth in range(3_000))
    found = passages(f"What there is:\n{nested}")
    assert len(found) > 2_000
    assert sum(one.bids for one in found) == bid * len(found)


@pytest.mark.parametrize(
    "found",
    [
        "No hook tool is installed.",
        "The limits are inert until the first test of the rows lands, so nothing blocks commits now.",
    ],
)
def test_a_finding_is_no_finished_work(found: str) -> None:
    assert section_of_sentence(found) is SummarySection.CONTEXT


@pytest.mark.parametrize(
    "order",
    [
        "When prompted, press Y twice and type the folder `src/letters` of the press.",
        "Build a second press that prints the letters of `src/letters.py` and compares both.",
        "Say the word and I will print all the letters of `src/letters.py` again.",
        "Por favor ejecuta otra vez la prensa con `src/letters.py` y comparte lo que imprime.",
        "Intenta nuevamente la prensa con `src/letters.py` y debería imprimir las cartas.",
        "请再次运行 `src/letters.py` 并把打印的全部内容和日志都发给我看一下。",
        "如果你愿意，我下一步可以继续帮你把 `src/letters.py` 再改得更好看一些，或者直接打印。",
        "Using the print-check skill to map all the letters of `src/letters.py` to their lines.",
    ],
)
def test_what_an_answer_told_its_reader_to_do_is_over_once_more_was_asked(order: str) -> None:
    stated = "The letters of `src/letters.py` are sorted by the day on which they were printed."
    said = [_ASKED, *ran("a", "make letters"), reply(f"{stated}\n\n{order}")]
    then = [
        user("now draw the envelopes of the valley"),
        *ran("b", "make envelopes"),
        reply("They are drawn."),
    ]
    every = [line for section in SummarySection for line in told_in(section, *said, *then)]
    assert any(stated in line for line in every)
    assert not any(order[:30] in line for line in every)


def test_a_file_that_calls_only_searched_for_or_had_in_a_text_is_not_named() -> None:
    find = 'find . -maxdepth 3 -name "press.json" -o -name "press.yaml" 2>/dev/null | head'
    page = "cat > page.py <<'EOF'\nrows = {'margin': vars.spacing.md}\nEOF"
    said = [
        user("Mend the letters of orchard."),
        *ran("a", f"{find}; wc -c src/letters.py"),
        *ran("b", page),
        *ran("e", "rg --files -g 'press.toml' -g 'AGENTS.md'"),
        *ran("f", "node -e 'm._compile(code, \"press.js\")' && node -e 'load(\"cask.js\")'"),
        reply("", ("c", "write", {"path": "src/lost.py", "content": "x = 1"})),
        result("c", "The user doesn't want to proceed with this tool use.", failed=True),
    ]
    named = [line for line in told_in(CONTEXT, *said) if line.startswith("Named in calls: ")]
    assert named == ["Named in calls: `page.py`, `src/letters.py`"]
    there = [*said, reply("", ("d", "bash", {"command": "ls"})), result("d", "press.json\npage.py")]
    assert any("`press.json`" in line and "press.yaml" not in line for line in told_in(CONTEXT, *there))


def test_a_path_in_a_folder_with_blanks_is_read_whole() -> None:
    folder = "/home/u/My Press /orchard"
    one = span(user("Mend the letters."), *ran("a", f'wc -c "{folder}/src/letters.py"'))
    text = summarize(replace(one, cwd=folder)).text
    assert "`src/letters.py`" in text
    assert "`/orchard/" not in text


def test_a_picture_that_a_call_saved_was_not_read() -> None:
    shot = ("a", "take_screenshot", {"filePath": "press.png"})
    said = [
        user("Mend the letters of orchard."),
        *[reply("", shot), result("a", "Saved screenshot to press.png.")],
        reply("I looked at the press."),
        *[user("now draw the envelopes"), *ran("c", "make envelopes")],
    ]
    (line,) = [one for one in told_in(CONTEXT, *said) if "press.png" in one]
    assert line.startswith("Named in calls: ")
