"""Reads the facts from messages, one after the other: a tool's result tells the outcome of the call before it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import compress
from operator import not_
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.base.late_pattern import late
from leafward.files.running_commands import process_in
from leafward.session.entries import (
    LISTED,
    NO_ENTRY,
    PUT_IN,
    Body,
    EntryIndex,
    ToolCall,
    blocks_of,
    text_of,
    tool_calls,
)
from leafward.session.injected_block import split_enclosed
from leafward.session.messages import as_typed
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
from leafward.summaries.facts.calls.outcomes import files_changed_by
from leafward.summaries.facts.calls.printed_errors import (
    DECLINED,
    UNTOLD,
    error_key,
    is_declined,
    outcome_of,
    reason_in,
    was_not_run,
)
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.memory_citation import without_citation
from leafward.summaries.facts.sentences import demands, pasting, prose, responses
from leafward.summaries.facts.sentences.checklists import checkboxes, is_put_off
from leafward.summaries.facts.sentences.negation import sentence_key
from leafward.summaries.facts.sentences.replies import reports
from leafward.summaries.facts.sentences.standing_rules import StandingRules, ends_with_answer
from leafward.summaries.facts.sentences.told_steps import ToldSteps
from leafward.summaries.facts.text_facts import TextFacts, new_sighting
from leafward.summaries.facts.values import ANSWERED, DROPPED, FactKind, Reach, Sighting, Voice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from leafward.summaries.facts.calls.agent_plan import Items
    from leafward.summaries.facts.text_facts import Known
    from leafward.summaries.facts.values import Fact

_SAID = frozenset(
    {
        *("subagent-prompt", "subagent_notification", "task-notification", "subtask", "shell"),
        *("bash-input", "bash-stdout", "bash-stderr", "user_shell_command", "agent_message"),
    }
)
"""Injected messages that carry speech or output."""

_WORD = late(r"\w+")
_NAME = late(r"[\w$]+")
_MANY = 200
"""Names in one call that are very many."""
_DEMANDS = late(r"(?i)\W*(?:never|always|do(?:n['’]t| not)|please|only|use|keep|no)\b")
"""The beginning of a sentence that demands something, whoever said it first."""
_LONGEST_PATH = 4096
"""Characters of a path, of which no system takes more."""
_QUOTED = 8
"""Words in a row that nobody types like another by chance."""
_KNOWN_AGAIN = 10
"""Different words that an answer has at least if it is to be known again."""
_AGAIN = 0.7
"""The part of them that it shares then with the next answer, which gives it anew."""


@dataclass(slots=True)
class _Call:
    command: str
    entry: EntryIndex
    silent: bool
    process: str = ""
    """The running process that it writes to or waits for."""
    changes: tuple[str, ...] = ()
    """The files that it changes on success."""
    paths: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """The names in it; `paths` has its paths."""


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


class FactReader:
    """A reader of facts in the messages of one path, in order.

    Only speech, actions and output are read; contents of files that a tool showed are left out, because they are still in
    the files.
    """

    def __init__(self, cwd: str = "", known: Known | None = None) -> None:
        """A reader for the messages of one folder.

        Readers of the same folder share `known`: each text is read once for all.
        """
        self._cwd = cwd
        self.texts = TextFacts(cwd, known)
        """The reader of single texts."""
        self._calls: dict[str, _Call] = {}
        self._running: dict[str, _Call] = {}
        """Commands that a result left running, by their process: a later call with its id gets the outcome."""
        self.plan = AgentPlan()
        """The agent's own task list."""
        self.ran: Counter[str] = Counter()
        """The runs of each command, by its canonical form; a command that was only named or was declined has none."""
        self.passed: Counter[str] = Counter()
        """The number of successful runs of each command."""
        self.failed: Counter[str] = Counter()
        """The number of runs of each command that ended in another way; one that was stopped, or has no result yet, is none."""
        self._asked_for: dict[tuple[FactKind, str], str] = {}
        """The work and the one-time demands in the requests since the last answer."""
        self._open = NO_ENTRY
        """The last prompt that asks for more than to go on with the work before it."""
        self._ordered = False
        """Whether one of them asks to write something."""
        self._demanded: dict[tuple[FactKind, str], str] = {}
        """The demands of the last request that may have been on the answer before it alone."""
        self._before = ""
        """That answer."""
        self._repeated: set[str] = set()
        """Items of checklists whose words stand under several headings."""
        self._replied = ""
        """The last reply with words."""
        self._is_answered = False
        """Whether the last message is an answer that asks nothing back, or first reports completion."""
        # It holds the reader of texts, not this one: in a reference cycle everything read would wait for the garbage collector.
        self.told = ToldSteps(partial(self.texts.named, voice=Voice.TOLD, entry=NO_ENTRY))
        """The told steps, and the work on them."""
        self.rules = StandingRules()
        self.calls: Sequence[ToolCall] = ()
        """The calls of the last message."""
        self.written: list[Written] = []
        """The texts that they write."""

    def earlier(self, summary: str, entry: EntryIndex, plan: Items = ()) -> list[Sighting]:
        """The facts of the summary before the first message; `plan` is the agent's own list at that time."""
        if plan:
            self.plan = AgentPlan(dict(plan))
        found = self.texts.prose(summary, Voice.TOLD, entry) if summary else []
        self.told.tell(found)
        self.told.listed(found)
        return found

    def read(self, entry: EntryIndex, message: Body) -> list[Sighting]:
        """The facts of one message, one sighting for each occurrence."""
        message = without_citation(as_typed(message))
        role = message.get("role")
        self.calls, self.written = (), []
        if role == "user":
            return self._request(entry, text_of(message.get("content")))
        if role == "custom":
            name = message.get(PUT_IN)
            if name is None:
                return self.texts.prose(text_of(message.get("content")), Voice.TOLD, entry)
            if LISTED in message:
                return self.plan.reminded(message[LISTED], entry)
            kind = str(name).rpartition(".")[2]
            # An agent's own additions (instructions, lists of skills, reminders) return with the next prompt.
            text = text_of(message.get("content")) if kind in _SAID else ""
            return self.texts.prose(text, Voice.TOLD, entry)
        if role == "assistant":
            words = text_of(message.get("content")).rstrip("*_ )\n")
            self._replied = words or self._replied
            waits = words.endswith(("?", "？")) and not reports(words)
            self.calls = calls = tool_calls(message)
            self._is_answered = bool(words) and not waits and not calls
            over = list(self.told.answered(entry)) if self._is_answered else []
            if self._is_answered:
                over += self.plan.told_done(text_of(message.get("content")), entry)
                self.rules.answered()
            if calls:
                self.told.worked()
                self.rules.called()
            return [*over, *self._reply(entry, message, calls)]
        if role == "toolResult":
            return list(self._result(entry, message))
        if role == "bashExecution":
            return list(self._shell(entry, message))
        if role == "branchSummary":
            # Decisions and open work of an abandoned branch belong to that branch.
            found = self.texts.prose(split_enclosed(str(message.get("summary") or ""))[0], Voice.TOLD, entry)
            return [one for one in found if one.kind not in (FactKind.DECISION, FactKind.TODO)]
        if role == "compactionSummary":
            return self.earlier(split_enclosed(str(message.get("summary") or ""))[0], entry)
        return []

    def prose(self, text: str, voice: Voice, entry: EntryIndex) -> list[Sighting]:
        """The facts of a text that somebody wrote."""
        return self.texts.prose(text, voice, entry)

    def _request(self, entry: EntryIndex, text: str) -> list[Sighting]:
        """The facts of a request; work from the request before it counts as done, where that was answered."""
        done: dict[tuple[FactKind, str], str] = {}
        if self._is_answered and not responses.refutes(text):
            done, self._asked_for, self._ordered = self._asked_for | self._met(), {}, False
        closed = [
            Sighting(kind, key, said, Voice.TOLD, entry, outcome=ANSWERED, is_open=False)
            for (kind, key), said in done.items()
        ]
        typed = prose.unwrapped(pasting.divided(text)[0])
        own = list(prose.sentences(typed))
        goes_on = responses.keeps_going(typed.strip())
        agreed = goes_on or responses.agrees(typed.strip())
        self.told.asked(agreed=agreed, goes_on=goes_on)
        if any(map(responses.says_it_works, own)):
            closed += self.told.tried(entry)
        for what in filter(None, map(responses.withdrawn, own)):
            closed += [*self.told.withdrawn(what, entry), *self.plan.withdrawn(what, entry)]
        if any(map(responses.drops_steps, own)):
            closed += self.told.turned_away(entry, last=False)
        elif any(map(responses.drops_it, own)):
            closed += self.told.turned_away(entry, last=True)
        closed += self.rules.revoke(own, entry)
        closed += self.rules.begun(typed.strip(), entry)
        found = list(self._not_repeated(self.texts.typed(text, entry)))
        closed += self.rules.set(found, typed, entry)
        self._open = self._open if agreed or self.rules.alone else entry
        self._ordered |= any(map(demands.orders, own))
        self._asked_for |= {
            (one.kind, one.key): one.text
            for one in found
            if one.voice is Voice.USER
            and (
                (one.kind is FactKind.TODO and one.is_open)
                or (
                    one.kind is FactKind.CONSTRAINT
                    and ends_with_answer(one.text, typed, ordered=self._ordered)
                )
            )
        }
        self._is_answered, self._before = False, self._replied
        self._demanded = {
            (one.kind, one.key): one.text
            for one in found
            if one.voice is Voice.USER
            and one.kind is FactKind.CONSTRAINT
            and not demands.is_general(one.text)
        }
        return [*closed, *found]

    def _met(self) -> dict[tuple[FactKind, str], str]:
        """The demands of the last request that were on the answer before it: the reply is that answer again, changed."""
        if not self._demanded:
            return {}
        before, again = (set(_WORD.findall(one.casefold())) for one in (self._before, self._replied))
        fewer = min(len(before), len(again))
        same = fewer >= _KNOWN_AGAIN and len(before & again) >= _AGAIN * fewer
        return self._demanded if same else {}

    def reach_of(self, rule: Fact, *, answered: bool = False) -> Reach:
        """How far a demand of the user's reaches behind the last message; `answered`: later messages answer the last request."""
        met, key = self._is_answered or answered, (rule.kind, rule.key)
        if met and (key in self._asked_for or (self._is_answered and key in self._met())):
            return Reach.OVER
        if self.rules.lasts(rule):
            return Reach.LASTING
        return Reach.OPEN if rule.last >= self._open and not met else Reach.EARLIER

    def _not_repeated(self, sightings: Iterable[Sighting]) -> Iterator[Sighting]:
        """Sightings in a request without sentences of the last reply, repeated to speak about them, that read like rules."""
        replied: str | None = None
        for one in sightings:
            if one.kind is FactKind.CONSTRAINT and not _DEMANDS.match(one.text):
                words = _WORD.findall(one.text.casefold())
                if len(words) >= _QUOTED:
                    replied = (
                        " ".join(_WORD.findall(self._replied.casefold())) if replied is None else replied
                    )
                    if " ".join(words) in replied:
                        continue
            yield one

    def _reply(self, entry: EntryIndex, message: Body, calls: Sequence[ToolCall]) -> Iterator[Sighting]:
        for block in blocks_of(message.get("content")):
            kind = block.get("type")
            text = block.get(kind) if kind in ("text", "thinking") else None
            if isinstance(text, str):
                said = self.texts.prose(text, Voice.AGENT if kind == "text" else Voice.THOUGHT, entry)
                self.told.tell(said, final=not calls)
                if not calls and kind == "text" and text.rstrip("*_ )\n").endswith(("?", "？")):
                    self.told.offer(said)
                elif not calls and kind == "text":
                    self.told.leave(said)
                self.told.listed(said)
                yield from said
                if kind == "text":
                    yield from self.told.seen_done(text, entry)
        for call in calls:
            seen = list(self._call(entry, call))
            self.told.listed(seen)
            yield from seen
            made = self._calls[call.id]
            made.changes = tuple(files_changed_by(call.arguments, self._cwd))
            if made.changes:
                yield from self.rules.worked(entry, committed=False)
            elif "git commit" in made.command:
                yield from self.rules.worked(entry, committed=True)
            made.paths = tuple([one.key for one in seen if one.kind is FactKind.PATH])
            made.names = tuple([one.key for one in seen if one.kind is FactKind.IDENTIFIER])
            if changes_text(call.arguments) and (path := first_of(call.arguments, PATH_ARGUMENTS)):
                new = "\n".join(first_of(edit, NEW_ARGUMENTS) for edit in edits_in(call.arguments))
                added = added_text(call.arguments)
                holds_new, holds_added = (_holds(text, len(made.names)) for text in (new, added))
                there = [holds_new(name.removesuffix("()")) for name in made.names]
                names = tuple(name for name in made.names if holds_added(name.removesuffix("()")))
                bare = {name.removesuffix("()") for name in names}
                self.written.append(
                    Written(
                        call.id,
                        path,
                        names,
                        tuple(compress(made.names, map(not_, there))),
                        tuple((name, line) for name, line in declared_in(added) if name in bare)
                        if bare
                        else (),
                        writes_whole(call.arguments),
                    )
                )
        error = message.get("errorMessage")
        if isinstance(error, str) and error:
            yield Sighting(FactKind.ERROR, error_key(error), _first_line(error), Voice.OUTPUT, entry)

    def _call(self, entry: EntryIndex, call: ToolCall) -> Iterator[Sighting]:
        arguments = call.arguments
        command = command_of(arguments)
        path = first_of(arguments, PATH_ARGUMENTS)
        changes = changes_text(arguments)
        # Calls about the agent's own list are read by `AgentPlan`.
        process = str(arguments.get("session_id", arguments.get("cell_id", "")))
        self._calls[call.id] = _Call(command, entry, call.name in BY_ITEM or is_silent(arguments), process)
        named = len(path) <= _LONGEST_PATH and path
        if named and (key := forms.canonical_path(path, self._cwd)) not in forms.EVERYWHERE:
            voice = Voice.CHANGED if changes else Voice.CALL
            yield new_sighting((FactKind.PATH, key, path, voice, entry, "", "", True))
        if command:
            key = forms.canonical_command(command)
            if key:
                self.ran[key] += 1
                yield new_sighting((FactKind.COMMAND, key, command, Voice.CALL, entry, "", "", True))
            yield from self.texts.by_form(command, Voice.CALL, entry, numbers=False)
        yield from self.plan.called(call, entry)
        for name, value in words_of(call).items():
            if name in COMMAND_ARGUMENTS or name in PATH_ARGUMENTS:
                continue
            if name == "explanation" and call.name.endswith("update_plan") and isinstance(value, str):
                yield from self.texts.prose(value, Voice.AGENT, entry)
                continue
            for text in strings_in(value):
                code = name in TEXT_ARGUMENTS
                yield from self.texts.by_form(
                    text, Voice.CODE if code else Voice.CALL, entry, numbers=not code
                )
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

    def _result(self, entry: EntryIndex, message: Body) -> Iterator[Sighting]:
        call = self._calls.pop(str(message.get("toolCallId")), None)
        text = text_of(message.get("content"))
        failed = bool(message.get("isError"))
        declined = failed and is_declined(text)
        not_run = failed and was_not_run(text)
        yield from self.plan.answered(str(message.get("toolCallId")), message)
        yield from self.plan.shown(message, entry)
        outcome = ""
        if call is not None and call.process in self._running:
            call = self._running.pop(call.process)
        if call is not None and call.command:
            if (process := process_in(text)) is not None:
                self._running[process] = call
            key = forms.canonical_command(call.command)
            self.ran[key] -= declined or not_run
            outcome = DECLINED if declined else outcome_of(text, failed, call.command)
            if outcome == UNTOLD:
                outcome = ""
            self._count(key, outcome)
            if key and outcome:
                yield Sighting(FactKind.COMMAND, key, call.command, Voice.CALL, call.entry, outcome=outcome)
            if "wc -l" in call.command:
                yield from self.texts.line_counts(text, entry)
        if call is not None and not failed:
            if call.changes:
                yield from self.told.changed(call.changes, call.names, entry)
            if call.command and outcome in ("", "exit 0"):
                yield from self.told.ran(forms.canonical_command(call.command), call.paths, entry)
        if declined:
            reason = reason_in(text)
            if reason is not None:
                yield from self.texts.typed(reason, entry)
            return
        if not_run or (call is not None and call.silent and not failed):
            return
        yield from self.texts.printed(text, entry, failed=failed)

    def unfinished(self) -> dict[str, EntryIndex]:
        """The commands that were started last without a result, or still run, each with the entry that started it."""
        calls = [call for call in (*self._calls.values(), *self._running.values()) if call.command]
        return {forms.canonical_command(call.command): call.entry for call in calls}

    def _count(self, key: str, outcome: str) -> None:
        """Counts a run by its outcome."""
        if outcome == "exit 0":
            self.passed[key] += 1
        elif outcome not in ("", DECLINED):
            self.failed[key] += 1

    def _shell(self, entry: EntryIndex, message: Body) -> Iterator[Sighting]:
        command = str(message.get("command") or "")
        code = message.get("exitCode")
        outcome = f"exit {code}" if isinstance(code, int) else ""
        key = forms.canonical_command(command)
        if key:
            self.ran[key] += 1
            self._count(key, outcome)
            yield Sighting(FactKind.COMMAND, key, command, Voice.USER, entry, outcome=outcome)
        yield from self.texts.by_form(command, Voice.USER, entry, numbers=False)
        yield from self.texts.printed(str(message.get("output") or ""), entry, failed=bool(code))


def _holds(text: str, names: int) -> Callable[[str], bool]:
    """Whether a text holds a name, of so many. Of very many most are whole words of it: these are not looked for one by one."""
    if names < _MANY:
        return text.__contains__
    words = frozenset(_NAME.findall(text))
    return lambda name: name in words or name in text


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")[:300]
