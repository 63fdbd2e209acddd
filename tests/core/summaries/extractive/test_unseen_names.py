"""Names, steps and addresses that were wrong or told nothing in sessions that nobody had seen before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.cancellation import never
from leafward.files.shell.writes import edits, may_change
from leafward.redaction.redaction import Redactor
from leafward.session.entries import EntryIndex
from leafward.summaries.facts.forms.forms import identifiers_in
from leafward.summaries.facts.forms.spaced_paths import spaced_paths
from leafward.summaries.facts.sentences.checklists import checkboxes
from leafward.summaries.facts.sentences.remaining_work import remains
from leafward.summaries.summarizers.extractive.answers.sentence_forms import points_back
from leafward.summaries.summarizers.extractive.ending import end_of
from leafward.summaries.summarizers.extractive.evidence import collect
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import ran, reply, result, span, told_in, user

if TYPE_CHECKING:
    from leafward.session.entries import Body


@pytest.mark.parametrize(
    ("menu", "boxes"),
    [
        ("[r] Shuffle the pears\n[a] List all pears\n[x] Leave the cellar", []),
        ("- [S] Sort\n- [x] Leave the cellar", []),
        (
            "- [x] sort the pears\n- [ ] count the casks\n\n[a] List all pears\n[c] Go on",
            ["sort the pears", "count the casks"],
        ),
        ("[x] sort the pears\n[x] count the casks", ["sort the pears", "count the casks"]),
    ],
)
def test_the_key_of_a_menu_is_no_tick(menu: str, boxes: list[str]) -> None:
    assert [item for item, _, _ in checkboxes(menu)] == boxes


@pytest.mark.parametrize(
    ("word", "name"),
    [
        (r"'.\Objects\ref_pear_tree.o'", "ref_pear_tree"),
        (r"Cellar\Casks\ble_pear_press", "ble_pear_press"),
        (r"D:\cellar\next_cask", "next_cask"),
        (r"sorted\nfoo_pear", "foo_pear"),
        (r"r'\bpear_tree\b'", "pear_tree"),
        (r"\d+\bpear_tree", "pear_tree"),
    ],
)
def test_a_name_behind_a_folder_of_windows_keeps_its_first_letter(word: str, name: str) -> None:
    assert name in [form.text for form in identifiers_in(word, True)]


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("sed -n '1,260p' 'Pear Model v5 - All Casks.md'", ["Pear Model v5 - All Casks.md"]),
        ("cat 'My pears.md'", ["My pears.md"]),
        ('rm "old plan.txt" other', ["old plan.txt"]),
        ("git commit -m 'Update README.md'", []),
        ("ssh cellar 'cat README.md'", []),
        ("echo 'See README.md'", []),
    ],
)
def test_a_quoted_name_with_blanks_is_one_file_of_a_command_that_takes_files(
    command: str, paths: list[str]
) -> None:
    assert [form.text for form in spaced_paths(command, "/cellar")] == paths


@pytest.mark.parametrize(
    ("sentence", "open_work"),
    [
        ("Anyone can still open the cellar and look at the casks.", False),
        ("The question of the frost is still open for all casks.", True),
        ("The lines of the hedge script show what needs to be done by hand there.", False),
        ("The gate of the hedge needs to be fixed.", True),
    ],
)
def test_what_can_be_opened_or_is_described_is_no_open_work(sentence: str, *, open_work: bool) -> None:
    assert remains(sentence) is open_work


@pytest.mark.parametrize(
    ("sentence", "away"),
    [
        ("I'd go with Option A since it fits how you work.", True),
        ("I recommend approach 2 because it is simple.", True),
        ("I'd go with option A: a queue for each tree.", False),
    ],
)
def test_a_way_that_is_only_numbered_is_not_told(sentence: str, *, away: bool) -> None:
    assert points_back(sentence) is away


@pytest.mark.parametrize(
    "command",
    [
        "$cask = 'cellar.h'\n[System.IO.File]::WriteAllText($cask, $new)",
        "$rows | Set-Content -Path $target",
        "Get-Date | Out-File log.txt",
    ],
)
def test_nothing_tells_which_file_powershell_wrote_last(command: str) -> None:
    assert "" in edits(command)
    assert "" in may_change(command)
    said = [
        user("Sort the pears."),
        reply("", ("a", "edit", {"path": "pears.py", "oldText": "x", "newText": "y"})),
        result("a", "Done"),
        *ran("p", command),
        reply("Sorted."),
    ]
    told = told_in(SummarySection.CONTEXT, *said)
    assert "Last file edited: `pears.py`" not in told
    assert "Last file edited by a tool: `pears.py`" in told


def _addresses(*said: Body) -> set[str]:
    what = span(*said)
    return collect(what, what.messages, "", never).addresses


def test_an_address_of_this_machine_counts_where_the_user_gave_it() -> None:
    tried = ran("c", "curl http://127.0.0.1:5061/cask?row=1 http://pears.example.org/list")
    there = _addresses(user("Check the cellar."), *tried, reply("It answers."))
    assert there == {"http://pears.example.org/list"}
    given = _addresses(user("Check http://localhost:5061/cask please."), *tried, reply("It answers."))
    assert given == {*there, "http://localhost:5061/cask"}


def _end(*texts: str) -> list[str]:
    messages = [SpanMessage(EntryIndex(at), reply(text)) for at, text in enumerate(texts)]
    return [line.text for line in end_of(messages, Redactor())]


def test_the_last_piece_of_a_long_text_is_no_single_word() -> None:
    words = "the pears are ripe and "
    pieces = _end((words * 30)[:400].rsplit(" ", 1)[0] + " sweet.")
    assert len(pieces) > 1
    assert min(map(len, pieces)) > 80


def test_a_failed_command_without_output_is_not_quoted_at_the_end() -> None:
    head = "Chunk ID: 1f\nWall time: 0.4 seconds\nProcess exited with code 1\nOriginal token count: 50\nOutput:\n"
    messages = [
        SpanMessage(EntryIndex(0), result("a", head)),
        SpanMessage(EntryIndex(1), result("b", f"{head}no such pear")),
    ]
    assert [line.text for line in end_of(messages, Redactor())] == [
        "At the end, result: Process exited with code 1 Original token count: 50 Output: no such pear"
    ]
