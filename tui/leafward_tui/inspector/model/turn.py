"""Contents of some entries of one branch, gathered for showing: messages, thinking, calls with results, and the rest."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.context.call_status import CallOutcome, outcome
from leafward.files.tool_calls import NATIVE_TOOLS, ToolTable, table_of
from leafward.session.entries import (
    BOOKKEEPING,
    NO_ENTRY,
    SUMMARIES,
    Body,
    EntryIndex,
    Kind,
    ToolCall,
    Usage,
    blocks_of,
    text_of,
    tool_calls,
)
from leafward.session.headlines.entry_headline import TASK, call_of, is_task
from leafward.session.messages import (
    KNOWN_BLOCKS,
    did_run,
    messages_of,
    prompt_text,
    shell_command,
    usage_of,
)
from leafward.session.tokens import message_tokens
from leafward_tui.inspector.page import SelectionKind
from leafward_tui.ui.text.times import moment, moment_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.session import Session
    from leafward_tui.inspector.page import Selection

_FAR_DOWN = 64
"""Entries below a reply among which the results of its calls are looked for."""


@dataclass(frozen=True, slots=True)
class MessageText:
    """A text with the images in it."""

    entry: EntryIndex
    text: str
    images: tuple[Body, ...] = ()
    trouble: str = ""
    """The reason why a reply did not end properly: `error`, `aborted`, `length`; empty where it did."""
    reason: str = ""
    """The provider's words about the trouble."""
    author: str = ""
    """The author of an injected message: a custom message's type."""
    label: str = "you"
    """The word before a prompt: `task` where another agent wrote it."""


@dataclass(slots=True)
class Step:
    """A tool call and its result; either may be missing."""

    call: ToolCall
    call_entry: EntryIndex
    result: Body | None = None
    """The result's entry, decoded."""
    result_entry: EntryIndex = NO_ENTRY
    by_user: bool = False
    """Whether it is a command that the user ran."""
    ran: bool = True
    """False for a call of a reply that was broken off, which never ran."""
    table: ToolTable = NATIVE_TOOLS
    """The tools of the agent that made the result."""

    @property
    def message(self) -> Body:
        """The result's message."""
        message = (self.result or {}).get("message")
        return message if isinstance(message, dict) else {}

    @property
    def output(self) -> str:
        """The result as text."""
        if self.by_user:
            return str(self.message.get("output") or "")
        return text_of(self.message.get("content"))

    @property
    def images(self) -> tuple[Body, ...]:
        """The images of the result."""
        return tuple(b for b in blocks_of(self.message.get("content")) if b.get("type") == "image")

    @property
    def outcome(self) -> CallOutcome | None:
        """The outcome of the call; None without a result."""
        return outcome(self.result, self.table) if self.result is not None else None


@dataclass(slots=True)
class Gathered:
    """The contents of a selection."""

    prompts: list[MessageText] = field(default_factory=list)
    replies: list[MessageText] = field(default_factory=list)
    thoughts: list[MessageText] = field(default_factory=list)
    systems: list[tuple[EntryIndex, Body]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    others: list[tuple[EntryIndex, Kind, Body]] = field(default_factory=list)
    """Entries that are no messages, and blocks of unknown types, in order."""
    unknown_blocks: list[tuple[EntryIndex, Body]] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    tokens: int = 0
    """Estimated tokens."""
    summary_tokens: int = 0
    """Tokens of summaries among them: a compaction may store the system prompt too."""
    system_tokens: int = 0
    """Tokens of system prompts among them."""
    first_time: str = ""
    """The time of the first message, as it is shown."""
    redacted: int = 0
    """Thinking blocks whose text the provider does not give out."""
    tools: ToolTable = NATIVE_TOOLS
    """The rules by which the calls name files."""


def gather(selection: Selection, stop: Callable[[], bool] = lambda: False) -> Gathered:
    """Decodes the entries of a selection. Stops in between where `stop` turns true."""
    session = selection.session
    found = Gathered(tools=table_of(session))
    waiting: dict[str, Step] = {}
    entries = (index for span in selection.entries for index in span)
    for index, body in session.bodies(entries):
        if stop():
            break
        kind = Kind(session.columns.kind[index]) if body is not None else Kind.MALFORMED
        if kind is Kind.INJECTED and len(selection) == 1:
            # Among messages it is one line; alone it is shown in full.
            kind = Kind.CUSTOM_MESSAGE
        if kind is Kind.USAGE and len(selection) > 1 and _counts_earlier(selection, body or {}):
            # It stands among the other entries, with its cost; the cost of the turn is not known.
            found.others.append((index, kind, body or {}))
            continue
        _take(found, waiting, session, index, kind, body or {})
    if len(selection) == 1 or selection.kind is SelectionKind.ENTRY:
        for reply in {step.call_entry for step in waiting.values()}:
            _complete(waiting, session, reply)
    return found


def _counts_earlier(selection: Selection, usage: Body) -> bool:
    """Whether a record of a cost counts what was said before the selection as well.

    Claude Code stores what a run of it cost in all, and that only when it ends.
    """
    if usage.get("kind") != "cost":
        return False
    columns, at = selection.session.columns, selection.session.columns.parent[selection.head]
    while at >= 0 and columns.kind[at] not in (Kind.ASSISTANT, Kind.USAGE):
        at = columns.parent[at]
    return at >= 0 and columns.kind[at] == Kind.ASSISTANT


def _speaker(session: Session, index: EntryIndex) -> str:
    """The speaker of an injected message: an extension; empty where the agent itself injected it."""
    return "" if session.columns.kind[index] == Kind.INJECTED else "ext"


_SINCE = 1_000_000_000_000
"""The earliest time of a message that counts, in milliseconds since 1970; a smaller number, before 2001, is no time."""


def _said_at(message: Body, body: Body) -> str:
    """The time of a message: a copy stamps its entries anew, while its messages keep their own time."""
    own, stamp = message.get("timestamp"), body.get("timestamp")
    if isinstance(own, (int, float)) and own >= _SINCE:
        return moment_at(int(own))
    return moment(stamp) if isinstance(stamp, str) else ""


def _take(
    found: Gathered, waiting: dict[str, Step], session: Session, index: EntryIndex, kind: Kind, body: Body
) -> None:
    usage = usage_of(body)
    if usage is not None:
        found.usage = found.usage + usage
    messages = messages_of(body, kind)
    sizes = [message_tokens(message) for message in messages]
    found.tokens += sum(sizes)
    if kind in SUMMARIES and sizes:
        found.summary_tokens += sizes[-1]
        found.system_tokens += sum(sizes[:-1])
    message = messages[0] if messages else {}
    found.first_time = found.first_time or _said_at(message, body)
    content = message.get("content")
    if kind is Kind.USER:
        label = TASK if is_task(session, index, body) else "you"
        # The text as typed; the tags that an agent puts around it stand in the entry, and in the tab Raw.
        found.prompts.append(MessageText(index, prompt_text(body), _images(content), label=label))
        _unknown(found, index, content)
    elif kind is Kind.ASSISTANT:
        _reply(found, waiting, index, message)
    elif kind is Kind.TOOL_RESULT:
        _result(found, waiting, session, index, body)
    elif kind is Kind.BASH:
        call = ToolCall("", "bash", {"command": str(message.get("command") or "")})
        found.steps.append(Step(call, index, body, index, by_user=True))
    elif kind is Kind.CUSTOM_MESSAGE and (typed := shell_command(body)):
        found.prompts.append(MessageText(index, typed))
    elif kind in (Kind.CUSTOM_MESSAGE, Kind.CUSTOM_ROLE):
        author = str((message if kind is Kind.CUSTOM_ROLE else body).get("customType") or "extension")
        found.prompts.append(
            MessageText(
                index, text_of(content), _images(content), author=author, label=_speaker(session, index)
            )
        )
        _unknown(found, index, content)
    elif kind is Kind.SYSTEM:
        found.systems.append((index, message))
    else:
        found.others.append((index, kind, body))


def _reply(found: Gathered, waiting: dict[str, Step], index: EntryIndex, message: Body) -> None:
    model = message.get("model")
    if isinstance(model, str) and model and model not in found.models:
        found.models.append(model)
    text = text_of(message.get("content"), "\n\n")
    stop = message.get("stopReason")
    trouble = stop if isinstance(stop, str) and stop in ("error", "aborted", "length") else ""
    images = _images(message.get("content"))
    if text.strip() or trouble or images:
        reason = message.get("errorMessage")
        found.replies.append(
            MessageText(index, text, images, trouble, reason if isinstance(reason, str) and trouble else "")
        )
    for block in blocks_of(message.get("content")):
        if block.get("type") == "thinking":
            thought = block.get("thinking")
            if block.get("redacted") or not isinstance(thought, str) or not thought.strip():
                found.redacted += 1
            else:
                found.thoughts.append(MessageText(index, thought))
    for call in tool_calls(message):
        step = Step(call, index, ran=did_run(message))
        found.steps.append(step)
        waiting[call.id] = step
    _unknown(found, index, message.get("content"))


def _result(
    found: Gathered, waiting: dict[str, Step], session: Session, index: EntryIndex, body: Body
) -> None:
    message = body.get("message")
    message = message if isinstance(message, dict) else {}
    call_id = message.get("toolCallId")
    step = waiting.pop(str(call_id), None)
    if step is None:
        call = call_of(session, index, call_id)
        name = str(message.get("toolName") or "tool")
        step = Step(call or ToolCall(str(call_id), name, {}), index if call is None else NO_ENTRY)
        found.steps.append(step)
    step.result = body
    step.result_entry = index
    step.table = found.tools
    _unknown(found, index, message.get("content"))


_AMONG_RESULTS = frozenset({Kind.TOOL_RESULT, *BOOKKEEPING})
"""Kinds that may stand between a reply and the last result of its calls."""


def _complete(waiting: dict[str, Step], session: Session, reply: int) -> None:
    """Finds the results of a reply's calls below it, on every branch: calls made together have a row each."""
    tree, kinds = session.tree, session.columns.kind
    below = deque(tree.children(reply))
    for _ in range(_FAR_DOWN):
        if not waiting or not below:
            return
        index = below.popleft()
        if kinds[index] not in _AMONG_RESULTS:
            continue
        below.extend(tree.children(index))
        body = session.body(index) if kinds[index] == Kind.TOOL_RESULT else None
        message = (body or {}).get("message")
        if isinstance(message, dict):
            step = waiting.pop(str(message.get("toolCallId")), None)
            if step is not None:
                step.result, step.result_entry = body, index


def _images(content: object) -> tuple[Body, ...]:
    return tuple(block for block in blocks_of(content) if block.get("type") == "image")


def _unknown(found: Gathered, index: EntryIndex, content: object) -> None:
    found.unknown_blocks.extend(
        (index, block) for block in blocks_of(content) if block.get("type") not in KNOWN_BLOCKS
    )
