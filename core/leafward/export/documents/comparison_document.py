"""A comparison of two branches as a document: Markdown, one self-contained page, or JSON."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

from leafward.base.figures import counted, duration, money
from leafward.compaction.stored_summary.summary_comparison import LineRelation
from leafward.export.documents.comparison import COLUMNS
from leafward.export.documents.markdown import escaped
from leafward.export.documents.sanitizer import fenced
from leafward.export.documents.web_style import STYLE
from leafward.redaction.redaction import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.export.documents.comparison import Comparison

MARK_SIGNS = {
    LineRelation.SAME: " ",
    LineRelation.CHANGED: "~",
    LineRelation.ADDED: "+",
    LineRelation.REMOVED: "-",
}
DIFFERS = {True: "≠", False: "=", None: "?"}
"""The sign between the two contents of a file; None where it is unknown whether they differ."""
_OWN_BASES = {"write": "a write", "read": "a read", "result": "a result"}
NO_ENDS = "line ends are not recorded"
"""Remark on contents whose line ends are not recorded (`Rebuilt.ends`)."""


def resting(base: str) -> str:
    """The base of a content, in words; empty where none is known."""
    if not base:
        return ""
    own = _OWN_BASES.get(base)
    return f"rests on {own}" if own is not None else f"rests on the file {base}, on which everything applies"


def document(comparison: Comparison, form: str) -> str:
    """The document as `md`, `html` or `json`. Raises KeyError for another one."""
    if form == "json":
        return json.dumps(comparison.data, ensure_ascii=False, indent=2) + "\n"
    return "".join({"md": _markdown, "html": _page}[form](comparison))


# --- content of both other forms --------------------------------------------------------------------------------------


def _heads(data: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Session", data["session"]
    yield "Project", data["project"]
    above = data["ancestor"]
    yield "Common ancestor", f"{above}: {data['ancestor_text']}" if above else "none"
    for letter in "ab":
        side = data[letter]
        numbers = f"{side['entries']:,} entries, {side['turns']:,} turns, {side['edits']:,} edits"
        yield (
            letter.upper(),
            f"{side['entry'] or 'before everything'}: {numbers}, {side['tokens']:,} tokens of context",
        )


def _change(use: dict[str, Any] | None) -> str:
    if use is None:
        return "–"
    return f"+{use['added']} −{use['removed']}" if use["changes"] else "read"


def _outcomes(data: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    a, b = data["a"], data["b"]
    for name in dict.fromkeys(one["check"] for side in (a, b) for one in side["checks"]):
        yield name, _checked(a, name), _checked(b, name)
    for title, key in (
        ("commands", "commands"),
        ("failed commands", "failed_commands"),
        ("errors", "errors"),
        ("calls", "calls"),
        ("aborted", "aborted"),
        ("turns", "turns"),
        ("tokens of all requests", "spent"),
    ):
        yield title, f"{a[key]:,}", f"{b[key]:,}"
    yield "cost", _cost(a), _cost(b)
    yield "duration", duration(a["seconds"]), duration(b["seconds"])
    yield "ends with", a["last_words"], b["last_words"]


def _checked(side: dict[str, Any], name: str) -> str:
    for one in side["checks"]:
        if one["check"] == name:
            runs = counted(one["runs"], "run")
            return f"{'ok' if one['ok'] else 'failed'}, {runs}, {one['failed']:,} failed"
    return "not run"


def _cost(side: dict[str, Any]) -> str:
    return money(side["cost"]) if side["cost"] is not None else "not in file"


def _known(content: dict[str, Any]) -> str:
    """The certainty of each content, with its base and remarks."""
    parts = []
    for letter in "ab":
        one = content[letter]
        also = f", {resting(one['base'])}" if one["base"] not in ("", *_OWN_BASES) else ""
        also += ", with the calls of other branches" if one["every_branch"] else ""
        also += "" if one["ends_known"] else f", {NO_ENDS}"
        remarks = f" ({', '.join(one['remarks'])})" if one["remarks"] else ""
        parts.append(f"{letter.upper()} {one['certainty']}{also}{remarks}")
    return "; ".join(parts)


def _context(data: dict[str, Any]) -> Iterator[str]:
    prefix = data["context"]["prefix"]
    number = counted(prefix["messages"], "message")
    yield f"Both begin with the same {number}, {prefix['tokens']:,} tokens."
    yield from (f"{why[:1].upper()}{why[1:]}." for why in data["context"]["why"])


def _ledger(data: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    a, b = (data["context"]["ledger"][letter] for letter in "ab")
    yield from ((part, f"{a[part]:,}", f"{b[part]:,}") for part in a)


def _summary_lines(section: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for line in section["lines"]:
        if line["mark"] == LineRelation.CHANGED.value:
            yield "-", line["a"]
            yield "+", line["b"]
        else:
            yield MARK_SIGNS[LineRelation(line["mark"])], line["a"] or line["b"]


# --- Markdown ---------------------------------------------------------------------------------------------------------


def _markdown(comparison: Comparison) -> Iterator[str]:
    data = comparison.data
    yield f"# {escaped(comparison.title)}: A and B\n\n"
    yield from (f"- {name}: {escaped(value)}\n" for name, value in _heads(data))
    yield "\n## Files\n\n| | file | A | B | |\n|---|---|---|---|---|\n"
    for file in data["files"]:
        sign = DIFFERS[file["differs"]]
        flags = ", ".join((*file["fates"], *file["flags"]))
        where = COLUMNS[file["column"]]
        yield f"| {sign} | {escaped(file['path'])} | {_change(file['a'])} | {_change(file['b'])} | {', '.join(filter(None, (where, flags)))} |\n"
    yield "\n## Contents\n"
    for content in data["contents"]:
        yield f"\n### {escaped(content['path'])}\n\n{escaped(_known(content))}: {escaped(content['sentence'])}.\n"
        if content["diff"]:
            yield f"\n{fenced(content['diff'].rstrip(chr(10)), 'diff')}\n"
    yield "\n## Context\n\n"
    yield from (f"- {escaped(line)}\n" for line in _context(data))
    yield "\n| | A | B |\n|---|---|---|\n"
    yield from (f"| {part} | {a} | {b} |\n" for part, a, b in _ledger(data))
    yield "\n## Outcome\n\n| | A | B |\n|---|---|---|\n"
    yield from (f"| {title} | {escaped(a)} | {escaped(b)} |\n" for title, a, b in _outcomes(data))
    yield "\n## Summary\n"
    for section in data["summary"]:
        yield f"\n### {escaped(section['title'])}\n\n"
        yield from (f"- `{sign}` {escaped(text)}\n" for sign, text in _summary_lines(section))
    found = comparison.redactor.found
    if found:
        yield f"\n---\n\nRedacted, each secret counted once: {listed(found)}.\n"


# --- HTML -------------------------------------------------------------------------------------------------------------

_OWN = """
body { display: block; }
main { max-width: 76rem; margin: 0 auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: .15rem .75rem .15rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
pre { font: 13px/1.45 var(--mono); overflow-x: auto; background: var(--panel); padding: .5rem .75rem; }
ins, del { text-decoration: none; display: block; }
ins { color: var(--leaf); } del { color: var(--ghost); }
details > summary { cursor: pointer; font-family: var(--mono); }
"""


def _text(text: str) -> str:
    return html.escape(text, quote=True)


def _page(comparison: Comparison) -> Iterator[str]:
    data = comparison.data
    title = f"{_text(comparison.title)}: A and B"
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>\n{STYLE}{_OWN}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        '<dl class="facts">\n'
    )
    yield from (f"<div><dt>{name}</dt><dd>{_text(value)}</dd></div>\n" for name, value in _heads(data))
    yield "</dl>\n<h2>Files</h2>\n<table>\n<tr><th></th><th>file</th><th>A</th><th>B</th><th></th></tr>\n"
    for file in data["files"]:
        flags = ", ".join((COLUMNS[file["column"]], *file["fates"], *file["flags"]))
        cells = (DIFFERS[file["differs"]], file["path"], _change(file["a"]), _change(file["b"]), flags)
        yield f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in cells)}</tr>\n"
    yield "</table>\n<h2>Contents</h2>\n"
    for content in data["contents"]:
        yield f"<details open><summary>{_text(content['path'])}</summary>\n<p>{_text(_known(content))}: {_text(content['sentence'])}.</p>\n"
        if content["diff"]:
            yield f"<pre>{''.join(_marked(content['diff']))}</pre>\n"
        yield "</details>\n"
    yield "<h2>Context</h2>\n<ul>\n"
    yield from (f"<li>{_text(line)}</li>\n" for line in _context(data))
    yield "</ul>\n"
    yield from _table(_ledger(data))
    yield "<h2>Outcome</h2>\n"
    yield from _table(_outcomes(data))
    yield "<h2>Summary</h2>\n"
    for section in data["summary"]:
        yield f"<h3>{_text(section['title'])}</h3>\n<pre>"
        yield from _marked("\n".join(f"{sign}{text}" for sign, text in _summary_lines(section)))
        yield "</pre>\n"
    found = comparison.redactor.found
    if found:
        yield f"<p>Redacted, each secret counted once: {_text(listed(found))}.</p>\n"
    yield "</main>\n</body>\n</html>\n"


def _table(rows: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    yield "<table>\n<tr><th></th><th>A</th><th>B</th></tr>\n"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{_text(cell)}</td>' for cell in row)}</tr>\n"
    yield "</table>\n"


def _marked(text: str) -> Iterator[str]:
    """Lines of a diff; sign and tag both say which side has one."""
    for line in text.rstrip("\n").split("\n"):
        tag = {"+": "ins", "-": "del"}.get(line[:1])
        yield f"<{tag}>{_text(line)}</{tag}>" if tag else f"{_text(line)}\n"
