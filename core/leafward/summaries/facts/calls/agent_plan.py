"""An agent's own task list: calls write it as a whole (`TodoWrite`, `update_plan`), or change it item by item.

A whole list counts from its call on, and is taken back where the call fails. A change of one item counts once its result
confirms it: only the result has the id of a new item, and Claude Code does not mark a failed change as an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.session.entries import Body, EntryIndex, ToolCall, text_of
from leafward.session.headlines.plan_words import CREATED, CREATES
from leafward.session.lines.line_decoding import decode_line
from leafward.summaries.facts.sentences import prose
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.negation import sentence_key
from leafward.summaries.facts.sentences.remaining_work import past_in
from leafward.summaries.facts.values import ANSWERED, DROPPED, FactKind, Sighting, Voice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

CHANGES, LISTS, SHOWS = "TaskUpdate", "TaskList", "TaskGet"
"""Claude Code's other tools for single items."""
READS = "todoread"
"""The tool of opencode and of older versions of Claude Code that prints the list."""
BY_ITEM = frozenset({CREATES, CHANGES, LISTS, SHOWS})
WHOLE = ("todos", "plan", "tasks", "items")
"""Arguments that hold the whole list."""
_WHOLE = frozenset(WHOLE)
_WORDS = ("subject", "content", "step", "text", "title")
_SAID = frozenset({*_WORDS, "description", "activeForm"})
"""Arguments with words in a call for one item; the others are ids, states and names of agents."""
_NO_WORDS = frozenset({"status", "state", "priority", "id"})
_DONE = frozenset({"completed", "done"})
_CANCELLED = frozenset({"cancelled", "canceled", "deleted"})
"""States of items that are off the list: nobody did them."""
_CHANGED = re.compile(r"Updated task #(\S{1,80})")
_LISTED = re.compile(r"(?m)^#(\S{1,80}) \[(\w{1,40})\] (.+)$")
_SHOWN = re.compile(r"Task #(\S{1,80}): (.*)\nStatus: (\w{1,40})")
_EMPTY = "No tasks found"
_NAMES_IT = 2
"""Words that are enough to name an item."""
_PLAN = 3
"""Items from which the list is a plan."""
_BLOCKED = re.compile(r" \[blocked by #[^\[\]]{1,2000}\]$")


class AgentPlanItem(NamedTuple):
    """One item of the list."""

    text: str
    is_open: bool


Items = tuple[tuple[str, AgentPlanItem], ...]
"""The items of a list in order, each with its id."""


class _Asked(NamedTuple):
    call: ToolCall
    entry: EntryIndex
    before: dict[str, AgentPlanItem]
    """The list that a call overwrites."""


class _Keyed(NamedTuple):
    items: dict[str, AgentPlanItem]
    """The list that the others are of."""
    last: dict[str, AgentPlanItem]
    """The last item of each key."""
    open: dict[str, str]


@dataclass(slots=True)
class AgentPlan:
    """The list after the calls read so far."""

    items: dict[str, AgentPlanItem] = field(default_factory=dict)
    """The items by id; by position where they have none."""
    made: bool = False
    """Whether the calls read made items: steps that were only told before give way to them."""
    from_results: bool = False
    """Whether texts of results were read for it: a summariser does not get all of them."""
    _asked: dict[str, _Asked] = field(default_factory=dict)
    _keyed: _Keyed | None = None
    _beginning: dict[str, list[AgentPlanItem]] | None = None
    """The open items by their first words; None where they are not known."""

    @property
    def open(self) -> Mapping[str, str]:
        """The words of the open items, by the key of their fact."""
        return self._by_key().open

    def _by_key(self) -> _Keyed:
        """The items by the keys of their facts: worked out once for a list, which may have thousands of items."""
        if self._keyed is None or self._keyed.items is not self.items:
            keyed = [(sentence_key(item.text), item) for item in self.items.values()]
            left = {key: item.text for key, item in keyed if item.is_open}
            self._keyed = _Keyed(self.items, dict(keyed), left)
        return self._keyed

    @property
    def is_worked_through(self) -> bool:
        """Whether it is a plan of several steps, and none is open."""
        return len(self.items) >= _PLAN and not self.open

    def called(self, call: ToolCall, entry: EntryIndex) -> list[Sighting]:
        """Processes a call; returns the sightings of items in it."""
        if call.name in BY_ITEM:
            self._asked[call.id] = _Asked(call, entry, self.items)
            return []
        written = whole_list(call.arguments)
        if written is None:
            return []
        self._asked[call.id] = _Asked(call, entry, self.items)
        self.made |= bool(written)
        return list(self._become(written, entry, said=written))

    def answered(self, call_id: str, message: Body) -> list[Sighting]:
        """Processes the result of a call; returns the sightings of items in it."""
        asked = self._asked.pop(call_id, None)
        failed = bool(message.get("isError"))
        if asked is None:
            return []
        if asked.call.name in BY_ITEM:
            self.from_results = True
            return [] if failed else list(self._changed(asked, text_of(message.get("content"))))
        if failed:
            return list(self._become(asked.before, asked.entry, failed=True))
        return []

    def shown(self, message: Body, entry: EntryIndex) -> list[Sighting]:
        """Processes the list in a result: that of pi's extension beside its text, that of `todoread` in it."""
        details = message.get("details")
        todos = details.get("todos") if isinstance(details, dict) else None
        if todos is None and str(message.get("toolName")).lower() == READS:
            todos, self.from_results = _printed(text_of(message.get("content"))), True
        if not isinstance(todos, list) or message.get("isError"):
            return []
        return self.reminded(todos, entry) if todos else list(self._become({}, entry))

    def told_done(self, answer: str, entry: EntryIndex) -> Iterator[Sighting]:
        """Ticks the open items that an answer tells as done; yields their sightings."""
        if not self.open:
            return
        if self._beginning is None:
            self._beginning = {}
            for item in self.items.values():
                if item.is_open:
                    verb = next(iter(content_words(item.text)), "")
                    self._beginning.setdefault(verb, []).append(item)
        told = (past for past in map(past_in, prose.sentences(answer)) if past.verbs)
        done = {
            item
            for past in told
            for verb in past.verbs
            for item in self._beginning.get(verb, ())
            if past.tells_done(item.text)
        }
        if done:
            items = {
                key: item._replace(is_open=False) if item in done else item
                for key, item in self.items.items()
            }
            for seen in self._become(items, entry):
                # The agent did not tick it.
                yield seen._replace(outcome=ANSWERED)

    def withdrawn(self, what: str, entry: EntryIndex) -> Iterator[Sighting]:
        """Takes the items off that the user cancels; yields their sightings."""
        words = frozenset(content_words(what))
        left = {
            key: item
            for key, item in self.items.items()
            if not (
                item.is_open
                and words
                and words <= frozenset(said := content_words(item.text))
                and (len(words) >= _NAMES_IT or len(said) <= _NAMES_IT)
            )
        }
        if len(left) < len(self.items):
            yield from self._become(left, entry)

    def reminded(self, todos: object, entry: EntryIndex) -> list[Sighting]:
        """Processes the list as the agent shows it; an empty one may only be hidden."""
        carried = _read(todos) if isinstance(todos, list) else {}
        return list(self._become(carried, entry)) if carried else []

    def _changed(self, asked: _Asked, text: str) -> Iterator[Sighting]:
        """The sightings in the result of a call for one item; items without known words are left out."""
        entry = asked.entry
        if asked.call.name == LISTS:
            rows = _LISTED.findall(text)
            if not rows and text.strip() != _EMPTY:
                return
            items = {
                key: AgentPlanItem(self._named(key, _BLOCKED.sub("", row)), state not in _DONE)
                for key, state, row in rows
                if state not in _CANCELLED
            }
            yield from self._become(items, entry)
        elif asked.call.name == CREATES:
            if (made := CREATED.match(text)) is None or not made[2].strip():
                return
            self.made = True
            yield from self._put(made[1], AgentPlanItem(made[2].strip(), is_open=True), entry, said=True)
        elif asked.call.name == SHOWS:
            if (seen := _SHOWN.match(text)) is None:
                return
            shown = AgentPlanItem(seen[2].strip(), seen[3] not in _DONE)
            yield from self._put(seen[1], shown if seen[3] not in _CANCELLED else None, entry, said=False)
        elif (done := _CHANGED.match(text)) is not None:
            known, given = self.items.get(done[1]), asked.call.arguments
            words, state = given.get("subject"), given.get("status")
            if isinstance(words, str) and words.strip():
                known = AgentPlanItem(words.strip(), known is None or known.is_open)
            if known is None:
                return
            if isinstance(state, str):
                known = known._replace(is_open=state not in _DONE) if state not in _CANCELLED else None
            yield from self._put(done[1], known, entry, said=True)

    def _put(
        self, key: str, item: AgentPlanItem | None, entry: EntryIndex, *, said: bool
    ) -> Iterator[Sighting]:
        """Puts an item into the list, or takes it off where it is None; yields the sightings of that.

        Where no other item has the same words, none of them is looked at: a list may be made of thousands of items one by one.
        """
        before, keyed = self.items.get(key), self._by_key()
        words = [sentence_key(one.text) for one in (before, item) if one is not None]
        if (
            len(keyed.last) < len(self.items)
            or len(set(words)) != 1
            or (before is None and words[0] in keyed.last)
        ):
            items = {**self.items, key: item} if item is not None else dict(self.items)
            if item is None:
                items.pop(key, None)
            yield from self._become(items, entry, said={key: item} if said and item is not None else None)
            return
        (fact,) = set(words)
        self._beginning = None
        keyed.open.pop(fact, None)
        if item is None:
            del self.items[key], keyed.last[fact]
        else:
            self.items[key] = keyed.last[fact] = item
            if item.is_open:
                keyed.open[fact] = item.text
        if not fact:
            return
        if item is not None and (said or before is None or before.is_open != item.is_open):
            yield Sighting(FactKind.TODO, fact, item.text, Voice.AGENT, entry, is_open=item.is_open)
        elif item is None and before is not None and before.is_open:
            yield _dropped(fact, before, entry)

    def _named(self, key: str, row: str) -> str:
        """The words of an item in a row of the list, whose owner may follow in brackets."""
        known = self.items.get(key)
        return known.text if known is not None and row.startswith(known.text) else row.strip()

    def _become(
        self,
        items: Mapping[str, AgentPlanItem],
        entry: EntryIndex,
        *,
        said: Mapping[str, AgentPlanItem] | None = None,
        failed: bool = False,
    ) -> Iterator[Sighting]:
        """Replaces the list; yields sightings of its items, of changed ones, and of those that vanished undone."""
        was = self._by_key().last
        self.items, self._beginning = dict(items), None
        _, now, left = self._by_key()
        told = frozenset((said or {}).values())
        seen = set[str]()
        for item in chain((said or {}).values(), items.values()):
            key = sentence_key(item.text)
            if not key or key in seen:
                continue
            # Of two items with the same words one may be done; then the other is still open.
            is_open = key in left
            if item in told or key not in was or was[key].is_open != is_open:
                seen.add(key)
                text = left.get(key, item.text)
                yield Sighting(FactKind.TODO, key, text, Voice.AGENT, entry, is_open=is_open)
        for key, item in was.items():
            if key and key not in now and (item.is_open or failed):
                yield _dropped(key, item, entry)


def _dropped(key: str, item: AgentPlanItem, entry: EntryIndex) -> Sighting:
    return Sighting(FactKind.TODO, key, item.text, Voice.AGENT, entry, outcome=DROPPED, is_open=False)


def whole_list(arguments: Mapping[str, Any]) -> dict[str, AgentPlanItem] | None:
    """The whole list that a call writes; None where it writes none."""
    if _WHOLE.isdisjoint(arguments):
        return None
    for name in WHOLE:
        value = arguments.get(name)
        if isinstance(value, list) and (not value or (found := _read(value))):
            return found if value else {}
    return None


def changes_plan(call: ToolCall) -> bool:
    """Whether a call is only about the agent's own list."""
    return call.name in BY_ITEM or whole_list(call.arguments) is not None


def words_of(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call without the states and ids of task items, which are nobody's names."""
    if call.name in BY_ITEM:
        return {name: value for name, value in call.arguments.items() if name in _SAID}
    if _WHOLE.isdisjoint(call.arguments):
        return call.arguments
    return {
        name: [_without_state(item) for item in value] if name in WHOLE and isinstance(value, list) else value
        for name, value in call.arguments.items()
    }


def _read(items: Iterable[object]) -> dict[str, AgentPlanItem]:
    found: dict[str, AgentPlanItem] = {}
    for place, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        text = next((item[name] for name in _WORDS if isinstance(item.get(name), str)), "")
        status = str(item.get("status") or "")
        if status not in _CANCELLED and sentence_key(text):
            over = status in _DONE or any(item.get(name) is True for name in ("done", "completed"))
            key = str(item.get("id") or f"at {place}")
            found[f"at {place}" if key in found else key] = AgentPlanItem(text, not over)
    return found


def _printed(text: str) -> object:
    """The list as JSON in a tool's output, which may have other text around it; None where there is none."""
    begin, end = text.find("["), text.rfind("]")
    if not 0 <= begin < end:
        return None
    listed = text[begin : end + 1].encode("utf-8", "surrogatepass")
    return (decode_line(b'{"list":%b}' % listed) or {}).get("list")


def _without_state(item: object) -> object:
    return {key: item[key] for key in item if key not in _NO_WORDS} if isinstance(item, dict) else item
