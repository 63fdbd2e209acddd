"""Reads the facts from messages, one after the other: a tool's result tells the outcome of the call before it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.session.entries import (
    LISTED,
    NO_ENTRY,
    PUT_IN,
    Body,
    EntryIndex,
    blocks_of,
    text_of,
    tool_calls,
)
from leafward.session.injected_block import split_enclosed
from leafward.session.messages import as_typed
from leafward.summaries.facts.call_reader import CallReader
from leafward.summaries.facts.calls.agent_plan import AgentPlan
from leafward.summaries.facts.calls.declined_calls import said_against
from leafward.summaries.facts.calls.printed_errors import error_key
from leafward.summaries.facts.forms.file_lists import with_whole_paths
from leafward.summaries.facts.memory_citation import without_citation
from leafward.summaries.facts.request_reader import RequestReader
from leafward.summaries.facts.sentences.replies import reports
from leafward.summaries.facts.sentences.standing_rules import StandingRules
from leafward.summaries.facts.sentences.told_steps import ToldSteps
from leafward.summaries.facts.text_facts import TextFacts
from leafward.summaries.facts.values import FactKind, Sighting, Voice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.summaries.facts.calls.agent_plan import Items
    from leafward.summaries.facts.known_texts import Known

_SAID = frozenset(
    {
        *("subagent-prompt", "subagent_notification", "task-notification", "subtask", "shell"),
        *("bash-input", "bash-stdout", "bash-stderr", "user_shell_command", "agent_message"),
    }
)
"""Injected messages that carry speech or output."""


class FactReader:
    """A reader of facts in the messages of one path, in order.

    Only speech, actions and output are read; contents of files that a tool showed are left out, because they are still in
    the files.
    """

    def __init__(self, cwd: str = "", known: Known | None = None, plan: Items = ()) -> None:
        """A reader for the messages of one folder; `plan` is the agent's own task list before the first.

        Readers of the same folder share `known`: each text is read once for all.
        """
        self.texts = TextFacts(cwd, known)
        """The reader of single texts."""
        self.plan = AgentPlan(dict(plan))
        """The agent's own task list."""
        # It holds the reader of texts, not this one: in a reference cycle everything read would wait for the garbage collector.
        self.told = ToldSteps(partial(self.texts.named, voice=Voice.TOLD, entry=NO_ENTRY))
        """The told steps, and the work on them."""
        self.rules = StandingRules()
        means = self.texts, self.plan, self.told, self.rules
        self.calls = CallReader(*means)
        self.requests = RequestReader(*means)

    def earlier(self, summary: str, entry: EntryIndex) -> list[Sighting]:
        """The facts of the summary before the next message."""
        found = self.texts.prose(with_whole_paths(summary), Voice.TOLD, entry) if summary else []
        self.told.tell(found)
        self.told.listed(found)
        return found

    def read(self, entry: EntryIndex, message: Body) -> list[Sighting]:
        """The facts of one message, one sighting for each occurrence."""
        message = without_citation(as_typed(message))
        role = message.get("role")
        self.calls.begin(tool_calls(message) if role == "assistant" else ())
        if role == "user":
            return self.requests.read(entry, text_of(message.get("content")))
        if role == "custom":
            return self._put_in(entry, message)
        if role == "assistant":
            return list(self._reply(entry, message))
        if role == "toolResult":
            found = list(self.calls.result(entry, message))
            said = said_against(message)
            return [*found, *self.requests.read(entry, said)] if said else found
        if role == "bashExecution":
            return list(self.calls.shell(entry, message))
        if role == "branchSummary":
            # Decisions and open work of an abandoned branch belong to that branch.
            found = self.texts.prose(split_enclosed(str(message.get("summary") or ""))[0], Voice.TOLD, entry)
            return [one for one in found if one.kind not in (FactKind.DECISION, FactKind.TODO)]
        if role == "compactionSummary":
            return self.earlier(split_enclosed(str(message.get("summary") or ""))[0], entry)
        return []

    def _put_in(self, entry: EntryIndex, message: Body) -> list[Sighting]:
        name = message.get(PUT_IN)
        if name is not None and LISTED in message:
            return self.plan.reminded(message[LISTED], entry)
        # An agent's own additions (instructions, lists of skills, reminders) return with the next prompt.
        is_said = name is None or str(name).rpartition(".")[2] in _SAID
        return self.texts.prose(text_of(message.get("content")) if is_said else "", Voice.TOLD, entry)

    def _reply(self, entry: EntryIndex, message: Body) -> Iterator[Sighting]:
        calls = self.calls.last
        whole = text_of(message.get("content"))
        words = whole.rstrip("*_ )\n")
        waits = words.endswith(("?", "？")) and not reports(words)
        is_answer = bool(words) and not waits and not calls
        self.requests.replied(words, is_answer=is_answer)
        if is_answer:
            yield from self.told.answered(entry)
            yield from self.plan.told_done(whole, entry)
            self.rules.answered()
        if calls:
            self.told.worked()
            self.rules.called()
        for block in blocks_of(message.get("content")):
            kind = block.get("type")
            text = block.get(kind) if kind in ("text", "thinking") else None
            if isinstance(text, str):
                yield from self._spoken(entry, text, thought=kind == "thinking")
        for call in calls:
            yield from self.calls.call(entry, call)
        error = message.get("errorMessage")
        if isinstance(error, str) and error:
            yield Sighting(FactKind.ERROR, error_key(error), _first_line(error), Voice.OUTPUT, entry)

    def _spoken(self, entry: EntryIndex, text: str, *, thought: bool) -> Iterator[Sighting]:
        """The facts of one text of a reply."""
        said = self.texts.prose(text, Voice.THOUGHT if thought else Voice.AGENT, entry)
        final = not self.calls.last
        self.told.tell(said, final=final)
        if final and not thought:
            asks = text.rstrip("*_ )\n").endswith(("?", "？"))
            (self.told.offer if asks else self.told.leave)(said)
        self.told.listed(said)
        yield from said
        if not thought:
            yield from self.told.seen_done(text, entry)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")[:300]
