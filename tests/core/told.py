"""Spans of messages, and what the extractive summary makes of them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from leafward.agents.recognition import agent_of
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import EntryIndex
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.outline import SummarySection, read_outline
from leafward.summaries.summarizers.summary import Span, Summary
from leafward.summaries.survival.spans import SpanMessage

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "/home/ada/orchard"
HEADINGS = [section.heading for section in SummarySection]


KEPT = 12
"""Messages that stay behind the spans of stored sessions."""

PYTEST = "uv run pytest -q"


def stored(path: Path, at: EntryIndex | None = None, size: int = 1500) -> dict[SummarySection, list[str]]:
    """The lines of a summary of a stored session, by section."""
    with closing(agent_of(path).open(path)) as session:
        messages = [
            SpanMessage(message.entry, message_body(session, message))
            for message in context_at(session, session.leaf if at is None else at).messages
            if message.sent and message.role not in ("compactionSummary", "system")
        ]
        what = Span(messages[:-KEPT], kept=messages[-KEPT:], cwd=session.cwd)
        text = Extractive().summarize(what, size).text
    found: dict[SummarySection, list[str]] = {section: [] for section in SummarySection}
    for section, line, _ in read_outline(text):
        found[section].append(line)
    return found


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def reply(text: str = "", *calls: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "toolCall", "id": key, "name": name, "arguments": given} for key, name, given in calls
    ]
    return {"role": "assistant", "content": content}


def result(call: str, text: str, failed: bool = False) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call, "content": content, "isError": failed}


def span(*messages: dict[str, Any], **more: Any) -> Span:
    said = [SpanMessage(EntryIndex(10 + place), message) for place, message in enumerate(messages)]
    return Span(said, cwd=FOLDER, **more)


def summarize(what: Span, budget: int = 1000) -> Summary:
    return Extractive().summarize(what, budget)


def lines_of(made: Summary) -> list[tuple[SummarySection, str]]:
    return [(section, text) for section, text, _ in read_outline(made.text)]


def worked(path: str, *keys: str) -> list[dict[str, Any]]:
    """Edits of a file, one after the other."""
    found = []
    for key in keys:
        given = {"path": path, "oldText": "x", "newText": f"def parse_{key}(): ..."}
        found += [reply("", (key, "edit", given)), result(key, "ok")]
    return found


def told_in(section: SummarySection, *messages: dict[str, Any], **more: Any) -> list[str]:
    made = lines_of(summarize(span(*messages, **more)))
    return [text for there, text in made if there is section and text != "(none)"]


def work_told(*messages: dict[str, Any], **more: Any) -> list[str]:
    """The lines under Done, and those of the context: what replies say of finished work stands there."""
    return [
        *told_in(SummarySection.DONE, *messages, **more),
        *told_in(SummarySection.CONTEXT, *messages, **more),
    ]


def ran(key: str, command: str) -> list[dict[str, Any]]:
    return [reply("", (key, "bash", {"command": command})), result(key, "ok")]


DAY = (
    user("Port the parser of orchard to a table. Never touch the generated files under gen/."),
    reply(
        "We keep src/tree.py because the old tests import it.",
        ("a", "read", {"path": f"{FOLDER}/src/parser.py"}),
        ("b", "bash", {"command": f"cd {FOLDER} && git checkout -b table-parser"}),
    ),
    result("a", "class TreeParser: ..."),
    result("b", "Switched to a new branch"),
    reply(
        "",
        (
            "c",
            "write",
            {"path": f"{FOLDER}/plan.md", "content": "## Steps\n- [ ] Fill parseTable\n- [ ] Measure it\n"},
        ),
    ),
    result("c", "written"),
    reply(
        "",
        (
            "d",
            "edit",
            {"path": f"{FOLDER}/src/parser.py", "oldText": "x", "newText": "def parse_table(rowCount): ..."},
        ),
        (
            "e",
            "edit",
            {
                "path": f"{FOLDER}/plan.md",
                "oldText": "- [ ] Fill parseTable",
                "newText": "- [x] Fill parseTable",
            },
        ),
        ("f", "bash", {"command": "make test"}),
    ),
    result("d", "replaced"),
    result("e", "replaced"),
    result("f", "src/parser.py:12: TypeError: rowCount is None\nCommand exited with code 2", failed=True),
    reply("The table is filled, but one test fails with a TypeError in src/parser.py."),
    user("commit what you have, then fix the test"),
    reply("", ("g", "bash", {"command": 'git commit -am "Fill the parse table"'})),
    result("g", "1 file changed"),
)


def made(path: str, key: str) -> list[dict[str, Any]]:
    return [reply("", (key, "write", {"path": path, "content": "x"})), result(key, "ok")]


def ended(key: str, command: str, printed: str, *, failed: bool = False) -> list[dict[str, Any]]:
    return [reply("", (key, "bash", {"command": command})), result(key, printed, failed)]
