"""The texts of the right pane: the summary as it streams in, the requests, the injected context. Texts are safe already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.base.safe_text import safe, safe_line
from leafward.session.entries import NO_ENTRY
from leafward_tui.ui.panes.pane_lines import Block, SpanLine, blanks, spread
from leafward_tui.ui.text.cells import exact, fit, limit, money, wrap
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.compaction.injection.values import Injection, SourceRef
    from leafward.summaries.summarizers.summary import Summary
    from leafward_tui.ui.appearance.glyphs import Glyphs

_INJECTED = "Injected context: files, rules and last actions that go with the summary, so that the model still has them word for word."
_MOST = 400
"""Lines of one text that are shown."""


def request_words(title: str) -> str:
    """The title of a request, even after the name of its model, for newcomers."""
    lead, colon, name = title.rpartition(": ")
    for short, words in _REQUESTS:
        if name.startswith(short):
            return f"{lead}{colon}{words}{name.removeprefix(short)}"
    return title


_REQUESTS = (
    ("turn prefix", "beginning of the split turn"),
    ("update", "update of the earlier summary"),
    ("history", "summary of the turns before the cut"),
)


def summary_lines(
    text: str,
    width: int,
    glyphs: Glyphs,
    *,
    summary: Summary | None = None,
    writing: bool = False,
    against: tuple[str, str] | None = None,
) -> Block:
    """A summary wrapped into lines: headings in their hue, a caret at the place of the next word.

    Lines whose sources are known can be chosen: enter goes to the entry. `against` is another summary and the sign of
    the lines that are not in it.
    """
    others, sign = (
        set(against[0].split("\n")) if against is not None else set(),
        against[1] if against else "",
    )
    margin = 2 if against is not None else 0
    sources: dict[str, int] = {}
    if summary is not None:
        for line in summary.lines:
            if line.sources and line.sources[0] >= 0:
                sources.setdefault(line.text, int(line.sources[0]))
    lines: list[SpanLine] = []
    for number, paragraph in enumerate(text.split("\n")):
        entry = sources.get(paragraph, NO_ENTRY)
        ink = "strong_memory" if paragraph.startswith("#") else "text"
        lone = against is not None and bool(paragraph) and paragraph not in others
        for row, part in enumerate(wrap(safe(paragraph), width - margin, ellipsis=glyphs.ellipsis) or [""]):
            key = f"line:{number}:{row}" if part else ""
            lead = (
                (Span(sign if lone and not row else " ", "strong_ghost"), blanks(1))
                if against is not None
                else ()
            )
            quiet = against is not None and not lone and ink == "text"
            lines.append(SpanLine((*lead, Span(part, "sub" if quiet else ink)), key, entry))
    if writing:
        last = lines[-1] if lines else SpanLine()
        caret = Span(glyphs.caret, "leaf")
        if len(last.text) + 1 < width:
            lines[-1:] = [SpanLine((*last.spans, caret), last.key, last.entry)]
        else:
            lines.append(SpanLine((caret,)))
    return Block(lines)


def note_lines(notes: Sequence[tuple[str, str]], width: int, glyphs: Glyphs) -> Block:
    """Sentences of ours, each with its ink."""
    return Block(
        SpanLine((Span(part, ink),))
        for text, ink in notes
        for part in (wrap(text, width, ellipsis=glyphs.ellipsis) if text else [""])
    )


def injected_lines(injected: Injection | None, width: int, glyphs: Glyphs, *, on: bool) -> Block:
    """An explanation of injected text, then the text as it is sent, line by line; each with its source entry at the right."""
    if injected is None or not on:
        reason = "switched off: nothing is injected" if injected is not None else "nothing to inject yet"
        return Block([SpanLine((Span(reason, "nothing"),))])
    if not injected.text:
        return Block([SpanLine((Span("every section is empty or switched off", "nothing"),))])
    lines = [
        *(SpanLine((Span(part, "sub"),)) for part in wrap(_INJECTED, width, ellipsis=glyphs.ellipsis)),
        SpanLine(),
    ]
    for number, row in enumerate(injected.lines):
        entry = next((int(source.entry) for source in row.sources if source.entry >= 0), NO_ENTRY)
        place = f"#{entry:,}" if entry >= 0 else _file_of(row.sources)
        heading = row.text.startswith("#")
        ink = "strong_ghost" if heading else "text" if row.section else "faint"
        text = safe_line(row.text, 400)
        # The sign of a list stays with its first word, however long that word is.
        marker = "- " if text.startswith("- ") else ""
        text, margin = text.removeprefix(marker), len(marker)
        room = width - margin - (len(place) + 2 if place else 0)
        first = next(iter(wrap(text, room, ellipsis=glyphs.ellipsis, paths=True)), "")
        key = f"inject:{number}:{row.section}"
        lines.append(spread([Span(marker + first, ink)], [Span(place, "faint")], width, key, entry))
        rest = text[len(first) :].lstrip(" ")
        more = wrap(rest, width - margin, ellipsis=glyphs.ellipsis, paths=True) if rest else []
        lines += [
            SpanLine((blanks(margin), Span(part, ink)), f"inject:{number}.{at}:{row.section}", entry)
            for at, part in enumerate(more, 1)
        ]
    return Block(lines)


def _file_of(sources: Sequence[SourceRef]) -> str:
    """The source file of a line, and the place in it."""
    for source in sources:
        if source.file:
            name = safe_line(source.file, 60).rpartition("/")[2]
            return f"{name}:{source.line}" if source.line else name
    return ""


def prompt_lines(
    requests: Sequence[tuple[str, str, str, int]],
    tokens: int,
    cost: float | None,
    redacted: Mapping[str, int],
    remarks: Sequence[str],
    width: int,
    glyphs: Glyphs,
) -> Block:
    """The requests to a model: the title, instructions, text and tokens of each."""
    price = money(cost, zero="free") if cost is not None else "price not known"
    head = [Span(counted(len(requests), "request"), "strong"), Span(f"   {exact(tokens)} tokens", "sub")]
    if sum(cell_len(span.text) for span in head) + 2 + cell_len(price) <= width:
        lines = [spread(head, [Span(price, "sub")], width)]
    else:
        lines = [SpanLine(tuple(head)), SpanLine((Span(price, "sub"),))]
    lines += [_redacted(redacted, width, glyphs)]
    lines += [
        SpanLine((Span(part, "warn"),))
        for remark in remarks
        for part in wrap(safe_line(remark, 400), width, ellipsis=glyphs.ellipsis)
    ]
    for number, (title, system, prompt, size) in enumerate(requests):
        lines.append(SpanLine())
        name = fit(safe_line(request_words(title), 80), width - 10, ellipsis=glyphs.ellipsis)
        lines.append(
            spread([Span(name, "strong_memory")], [Span(limit(size), "faint")], width, f"request:{number}")
        )
        for place, text in (("instructions", system), ("text", prompt)):
            lines.append(SpanLine((Span(place, "faint"),)))
            wrapped = wrap(safe(text), width - 2, lines=_MOST, ellipsis=glyphs.ellipsis)
            lines += [SpanLine((blanks(2), Span(part, "sub"))) for part in wrapped]
    return Block(lines)


def _redacted(redacted: Mapping[str, int], width: int, glyphs: Glyphs) -> SpanLine:
    found = sum(redacted.values())
    if not found:
        return SpanLine((Span("no secrets found", "faint"),))
    names = ", ".join(f"{count} {safe_line(name, 40)}" for name, count in sorted(redacted.items()))
    return SpanLine(
        (
            Span(f"{glyphs.malformed} ", "warn"),
            Span(fit(f"redacted: {names}", width - 2, ellipsis=glyphs.ellipsis), "warn"),
        )
    )
