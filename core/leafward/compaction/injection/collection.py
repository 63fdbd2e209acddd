"""Collects everything that builders need of a path, in one reading: files, the last prompt, actions, compactions, pins.

Only entries on the path count. Files of other branches count if a branch summary on the path lists them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.gc_pause import gc_paused
from leafward.base.globs import base_folder
from leafward.compaction.injection.action_outcomes import read_outcomes
from leafward.compaction.injection.moved_files import move_files
from leafward.compaction.injection.path_findings import (
    Collected,
    PastCompaction,
    PathFile,
    PathUse,
    RecordedAction,
)
from leafward.compaction.injection.values import from_entry
from leafward.files.call_lines import NO_CALL, CallShapes, result_in
from leafward.files.file_names import locate
from leafward.files.shell.moves import may_move
from leafward.files.tool_calls import FileAction, ToolTable, command_text, file_calls, table_of
from leafward.session.entries import NO_ENTRY, Body, EntryIndex, Kind, ToolCall, text_of, tool_calls
from leafward.session.foreign import brief_bodies, outcomes
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
from leafward.summaries.facts import forms
from leafward.summaries.facts.spaced_paths import spaced_paths, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.session.session import Session


_KINDS = frozenset(
    {Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH, Kind.COMPACTION, Kind.BRANCH_SUMMARY}
)
_PUT_IN = frozenset({Kind.CUSTOM_MESSAGE, Kind.INJECTED})
"""Kinds that may hold text typed by a person, in another agent's session."""
_ASSISTANT, _TOOL_RESULT = int(Kind.ASSISTANT), int(Kind.TOOL_RESULT)
_SEARCHES = frozenset({"grep", "find", "glob", "ls", "list"})
"""Tools that search for files: their path is a place, not a file that was read."""
_LOOKED_AT = 20_000
"""Code points of a prompt in which paths are looked for."""
_PROMPTS = 300
"""Number of last prompts in which paths are looked for."""
_COMMAND_LIMIT = 160
_LAST_MILLISECOND = 4_102_444_800_000
"""The beginning of the year 2100, in milliseconds since 1970."""
_LOST = re.compile(
    r"(?i)\b(?:i (?:don'?t|do not|no longer) (?:have|see|remember) (?:the |any |our )?(?:earlier |previous )?(?:context|conversation|history)"
    r"|(?:can|could) you (?:remind me|repeat)|what were we working on|where did we leave off|which (?:file|task) were we"
    r"|i(?:'ve| have) lost (?:the )?(?:context|thread))"
)
"""Phrases of an agent that has lost its context. A guess, and reported as one."""


def utc_time(text: object) -> datetime | None:
    """An ISO 8601 time, in UTC if it has no zone, or milliseconds since 1970; None for anything else."""
    if isinstance(text, datetime):
        return text if text.tzinfo is not None else text.replace(tzinfo=UTC)
    if isinstance(text, (int, float)) and not isinstance(text, bool) and 0 < text < _LAST_MILLISECOND:
        return datetime.fromtimestamp(text / 1000, UTC)
    if not isinstance(text, str) or len(text) > 40:
        return None
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def collect(
    session: Session,
    at: int,
    stop: Callable[[], bool] = lambda: False,
    entries: Iterable[int] | None = None,
) -> Collected:
    """Reads the path to an entry once, or only the given entries of it. Once `stop` returns true, returns what was found so far."""
    found = Collected(EntryIndex(at), session.cwd, session.id)
    if entries is None:
        entries = session.tree.path(at) if at >= 0 else ()
    found.path = [EntryIndex(index) for index in entries]
    kinds = session.columns.kind
    last = max((index for index in found.path if kinds[index] == Kind.COMPACTION), default=NO_ENTRY)
    reader = _Reader(found, table_of(session), last, session)
    read_kinds = _KINDS if session.is_native else _KINDS | _PUT_IN
    spoken: Iterable[EntryIndex] = [index for index in found.path if kinds[index] in read_kinds]
    told = outcomes(session)
    if told is not None:
        spoken = (
            index
            for index in spoken
            if kinds[index] != Kind.TOOL_RESULT or reader.is_needed(index, told(index))
        )
    brief = brief_bodies(session)
    bodies: Iterable[tuple[EntryIndex, Body | None]] = (
        session.bodies(spoken, reader.needs) if brief is None else ((index, brief(index)) for index in spoken)
    )
    with gc_paused():
        for index, body in bodies:
            if stop():
                break
            if body is not None:
                reader.read(index, Kind(kinds[index]), body)
    reader.finish()
    read_outcomes(found.actions, session)
    found.time = _time(session, found.path)
    return found


def _time(session: Session, path: list[EntryIndex]) -> datetime | None:
    for index in reversed(path[-64:]):
        time = utc_time((session.body(index) or {}).get("timestamp"))
        if time is not None:
            return time
    return None


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


class _Reader:
    def __init__(self, found: Collected, table: ToolTable, last: EntryIndex, session: Session) -> None:
        self._found = found
        self._table = table
        self._last_compaction = last
        self._session = session
        self._calls: list[_Call | tuple[EntryIndex, list[tuple[str, PathUse, str]], bool]] = []
        self._waiting: dict[str, list[_Call]] = {}
        self._names: dict[tuple[str, bool], str] = {}
        self._prompts: deque[tuple[EntryIndex, int, str]] = deque(maxlen=_PROMPTS)
        self._kinds = session.columns.kind
        self._shapes = CallShapes(table)
        self._in_order = sorted(found.path)
        self._shell = ""
        """The shell command in the user's last message."""
        self._unread: list[EntryIndex] = []
        """Replies after the last decoded one; the model is looked up only for the last of them."""

    def needs(self, index: int, line: bytes) -> bool:
        """Takes in a result or a reply from its bytes (`call_lines`); True if it has to be decoded."""
        kind = self._kinds[index]
        if kind == _TOOL_RESULT:
            result = result_in(line)
            if result is not None:
                self._answered(index, result[0], failed=result[1])
            return result is None
        if kind != _ASSISTANT or index > self._last_compaction >= 0:
            return True
        parts = self._shapes.one_call(line)
        call = self._shapes.as_call(parts) if parts is not None and parts is not NO_CALL else None
        if call is None or call.name in _SEARCHES:
            return True
        self._unread.append(EntryIndex(index))
        self._found.request.worked()
        self._called(EntryIndex(index), [call])
        return False

    def is_needed(self, index: int, outcome: tuple[str, bool] | None) -> bool:
        """Takes in a result that only tells the outcome of a call; True if it has to be decoded."""
        if outcome is not None:
            self._answered(index, outcome[0], failed=outcome[1])
        return outcome is None

    def read(self, index: EntryIndex, kind: Kind, body: Body) -> None:
        """Takes in one entry of the path."""
        message = body.get("message")
        message = message if isinstance(message, dict) else {}
        if kind is Kind.USER or kind in _PUT_IN:
            for one in messages_of(body, kind):
                self._shell = shell_command(one)
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
                self._found.actions.append(RecordedAction(f"user ran {_quoted(command)}", outcome, index, ""))
        elif kind is Kind.COMPACTION:
            self._compaction(index, body)
        elif kind is Kind.BRANCH_SUMMARY:
            self._listed(index, body)

    def _prompt(self, index: EntryIndex, text: str) -> None:
        if not text.strip():
            return
        self._found.prompt, self._found.prompt_entry = text, index
        self._found.request.prompted(index, text)
        self._prompts.append((index, len(self._calls), text[:_LOOKED_AT]))
        self._calls.append((index, [], False))

    def _reply(self, index: EntryIndex, message: Body) -> None:
        if self._model(message):
            self._unread.clear()
        if index > self._last_compaction >= 0 and self._found.lost_thread is None:
            phrase = _LOST.search(text_of(message.get("content"))[:2_000])
            if phrase is not None:
                self._found.lost_thread = (index, phrase[0])
        if not did_run(message):
            return
        words, calls = text_of(message.get("content")), list(tool_calls(message))
        # An unfinished reply, such as opencode's own summary while its plugins are asked, does not answer yet.
        if is_users_call(message, self._shell):
            # The user ran it: the request before it is unchanged.
            self._shell = ""
        elif calls:
            self._found.request.worked()
        elif words.strip():
            self._found.request.replied(words)
        self._called(index, calls)

    def _model(self, message: Body) -> bool:
        """Records the model of a reply; False if the reply names none."""
        model = message.get("model")
        if not isinstance(model, str):
            return False
        self._found.model = model
        return True

    def _called(self, index: EntryIndex, calls: Iterable[ToolCall]) -> None:
        """Takes in the calls of a reply that ran."""
        waiting: dict[str, list[_Call]] = {}
        for call in calls:
            self._found.tools.add(call.name)
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

    def _uses(self, call: ToolCall) -> list[tuple[str, PathUse, str]]:
        """The files that a call names, patches or prints by a command, with its action on each."""
        return [(path, _USES[action], action.value) for _, action, path in file_calls(call, self._table)]

    def _result(self, index: EntryIndex, message: Body) -> None:
        self._answered(index, str(message.get("toolCallId")), failed=bool(message.get("isError")))
        uses = [use for call in nested_calls(message) for use in self._uses(call)]
        if uses:
            self._calls.append((index, uses, True))

    def _answered(self, index: int, call_id: str, *, failed: bool) -> None:
        for call in self._waiting.pop(call_id, ()):
            call.result = EntryIndex(index)
            call.failed = failed

    def _compaction(self, index: EntryIndex, body: Body) -> None:
        first = body.get("firstKeptEntryId")
        kept = self._session.columns.index(first) if isinstance(first, str) else NO_ENTRY
        until = kept if 0 <= kept < index else index
        replaced = bisect_left(self._in_order, until)
        stamp = body.get("timestamp")
        self._found.compactions.append(
            PastCompaction(index, stamp if isinstance(stamp, str) else "", replaced)
        )
        self._listed(index, body)
        details = body.get("details")
        ours = details.get("leafward") if isinstance(details, dict) else None
        pins = ours.get("pins") if isinstance(ours, dict) else None
        self._found.pins = tuple(
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
        self._calls.append((index, uses, True))

    def finish(self) -> None:
        """Converts the calls into files and actions, in the order of the path; failed calls touch no files."""
        for reply in reversed(self._unread):
            if self._model(message_in(self._session.body(reply) or {})):
                break
        for index, place, text in self._prompts:
            for url in forms.urls(text):
                text = text.replace(url.text, " " * len(url.text))
            spaced = list(spaced_paths(text, self._found.cwd))
            named = [*spaced, *forms.paths(without(text, spaced), self._found.cwd)]
            paths = [(form.text, PathUse.MENTIONED, "text") for form in named]
            self._calls[place] = (index, paths, False)
        for call in self._calls:
            if isinstance(call, tuple):
                index, uses, by_tool = call
                self._use(index, "", uses, by_tool=by_tool)
                continue
            if call.text:
                outcome = ("failed" if call.failed else "ok") if call.result != NO_ENTRY else ""
                self._found.actions.append(
                    RecordedAction(call.text, outcome, call.entry, call.id, call.command, call.result)
                )
            if not call.failed:
                self._use(call.entry, call.id, call.uses, by_tool=True)
            if call.result != NO_ENTRY and not call.failed and may_move(call.command):
                source = from_entry(call.entry, call.id, "command")
                name = partial(self._name, tidy=self._table.tidies_paths)
                move_files(self._found.files, call.command, name, call.entry, source)
        self._found.actions.sort(key=lambda action: action.entry)
        self._settle_mentions()

    def _settle_mentions(self) -> None:
        """Merges each mentioned path with the file that a tool touched, if it is the end of exactly one path.

        A mentioned folder is removed if touched files lie in it, as it adds nothing.
        """
        files = self._found.files
        touched = [path for path, file in files.items() if file.use is not PathUse.MENTIONED]
        ends: dict[str, list[str]] = {}
        folders: set[str] = set()
        for path in touched:
            stem = path.strip("/")
            while "/" in stem:
                folder, _, stem = stem.partition("/")
                ends.setdefault(stem, []).append(path)
            folder = path
            while "/" in folder.strip("/"):
                folder = folder.rpartition("/")[0]
                folders.add(folder)
        for path in [path for path, file in files.items() if file.use is PathUse.MENTIONED]:
            whole = ends.get(path.removeprefix("./"), [])
            if path.rstrip("/") in folders:
                del files[path]
            elif len(whole) == 1:
                files[whole[0]].sources += files.pop(path).sources

    def _name(self, raw: str, *, tidy: bool) -> str:
        path = self._names.get((raw, tidy))
        if path is None:
            path = self._names[raw, tidy] = locate(raw, self._found.cwd, tidy=tidy)
        return path

    def _use(
        self, index: EntryIndex, call: str, uses: Iterable[tuple[str, PathUse, str]], *, by_tool: bool
    ) -> None:
        for raw, use, note in uses:
            # An `@` in a text marks a file.
            path = self._name(raw, tidy=self._table.tidies_paths or note == "text")
            if path == "." or not path:
                continue
            source = from_entry(index, call, note)
            known = self._found.files.get(path)
            if known is None:
                first = PathUse.MODIFIED if use is PathUse.CREATED and note == "summary" else use
                self._found.files[path] = PathFile(path, first, index, [source], by_tool)
                continue
            known.by_tool = known.by_tool or by_tool
            known.gone = known.gone and not by_tool
            known.sources.append(source)
            # Overwriting an existing file modifies it.
            use = (
                PathUse.MODIFIED
                if use is PathUse.CREATED and known.use in {PathUse.READ, PathUse.MODIFIED, PathUse.CREATED}
                else use
            )
            if use <= known.use:
                known.use, known.seq = use, index


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
