"""Reads tool calls and their results, and counts how the commands in them ended."""

from __future__ import annotations

from collections import Counter
from itertools import compress, islice
from operator import not_
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.base.late_pattern import late
from leafward.files.running_commands import process_in
from leafward.session.entries import Body, EntryIndex, ToolCall, text_of, tool_calls
from leafward.summaries.facts.calls.agent_plan import BY_ITEM, AgentPlan, words_of
from leafward.summaries.facts.calls.call_arguments import (
    COMMAND_ARGUMENTS,
    NEW_ARGUMENTS,
    OLD_ARGUMENTS,
    PATH_ARGUMENTS,
    TEXT_ARGUMENTS,
    added_text,
    changes_text,
    command_of,
    edits_in,
    first_of,
    is_silent,
    strings_in,
    writes_whole,
)
from leafward.summaries.facts.calls.declarations import declared_in
from leafward.summaries.facts.calls.declined_calls import DECLINED, is_declined
from leafward.summaries.facts.calls.named_folders import folder_of, path_at
from leafward.summaries.facts.calls.outcomes import files_changed_by
from leafward.summaries.facts.calls.placed_texts import (
    PlacedText,
    first_folder,
    in_its_folder,
    placed_texts,
)
from leafward.summaries.facts.calls.printed_errors import was_not_run
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.known_texts import Known
from leafward.summaries.facts.sentences.checklists import checkboxes, is_put_off
from leafward.summaries.facts.sentences.negation import sentence_key
from leafward.summaries.facts.text_facts import TextFacts, new_sighting
from leafward.summaries.facts.values import DROPPED, FactKind, Sighting, Voice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.summaries.facts.sentences.standing_rules import StandingRules
    from leafward.summaries.facts.sentences.told_steps import ToldSteps

_NAME = late(r"[\w$]+")
_MANY = 200
"""Names in one call that are very many."""
_PART = 100
"""Messages whose outputs are given together."""
_LONGEST_PATH = 4096
"""Characters of a path, of which no system takes more."""


class _Call(NamedTuple):
    command: str
    entry: EntryIndex
    silent: bool
    process: str
    """The running process that it writes to or waits for."""
    changes: tuple[str, ...]
    """The files that it changes on success."""
    paths: tuple[str, ...]
    names: tuple[str, ...]
    """The names in it; `paths` has its paths."""
    folder: str | None
    """The folder that its command runs in; None where that is not known."""


class Written(NamedTuple):
    """The text that a call writes into a file."""

    call: str
    """The id of the call."""
    path: str
    """The path as the call has it."""
    names: tuple[str, ...]
    """The names in the lines that are new there."""
    removed: tuple[str, ...]
    """The names that only the replaced text has."""
    declared: tuple[tuple[str, str], ...] = ()
    """Those of `names` that the text declares, each with the line that does."""
    whole: bool = False
    """Whether it is the whole content of the file."""


class CallReader:
    """A reader of the calls of one path and of their results, in order."""

    def __init__(self, texts: TextFacts, plan: AgentPlan, told: ToldSteps, rules: StandingRules) -> None:
        self._texts, self._plan, self._told, self._rules = texts, plan, told, rules
        self._calls: dict[str, _Call] = {}
        self._running: dict[str, _Call] = {}
        """Commands that a result left running, by their process: a later call with its id gets the outcome."""
        self.ran: Counter[str] = Counter()
        """The runs of each command, by its canonical form; a command that was only named or was declined has none."""
        self.passed: Counter[str] = Counter()
        """The number of successful runs of each command."""
        self.failed: Counter[str] = Counter()
        """The number of runs of each command that ended in another way; one that was stopped, or has no result yet, is none."""
        self.folders: dict[str, set[str]] = {}
        """The known folders in which each command ran."""
        self._undecided: dict[str, EntryIndex] = {}
        """The last run of each command of which the result does not tell how it ended: it was stopped, or goes on in the background."""
        self._repeated: set[str] = set()
        """Items of checklists whose words stand under several headings."""
        self.last: Sequence[ToolCall] = ()
        """The calls of the last message."""
        self.written: list[Written] = []
        """The texts that they write."""

    def begin(self, calls: Sequence[ToolCall]) -> None:
        """Begins a message, with its calls."""
        self.last, self.written = calls, []

    def call(self, entry: EntryIndex, call: ToolCall) -> Iterator[Sighting]:
        """The facts of a call."""
        arguments, command = call.arguments, command_of(call.arguments)
        seen = list(self._facts_of(entry, call, command))
        self._told.listed(seen)
        yield from seen
        changes = tuple(files_changed_by(call, self._texts.cwd))
        if changes:
            yield from self._rules.worked(entry, committed=False)
        elif "git commit" in command:
            yield from self._rules.worked(entry, committed=True)
        names = tuple([one.key for one in seen if one.kind is FactKind.IDENTIFIER])
        self._calls[call.id] = _Call(
            command,
            entry,
            _is_silent(call),
            str(arguments.get("session_id", arguments.get("cell_id", ""))),
            changes,
            tuple([one.key for one in seen if one.kind is FactKind.PATH]),
            names,
            first_folder(command, folder_of(call)) if command else None,
        )
        if changes_text(arguments) and (path := first_of(arguments, PATH_ARGUMENTS)):
            self.written.append(_written(call, path, names))

    def _facts_of(self, entry: EntryIndex, call: ToolCall, command: str) -> Iterator[Sighting]:
        arguments, folder, cwd = call.arguments, folder_of(call), self._texts.cwd
        path = first_of(arguments, PATH_ARGUMENTS)
        changes = changes_text(arguments)
        named = len(path) <= _LONGEST_PATH and path
        if named and (key := path_at(path, call.folder, cwd)) not in forms.EVERYWHERE:
            voice = Voice.CHANGED if changes else Voice.CALL
            yield new_sighting((FactKind.PATH, key, path, voice, entry, "", "", True))
        if command:
            key = forms.canonical_command(command)
            if key:
                self.ran[key] += 1
                yield new_sighting((FactKind.COMMAND, key, command, Voice.CALL, entry, "", "", True))
            for part in placed_texts(command, folder):
                seen = self._texts.by_form(part.text, Voice.CALL, entry, numbers=False)
                yield from in_its_folder(seen, part, cwd)
        yield from self._plan.called(call, entry)
        for name, value in words_of(call).items():
            if name in COMMAND_ARGUMENTS or name in PATH_ARGUMENTS:
                continue
            if name == "explanation" and call.name.endswith("update_plan") and isinstance(value, str):
                yield from self._texts.prose(value, Voice.AGENT, entry)
                continue
            for text in strings_in(value):
                if name in TEXT_ARGUMENTS:
                    yield from self._texts.by_form(text, Voice.CODE, entry, numbers=False)
                else:
                    seen = self._texts.by_form(text, Voice.CALL, entry)
                    yield from in_its_folder(seen, PlacedText(text, folder), cwd)
        for file in files_changed_by(call, cwd) if not changes else ():
            yield new_sighting((FactKind.PATH, file, file, Voice.CALL, entry, "", ".", True))
        yield from self._checklist(arguments, entry)

    def _checklist(self, arguments: dict[str, Any], entry: EntryIndex) -> Iterator[Sighting]:
        """Items of checklists that a call writes into a file; an item that it replaces and does not write again is dropped.

        Words that stand under several headings of one text are several items: a later edit does not tell which of them it ticks.
        """
        if not changes_text(arguments):
            return
        for edit in edits_in(arguments):
            for names, dropped in ((OLD_ARGUMENTS, True), (NEW_ARGUMENTS, False)):
                items = [
                    (sentence_key(item), item, is_open, heading)
                    for item, is_open, heading in checkboxes(first_of(edit, names))
                ]
                under: dict[str, str] = {}
                self._repeated.update(
                    key for key, _, _, heading in items if under.setdefault(key, heading) != heading
                )
                for key, item, is_open, heading in items:
                    if key and key not in self._repeated:
                        yield Sighting(
                            FactKind.TODO,
                            key,
                            item,
                            Voice.CODE,
                            entry,
                            outcome=DROPPED if dropped or is_put_off(item) else "",
                            about=heading,
                            is_open=is_open and not dropped,
                        )

    def result(self, entry: EntryIndex, message: Body) -> Iterator[Sighting]:
        """The facts of a result, which tells the outcome of its call."""
        call = self._calls.pop(str(message.get("toolCallId")), None)
        text = text_of(message.get("content"))
        failed = bool(message.get("isError"))
        declined = failed and is_declined(text)
        not_run = failed and was_not_run(text)
        yield from self._plan.answered(str(message.get("toolCallId")), message)
        yield from self._plan.shown(message, entry)
        outcome = ""
        if call is not None and call.process in self._running:
            call = self._running.pop(call.process)
        if call is not None and call.command:
            if (process := process_in(text)) is not None:
                self._running[process] = call
            key = forms.canonical_command(call.command)
            self.ran[key] -= declined or not_run
            if call.folder is not None and not (declined or not_run):
                ran_in = forms.canonical_path(call.folder, self._texts.cwd)
                self.folders.setdefault(key, set()).add(ran_in)
            ended = self._texts.ended(call.command, message, text, call.entry)
            outcome = ended[0].outcome if ended else ""
            if not outcome and not not_run:
                self._undecided[key] = call.entry
            self._count(key, outcome)
            if key:
                yield from ended
            if "wc -l" in call.command:
                yield from self._texts.line_counts(text, entry)
        if call is not None and not failed:
            if call.changes:
                yield from self._told.changed(call.changes, call.names, entry)
            if call.command and outcome in ("", "exit 0"):
                yield from self._told.ran(forms.canonical_command(call.command), call.paths, entry)
        if declined or not_run or (call is not None and call.silent and not failed):
            return
        yield from self._texts.printed(text, entry, failed=failed)

    def shell(self, entry: EntryIndex, message: Body) -> Iterator[Sighting]:
        """The facts of a command that the user ran."""
        command = str(message.get("command") or "")
        code = message.get("exitCode")
        outcome = f"exit {code}" if isinstance(code, int) else ""
        key = forms.canonical_command(command)
        if key:
            self.ran[key] += 1
            self._count(key, outcome)
            yield Sighting(FactKind.COMMAND, key, command, Voice.USER, entry, outcome=outcome)
        yield from self._texts.by_form(command, Voice.USER, entry, numbers=False)
        yield from self._texts.printed(str(message.get("output") or ""), entry, failed=bool(code))

    def unfinished(self) -> dict[str, EntryIndex]:
        """The commands that were started last without a result, or still run, each with the entry that started it."""
        calls = [call for call in (*self._calls.values(), *self._running.values()) if call.command]
        return {forms.canonical_command(call.command): call.entry for call in calls}

    def undecided(self) -> dict[str, EntryIndex]:
        """The commands whose last run may have ended in any way, each with the entry that started that run."""
        return self._undecided | self.unfinished()

    def _count(self, key: str, outcome: str) -> None:
        """Counts a run by its outcome."""
        if outcome == "exit 0":
            self.passed[key] += 1
        elif outcome not in ("", DECLINED):
            self.failed[key] += 1


def outputs_read(messages: Sequence[tuple[EntryIndex, Body]], cwd: str) -> Iterator[Known]:
    """What a `CallReader` finds in the outputs of messages, as far as each output and its call tell it alone; part after part."""
    texts = TextFacts(cwd)
    calls: dict[str, ToolCall] = {}
    told = 0
    for begin in range(0, len(messages), _PART):
        for entry, message in messages[begin : begin + _PART]:
            role = message.get("role")
            if role == "assistant":
                calls.update((call.id, call) for call in tool_calls(message))
            elif role == "toolResult":
                call = calls.get(str(message.get("toolCallId")))
                text, failed = text_of(message.get("content")), bool(message.get("isError"))
                if call is not None and (command := command_of(call.arguments)):
                    texts.ended(command, message, text, entry)
                if failed or call is None or not _is_silent(call):
                    texts.printed(text, entry, failed=failed)
        yield Known(islice(texts.known.items(), told, None))
        told = len(texts.known)


def _is_silent(call: ToolCall) -> bool:
    """Whether the result of a call is not read unless it failed. Those about the agent's own list are read by `AgentPlan`."""
    return call.name in BY_ITEM or is_silent(call.arguments)


def _written(call: ToolCall, path: str, names: tuple[str, ...]) -> Written:
    """What a call with some names in it writes into a file."""
    new = "\n".join(first_of(edit, NEW_ARGUMENTS) for edit in edits_in(call.arguments))
    added = added_text(call.arguments)
    holds_new, holds_added = (_holds(text, len(names)) for text in (new, added))
    there = [holds_new(name.removesuffix("()")) for name in names]
    fresh = tuple(name for name in names if holds_added(name.removesuffix("()")))
    bare = {name.removesuffix("()") for name in fresh}
    return Written(
        call.id,
        path,
        fresh,
        tuple(compress(names, map(not_, there))),
        tuple((name, line) for name, line in declared_in(added) if name in bare) if bare else (),
        writes_whole(call.arguments),
    )


def _holds(text: str, names: int) -> Callable[[str], bool]:
    """Whether a text holds a name, of so many. Of very many most are whole words of it: these are not looked for one by one."""
    if names < _MANY:
        return text.__contains__
    words = frozenset(_NAME.findall(text))
    return lambda name: name in words or name in text
