from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from leafward.compaction.plan.onset import Onset
from leafward.context.model_context import context_at
from leafward_tui.inspector.model.context import ContextLines
from leafward_tui.inspector.page import ContextLimits, Selection, SelectionKind
from leafward_tui.inspector.tab import Tab
from leafward_tui.ui.appearance.context_signs import PARTS, part_sign
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from leafward_tui.ui.text.markdown import rendered
from leafward_tui.ui.text.spans import Span, cut, width_of, wrapped
from tests.tui.inspector_data import (
    call,
    headings,
    line_with,
    opened,
    page,
    reply,
    result,
    single,
    turn,
    user,
    write_session,
)
from tests.tui.sure import sure
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session
    from leafward_tui.ui.appearance.glyphs import Glyphs


@pytest.fixture
def compacted(tmp_path: Path) -> Session:
    return write_session(
        tmp_path / "s.jsonl",
        user("gone"),
        reply("gone too"),
        user("kept words " * 40),
        {
            "type": "compaction",
            "summary": "## Goal\nShip.",
            "firstKeptEntryId": "00000002",
            "tokensBefore": 900,
        },
        user("after"),
        reply("read it", call("read", "c1", path="src/a.py")),
        result("read", "c1", "text " * 100),
    )


# --- Context ----------------------------------------------------------------------------------------------------------


def test_the_context_is_in_order_and_leads_to_its_entries(compacted: Session) -> None:
    shown = page(turn(compacted, 4), Tab.CONTEXT)
    targets = [(line.text.split()[0], line.entry) for line in shown.lines if line.entry >= 0]
    assert targets == [
        ("▓", 3),
        ("█", 2),
        ("summary", 3),
        ("you", 2),
        ("you", 4),
        ("ai", 5),
        ("read", 6),
    ]
    assert [title for _, title in headings(shown)] == ["Summary", "Kept", "After"]
    for at, title in headings(shown):
        assert shown.lines[at].text.startswith(title)
        assert shown.lines[at - 1].text == ""
    assert "src/a.py" in shown.lines[line_with(shown, "read  ")].text
    assert shown.lines[line_with(shown, "summary    G")].text.startswith("summary    Goal Ship.")
    assert "gone" not in shown.text


@pytest.mark.parametrize("width", [30, 36, 40, 44, 52, 70])
def test_facts_of_a_context_are_whole_or_not_there(compacted: Session, width: int) -> None:
    shown = page(turn(compacted, 4), Tab.CONTEXT, width=width, limits=ContextLimits())
    above = [line.text for line in shown.lines[: headings(shown)[0][0]]]
    assert not [text for text in above if "…" in text]
    assert width_of(shown.lines[1].spans) <= width
    assert ("of compaction #3" in shown.text) == (width >= 44)
    assert ("messages since then" in shown.text) == (width == 70)


@pytest.mark.parametrize(
    ("width", "said"), [(50, "above the estimate"), (78, "the model counted more than estimated")]
)
def test_what_an_estimation_error_is_stands_beside_it(tmp_path: Path, width: int, said: str) -> None:
    answer = reply({"type": "text", "text": "b"}, usage={"input": 5000, "output": 10, "totalTokens": 5010})
    later = reply({"type": "text", "text": "c"}, usage={"input": 9000, "output": 10, "totalTokens": 9010})
    session = write_session(tmp_path / "s.jsonl", user("a"), answer, user("b" * 40), later)
    lines = [
        line.text for line in page(single(session, 3), Tab.CONTEXT, width=width, limits=ContextLimits()).lines
    ]
    assert any("estimation error" in line and line.endswith(said) for line in lines)
    total = next(line for line in lines if line.startswith("  total"))
    assert total.endswith("as the model counted" if width > 60 else "model's count")


def test_an_edit_of_a_reply_that_failed_says_why_it_frees_nothing(tmp_path: Path) -> None:
    failed = reply(stop="error")
    edit = {"type": "context_edit", "targetId": "00000001", "replacement": None}
    session = write_session(tmp_path / "s.jsonl", user("a"), failed, edit, user("b"))
    assert "1 left out" in (text := page(single(session, 3), Tab.CONTEXT).text)
    assert "was never sent" in text


def test_a_long_value_of_a_pair_goes_on_in_the_next_line(tmp_path: Path) -> None:
    told = "the row that this compaction follows was never stored in the file"
    made = {"type": "compaction", "summary": "Ship it.", "firstKeptEntryId": "00000000", "tokensBefore": 90}
    session = write_session(tmp_path / "s.jsonl", user("a"), {**made, "details": {"inferredParent": told}})
    lines = [line.text for line in page(single(session, 1), Tab.COMPACTION, width=50).lines]
    at = next(at for at, line in enumerate(lines) if line.startswith("place"))
    assert " ".join(line[17:].strip() for line in lines[at : at + 3]).startswith(f"inferred: {told}")


def test_lost_paths_of_one_project_are_told_apart_on_a_narrow_screen(tmp_path: Path) -> None:
    folder = "/work/a-project-with-a-long-name/packages/coding-agent/src/modes"
    read = [call("read", name, path=f"{folder}/{name}.ts") for name in ("parse", "print")]
    results = [result("read", name, "x") for name in ("parse", "print")]
    made = {"type": "compaction", "summary": "Ship it.", "firstKeptEntryId": "00000004", "tokensBefore": 90}
    session = write_session(tmp_path / "s.jsonl", user("go"), reply(*read), *results, user("on"), made)
    text = page(single(session, 5), Tab.COMPACTION, width=60).text
    assert "/parse.ts" in text
    assert "/print.ts" in text


@pytest.mark.parametrize(("counted", "way"), [(90_000, "above"), (30, "below")])
def test_it_is_said_on_which_side_of_the_estimates_the_model_counted(
    tmp_path: Path, counted: int, way: str
) -> None:
    first = reply("b", usage={"input": 5, "output": 1, "totalTokens": 6})
    answer = reply("c" * 4_000, usage={"input": counted, "output": 1, "totalTokens": counted + 1})
    made = {"type": "compaction", "summary": "Ship it.", "firstKeptEntryId": "00000004", "tokensBefore": 90}
    session = write_session(
        tmp_path / "s.jsonl", user("go"), first, user("d" * 4_000), answer, user("on"), made
    )
    text = page(single(session, 5), Tab.COMPACTION, width=90).text
    assert f"estimation error: how far the count is {way} the estimates" in text


def amounts(text: str) -> tuple[list[int], int]:
    """The amounts of the ledger as they stand on the screen, and the total below them."""
    rows = text.split("\n")
    stop = next(at for at, line in enumerate(rows) if line.startswith("  total"))
    numbers = [
        int(match[1].replace(",", "").replace("−", "-"))
        for line in rows[:stop]
        if (
            match := re.match(
                r"(?:[╬▓█┃▒╱] |  )(?:system|summary|kept|after|messages|not in file|not sent|estimation error) +([−\d,]+)",
                line,
            )
        )
    ]
    total = sure(re.search(r"([\d,]+)", rows[stop]))
    return numbers, int(total[1].replace(",", ""))


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
def test_each_part_of_a_context_has_its_own_sign(glyphs: Glyphs) -> None:
    """It fails where two parts, or a part and the free rest, differ by colour alone."""
    signs = [part_sign(part, glyphs)[0] for part in PARTS]
    assert len({*signs, glyphs.block_free}) == len(signs) + 1


def test_a_bar_of_a_context_is_even() -> None:
    """Shades, quadrants and lines from edge to edge: all of them fill the height of a cell."""
    assert {part_sign(part, UNICODE)[0] for part in PARTS} <= set("█▓▒▌▐▚▞╬║┃│╱╲╳")


def test_the_ledger_adds_up_as_it_is_shown(compacted: Session, corpora: Path) -> None:
    sessions = [compacted, *(opened(path) for path in sorted((corpora / "pi").glob("*.jsonl")))]
    for session in sessions:
        for at in range(0, len(session), max(1, len(session) // 7)):
            shown = page(single(session, at), Tab.CONTEXT)
            above = "\n".join(line.text for line in shown.lines[:16])
            parts, total = amounts(above)
            assert sum(parts) == total == context_at(session, session.tree.content_at(at)).total


def test_only_lines_that_are_looked_at_are_decoded(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.jsonl", *(user(f"prompt {number}") for number in range(3000)))
    shown = page(Selection(session, (range(3000),), 0, SelectionKind.FOLD), Tab.CONTEXT)
    assert isinstance(shown.lines, ContextLines)
    assert len(shown.lines) > 3000
    assert shown.lines.made == 0
    assert "prompt 2999" in shown.lines[-1].text
    assert shown.lines.made == 1


def test_a_broken_line_is_asked_for_no_further(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.jsonl", user("a"), reply("b"))
    lines = page(turn(session), Tab.CONTEXT).lines
    with pytest.raises(IndexError):
        lines[len(lines)]
    assert [line.text for line in lines[-2:]] == [lines[-2].text, lines[-1].text]


def test_bars_are_scaled_to_the_largest_message(compacted: Session) -> None:
    shown = page(turn(compacted, 4), Tab.CONTEXT)
    first = next(at for at, title in headings(shown) if title == "Summary")
    bars = {
        line.text.split()[0] + str(line.entry): line.text.count("▄")
        for line in shown.lines[first:]
        if line.entry >= 0
    }
    assert bars["read6"] == 8
    assert 6 <= bars["you2"] <= 7
    assert bars["you4"] == 0


def test_the_gauge_says_in_words_what_it_shows(compacted: Session) -> None:
    calm = page(
        turn(compacted, 4),
        Tab.CONTEXT,
        limits=ContextLimits(200_000, Onset(183_616, about=False, inclusive=False)),
    )
    assert "/ 200k" in calm.text
    assert "<1 %" in calm.text
    assert "compacts at" not in calm.text
    full = page(
        turn(compacted, 4), Tab.CONTEXT, limits=ContextLimits(150, Onset(100, about=False, inclusive=False))
    )
    line = full.lines[line_with(full, "compacts at 100")]
    assert {span.ink for span in line.spans if "compacts" in span.text} == {"warn"}
    claude = page(
        turn(compacted, 4), Tab.CONTEXT, limits=ContextLimits(150, Onset(100, about=True, inclusive=True))
    )
    assert "compacts at about 100" in claude.text
    limited = Onset(50_000, about=True, inclusive=True, source="/home/ada/.codex/config.toml")
    told = page(turn(compacted, 4), Tab.CONTEXT, limits=ContextLimits(200_000, limited))
    assert "compacts at about 50.0k, as" in told.text
    assert "codex/config.toml" in told.text
    beyond = page(turn(compacted, 4), Tab.CONTEXT, limits=ContextLimits(150, limited._replace(tokens=100)))
    assert beyond.text.count("compacts at") == 1
    assert "as /home/ada/.codex/config.toml says" in " ".join(beyond.text.split())
    off = page(turn(compacted, 4), Tab.CONTEXT, limits=ContextLimits(200_000, limited._replace(off=True)))
    assert "does not compact by itself, as" in off.text


def test_edits_and_unsent_commands_are_marked(tmp_path: Path) -> None:
    hidden = {"role": "bashExecution", "command": "ls", "output": "a", "excludeFromContext": True}
    session = write_session(
        tmp_path / "s.jsonl",
        user("very long"),
        {"type": "message", "message": hidden},
        {"type": "context_edit", "targetId": "00000000", "replacement": {"content": "short"}},
    )
    shown = page(single(session, 2), Tab.CONTEXT)
    assert "edited" in shown.lines[line_with(shown, "you        short")].text
    assert "not sent" in shown.lines[line_with(shown, "! ls")].text
    assert "1 replaced" in shown.lines[line_with(shown, "context edits")].text


def test_what_is_counted_and_not_sent_is_named_beside_the_total(tmp_path: Path) -> None:
    hidden = {"role": "bashExecution", "command": "ls", "output": "a", "excludeFromContext": True}
    session = write_session(tmp_path / "s.jsonl", user("very long"), {"type": "message", "message": hidden})
    shown = page(single(session, 1), Tab.CONTEXT, limits=ContextLimits())
    assert "~4 / 200k · 1 not sent" in shown.text
    assert re.search(r"total +~4 +3 of them are sent", shown.text)


def test_an_empty_context_is_a_page_too(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.jsonl", {"type": "model_change", "provider": "p", "modelId": "m"})
    shown = page(single(session, 0), Tab.CONTEXT, limits=ContextLimits())
    assert "0 messages" in shown.text
    assert "0 / 200k" in shown.text


# --- Files ------------------------------------------------------------------------------------------------------------


def test_files_up_to_here_lead_to_their_last_entry(tmp_path: Path) -> None:
    session = write_session(
        tmp_path / "s.jsonl",
        user("a"),
        reply(
            call("read", "c1", path="docs/a.md"),
            call("edit", "c2", path="src/deep/b.py", oldText="x", newText="y"),
        ),
        reply(call("read", "c3", path="docs/a.md")),
        user("later"),
        reply(call("write", "c4", path="late.txt", content="x")),
    )
    shown = page(turn(session), Tab.FILES)
    assert "1 modified   1 only read" in shown.text
    read = shown.lines[line_with(shown, "docs/a.md")]
    assert read.text.split() == ["docs/a.md", "2", "#2"]
    assert read.entry == 2
    assert [(span.text, span.ink) for span in read.spans[1:3]] == [("docs/", "faint"), ("a.md", "text")]
    assert shown.lines[line_with(shown, "b.py")].entry == 1
    assert "late.txt" not in shown.text
    assert shown.copy.split("\n") == ["src/deep/b.py", "docs/a.md"]


def test_what_commands_made_is_listed_and_a_moved_file_says_where_it_went(tmp_path: Path) -> None:
    bench = Workbench(tmp_path / "s.jsonl", tmp_path / "shop", 1)
    bench.write("receipt.py", "receipt\n")
    bench.write("gone.py", "gone\n")
    bench.write("back.py", "once\n")
    bench.run(
        "mkdir printing && mv receipt.py printing/receipt.py && touch printing/__init__.py && rm gone.py back.py"
    )
    bench.write("back.py", "again\n")
    session = opened(bench.close())
    shown = page(single(session, session.leaf), Tab.FILES)
    lines = [line.text.split() for line in shown.lines]
    assert "3 modified   0 only read   2 by commands" in shown.text
    assert ["receipt.py", "→", "printing/", "#7", "1", "#1"] in lines
    narrow = page(single(session, session.leaf), Tab.FILES, width=46).text
    assert "receipt.py  → printing/ #7" in narrow, "a folder of its own, not the name again"
    assert ["gone.py", "removed", "#7", "1", "#3"] in lines
    assert ["back.py", "2", "#9"] in lines
    assert ["printing/receipt.py", "1", "#7"] in lines
    assert ["printing/__init__.py", "1", "#7"] in lines


def test_the_head_counts_what_is_listed(tmp_path: Path) -> None:
    bench = Workbench(tmp_path / "s.jsonl", tmp_path / "shop", 1)
    for name in ("made.py", "seen.py"):
        (bench.folder / name).write_text("once\n")
        bench.read(name)
    bench.run("echo twice > made.py")
    session = opened(bench.close())
    shown = page(single(session, session.leaf), Tab.FILES)
    assert "0 modified   1 only read   1 by commands" in shown.text
    heads = [line.text.split()[:2] for line in shown.lines if " file" in line.text]
    assert [head[0] for head in heads] == ["Made,", "Read"]


def test_no_files_is_one_sentence(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.jsonl", user("a"))
    assert "no tool has named a file up to here" in page(turn(session), Tab.FILES).text


# --- Markdown and wrapping --------------------------------------------------------------------------------------------


def plain(text: str, width: int = 40) -> list[str]:
    return ["".join(span.text for span in line) for line in rendered(text, width, UNICODE)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# Head\ntext", ["Head", "text"]),
        ("a\n\n\nb", ["a", "", "b"]),
        ("kept\nbreaks", ["kept", "breaks"]),
        ("- a\n- b\n  - c", ["- a", "- b", "  - c"]),
        ("3. x\n4. y", ["3. x", "4. y"]),
        ("- - x", ["- - x"]),
        ("> q\n> r", ["│ q", "│ r"]),
        ("[a](http://x.y)", ["a (http://x.y)"]),
        ("<http://x.y>", ["http://x.y"]),
        ("![alt](a.png)", ["[image alt]"]),
        ("<b>x</b> [red]y[/red]", ["<b>x</b> [red]y[/red]"]),
        ("a\n\n---\nb", ["a", "", "─" * 24, "", "b"]),
        ("```py\nx = 1\n\ny\n```", ["  x = 1", "  ", "  y"]),
        ("| a | b |\n|---|--:|\n| 1 | 22 |", ["a   b", "─" * 5, "1  22"]),
        ("**", ["**"]),
        ("", []),
    ],
)
def test_markdown_in_lines(text: str, lines: list[str]) -> None:
    assert plain(text) == lines


def test_code_is_told_apart_by_weight_and_never_by_hue() -> None:
    lines = rendered("```python\nreturn 'x'  # note\n```", 60, UNICODE)
    inks = {span.text.strip(): span.ink for span in lines[0] if span.text.strip()}
    assert inks["return"] == "strong"
    assert inks["'x'"] == "sub"
    assert inks["# note"] == "faint"
    assert plain("```no-such-language\n[/x]\n```") == ["  [/x]"]


@pytest.mark.parametrize(
    "text",
    [
        ">" * 5000,
        "[" * 5000,
        "*" * 5000,
        "`" * 5000 + "x",
        "| a " * 400 + "|\n" + "|--" * 400 + "|",
        "- " * 400,
        "#" * 90,
    ],
)
def test_pathological_markdown_ends(text: str) -> None:
    for width in (8, 40):
        for line in rendered(text, width, UNICODE):
            assert sum(cell_len(span.text) for span in line) < 4000


def test_a_table_of_more_columns_than_fit_is_a_text_for_each_row() -> None:
    """Its columns were narrowed cell by cell all the same, for many seconds, and its rows were then cut at the edge."""
    names, text = ("|".join(f"{word}{number}" for number in range(800)) for word in ("name", "value"))
    lines = plain(f"|{names}|\n{'|-' * 800}|\n|{text}|")
    assert max(map(cell_len, lines)) <= 40
    assert " ".join(lines).split() == [*names.split("|"), *text.split("|")]


def test_wrapping_keeps_words_inks_and_wide_characters_whole() -> None:
    lines = wrapped([Span("one ", "text"), Span("bold", "strong"), Span(", then 漢字漢字。", "text")], 10)
    assert ["".join(span.text for span in line) for line in lines] == ["one bold,", "then 漢字", "漢字。"]
    assert lines[0][1] == Span("bold", "strong")
    long = wrapped([Span("x" * 25, "text")], 10)
    assert [len("".join(span.text for span in line)) for line in long] == [10, 10, 5]


def test_cutting_leaves_room_for_the_ellipsis() -> None:
    for width in range(1, 12):
        spans = cut([Span("漢字", "text"), Span("abc", "sub"), Span("def", "text")], width, "…")
        text = "".join(span.text for span in spans)
        assert cell_len(text) <= width
        assert text.endswith("…") or text == "漢字abcdef"


def test_a_reply_that_only_calls_is_told_from_its_results(tmp_path: Path) -> None:
    read = {"type": "toolCall", "id": "r", "name": "read", "arguments": {"path": "a.py"}}
    session = write_session(tmp_path / "s.jsonl", user("look"), reply(read), result("read", "r", "x = 1"))
    shown = page(turn(session), Tab.CONTEXT).text
    assert "\nai         calls read  a.py" in shown
    assert "\nread       a.py" in shown


def test_a_message_that_can_no_longer_be_read_says_so_in_its_line(tmp_path: Path) -> None:
    """A line is made when it is drawn: nobody else would catch the error."""
    session = write_session(tmp_path / "s.jsonl", user("one"), reply("two"))
    shown = page(turn(session), Tab.CONTEXT, width=100)
    session.close()
    assert "this cannot be read: the session was closed" in shown.text
