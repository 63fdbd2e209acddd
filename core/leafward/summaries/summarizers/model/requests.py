"""The requests that make a summary: computed from the span alone, so that the preview equals what is sent.

No network and no litellm: sizes are our own estimates, prices come from litellm's list as a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe
from leafward.context.estimators import Estimator, text_tokens
from leafward.redaction.redaction import Redactor, named_in
from leafward.session.injected_block import split_enclosed
from leafward.summaries.summarizers.model.addresses import open_remark
from leafward.summaries.summarizers.model.prompts import SYSTEM, RequestPurpose, instructions
from leafward.summaries.summarizers.model.settings import ModelFacts, ModelSettings, facts_of, window_of
from leafward.summaries.summarizers.model.transcript import enclosed, pieces_of
from leafward.summaries.summarizers.outline import PIN_LIMIT, harmless, without_lists
from leafward.summaries.summarizers.summary import Purpose, Span, tokens_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TURN_HEADING = "## Turn in Progress"
"""The heading between the summary of the history and that of the beginning of a split turn."""

_TURN_SHARE = 0.35
"""The largest part of the budget for the beginning of a split turn."""
_LEAST_ANSWER = 4_096
_THINKING = 8_192
"""Tokens of an answer reserved for a model that thinks first."""
_CAREFUL = 0.85
"""The part of the room that is filled: code takes more tokens than estimates from lengths predict."""
_LEAST_PART = 300
"""The smallest budget of one part's summary, in tokens."""
_LEAST_ROOM = 400
"""The smallest material of a request in tokens, however small the window."""
_FOCUS_LIMIT = 1_000
_CUT_OFF = "[the beginning is left out]"


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model, as it is sent."""

    title: str
    """The purpose in a few words."""
    system: str
    prompt: str
    tokens: int
    """The estimated tokens of the request, by script."""
    answer: int
    """The token limit of the answer (`max_tokens`)."""
    later: bool = False
    """Whether it is built from answers to others: its text is not known yet, its size is a bound."""
    budget: int = 0
    """Tokens that the request asks the answer to stay below."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """All requests that a summary would send."""

    requests: tuple[Request, ...]
    tokens: int
    """The tokens of all requests, as they are sent."""
    cost: float | None
    """US dollars if every answer takes its whole budget; None where the price is not known."""
    redacted: Mapping[str, int]
    """Distinct secrets removed, by name."""
    remarks: tuple[str, ...]
    model: str = ""
    base_url: str | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """One request before it becomes text, while it can still be shortened."""

    task: RequestPurpose
    title: str
    items: tuple[str, ...]
    """Messages, or the summaries of parts."""
    budget: int
    """The budget of the summary in tokens."""
    answer: int
    previous: str = ""
    merges: bool = False
    """Whether the items are summaries of parts."""
    place: str = ""
    focus: str = ""
    pins: tuple[str, ...] = ()
    later: bool = False
    system: str = SYSTEM
    wording: str = ""
    """The question in the place of the summary's task; empty for a summary."""

    def request(self) -> Request:
        """The request as text."""
        material = []
        if self.previous:
            material.append(enclosed("EARLIER SUMMARY", self.previous))
        if self.merges:
            numbered = [f"[part {at} of {len(self.items)}]\n{item}" for at, item in enumerate(self.items, 1)]
            material.append(enclosed("SUMMARIES OF PARTS", "\n\n".join(numbered)))
        elif self.items:
            name = "SUMMARY" if self.task is RequestPurpose.SHORTER else "RECORD"
            material.append(enclosed(name, "\n\n".join(self.items)))
        parts = len(self.items) if self.merges else 0
        task = self.wording or instructions(
            self.task, self.budget, parts=parts, place=self.place, focus=self.focus, pins=self.pins
        )
        prompt = "\n\n".join([*material, task])
        return Request(
            self.title,
            self.system,
            prompt,
            _tokens(self.system) + _tokens(prompt),
            self.answer,
            self.later,
            self.budget,
        )

    def shorter(self, part: float) -> tuple[Ask, int]:
        """The request without that part of its items, the oldest ones, and their number.

        The number is 0 where there was only one item, whose beginning was cut off.
        """
        if len(self.items) < 2:
            text = "".join(self.items)
            return replace(self, items=(f"{_CUT_OFF}\n{text[int(len(text) * part) :]}",)), 0
        sizes = [_tokens(item) for item in self.items]
        gone, freed, most = 0, 0, sum(sizes) * part
        while gone < len(sizes) - 1 and freed < most:
            freed += sizes[gone]
            gone += 1
        return replace(self, items=self.items[gone:]), gone


@dataclass(frozen=True, slots=True)
class RequestStage:
    """The requests for one text: a single one, or the parts of a span and the request that merges their summaries."""

    parts: tuple[Ask, ...]
    merge: Ask | None = None
    room: int = 0
    """Tokens of material that fit into one request."""

    def requests(self) -> list[Request]:
        """All of its requests; merges have placeholders of the largest size of the answers."""
        requests = [part.request() for part in self.parts]
        sizes = [part.budget for part in self.parts]
        while self.merge is not None:
            asks = self.merging([_stand_in(size) for size in sizes])
            for ask in asks:
                waiting = tuple(f"(the summary of part {at})" for at in range(1, len(ask.items) + 1))
                request = replace(ask, items=waiting, later=True).request()
                requests.append(replace(request, tokens=ask.request().tokens))
            sizes = [ask.budget for ask in asks]
            if len(asks) == 1:
                break
        return requests

    def merging(self, summaries: Sequence[str]) -> list[Ask]:
        """The requests after the parts: the last one alone, or a round of merges where it would be too long."""
        if self.merge is None:
            return []
        sizes = [_tokens(text) for text in summaries]
        if sum(sizes) <= self.room or len(summaries) <= 2:
            return [replace(self.merge, items=tuple(summaries))]
        groups = _groups(summaries, max(self.room, sum(sizes[:2])))
        if len(groups) == len(summaries):
            # No two fit into one request: the oldest items of a request that is too long will be left out.
            return [replace(self.merge, items=tuple(summaries))]
        budget = max(_LEAST_PART, min(self.merge.budget, self.room // len(groups)))
        return [
            replace(
                self.merge,
                task=RequestPurpose.PART,
                title=f"{self.merge.title} {at} of {len(groups)}",
                items=tuple(group),
                previous="",
                budget=budget,
                place=f"{at} of {len(groups)}",
                pins=(),
            )
            for at, group in enumerate(groups, 1)
        ]


@dataclass(slots=True)
class SummaryWork:
    """Everything that is needed to request a summary."""

    settings: ModelSettings
    facts: ModelFacts | None
    budget: int
    previous: str
    pins: tuple[str, ...]
    redactor: Redactor
    history: RequestStage | None = None
    turn: RequestStage | None = None
    remarks: list[str] = field(default_factory=list)

    @property
    def is_summary(self) -> bool:
        """Whether it requests a summary, rather than the answer to another question."""
        return self.history is None or not self.history.parts[0].wording

    def outgoing(self) -> Outgoing:
        """Its preview."""
        requests = [
            request
            for stage in (self.history, self.turn)
            if stage is not None
            for request in stage.requests()
        ]
        sent = sum(request.tokens for request in requests)
        remark = open_remark(self.settings.base_url)
        costs = [
            self.facts.cost(one.tokens, one.budget) if self.facts is not None else None for one in requests
        ]
        known = [cost for cost in costs if cost is not None]
        return Outgoing(
            tuple(requests),
            sent,
            sum(known) if known and len(known) == len(costs) else None,
            dict(self.redactor.found),
            (*([remark] if remark is not None else []), *self.remarks),
            self.settings.name,
            self.settings.base_url,
        )

    def shortening(self, text: str) -> Ask:
        """The request that shortens a summary to its budget."""
        answer = answer_limit(self.budget, self.settings, self.facts)
        return Ask(RequestPurpose.SHORTER, "shorter", (text,), self.budget * 9 // 10, answer, pins=self.pins)


def answer_limit(budget: int, settings: ModelSettings, facts: ModelFacts | None) -> int:
    """`max_tokens` for a summary of so many tokens: with room for other scripts and thinking, within the model's limit."""
    limit = max(2 * budget, _LEAST_ANSWER) + (_THINKING if facts is not None and facts.reasons else 0)
    if facts is not None and facts.longest_answer:
        limit = min(limit, facts.longest_answer)
    return max(1, min(limit, window_of(settings) // 2))


def work_for(span: Span, budget: int, settings: ModelSettings) -> SummaryWork:
    """The requests for a summary of `span` in at most `budget` tokens."""
    redactor = Redactor(named=named_in(message for _, message in span.messages))
    facts = facts_of(settings.name)
    window = window_of(settings)
    pins = tuple(line for pin in span.pins if (line := harmless(redactor.text(pin), PIN_LIMIT)))
    previous = without_lists(safe(redactor.text(split_enclosed(span.previous)[0]))).strip()
    work = SummaryWork(settings, facts, budget, previous, pins, redactor)
    if budget > window // 3:
        work.remarks.append(f"at most {window // 3:,} tokens: the window of {settings.name} is {window:,}")
        budget = work.budget = window // 3
    focus = safe(redactor.text(span.focus)).strip()[:_FOCUS_LIMIT]
    room_for_pins = sum(tokens_of(pin) + 2 for pin in pins)
    prefix = min(max(0, span.prefix), len(span.messages))
    border = len(span.messages) - prefix
    history = pieces_of(span.messages[:border], redactor)
    turn = pieces_of(span.messages[border:], redactor)
    common = Ask(RequestPurpose.FIRST, "summary", (), budget, 0, focus=focus, pins=pins)
    if turn and (history or previous):
        share = min(_TURN_SHARE, max(0.1, _size(turn) / (_size(turn) + _size(history) + _tokens(previous))))
        turn_budget = max(1, int((budget - room_for_pins) * share))
        work.turn = _stage(
            replace(common, task=RequestPurpose.TURN, title="turn prefix", budget=turn_budget, pins=()),
            turn,
            work,
        )
        common = replace(common, budget=max(1, budget - turn_budget - tokens_of(TURN_HEADING) - 2))
    elif turn:
        task = RequestPurpose.BRANCH if span.purpose is Purpose.BRANCH else RequestPurpose.OPENING
        work.history = _stage(replace(common, task=task, title="turn prefix"), turn, work)
    if history:
        task, title = (RequestPurpose.UPDATE, "update") if previous else (RequestPurpose.FIRST, "history")
        if span.purpose is Purpose.BRANCH:
            task, title = RequestPurpose.BRANCH, "branch"
        work.history = _stage(replace(common, task=task, title=title, previous=previous), history, work)
    return work


def single(
    settings: ModelSettings, redactor: Redactor, title: str, text: str, system: str, wording: str, budget: int
) -> SummaryWork:
    """The request for one answer of at most `budget` tokens about a text, whose secrets are removed here."""
    facts = facts_of(settings.name)
    material = safe(redactor.text(text))
    ask = Ask(RequestPurpose.FIRST, title, (material,), budget, 0, system=system, wording=wording)
    ask = replace(ask, answer=answer_limit(budget, settings, facts))
    return SummaryWork(settings, facts, budget, "", (), redactor, RequestStage((ask,)))


def outgoing(span: Span, budget: int, settings: ModelSettings) -> Outgoing:
    """The requests for a summary of `span` in at most `budget` tokens: the exact texts, with secrets already removed.

    A request whose text depends on other answers is marked `later`. Further requests may follow: shortening an answer that
    is too long, another attempt after a failure, and one without the oldest items where the window is smaller than assumed.
    """
    return work_for(span, budget, settings).outgoing()


def _stage(ask: Ask, items: Sequence[str], work: SummaryWork) -> RequestStage:
    """One request where the items fit into the window, else one for each part and one that merges."""
    ask = replace(ask, answer=answer_limit(ask.budget, work.settings, work.facts))
    frame = replace(ask, items=()).request().tokens
    room = max(_LEAST_ROOM, int((window_of(work.settings) - ask.answer - frame) * _CAREFUL))
    if _size(items) <= room:
        return RequestStage((replace(ask, items=tuple(items)),), None, room)
    groups = _groups([piece for item in items for piece in _split(item, room)], room)
    if len(groups) == 1:
        return RequestStage((replace(ask, items=tuple(groups[0])),), None, room)
    budget = max(_LEAST_PART, min(ask.budget, room // len(groups)))
    answer = answer_limit(budget, work.settings, work.facts)
    parts = tuple(
        replace(
            ask,
            task=RequestPurpose.PART,
            title=f"{ask.title}, part {at} of {len(groups)}",
            items=tuple(group),
            previous="",
            budget=budget,
            answer=answer,
            place=f"{at} of {len(groups)}",
            pins=(),
        )
        for at, group in enumerate(groups, 1)
    )
    work.remarks.append(f"{ask.title}: in {len(groups)} parts, merged; it is longer than the model's window")
    return RequestStage(parts, replace(ask, title=f"{ask.title}, merged", merges=True), room)


def _groups(items: Sequence[str], room: int) -> list[list[str]]:
    """Consecutive items in groups of about one size that fit into `room` tokens each."""
    sizes = [_tokens(item) + 1 for item in items]
    count = max(1, -(-sum(sizes) // room))
    fair = min(room, sum(sizes) // count + max(sizes, default=0))
    groups: list[list[str]] = [[]]
    filled = 0
    for item, size in zip(items, sizes, strict=True):
        if groups[-1] and filled + size > fair:
            groups.append([])
            filled = 0
        groups[-1].append(item)
        filled += size
    return groups


def _split(item: str, room: int) -> list[str]:
    """A message that is too long for one request, in pieces that fit, each with its label."""
    if _tokens(item) < room:
        return [item]
    label, _, text = item.partition("\n")
    per_token = len(item) / _tokens(item)
    size = max(200, int(room * per_token * 0.9) - len(label) - 40)
    pieces = []
    at = 0
    while at < len(text):
        end = min(at + size, len(text))
        while end > at + 1 and _tokens(text[at:end]) > _CAREFUL * room:
            # A part of it takes more tokens for a character than the whole.
            end = at + (end - at) // 2
        if end < len(text):
            line = text.rfind("\n", (at + end) // 2, end)
            end = line if line > at else end
        pieces.append(text[at:end])
        at = end + (text[end : end + 1] == "\n")
    count = len(pieces)
    named = label.removesuffix("]")
    return [f"{named}, piece {at} of {count}]\n{piece}" for at, piece in enumerate(pieces, 1)]


def _stand_in(tokens: int) -> str:
    """A placeholder text of so many tokens."""
    return "word" * tokens


def _tokens(text: str) -> int:
    return text_tokens(text, Estimator.SCRIPT)


def _size(items: Sequence[str]) -> int:
    return sum(_tokens(item) + 1 for item in items)
