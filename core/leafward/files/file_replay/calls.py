"""Values of calls and results that replaying a step needs, read again where the step does not hold them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from leafward.files.file_replay.steps import ReplayStep, by_command, requests_in
from leafward.files.file_request import Proof
from leafward.files.printed_files import files_read
from leafward.files.reads import Shown, numbered_lines, printed, shown
from leafward.files.shell.exit_evidence import complains, stayed
from leafward.files.shell.lexer import simple_words
from leafward.files.tool_calls import command_in, table_of
from leafward.session.command_text import script_of
from leafward.session.entries import NO_ENTRY, Body, Kind, ToolCall, blocks_of, text_of, tool_calls
from leafward.session.messages import nested_calls

if TYPE_CHECKING:
    from leafward.files.file_request import FileRequest
    from leafward.files.tool_calls import ToolTable
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


class Calls:
    """Calls and results of a session, decoded when a step needs them."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.table: ToolTable = table_of(session)
        self._last: tuple[EntryIndex, dict[str, list[ToolCall]]] | None = None

    def _message(self, entry: int) -> Body:
        body = self.session.body(entry) if entry != NO_ENTRY else None
        message = body.get("message") if body is not None else None
        return message if isinstance(message, dict) else {}

    def _call(self, step: ReplayStep) -> ToolCall | None:
        if self._last is None or self._last[0] != step.entry:
            message = self._message(step.entry)
            made = tool_calls(message) if message.get("role") == "assistant" else nested_calls(message)
            by_id = defaultdict(list)
            for call in made:
                by_id[call.id].append(call)
            self._last = step.entry, by_id
        return next(iter(self._last[1].get(step.call_id, ())), None)

    def request_of(self, step: ReplayStep) -> FileRequest | None:
        """The request of a step's call; None where the call is missing, or asks for less than the step tells."""
        if self.session.columns.kind[step.entry] == Kind.BASH:
            made = by_command(self._message(step.entry).get("command"))
        else:
            call = self._call(step)
            made = requests_in(call, self.table) if call is not None else []
        return made[step.order] if step.order < len(made) else None

    def before(self, step: ReplayStep) -> str | None:
        """The whole content before an edit; None where its result does not have it."""
        details = self._message(step.result).get("details")
        before = details.get("before") if isinstance(details, dict) else None
        return before if isinstance(before, str) else None

    def tools_of(self, step: ReplayStep) -> ToolTable:
        """The tools of the agent that made the call of a step."""
        call = self._call(step)
        return self.table.part_of(call) if call is not None else self.table.own

    def diff(self, step: ReplayStep) -> str:
        """The unified diff in the result of an edit; empty where it has none."""
        details = self._message(step.result).get("details")
        patch = details.get("patch") if isinstance(details, dict) else None
        return patch if isinstance(patch, str) else ""

    def created(self, step: ReplayStep) -> bool:
        """Whether the result of a write tells that the file is new."""
        details = self._message(step.result).get("details")
        return isinstance(details, dict) and details.get("exists") is False

    def left(self, step: ReplayStep, text: str) -> str:
        """The text that a write left.

        A byte order mark that the file had may be written before its text again (Claude Code 2.1.330).
        """
        details = self._message(step.result).get("details")
        marked = isinstance(details, dict) and details.get("marked") is True
        return f"\ufeff{text}" if marked and not text.startswith("\ufeff") else text

    def output(self, step: ReplayStep) -> str:
        """The output of a command, as far as its result has it."""
        message = self._message(step.result)
        output = message.get("output") if step.result == step.entry else text_of(message.get("content"))
        return output if isinstance(output, str) else ""

    def proven(self, step: ReplayStep) -> bool:
        """Whether the output shows that a part of a script was done."""
        return step.proof > Proof.NONE and not complains(self.output(step))

    def stayed(self, step: ReplayStep) -> bool:
        """Whether the output shows that a script could not go to a folder."""
        return stayed(self.output(step))

    def noticed(self, step: ReplayStep) -> list[Shown]:
        """The lines of a file that an agent's notice of a change shows."""
        body = self.session.body(step.entry) or {}
        return numbered_lines(text_of(body.get("content")))

    def shown(self, step: ReplayStep) -> Shown | None:
        """The lines of a file that a read shows; None where its result does not tell them."""
        message = self._message(step.result)
        if self.session.columns.kind[step.entry] == Kind.BASH:
            output = message.get("output")
            return self._printed(message.get("command"), output) if isinstance(output, str) else None
        call = self._call(step)
        if call is None or step.result == step.entry:
            return None
        content = message.get("content")
        if any(block.get("type") == "image" for block in blocks_of(content)):
            return None
        text = text_of(content)
        if step.inferred:
            return self._printed(command_in(call, self.table) or call.arguments.get("command"), text)
        return shown(text, call.arguments, self.table.part_of(call).read_form)

    def _printed(self, command: object, text: str) -> Shown | None:
        names = files_read(command)
        script = script_of(command)
        if len(names) != 1 or script is None:
            return None
        words = simple_words(script)
        return printed(words, text, self.table.shell_form) if words and words[-1] == names[0] else None
