"""Possible lines of a summary, taken from a span, each with its facts and its source entries.

The last and clearest statement is quoted; only a few words of ours are added that name the kind of a line (`Asked:`,
`Failed:`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.session.entries import Body, EntryIndex, tool_calls
from leafward.summaries.facts import FactKind, FactReader, Sighting, Voice, gather
from leafward.summaries.facts.call_arguments import PATH_ARGUMENTS
from leafward.summaries.facts.demands import demands
from leafward.summaries.facts.outcomes import failed_calls
from leafward.summaries.facts.passing_states import tells_a_passing_state
from leafward.summaries.facts.told_steps import tells_how_it_stood
from leafward.summaries.facts.values import DROPPED, TAKEN_UP, whole_paths
from leafward.summaries.summarizers import quotes as quoting
from leafward.summaries.summarizers import stale_lines, statements, unless_cancelled, user_requests
from leafward.summaries.summarizers.candidates import Evidence, FileWork, add
from leafward.summaries.summarizers.carried_goals import sorted_out
from leafward.summaries.summarizers.earlier_code import code_in, tell_code
from leafward.summaries.summarizers.ending import LEAD
from leafward.summaries.summarizers.last_state import tell_state, tells_state
from leafward.summaries.summarizers.outline import Section, cut, line_key, outline_lines
from leafward.summaries.summarizers.quotes import reached
from leafward.summaries.summarizers.turns import by_machine, turns_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.summaries.facts.reader import Written
    from leafward.summaries.facts.span_reading import SpanReading
    from leafward.summaries.summarizers import Span, SpanMessage
    from leafward.summaries.summarizers.turns import Turn

_PREFERS = re.compile(r"(?i)^(?:the )?user (?:prefers|wants|asked|requires|insists|does(?:n't| not) want)\b")
_ROW = re.compile(r"\s*\|\s*")
_FILE_LINE = re.compile(
    r"`([^`\n]{1,300})` (changed|read|named)(?: (\d{1,6})×)?(?:, \d{1,9} lines)?(?:: (.{1,4000}))?"
)
_OF_THE_END = re.compile(r"(?:Asked|Answered|Said) last: ")
_SAID_BY_USER = re.compile(r"^(?:\[[^\]]{1,20}\] )?[\"“](.{3,400}?)[\"”]?(?: \(.{1,120}\))?$")
_MORE_NAMES = re.compile(r" and \d{1,4} more$")
_FILES_LINE = re.compile(r"(Changed|Read|Named in commands): (`.{1,4000})")
_FILE_OF_LINE = re.compile(r"`([^`\n]{1,300})`(?: (\d{1,6})×)?")
_NAMES_LINE = re.compile(r"Names in use: |Changed `")
_RUN_LINE = re.compile(
    r"(?:(?:Run|Named|Failed(?: with exit -?\d+)?:) )?`(.{1,300})`(?: passes)?(?: \((?:once|\d+ times).*)?"
)
"""Lines of ours about one file, names or a command: they are made again rather than carried on beside newer ones."""


def collect(
    span: Span,
    messages: Sequence[SpanMessage],
    previous: str,
    stop: Callable[[], bool],
    reading: SpanReading | None = None,
) -> Evidence:
    """Reads a span whose secrets were removed already; `reading` is the same, read before. Raises Cancelled where `stop` turns true."""
    reader = FactReader(span.cwd, span.known) if reading is None else reading.reader
    sightings: list[Sighting] = []
    evidence = Evidence({}, [], {}, len(messages), {}, reader)
    failed = failed_calls(message for _, message in messages)
    if reading is None:
        sightings += reader.earlier(previous, span.previous_entry, span.plan)
    for place, (entry, message) in enumerate(unless_cancelled(messages, stop)):
        evidence.position[entry] = place
        if message.get("isError") or message.get("exitCode") or message.get("errorMessage"):
            evidence.failed.add(entry)
        seen: Sequence[Sighting]
        if reading is not None:
            seen, written = reading.found[place], reading.written[place]
        elif by_machine(message):
            continue
        else:
            seen, written = reader.read(entry, message), reader.written
        sightings += seen
        _work(evidence.files, seen, written, message, failed, place, entry)
    evidence.facts = {(fact.kind, fact.key): fact for fact in gather(unless_cancelled(sightings, stop))}
    _join(evidence.files)
    turns = turns_of(messages)
    _carried(evidence, previous, span.previous_entry, turns)
    evidence.last_turn = turns[-1].first + 1 if turns else 0
    user_requests.requests(
        evidence,
        turns,
        user_requests.SameWork(messages, failed, span.cwd),
        first=not any(line.section is Section.GOAL for line in evidence.candidates),
    )
    user_requests.declined(evidence, turns)
    quoting.answers(evidence, messages, turns, stop)
    quoting.last_word(evidence, messages, turns)
    statements.settled(evidence, messages)
    statements.stated(evidence, messages, turns)
    statements.changed(evidence)
    gone = stale_lines.settle(evidence, messages, turns, span.cwd)
    tell_state(evidence, messages, span.kept, (previous, span.previous_entry), gone, span.cwd)
    return evidence


def _join(files: dict[str, FileWork]) -> None:
    """Merges the work on a file under its whole path, where calls also used the end of that."""
    known = {path.lstrip("./") if path.startswith(("./", "../")) else path for path in files}
    whole = whole_paths(known)
    ends: dict[str, list[str]] = {}
    for path in known:
        ends.setdefault(path.rpartition("/")[2], []).append(path)
    for path in sorted(files):
        bare = path.lstrip("./") if path.startswith(("./", "../")) else path
        longer = [other for other in ends.get(bare, ()) if other != bare]
        target = whole.get(bare) or (longer[0] if "/" not in bare and len(longer) == 1 else bare)
        if target == path or target not in files:
            continue
        short, work = files.pop(path), files[target]
        work.reads += short.reads
        work.named += short.named
        work.changes += short.changes
        work.last = max(work.last, short.last)
        work.sources = sorted({*work.sources, *short.sources})
        for name, place in short.names.items():
            work.names[name] = max(place, work.names.get(name, place))


def _is_idle(text: str) -> bool:
    """Whether a line only introduces others, or comments code."""
    return (
        text.endswith((":", "：", "{", "}", "(", "["))
        or text.startswith(("//", "/*", "#"))
        or text == "(none)"
    )


def _work(
    files: dict[str, FileWork],
    seen: Sequence[Sighting],
    written: Sequence[Written],
    message: Body,
    failed: frozenset[str],
    place: int,
    entry: EntryIndex,
) -> None:
    """Records the effects of a reply's calls on files, and the names in the written texts; failed calls changed nothing."""
    if message.get("role") != "assistant":
        return
    arguments = {
        call.arguments[name]
        for call in tool_calls(message)
        for name in PATH_ARGUMENTS
        if isinstance(call.arguments.get(name), str)
    }
    undone: dict[str, int] = {}
    for one in written:
        if one.call in failed:
            undone[one.path] = undone.get(one.path, 0) + 1
    for sighting in seen:
        if sighting.kind is not FactKind.PATH or sighting.voice not in {Voice.CALL, Voice.CHANGED}:
            continue
        if "." not in sighting.key.rsplit("/", 1)[-1]:
            continue
        work = files.setdefault(sighting.key, FileWork(sighting.key))
        work.last = place
        if not work.sources or work.sources[-1] != entry:
            work.sources.append(entry)
        if sighting.voice is Voice.CHANGED and undone.get(sighting.text):
            undone[sighting.text] -= 1
            work.named += 1
        elif sighting.voice is Voice.CHANGED:
            work.changes += 1
        elif sighting.text in arguments:
            work.reads += 1
        else:
            work.named += 1
    paths = {
        sighting.text: sighting.key
        for sighting in seen
        if sighting.kind is FactKind.PATH and sighting.voice is Voice.CHANGED
    }
    for one in written:
        work_of = files.get(paths.get(one.path, ""))
        if work_of is not None and one.call not in failed:
            work_of.names.update(dict.fromkeys(one.names, place))


def _carried(evidence: Evidence, previous: str, entry: EntryIndex, turns: Sequence[Turn]) -> None:
    """Adds the lines of the previous summary, each in its section; finished work moves to the done ones.

    Where work followed, only the last request of then is still in progress, and only until the next one.
    """
    worked = any(turn.works for turn in turns) or any(work.changes for work in evidence.files.values())
    if not previous:
        return
    closed = {
        fact.key: fact.outcome
        for fact in evidence.facts.values()
        if fact.kind is FactKind.TODO and not fact.is_open
    }
    answered = evidence.reader.told.answers > 0
    before, withheld = Section.GOAL, False
    outline = list(outline_lines(previous))
    # The work of then is answered before anything else is asked.
    went_on = bool(turns) and turns[0].first > 0 and answered
    goals = sorted_out(
        [line.text for line in outline if line.section is Section.GOAL], turns, answered=went_on
    )
    for section, text, is_open, code_of in outline:
        lead = ""
        code = [(text, code_of)] if code_of is not None else list(code_in(text))
        for piece, intro in code:
            tell_code(evidence, piece, intro, entry)
        if code:
            continue
        if section is Section.GOAL and text not in goals:
            continue
        if section is Section.GOAL and evidence.size:
            section, lead = goals[text]
        text = _ROW.sub(" - ", text.strip("| ")) if text.startswith("|") else text
        if tells_state(text) or (evidence.size and text.startswith(LEAD)):
            continue
        if evidence.size and _OF_THE_END.match(text):
            # A request was made and answered since.
            text = _OF_THE_END.sub("Asked: ", text) if text.startswith("Asked") else ""
        if not text:
            continue
        if text.endswith((":", "：")) or section is not before:
            # Items of a list with this introduction were not done, whatever their wording.
            withheld = text.endswith((":", "：")) and _NOT_YET.search(text) is not None
        before = section
        if (
            _is_idle(text)
            or _MARKUP.match(text)
            or _NAMES_LINE.match(text)
            or _is_made_anew(evidence, text, entry)
        ):
            continue
        outcome = closed.get(line_key(text))
        if outcome == DROPPED:
            continue
        if outcome == TAKEN_UP and tells_how_it_stood(text):
            continue
        over = is_open is False or outcome not in (None, TAKEN_UP)
        if over and section is Section.IN_PROGRESS and _FAILED_THEN.search(text):
            # The finished work is that it no longer fails.
            continue
        if over:
            section = (
                Section.DONE if section in {Section.NEXT, Section.IN_PROGRESS, Section.DONE} else section
            )
        if section is Section.IN_PROGRESS and text.startswith(user_requests.LAST_REQUEST):
            if turns:
                section, text = Section.DONE, text.replace(user_requests.LAST_REQUEST, "Asked: ", 1)
        elif section is Section.IN_PROGRESS and worked:
            if withheld and not answered:
                section, lead = Section.NEXT, stale_lines.NOT_DONE
            elif reached(text) and not _FAILED_THEN.search(text):
                section = Section.DONE
            elif is_open:
                # An unticked box is still to be done, whatever was worked on since.
                section = Section.NEXT
            else:
                continue
        if section is Section.CONTEXT and (said := _SAID_BY_USER.match(text)) is not None:
            # In a list of the user's messages, requests are answered, and rules still hold.
            if not demands(said[1]):
                continue
            section, text = Section.CONSTRAINTS, said[1]
        if section is Section.NEXT and worked and _ABOUT_STEPS.match(text):
            continue
        if section is Section.NEXT and _QUOTES_USER.match(text):
            section = Section.CONTEXT
        if section is Section.CONTEXT and _PREFERS.search(text):
            section = Section.CONSTRAINTS
        if worked and section in _LASTING and (_WAS_GOING_ON.search(text) or tells_a_passing_state(text)):
            continue
        if section is Section.CONTEXT and evidence.reader.told.tests_passed and _BROKEN_THEN.search(text):
            continue
        if evidence.size and section in _LASTING and _NEWEST_THEN.search(text):
            continue
        if section is Section.CONSTRAINTS and evidence.reader.rules.is_revoked(text):
            continue
        if text.startswith(user_requests.DECLINED) and user_requests.is_wanted(text, turns):
            continue
        if section is Section.CONSTRAINTS and (since := evidence.reader.rules.asked_since(text)):
            text = f"{text} (asked since: {cut(since, _SINCE)})"
        worth = _CARRIED_WORTH.get(section, 0.3)
        if section is Section.BLOCKED and _is_an_old_error(evidence, text, entry):
            worth = _OLD_ERROR
        add(
            evidence,
            section,
            text,
            (entry,),
            worth,
            first=section is Section.GOAL,
            lead=lead,
            # Lines of code in an earlier summary are kept only where they hold a name.
            names_something=section is Section.CONTEXT and _CODE.search(text) is not None,
        )


def _is_an_old_error(evidence: Evidence, text: str, entry: EntryIndex) -> bool:
    """Whether a line is about errors that did not come back since."""
    errors = [
        seen.key for seen in evidence.reader.prose(text, Voice.TOLD, entry) if seen.kind is FactKind.ERROR
    ]
    again = (evidence.facts.get((FactKind.ERROR, key)) for key in errors)
    return bool(errors) and not any(fact is not None and fact.last in evidence.position for fact in again)


def _is_made_anew(evidence: Evidence, text: str, entry: EntryIndex) -> bool:
    """Whether the new summary has a line of ours in another form; its counts are added to the current ones."""
    file_line = _FILE_LINE.fullmatch(text)
    if file_line is not None:
        path, done, times, names = file_line.groups()
        work = evidence.files.setdefault(path, FileWork(path, last=-1, sources=[entry]))
        count = int(times or 1)
        if done == "changed":
            work.changes += count
        elif done == "read":
            work.reads += count
        else:
            work.named += count
        for name in _MORE_NAMES.sub("", names or "").removesuffix("…").split(", "):
            if name:
                work.names.setdefault(name, -1)
        return True
    listed = _FILES_LINE.fullmatch(text)
    if listed is not None:
        for path, times in _FILE_OF_LINE.findall(listed[2]):
            work = evidence.files.setdefault(path, FileWork(path, last=-1, sources=[entry]))
            if listed[1] == "Changed":
                work.changes += int(times or 1)
            elif listed[1] == "Read":
                work.reads += int(times or 1)
            else:
                work.named += int(times or 1)
        return True
    command = _RUN_LINE.fullmatch(text)
    fact = evidence.facts.get((FactKind.COMMAND, command[1])) if command is not None else None
    if fact is None or fact.last not in evidence.position:
        return False
    return text.startswith("Failed") or text.endswith(" passes") or fact.count >= 2


_CARRIED_WORTH = {
    Section.GOAL: 3.0,
    Section.CONSTRAINTS: 6.0,
    Section.DECISIONS: 2.2,
    Section.BLOCKED: 0.5,
    Section.IN_PROGRESS: 0.4,
    Section.NEXT: 0.6,
    Section.DONE: 0.5,
    Section.CONTEXT: 0.5,
}
_LASTING = frozenset({Section.CONTEXT, Section.DECISIONS})
_WAS_GOING_ON = re.compile(
    r"(?i)\(?(?:currently )?in progress\)|^\W*(?:in progress|wip|ongoing|pending)\b\W*[:–—-]|\bstill (?:investigating|debugging|working on)\b|\b(?:still in progress|(?:not|n['’]t) yet\b|currently (?:working|implementing|debugging|investigating|in the middle)"
    r"|\b(?:fix|change|edit|update|work|review|test)(?:es|s)? (?:is |are |still )*(?:pending|in progress|under way)\b"
    r"|(?:was|were) (?:in the middle of|about to|working on|just about)|noch nicht|in arbeit|pas encore|en cours)\b|进行中|尚未|还没"
)
"""Work that was in progress when an earlier summary was written."""
_MARKUP = re.compile(r"^[<‹]/?[\w-]{1,60}[>›]$|^[<‹]([\w-]{1,60})[>›].*[<‹]/\1[>›]$")
"""A tag alone, or one element: an agent's markup around a summary is not its content."""
_FAILED_THEN = re.compile(
    r"(?i)\b(?:is|are|was|were|keeps?) (?:still |now )?(?:failing|broken|empty|missing|wrong|undefined|stuck)\b|\bfails?\b"
)
_BROKEN_THEN = re.compile(
    r"(?i)^\W*(?:error: |--- fail\b|fail(?:ed)?: )|\b(?:is|are) (?:still |now )?(?:failing|broken|empty|undefined|stuck)\b"
)
"""Something that was broken when an earlier summary was written."""
_CODE = re.compile(
    r"^(?:return|defer|var|const|let|import|func|def|class|type|if|for|while)\b.{0,200}$(?<![.!?])|[;{]$|^\w[\w.]{0,60}(?:, ?\w{1,40})? :?= \S"
)
_NEWEST_THEN = re.compile(
    r"(?i)^\W*(?:the )?(?:user['’]s )?(?:most recent|latest|last|final) (?:edit|change|action|step|message|request|question|command|run)s?\b"
)
"""The newest of its kind at the time of an earlier summary, which is not the newest any more."""
_ABOUT_STEPS = re.compile(
    r"(?i)^(?:this|that|it|these) (?:directly |also |all )?(?:follows?|is|was|are|were|aligns?|continues?|addresses)\b"
)
"""A sentence about a step, which is not one itself."""
_QUOTES_USER = re.compile(
    r"(?i)^(?:the )?user(?:['’]s (?:\w+ ){0,2}(?:question|request|words?|message|ask)\b|\b(?: \w+)? (?:said|asked|wrote)\b)[^:]{0,30}: *[\"“'‘]"
)
"""A quotation of the user in a list of steps, which is a request and not a step."""
_NOT_YET = re.compile(
    r"(?i)\b(?:not|n['’]t|never) yet\b|\b(?:remain(?:s|ing)?|still|noch nicht|pas encore)\b|尚未|还没"
)
_SINCE = 60
"""Characters that are quoted of a later request about a rule."""
_OLD_ERROR = 0.1
"""The worth of a carried error that did not come back."""
