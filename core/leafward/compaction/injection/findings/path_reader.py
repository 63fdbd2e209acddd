"""Reads the entries of a path one by one and gathers what builders need: files, actions, the last request, compactions, pins."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from leafward.base.globs import base_folder
from leafward.base.late_pattern import late
from leafward.compaction.injection.findings.moved_files import lies_at, move_files
from leafward.compaction.injection.findings.path_findings import (
    PastCompaction,
    PathFile,
    PathUse,
    RecordedAction,
)
from leafward.compaction.injection.values import from_entry
from leafward.files.call_lines import NO_CALL, CallShapes, result_in
from leafward.files.file_names import locate
from leafward.files.shell.moves import may_move
from leafward.files.tool_calls import FileAction, command_text, file_calls, table_of
from leafward.session.entries import NO_ENTRY, Body, EntryIndex, Kind, ToolCall, text_of, tool_calls
from leafward.session.foreign import brief_bodies
from leafward.session.messages import (
    as_typed,
    command_in,
    did_run,
    is_users_call,
    message_in,
    messages_of,
    nested_calls,
    shell_command,
)
from leafward.summaries.facts.calls.declined_calls import said_against
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.forms.spaced_paths import spaced_paths, without

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.compaction.injection.findings.path_findings import Collected
    from leafward.session.session import Session


PUT_IN = frozenset({Kind.CUSTOM_MESSAGE, Kind.INJECTED})
"""Kinds that may hold text typed by a person, in another agent's session."""
_ASSISTANT, _TOOL_RESULT = int(Kind.ASSISTANT), int(Kind.TOOL_RESULT)
_SEARCHES = frozenset({"grep", "find", "glob", "ls", "list"})
"""Tools that search for files: their path is a place, not a file that was read."""
_LOOKED_AT = 20_000
"""Code points of a prompt in which paths are looked for."""
_PROMPTS = 300
"""Number of last prompts in which paths are looked for."""
_COMMAND_LIMIT = 160
_LOST = late(
    r"(?i)\b(?:i (?:don'?t|do not|no longer) (?:have|see|remember) (?:the |any |our )?(?:earlier |previous )?(?:context|conversation|history)"
    r"|(?:can|could) you (?:remind me|repeat)|what were we working on|where did we leave off|which (?:file|task) were we"
    r"|i(?:'ve| have) lost (?:the )?(?:context|thread))"
)
"""Phrases of an agent that has lost its context. A guess, and reported as one."""


@dataclass(slots=True)
class _Call:
    """A call that waits for its result."""

    entry: EntryIndex
    id: str
    uses: list[tuple[str, PathUse, str]]
    text: str
    command: str = ""
    failed: bool = False
    result: EntryIndex = NO_ENTRY


class LateResult(Exception):
    """A result of a call that counted as one without a result in an earlier run: the path has to be read whole."""


class PathReader:
    """Takes in the entries of a path in their order; `settle` and then `add_mentions` end it.

    It can go on from what an earlier run found up to an entry (`stored_findings`): every entry counts in the same way.
    """

    def __init__(self, found: Collected, last: EntryIndex, session: Session) -> None:
        """`last` is the last compaction of the path."""
        self.found = found
        self._table = table_of(session)
        self.last_compaction = last
        self.session = session
        self._calls: list[_Call | tuple[EntryIndex, list[tuple[str, PathUse, str]]]] = []
        self._waiting: dict[str, list[_Call]] = {}
        self._names: dict[tuple[str, bool], str] = {}
        self.prompts: deque[tuple[EntryIndex, str | list[str]]] = deque(maxlen=_PROMPTS)
        """The last prompts, each with its text, or with the paths in it once these are known."""
        self.moves: list[tuple[EntryIndex, str]] = []
        """The paths that commands moved or removed."""
        self.asked: list[EntryIndex] = []
        """The entries that tell the last request: a prompt with a request of its own, then prompts and last replies."""
        self._replied = False
        """Whether the last of these is a reply."""
        self.unanswered: set[str] = set()
        """Calls of an earlier run that have no result yet."""
        self._kinds = session.columns.kind
        self._shapes = CallShapes(self._table)
        self._in_order = sorted(found.path)
        self.shell = ""
        """The shell command in the user's last message."""
        self._unread: list[EntryIndex] = []
        """Replies after the last decoded one; the model is looked up only for the last of them."""

    def needs(self, index: int, line: bytes) -> bool:
        """Takes in a result or a reply from its bytes (`call_lines`); True if it has to be decoded."""
        kind = self._kinds[index]
        if kind == _TOOL_RESULT:
            result = result_in(line)
            return result is None or self.is_needed(index, result[:2])
        if kind != _ASSISTANT or index > self.last_compaction >= 0:
            return True
        parts = self._shapes.one_call(line)
        call = self._shapes.as_call(parts) if parts is not None and parts is not NO_CALL else None
        if call is None or call.name in _SEARCHES:
            return True
        self._unread.append(EntryIndex(index))
        self._worked(EntryIndex(index))
        self._called(EntryIndex(index), [call])
        return False

    def is_needed(self, index: int, outcome: tuple[str, bool] | None) -> bool:
        """Takes in a result that only tells the outcome of a call; True if it has to be decoded.

        In a failed one the user may have said why the call was not allowed.
        """
        if outcome is None or outcome[1]:
            return True
        self._answered(index, outcome[0], failed=False)
        return False

    def read(self, index: EntryIndex, kind: Kind, body: Body) -> None:
        """Takes in one entry of the path."""
        message = body.get("message")
        message = message if isinstance(message, dict) else {}
        if kind is Kind.USER or kind in PUT_IN:
            for one in messages_of(body, kind):
                self.shell = shell_command(one)
                said = as_typed(one)
                if said.get("role") == "user":
                    # A slash command without arguments asks for what the command does.
                    text = text_of(said.get("content"))
                    self._prompt(index, text if text.strip() else command_in(one))
        elif kind is Kind.ASSISTANT:
            self._reply(index, message)
        elif kind is Kind.TOOL_RESULT:
            self._result(index, message)
        elif kind is Kind.BASH:
            command = message.get("command")
            if isinstance(command, str) and command.strip():
                code = message.get("exitCode")
                outcome = "" if not isinstance(code, int) else "failed" if code else "ok"
                self.found.actions.append(RecordedAction(f"user ran {_quoted(command)}", outcome, index, ""))
        elif kind is Kind.COMPACTION:
            self._compaction(index, body)
        elif kind is Kind.BRANCH_SUMMARY:
            self._listed(index, body)

    def _prompt(self, index: EntryIndex, text: str) -> None:
        if not text.strip():
            return
        self.found.prompt, self.found.prompt_entry = text, index
        if self.found.request.is_new(text):
            self.asked.clear()
        self._ask(index, is_reply=False)
        self.found.request.prompted(index, text)
        self.prompts.append((index, text[:_LOOKED_AT]))

    def _ask(self, index: EntryIndex, *, is_reply: bool) -> None:
        """Records an entry that tells the last request; of replies in a row only the last one counts."""
        if is_reply and self._replied and self.asked:
            self.asked.pop()
        self._replied = is_reply
        if self.asked[-1:] != [index]:
            self.asked.append(index)

    def go_on_asked(self, other: PathReader) -> None:
        """Takes over how far another reader is in the last request."""
        self.asked, self._replied = other.asked, other._replied

    def _worked(self, index: EntryIndex) -> None:
        self._ask(index, is_reply=True)
        self.found.request.worked()

    def _reply(self, index: EntryIndex, message: Body) -> None:
        if self._model(message):
            self._unread.clear()
        if index > self.last_compaction >= 0 and self.found.lost_thread is None:
            phrase = _LOST.search(text_of(message.get("content"))[:2_000])
            if phrase is not None:
                self.found.lost_thread = (index, phrase[0])
        if not did_run(message):
            return
        words, calls = text_of(message.get("content")), list(tool_calls(message))
        # An unfinished reply, such as opencode's own summary while its plugins are asked, does not answer yet.
        if is_users_call(message, self.shell):
            # The user ran it: the request before it is unchanged.
            self.shell = ""
        elif calls:
            self._worked(index)
        elif words.strip():
            self._ask(index, is_reply=True)
            self.found.request.replied(words)
        self._called(index, calls)

    def _model(self, message: Body) -> bool:
        """Records the model of a reply; False if the reply names none."""
        model = message.get("model")
        if not isinstance(model, str):
            return False
        self.found.model = model
        return True

    def _called(self, index: EntryIndex, calls: Iterable[ToolCall]) -> None:
        """Takes in the calls of a reply that ran."""
        waiting: dict[str, list[_Call]] = {}
        for call in calls:
            self.found.tools.add(call.name)
            uses = self._uses(call)
            text = command = ""
            if call.name in self._table.shells:
                command = command_text(call, self._table)
                text = f"ran {_quoted(command)}" if command.strip() else ""
            elif call.name in _SEARCHES:
                uses = [*uses, *_places(call.arguments)]
            changed = {
                self._name(path, tidy=self._table.tidies_paths): _PAST[action]
                for path, use, action in uses
                if use in {PathUse.MODIFIED, PathUse.CREATED}
            }
            if changed:
                text = ", ".join(f"{done} {name}" for name, done in changed.items())
            if uses or text:
                made = _Call(index, call.id, uses, text, command)
                self._calls.append(made)
                waiting.setdefault(call.id, []).append(made)
        self._waiting.update(waiting)
        if self.unanswered:
            self.unanswered.difference_update(waiting)

    def _uses(self, call: ToolCall) -> list[tuple[str, PathUse, str]]:
        """The files that a call names, patches or prints by a command, with its action on each."""
        return [(path, _USES[action], action.value) for _, action, path in file_calls(call, self._table)]

    def _result(self, index: EntryIndex, message: Body) -> None:
        self._answered(index, str(message.get("toolCallId")), failed=bool(message.get("isError")))
        uses = [use for call in nested_calls(message) for use in self._uses(call)]
        if uses:
            self._calls.append((index, uses))
        if said := said_against(message):
            self._prompt(index, said)

    def _answered(self, index: int, call_id: str, *, failed: bool) -> None:
        if call_id in self.unanswered:
            raise LateResult(call_id)
        for call in self._waiting.pop(call_id, ()):
            call.result = EntryIndex(index)
            call.failed = failed

    def _compaction(self, index: EntryIndex, body: Body) -> None:
        first = body.get("firstKeptEntryId")
        kept = self.session.columns.index(first) if isinstance(first, str) else NO_ENTRY
        until = kept if 0 <= kept < index else index
        replaced = bisect_left(self._in_order, until)
        stamp = body.get("timestamp")
        self.found.compactions.append(
            PastCompaction(index, stamp if isinstance(stamp, str) else "", replaced)
        )
        self._listed(index, body)
        details = body.get("details")
        ours = details.get("leafward") if isinstance(details, dict) else None
        pins = ours.get("pins") if isinstance(ours, dict) else None
        self.found.pins = tuple(
            (pin, index) for pin in (pins if isinstance(pins, list) else ()) if isinstance(pin, str)
        )

    def _listed(self, index: EntryIndex, body: Body) -> None:
        """Takes in the files listed by a summary."""
        details = body.get("details")
        if not isinstance(details, dict):
            return
        uses: list[tuple[str, PathUse, str]] = []
        for name, use in (("readFiles", PathUse.READ), ("modifiedFiles", PathUse.MODIFIED)):
            listed = details.get(name)
            paths = listed if isinstance(listed, list) else []
            uses += [(path, use, "summary") for path in paths if isinstance(path, str) and path]
        self._calls.append((index, uses))

    def settle(self) -> None:
        """Converts the calls into files and actions, in the order of the path; failed calls touch no files."""
        for reply in reversed(self._unread):
            if self._model(message_in(self.session.body(reply) or {})):
                break
        for call in self._calls:
            if isinstance(call, tuple):
                index, uses = call
                self._use(index, "", uses)
                continue
            if call.text:
                self.found.actions.append(_action(call))
            if not call.failed:
                self._use(call.entry, call.id, call.uses)
            if call.result != NO_ENTRY and not call.failed and may_move(call.command):
                source = from_entry(call.entry, call.id, "command")
                name = partial(self._name, tidy=self._table.tidies_paths)
                moved = move_files(self.found.files, call.command, name, call.entry, source)
                self.moves += [(call.entry, path) for path in moved]
        self._calls.clear()
        self.found.actions.sort(key=lambda action: action.entry)
        self.unanswered.update(self._waiting)

    def actions_in(self, index: EntryIndex) -> list[RecordedAction]:
        """The actions of one entry, without their results. For a reader that took in nothing else."""
        body = (brief_bodies(self.session) or self.session.body)(index)
        if body is not None:
            self.read(index, Kind(self._kinds[index]), body)
        found = [_action(call) for call in self._calls if not isinstance(call, tuple) and call.text]
        found += self.found.actions
        self._calls.clear()
        self.found.actions.clear()
        return found

    def add_mentions(self) -> None:
        """Adds the files that the last prompts mention, behind those that tools touched."""
        files = self.found.files
        for index, names in self.name_prompts():
            for path in names:
                source = from_entry(index, note="text")
                known = files.get(path)
                if known is None:
                    gone = any(entry > index and lies_at(path, moved) for entry, moved in self.moves)
                    files[path] = PathFile(path, PathUse.MENTIONED, index, [source], gone)
                    continue
                known.sources.insert(bisect_right(known.sources, index, key=attrgetter("entry")), source)
                if known.use is PathUse.MENTIONED:
                    known.seq = max(known.seq, index)
        self._settle_mentions()

    def name_prompts(self) -> list[tuple[EntryIndex, list[str]]]:
        """The last prompts, each with the paths in it instead of its text."""
        named = [
            (index, self._named(said) if isinstance(said, str) else said) for index, said in self.prompts
        ]
        self.prompts.clear()
        self.prompts.extend(named)
        return named

    def _named(self, text: str) -> list[str]:
        """The paths in a prompt."""
        for url in forms.urls(text):
            text = text.replace(url.text, " " * len(url.text))
        spaced = list(spaced_paths(text, self.found.cwd))
        named = [*spaced, *forms.paths(without(text, spaced), self.found.cwd)]
        # An `@` in a text marks a file.
        paths = (self._name(form.text, tidy=True) for form in named)
        return [path for path in paths if path and path != "."]

    def _settle_mentions(self) -> None:
        """Merges each mentioned path with the file that a tool touched, if it is the end of exactly one path.

        A mentioned folder is removed if touched files lie in it, as it adds nothing.
        """
        files = self.found.files
        mentioned = [path for path, file in files.items() if file.use is PathUse.MENTIONED]
        # Only what is mentioned is kept of a path: all ends of a long one would take its length squared.
        ends: dict[str, list[str]] = {path.removeprefix("./"): [] for path in mentioned}
        named, folders = {path.rstrip("/") for path in mentioned}, set[str]()
        touched = (path for path, file in files.items() if file.use is not PathUse.MENTIONED)
        for path in touched if mentioned else ():
            stem = path.strip("/")
            while "/" in stem:
                stem = stem.partition("/")[2]
                if stem in ends:
                    ends[stem].append(path)
            folder = path
            while "/" in folder.strip("/"):
                folder = folder.rpartition("/")[0]
                if folder in named:
                    folders.add(folder)
        for path in mentioned:
            whole = ends[path.removeprefix("./")]
            if path.rstrip("/") in folders:
                del files[path]
            elif len(whole) == 1:
                files[whole[0]].sources += files.pop(path).sources

    def _name(self, raw: str, *, tidy: bool) -> str:
        path = self._names.get((raw, tidy))
        if path is None:
            path = self._names[raw, tidy] = locate(raw, self.found.cwd, tidy=tidy)
        return path

    def _use(self, index: EntryIndex, call: str, uses: Iterable[tuple[str, PathUse, str]]) -> None:
        for raw, use, note in uses:
            path = self._name(raw, tidy=self._table.tidies_paths)
            if path == "." or not path:
                continue
            source = from_entry(index, call, note)
            known = self.found.files.get(path)
            if known is None:
                first = PathUse.MODIFIED if use is PathUse.CREATED and note == "summary" else use
                self.found.files[path] = PathFile(path, first, index, [source])
                continue
            known.gone = False
            known.sources.append(source)
            # Overwriting an existing file modifies it.
            use = (
                PathUse.MODIFIED
                if use is PathUse.CREATED and known.use in {PathUse.READ, PathUse.MODIFIED, PathUse.CREATED}
                else use
            )
            if use <= known.use:
                known.use, known.seq = use, index


def _action(call: _Call) -> RecordedAction:
    outcome = ("failed" if call.failed else "ok") if call.result != NO_ENTRY else ""
    return RecordedAction(call.text, outcome, call.entry, call.id, call.command, call.result)


_USES = {FileAction.READ: PathUse.READ, FileAction.WRITE: PathUse.CREATED, FileAction.EDIT: PathUse.MODIFIED}
_PAST = {"write": "wrote", "edit": "edited"}


def _quoted(command: str) -> str:
    """The first line of a command as Markdown code; a line with backticks gets double ones."""
    line = command.strip().split("\n", 1)[0]
    line = line if len(line) <= _COMMAND_LIMIT else line[: _COMMAND_LIMIT - 1] + "…"
    if "`" not in line:
        return f"`{line}`"
    return f"`` {line} ``" if "``" not in line else "`" + line.replace("`", "'") + "`"


def _places(arguments: Body) -> list[tuple[str, PathUse, str]]:
    """The folders and files in which a search looked."""
    found = []
    path = arguments.get("path")
    if isinstance(path, str) and path.strip():
        found.append((path, PathUse.MENTIONED, "search"))
    pattern = arguments.get("pattern") or arguments.get("glob")
    base = base_folder(pattern) if isinstance(pattern, str) and "/" in pattern and len(pattern) < 500 else ""
    if base and not any(char in base for char in "^$\\|()"):
        found.append((base, PathUse.MENTIONED, "search"))
    return found
