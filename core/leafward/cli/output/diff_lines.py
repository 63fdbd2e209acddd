"""Result of the verb `diff`, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.figures import counted, short
from leafward.base.safe_text import safe, safe_line
from leafward.base.shown_path import shortened
from leafward.branches.diff.file_sets import Flag
from leafward.cli.output.entry_ids import shown_ids
from leafward.cli.output.outcomes import outcome_table
from leafward.cli.output.page import Page, cells, indented, pad
from leafward.compaction.stored_summary.summary_comparison import LineRelation
from leafward.export.documents.comparison_document import DIFFERS, MARK_SIGNS, NO_ENDS, resting
from leafward.files.file_replay.remarks import StepRemark
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind
from leafward.session.headlines.entry_headline import headline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.branches.diff.sides import Sides
    from leafward.session.session import Session


def _titles(compared: Sides, page: Page) -> Iterator[str]:
    names = shown_ids(compared.session, (compared.ancestor, compared.a.entry, compared.b.entry))
    yield page.style(f"common ancestor {names.get(compared.ancestor, '– (none)')}", "faint")
    for letter, side in (("A", compared.a), ("B", compared.b)):
        entry = names.get(side.entry, "(before everything)")
        numbers = f"{counted(len(side.entries), 'entry', 'entries')}  {counted(side.turns, 'turn')}  {counted(side.edits, 'change')}"
        words = page.fit(safe_line(side.outcomes.last_words), max(10, page.width - 62))
        line = (
            f"{page.style(letter, 'bold')} {pad(entry, 12)} {pad(numbers, 36)} {page.style(words, 'faint')}"
        )
        yield line if words else line.rstrip()


def _files_lines(compared: Sides, found: dict[str, Any], page: Page) -> Iterator[str]:
    yield from _titles(compared, page)
    columns = (("only_a", "Only on A's path"), ("both", "On both paths"), ("only_b", "Only on B's path"))
    for column, title in columns:
        files = found[column]
        if not files:
            continue
        yield ""
        width = max(24, page.width - 48)
        heads = pad("A", 11, right=True) + pad("B", 11, right=True)
        yield page.style(pad(f"{title}  {counted(len(files), 'file')}", width + 5), "bold") + heads
        for file in files:
            if file["a"] is None and file["b"] is None:
                continue
            sign = DIFFERS[file["differs"]] if page.unicode or not file["differs"] else "!"
            numbers = "".join(pad(_changes(file[letter]), 11, right=True) for letter in ("a", "b"))
            flags = _marks(file)
            # The end of a path tells files apart.
            name = pad(shortened(safe_line(file["path"]), width, cells, page.gap), width)
            yield f"  {sign} {name} {numbers}  {page.style(flags, 'faint')}".rstrip()
        before = sum(file["a"] is None and file["b"] is None for file in files)
        if before:
            more = " more" if before < len(files) else ""
            yield page.style(f"    {before:,}{more} before the common ancestor only; --json has all", "faint")


def _marks(file: dict[str, Any]) -> str:
    """The fates of a file, and its flags."""
    return "  ".join((*file["fates"], *(Flag(flag).words for flag in file["flags"])))


def _changes(use: dict[str, Any] | None) -> str:
    if use is None:
        return "·"
    if not use["changes"]:
        return "read"
    # No lines are known of a file that a command moved or wrote.
    return f"+{use['added']} -{use['removed']}" if use["added"] or use["removed"] else "changed"


def _contents_lines(compared: Sides, found: dict[str, Any], page: Page) -> Iterator[str]:
    yield from _titles(compared, page)
    for column in ("only_a", "both", "only_b"):
        for file in found[column]:
            marks = _marks(file)
            yield ""
            yield f"{page.style(safe_line(file['path']), 'bold')}  {marks}".rstrip()
            for letter in ("base", "a", "b"):
                one = file[letter]
                rest = resting(one["base"])
                remarks = ", ".join(sorted({StepRemark(remark["remark"]).words for remark in one["remarks"]}))
                if not remarks and one["certainty"] in ("partial", "unknown"):
                    remarks = "never read as a whole"
                if one["path"] != file["path"]:
                    remarks = ", ".join(filter(None, (f"as {safe_line(one['path'])}", remarks)))
                lines = counted(one["lines"], "line") if one["lines"] is not None else ""
                every = "with the calls of other branches" if one["every_branch"] else ""
                ends = "" if one["ends_known"] else NO_ENDS
                parts = "  ".join(
                    part for part in (one["certainty"], lines, rest, every, ends, remarks) if part
                )
                yield f"  {pad(letter if letter == 'base' else letter.upper(), 5)}{parts}"
            if file["diff"]:
                yield from _diff_lines(file["diff"])
            if file["obstacle"]:
                yield f"  {file['obstacle']}"
            yield f"  {file['sentence']}"


def _diff_lines(diff: str) -> Iterator[str]:
    """The lines of a diff, made safe; if changed lines have different ends, CRLF is marked."""
    lines = diff.removesuffix("\n").split("\n")
    ends = {line.endswith("\r") for line in lines if line[:1] in ("+", "-")}
    for line in lines:
        yield f"  {safe(line.removesuffix(chr(13)))}{'  CRLF' if len(ends) > 1 and line.endswith(chr(13)) else ''}"


def _context_lines(compared: Sides, found: dict[str, Any], page: Page) -> Iterator[str]:
    yield from _titles(compared, page)
    yield ""
    prefix = found["prefix"]
    yield f"shared prefix  {counted(prefix['messages'], 'message')}  {short(prefix['tokens'])} tokens"
    yield from (page.style(why, "faint") for why in found["why"])
    yield ""
    a, b = (found["ledger"][letter] for letter in "ab")
    for name, *tokens in zip(a, a.values(), b.values(), strict=True):
        if name == "unsent" and not any(tokens):
            continue
        numbers = "".join(pad(short(one), 10, right=True) for one in tokens)
        yield f"{pad(PART_WORDS.get(name, name), 18)}{numbers}"
    columns = compared.session.columns
    listed = [
        columns.index(one["entry"])
        for column in ("only_a", "only_b")
        for one in found[column]
        if one["entry"]
    ]
    names = shown_ids(compared.session, listed)
    wide = max(map(cells, names.values()), default=0) + 2
    for column, title in (("only_a", "Only in A"), ("only_b", "Only in B")):
        messages = found[column]
        if messages:
            yield ""
            yield page.style(f"{title}  {counted(len(messages), 'message')}", "bold")
            for one in messages:
                entry = columns.index(one["entry"]) if one["entry"] else NO_ENTRY
                word, text = _words(compared.session, entry, one)
                text = page.fit(text, max(20, page.width - 25 - wide))
                yield f"  {pad(names.get(entry, ''), wide)} {pad(page.fit(word, 10), 11)} {pad(short(one['tokens']), 7, right=True)}  {text}"


def _words(session: Session, entry: EntryIndex, message: dict[str, Any]) -> tuple[str, str]:
    """The word and the text of a message, as `context` lists it."""
    if entry < 0:
        return message["role"], message["text"]
    head = headline(session, entry)
    return head.word, message["text"] if session.columns.kind[entry] == Kind.COMPACTION else head.text


PART_WORDS = {"not_in_file": "not in file", "error": "estimation error"}


def _summary_lines(compared: Sides, found: dict[str, Any], page: Page) -> Iterator[str]:
    yield from _titles(compared, page)
    yield ""
    stored = {
        letter: compared.session.columns.index(name)
        for letter, one in found["summaries"].items()
        if (name := one["entry"]) is not None
    }
    names = shown_ids(compared.session, stored.values())
    for letter in ("a", "b"):
        one = found["summaries"][letter]
        where = f"stored in {names[stored[letter]]}" if letter in stored else "made on the spot, extractive"
        yield page.style(
            f"{letter.upper()}  {where if one['text'] else 'no messages since the common ancestor'}", "faint"
        )
    for section in found["sections"]:
        yield ""
        yield page.style(safe_line(section["title"]), "bold")
        for line in section["lines"]:
            if line["mark"] == LineRelation.CHANGED.value:
                yield from indented(safe_line(f"- {line['a']}"))
                yield from indented(safe_line(f"+ {line['b']}"))
            else:
                yield from indented(
                    safe_line(f"{MARK_SIGNS[LineRelation(line['mark'])]} {line['a'] or line['b']}")
                )
    for letter in ("a", "b"):
        facts = found[f"only_{letter}"]
        if facts:
            yield ""
            yield page.style(f"facts only in {letter.upper()}", "bold")
            yield from (f"  {pad(fact['kind'], 11)} {safe_line(fact['text'], 200)}" for fact in facts)


def _outcome_lines(compared: Sides, found: dict[str, Any], page: Page) -> Iterator[str]:
    yield from _titles(compared, page)
    yield ""
    a, b = found["outcome"]["a"], found["outcome"]["b"]
    yield from outcome_table([a, b], ["A", "B"], page)


LINES = {
    "files": _files_lines,
    "contents": _contents_lines,
    "context": _context_lines,
    "summary": _summary_lines,
    "outcome": _outcome_lines,
}
"""Functions that format the JSON of `diff` as lines, by what is compared."""
