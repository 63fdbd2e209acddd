"""Questions of an exam: facts needed by anyone who continues where a span of messages ended.

Each has one right answer, proved by the span, and wrong ones from the same span: a file that was changed earlier, the command
or the result of an earlier run of the tests, a step that is done. Wrong answers have the form of the right one, so that nobody who
sees only the question and its answers finds it. Without an honest wrong answer of that form there is no question. Nothing is random:
the same span gives the same questions in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from leafward.base.cancellation import unless_cancelled
from leafward.base.late_pattern import late
from leafward.compaction.exam.answers import Answer, choices, digest
from leafward.compaction.exam.call_records import (
    MOST,
    call_records,
    check_last,
    commit_last,
    declined_last,
    error_last,
    failed_last,
    written_names,
)
from leafward.compaction.exam.changed_files import ChangedFiles
from leafward.compaction.exam.check_commands import other_checks
from leafward.compaction.exam.given_up import asked_turns, given_up
from leafward.compaction.exam.said_last import asked_last, reported_last
from leafward.session.entries import NO_ENTRY, EntryIndex, text_of, tool_calls
from leafward.session.messages import as_typed
from leafward.summaries.facts.calls import restorations
from leafward.summaries.facts.calls.declined_calls import DECLINED
from leafward.summaries.facts.calls.outcomes import counts_in, failed_calls, runs_tests
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.demands import demands
from leafward.summaries.facts.sentences.negation import negated
from leafward.summaries.facts.sentences.pasting import typed_sentences
from leafward.summaries.facts.sentences.questions import asks, guesses
from leafward.summaries.facts.sentences.responses import takes_back
from leafward.summaries.facts.user_words import user_words
from leafward.summaries.facts.values import (
    ANSWERED,
    DROPPED,
    TAKEN_UP,
    Fact,
    FactKind,
    Reach,
    Sighting,
    Voice,
    gather,
)
from leafward.summaries.fates.report import facts_read
from leafward.summaries.survival.kept_state import kept_state
from leafward.summaries.survival.span_reading import SpanReading, read_span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from leafward.compaction.exam.answers import Choice
    from leafward.compaction.exam.call_records import CallRecords
    from leafward.summaries.facts.calls.agent_plan import Items
    from leafward.summaries.facts.known_texts import Known
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.kept_state import KeptState
    from leafward.summaries.survival.spans import SpanMessage

_OF_A_TOPIC = 4
"""Most questions about rules, and most about abandoned approaches."""
_TELLS = late(r"(?i)pass|ok\b|(?<!\d)[1-9]\d*+ (?:fail|error)")
"""Counts that distinguish a result; "no failures" alone could be of any run."""
_FAILS = late(r"(?i)(?<!\d)[1-9]\d*+ (?:fail|error)")
_OF_TESTS = late(r"(?i)pass|ok\b|fail")
"""Words in the counts of tests; a linter counts errors."""
_LIMITS = late(
    r"(?i)\b(?:must|never|always|do not|don['’]t|only|at (?:most|least)|no more than|no less than|without|should(?:n['’]t| not)?|not allowed)\b"
)
_STATES = late(
    r"(?i)\b(?:is|are|was|were|gets?|been|still|currently|right now)\s+(?:never|always|only|not)\b|\bright now\b"
    r"|\bi (?:can (?:never|always|only)|(?:never|always|only) can)\b"
)
"""Descriptions of the present state, and of what the user can do, that use the words of rules."""
_BESIDE = late(r"\([^()]{0,300}\)")
"""Text in brackets, which limits nothing."""
_WISHES = late(r"(?i)\b(?:want|need|would|should|could|can|let['’]?s|must|have to|better)\b")
"""Words by which a user supposes or wishes."""
_INSTEAD = late(r"(?i)\b(?:instead of|rather than|over|against)\b")
_OWN_WORDS = 1500
"""Most characters of a message that counts as the user's own words, not a pasted plan or report."""
_GIVEN_UP = late(
    r"(?i)\b(?:gave up|giv(?:e|ing) up|abandon(?:ed|ing)?|dropp?(?:ed|ing) the idea|revert(?:ed|ing)?|roll(?:ed|ing) back"
    r"|took (?:it|that|this) back|does(?:n['’]t| not) work|did(?:n['’]t| not) work|won['’]t work|ruled out|reject(?:ed|ing)?|discard(?:ed|ing)?"
    r"|(?:decided|chose|choosing) (?:against|not to)|not (?:going to )?(?:use|using|viable|feasible))\b"
)
_REASON = late(
    r"(?i)\b(?:because|since|so that|due to|otherwise|to avoid|would (?:break|need|require|mean)|as it)\b"
)
_LEAST_WORDS = 4
_DEFINITIONS = 2
"""Most questions about where a name is defined."""


class Topic(StrEnum):
    """Topic of a question, in the order in which an exam asks."""

    CHANGED_LAST = "last file"
    DEFINITION = "definition"
    TEST_COMMAND = "tests"
    CHECK = "check"
    TEST_RESULT = "result"
    FAILURE = "failure"
    COMMIT = "commit"
    LIMIT = "rule"
    GIVEN_UP = "given up"
    REQUEST = "request"
    REPORT = "report"
    NEXT_STEP = "next step"


_ASKED = {
    Topic.CHANGED_LAST: "Which of these files was changed last before the cut?",
    Topic.DEFINITION: "In which of these files did the agent define `{}`?",
    Topic.TEST_COMMAND: "Which of these commands ran tests last before the cut?",
    Topic.CHECK: "Which of these checks ran last before the cut?",
    Topic.TEST_RESULT: "What are the last counts that the tests printed before the cut?",
    Topic.FAILURE: "Which of these commands failed when it last ran before the cut?",
    Topic.COMMIT: "Which of these commits was made last before the cut?",
    Topic.LIMIT: "Which of these is a rule that the user set?",
    Topic.GIVEN_UP: "For which of these reasons was something decided against?",
    Topic.REQUEST: "Which of these did the user write last before the cut?",
    Topic.REPORT: "Which of these did the agent report last before the cut?",
    Topic.NEXT_STEP: "Which step is still to be done?",
}
_ERROR = "With which of these errors did a command fail last before the cut?"
_DECLINED = "Which of these commands did the user not allow?"
_TAKEN_BACK = "Which of these did the user decline, take back or have removed?"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answers."""

    topic: Topic
    text: str
    answers: tuple[Answer, ...]
    """Answers, in an order that their texts decide."""
    right: int
    """Index of the right one."""
    entry: EntryIndex
    """The entry that proves it."""


@dataclass(slots=True)
class _Run:
    """A run of the tests that ended."""

    fact: Fact
    result: str
    """The counts that it printed; empty if there are none."""
    entry: EntryIndex


class _Held:
    """Facts of a span's messages that can be asked about."""

    def __init__(
        self,
        reading: SpanReading,
        state: KeptState,
        cwd: str,
        stop: Callable[[], bool],
    ) -> None:
        sightings: list[Sighting] = list(reading.before)
        self.changed = ChangedFiles(cwd)
        self.results: list[tuple[str, str, EntryIndex]] = []
        """Commands that ended, with their output and entry."""
        self.own: set[str] = set()
        """Keys of rules in messages that the user wrote."""
        self.remarks: list[Fact] = []
        """Sentences of the user that cannot be rules: suppositions. Anything else may be a wish that holds."""
        withdrawn: set[str] = set()
        turn = len(sightings)
        failed = failed_calls(message for _, message in reading.messages)
        refused = restorations.refused(message for _, message in reading.messages)
        answered = {str(message.get("toolCallId")) for _, message in reading.messages}
        for (entry, body), found in zip(
            unless_cancelled(reading.messages, stop, "exam"), reading.found, strict=True
        ):
            message = as_typed(body)
            if (said := user_words(message)) is not None:
                if takes_back(said.strip()):
                    withdrawn |= {one.key for one in sightings[turn:] if one.kind is FactKind.CONSTRAINT}
                turn = len(sightings)
            sightings += found
            for call in tool_calls(message) if message.get("role") == "assistant" else ():
                self.changed.add(
                    entry,
                    call,
                    failed=call.id in failed,
                    refused=call.id in refused,
                    unanswered=call.id not in answered,
                )
            short = len(text_of(message.get("content"))) <= _OWN_WORDS
            if short and said is not None:
                self.remarks += [
                    Fact(FactKind.DECISION, sentence, sentence, entry, Voice.USER, [entry])
                    for sentence in typed_sentences(said)
                    if len(content_words(sentence)) >= _LEAST_WORDS and _is_no_wish(sentence)
                ]
            for one in found:
                if one.kind is FactKind.CONSTRAINT and one.voice is Voice.USER and short:
                    self.own.add(one.key)
                if one.kind is FactKind.COMMAND and one.outcome not in ("", DECLINED):
                    printed = text_of(message.get("content")) or str(message.get("output") or "")
                    self.results.append((one.key, printed, entry))
        self.facts = gather(sightings)
        self.reader = reading.reader
        self.withdrawn = withdrawn
        self.state = state
        self.by_key = {(fact.kind, fact.key): fact for fact in self.facts}

    def lasts(self, rule: Fact) -> bool:
        """Whether a demand of the user's holds beyond its request."""
        return self.reader.requests.reach_of(rule) is Reach.LASTING

    def of(self, kind: FactKind) -> list[Fact]:
        """The facts of a kind, in the order of their last entry."""
        return sorted((one for one in self.facts if one.kind is kind), key=lambda one: (one.last, one.key))

    def runs(self) -> list[_Run]:
        """The runs of tests that ended, in order."""
        found = []
        for key, printed, entry in self.results:
            fact = self.by_key.get((FactKind.COMMAND, key))
            if fact is None or key.startswith("git ") or not runs_tests(fact.text):
                continue
            counts = counts_in(printed)
            if other_checks(fact.text) and not _OF_TESTS.search(counts):
                counts = ""
            found.append(_Run(fact, counts, entry))
        return found


def questions(
    messages: Sequence[SpanMessage],
    cwd: str,
    previous: str = "",
    previous_entry: int = NO_ENTRY,
    plan: Items = (),
    stop: Callable[[], bool] = lambda: False,
    known: Known | None = None,
    kept: Sequence[SpanMessage] = (),
) -> tuple[Question, ...]:
    """The questions about a span of messages; `previous` is the summary before it, `plan` the agent's own list at that time.

    `known` holds what was read in texts already; `kept` are the messages behind the span. Raises Cancelled if `stop` returns true.
    """
    before = EntryIndex(previous_entry)
    reading = read_span(unless_cancelled(messages, stop, "exam"), cwd, previous, before, known, plan)
    return questions_read(reading, kept_state(reading, facts_read(reading, cwd), kept, cwd, stop), cwd, stop)


def questions_read(
    reading: SpanReading, state: KeptState, cwd: str, stop: Callable[[], bool]
) -> tuple[Question, ...]:
    """The questions about a span that was read without being told what an earlier summary lists. Raises Cancelled.

    `state` is what the kept messages change.
    """
    there = _Held(reading, state, cwd, stop)
    turns, records = asked_turns(reading.messages), call_records(reading)
    found = [
        *_changed_last(there),
        *_tests(there, records),
        *_limits(there),
        *_given_up(there),
        *_taken_back(turns, reading.messages),
        *_next_step(there),
        *_choice(Topic.REQUEST, asked_last(turns)),
        *_choice(Topic.REPORT, reported_last(turns, reading.messages)),
        *_choice(Topic.GIVEN_UP, declined_last(records), _DECLINED),
        *_choice(Topic.FAILURE, failed_last(records)),
        *_choice(Topic.FAILURE, error_last(records), _ERROR),
        *_choice(Topic.COMMIT, commit_last(records)),
        *_definitions(there, reading, cwd),
    ]
    if not any(one.topic is Topic.TEST_COMMAND for one in found):
        found += _choice(Topic.CHECK, check_last(records))
    order = list(Topic)
    return tuple(sorted(found, key=lambda one: order.index(one.topic)))


def _changed_last(there: _Held) -> Iterable[Question]:
    files = [
        (fact, reply)
        for key, reply in there.changed.last().items()
        if (fact := there.by_key.get((FactKind.PATH, key))) is not None
    ]
    if files:
        last, by = files[-1]
        # Other files changed by the same reply were changed last as well: its calls may have run at once.
        earlier = [one for one, reply in reversed(files) if reply != by]
        # Files of its kind first: the only test or document among them would stand out.
        earlier.sort(key=lambda one: PurePosixPath(one.key).suffix != PurePosixPath(last.key).suffix)
        yield from _question(Topic.CHANGED_LAST, last, [(one.text, one) for one in earlier])


def _tests(there: _Held, records: CallRecords) -> Iterable[Question]:
    runs = there.runs()
    if not runs:
        return
    # Only commands that run tests: any other would be told by its name.
    last = runs[-1].fact
    others = {run.fact.key: run.fact for run in runs[:-MOST:-1] if run.fact.key != last.key}
    wrong = [(one.text, one) for key, one in others.items() if not records.called_since(key, last.key)]
    yield from _question(Topic.TEST_COMMAND, last, wrong)
    # A later run that printed no counts, as one that does not compile, leaves the last counts what they are.
    counted = [one for one in runs if one.result]
    if counted and _TELLS.search(counted[-1].result):
        counts = counted.pop()
        earlier = [(one.result, _result_fact(one)) for one in reversed(counted) if _TELLS.search(one.result)]
        # A success among failures would stand out, as the end of the work.
        earlier.sort(key=lambda one: _fails(one[0]) != _fails(counts.result))
        yield from _question(Topic.TEST_RESULT, _result_fact(counts), earlier, counts.result)


def _fails(counts: str) -> bool:
    return _FAILS.search(counts) is not None


def _result_fact(run: _Run) -> Fact:
    return Fact(FactKind.NUMBER, run.result, run.result, run.entry, Voice.OUTPUT, [run.entry])


def _limits(there: _Held) -> Iterable[Question]:
    """Questions about valid rules of the user; wrong answers are withdrawn rules, and suppositions in the words of rules."""
    rules = [
        one
        for one in there.state.left(there.of(FactKind.CONSTRAINT))
        if one.is_open
        and there.lasts(one)
        and one.key in there.own - there.withdrawn
        and _LIMITS.search(_BESIDE.sub(" ", one.text))
        and not _STATES.search(one.text)
        and not guesses(one.text)
        and len(content_words(one.text)) >= _LEAST_WORDS - 1
    ]
    wrong = [one for one in there.of(FactKind.CONSTRAINT) if one.key in there.withdrawn]
    wrong += reversed(there.remarks)
    for rule in rules[-_OF_A_TOPIC:]:
        # A supposition in the rule's own message may be a part of the rule.
        others = [one for one in wrong if rule.entry not in one.entries]
        yield from _question(Topic.LIMIT, rule, [(one.text, one) for one in others])


def _is_no_wish(sentence: str) -> bool:
    """Whether a sentence of the user has the words of a rule and cannot be one: it supposes something.

    A question cannot be one either, but is no wrong answer: its form tells it.
    """
    return (
        guesses(sentence)
        and _LIMITS.search(sentence) is not None
        and not sentence.endswith((":", "："))
        and "?" not in sentence
        and not (demands(sentence) or asks(sentence) or _WISHES.search(sentence))
    )


def _given_up(there: _Held) -> Iterable[Question]:
    decisions = [one for one in there.of(FactKind.DECISION) if one.voice in (Voice.AGENT, Voice.USER)]
    # Only the reasons are shown: the rest of a sentence says whether it is for something or against it.
    reasons = [(reason, one) for one in decisions if (reason := _reason_in(one.text))]
    given_up = [(reason, one) for reason, one in reasons if _GIVEN_UP.search(one.text)]
    wrong = [
        (reason, one)
        for reason, one in reversed(reasons)
        # A sentence that prefers one thing to another decides against the other.
        if not _GIVEN_UP.search(one.text) and not _INSTEAD.search(one.text) and not negated(one.text)
    ]
    for reason, one in given_up[-_OF_A_TOPIC:]:
        yield from _question(Topic.GIVEN_UP, one, wrong, reason)


def _reason_in(sentence: str) -> str:
    """The end of a sentence that says why; empty where it says no reason, or tells there what was given up."""
    begins = _REASON.search(sentence)
    reason = sentence[begins.end() :].strip(" ,:") if begins is not None else ""
    return "" if _GIVEN_UP.search(reason) or len(content_words(reason)) < _LEAST_WORDS - 1 else reason


def _taken_back(turns: Sequence[Turn], messages: Sequence[SpanMessage]) -> Iterable[Question]:
    """Questions about what the user declined or took back; wrong answers are offers and requests that stand."""
    for one in given_up(turns, messages)[-_OF_A_TOPIC:]:
        standing = [(fact.text, fact) for fact in one.standing]
        yield from _question(Topic.GIVEN_UP, one.fact, standing, asked=_TAKEN_BACK)


def _next_step(there: _Held) -> Iterable[Question]:
    steps = [one for one in there.of(FactKind.TODO) if one.voice is not Voice.CODE]
    left = [one for one in there.state.left(steps) if one.is_open and one.outcome != DROPPED]
    # Steps that were worked on since have no known outcome, so they are neither right nor wrong answers.
    # That of a request that was answered may have been left undone.
    over = [
        one
        for one in steps
        if one.outcome == DROPPED or not (one.is_open or one.outcome in (TAKEN_UP, ANSWERED))
    ]
    done = [(one.text, one) for one in sorted(over, key=_latest)]
    if left:
        # Any of those named last: the end of a list would be told by what comes last in most work.
        yield from _question(Topic.NEXT_STEP, min(left, key=_latest), done)


def _definitions(there: _Held, reading: SpanReading, cwd: str) -> Iterable[Question]:
    """Questions about which file defines a name, each about another file."""
    changed = {
        key: fact
        for key in reversed(there.changed.there())
        if (fact := there.by_key.get((FactKind.PATH, key))) is not None
    }
    files: set[str] = set()
    for name, choice in written_names(reading, changed, cwd):
        if choice.right.key not in files and len(files) < _DEFINITIONS:
            asked = _ASKED[Topic.DEFINITION].format(name)
            for one in _choice(Topic.DEFINITION, choice, asked):
                files.add(choice.right.key)
                yield one


def _latest(fact: Fact) -> tuple[int, bytes]:
    """Orders facts by their last entry, the latest first; those of one entry by chance, but always alike."""
    return -fact.last, digest(fact.text)


def _choice(topic: Topic, choice: Choice | None, asked: str | None = None) -> Iterable[Question]:
    """A question with these answers, each in its own words; none without a right one."""
    if choice is not None:
        yield from _question(topic, choice.right, [(one.text, one) for one in choice.wrong], asked=asked)


def _question(
    topic: Topic,
    fact: Fact,
    wrong: Iterable[tuple[str, Fact]],
    text: str | None = None,
    asked: str | None = None,
) -> Iterable[Question]:
    """A question, if an entry proves its fact and there is a wrong answer."""
    right = Answer(" ".join((text or fact.text).split()), fact)
    answers = choices(topic, right, wrong) if fact.last != NO_ENTRY else ()
    if answers:
        yield Question(topic, asked or _ASKED[topic], answers, answers.index(right), fact.last)
