"""Possible lines of a summary, taken from a span, each with its facts and its source entries.

The last and clearest statement is quoted; only a few words of ours are added that name the kind of a line (`Asked:`,
`Failed:`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from leafward.base.cancellation import unless_cancelled
from leafward.base.late_pattern import late
from leafward.files.file_request import BulkCommand
from leafward.files.shell.moves import may_move, moves
from leafward.files.shell.writes import written_texts
from leafward.session.entries import text_of
from leafward.summaries.facts.calls import restorations
from leafward.summaries.facts.calls.argument_texts import is_text
from leafward.summaries.facts.calls.call_arguments import changes_text, command_of, paths_of, searches
from leafward.summaries.facts.calls.named_folders import folder_of
from leafward.summaries.facts.calls.outcomes import STEPS, failed_calls, files_changed_by, looks
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.forms.file_lists import with_whole_paths
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.values import FactKind, Sighting, Voice, from_root, gather, whole_paths
from leafward.summaries.summarizers.extractive import statements
from leafward.summaries.summarizers.extractive.answers import choices, reasons
from leafward.summaries.summarizers.extractive.answers import quotes as quoting
from leafward.summaries.summarizers.extractive.answers.carried_out import CarriedOut
from leafward.summaries.summarizers.extractive.answers.last_reply import last_word
from leafward.summaries.summarizers.extractive.candidates import OUTCOME, Evidence, FileWork
from leafward.summaries.summarizers.extractive.earlier_summary.carried_lines import Since, carry
from leafward.summaries.summarizers.extractive.requests import (
    asked_answers,
    earlier_requests,
    offers,
    user_requests,
)
from leafward.summaries.summarizers.extractive.requests.exchange import mark_doubted
from leafward.summaries.summarizers.extractive.requests.kept_answers import continued, finish
from leafward.summaries.summarizers.extractive.requests.same_work import SameWork
from leafward.summaries.summarizers.extractive.state import commits, stale_lines
from leafward.summaries.summarizers.extractive.state.belied_answers import mark_belied
from leafward.summaries.summarizers.extractive.state.dated_statements import date_statements
from leafward.summaries.summarizers.extractive.state.declared_lines import tell_declared
from leafward.summaries.summarizers.extractive.state.last_state import tell_state
from leafward.summaries.summarizers.extractive.state.obstacles import KeptFacts
from leafward.summaries.summarizers.extractive.turns import (
    as_asked,
    by_machine,
    mark_told_before,
    turns_of,
)
from leafward.summaries.summarizers.outline import SummarySection, line_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from leafward.session.entries import Body, EntryIndex, ToolCall
    from leafward.summaries.facts.call_reader import Written
    from leafward.summaries.summarizers.summary import Span
    from leafward.summaries.survival.span_reading import SpanReading
    from leafward.summaries.survival.spans import SpanMessage

_OF_COMMANDS = frozenset({Voice.CALL, Voice.OUTPUT})
"""Voices of names that nobody said or wrote into a file: variables and fields in commands, and what these printed."""
_OF_REPLIES = frozenset({Voice.AGENT, Voice.THOUGHT, Voice.CALL})
"""Voices of an agent's own words: a call may look for what is not there."""
_KNOWING = frozenset({Voice.OUTPUT, Voice.USER, Voice.TOLD})
"""Voices that name a file because it is there."""
_GIVEN = frozenset({Voice.USER, Voice.CALL, Voice.TOLD})
"""Voices of addresses that are more than an example: an earlier summary chose those that it tells."""
_HINTS = late(
    r"(?i)\b(?:learn more|more (?:info(?:rmation)?|details|help))\b[^\n:]{0,40}:? ?(https?://[^\s<>\"'`)\]]+)"
    r"|(https?://[^\s<>\"'`)\]]+) (?:to learn more|for (?:more|details|help))\b"
)
"""Addresses that a program prints for its user to read about what it says."""
_SEARCHES = late(
    r"\s*(?:(?:find|fd|ls|test|stat|locate|rg --files|git ls-files|Get-ChildItem|Test-Path)\b|\[)"
)
"""Commands that ask whether files are there."""
_PROGRAM = late(
    r"\b(?:node|deno|bun|python[\d.]*|perl|ruby|php) (?:-\w+ ){0,8}"
    r"(?:-\w*[ecr]\b(?:\s+('[^']*'|\"(?:[^\"\\]|\\.)*\"))?|- *<<)"
)
"""The sign behind which a command has a program, and that where it is quoted: what looks like a file in it may be anything."""
_LOOPBACK = late(r"\w+://(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])(?=[:/?#]|\Z)")
"""The beginning of an address of this machine."""
_OF_HINTS = ("more", "More", " for details", " for help")
"""Each such text holds one of these."""
_SAVES = late(r"(?i)screenshot|snapshot|save|export|download")
"""The names of tools that write what they get into the file that they name."""
_SPACED = 400
"""Characters of a path with blanks whose pieces are known."""
_NAMELESS = frozenset(
    content_words(
        "fix change work place update status clean error issue problem thing everything good ready complete done finished "
        "main whole all implementation refactoring migration feature task step part rest"
    )
)
"""Words of reports that alone do not say what was done."""


def collect(
    span: Span,
    messages: Sequence[SpanMessage],
    previous: str,
    stop: Callable[[], bool],
    reading: SpanReading | None = None,
) -> Evidence:
    """Reads a span whose secrets were removed already; `reading` is the same, read before. Raises Cancelled where `stop` turns true."""
    reader = FactReader(span.cwd, span.known, span.plan) if reading is None else reading.reader
    sightings: list[Sighting] = []
    evidence = Evidence({}, [], {}, len(messages), {}, reader)
    failed = failed_calls(message for _, message in (*messages, *span.kept))
    refused = restorations.refused(message for _, message in messages)
    evidence.failed_calls = failed
    live: dict[str, FileWork] = {}
    previous = with_whole_paths(previous)
    if reading is None:
        sightings += reader.earlier(previous, span.previous_entry)
    for place, (entry, message) in enumerate(unless_cancelled(messages, stop)):
        evidence.position[entry] = place
        if message.get("isError") or message.get("exitCode") or message.get("errorMessage"):
            evidence.failed.add(entry)
        seen: Sequence[Sighting]
        if reading is not None:
            seen, calls, written = reading.found[place], reading.calls[place], reading.written[place]
        elif by_machine(message):
            continue
        else:
            seen, calls, written = reader.read(entry, message), reader.calls.last, reader.calls.written
        sightings += seen
        if message.get("role") == "toolResult" and any(one.outcome == "failed" for one in seen):
            # A check that failed behind a pipe.
            evidence.failed.add(entry)
        if calls:
            evidence.calls[place] = calls
            _work(evidence.files, live, seen, calls, written, failed, place, entry, span.cwd)
            for call in calls:
                if call.id not in refused:
                    _bring_back(evidence, live, call, place, span.cwd)
    evidence.facts = {(fact.kind, fact.key): fact for fact in gather(unless_cancelled(sightings, stop))}
    names = [seen for seen in sightings if seen.kind is FactKind.IDENTIFIER]
    evidence.named = {seen.key for seen in names if seen.voice not in _OF_COMMANDS}
    said = {seen.key for seen in names if seen.voice is Voice.AGENT}
    evidence.only_said = said - {seen.key for seen in names if seen.voice not in _OF_REPLIES}
    evidence.only_said |= {
        key
        for (kind, key), fact in evidence.facts.items()
        if kind is FactKind.IDENTIFIER and fact.voice is Voice.USER and len(fact.entries) == 1
    }
    evidence.addresses = _addresses(evidence, messages, sightings)
    evidence.missing = _missing(evidence, sightings)
    _join(evidence.files)
    _drop_pieces(evidence)
    turns = turns_of(messages)
    mark_told_before(turns, span.previous_entry)
    end = messages[-1].entry if messages else span.previous_entry
    behind = [one._replace(message=as_asked(one.message)) for one in span.kept if one.entry > end]
    replies = turns_of(behind)
    answers = finish(turns, messages, behind)
    mark_doubted([*turns, *answers.later[:1]])
    mark_belied(turns, [*messages, *behind])
    after = FactReader(span.cwd, span.known, tuple(reader.plan.items.items()))
    seen_after = [seen for one in behind for seen in after.read(*one)]
    went_on = continued(turns, [*messages, *behind], answers.later, span.previous_entry)
    carry(evidence, previous, span.previous_entry, Since(turns, answers.later, after, went_on))
    evidence.last_turn = turns[-1].first + 1 if turns else 0
    same = SameWork(messages, failed, span.cwd, evidence.files)
    user_requests.requests(
        evidence,
        turns,
        same,
        first=not any(line.section is SummarySection.GOAL for line in evidence.candidates),
        is_split=span.prefix > 0,
        kept=answers,
    )
    offers.declined(evidence, turns)
    asked_answers.answered(evidence, messages)
    works = any(one.message.get("role") == "toolResult" for one in behind)
    carried = CarriedOut(messages, turns, failed)
    quoting.answers(evidence, messages, turns, carried, stop, goes_on=works)
    offers.proposed_last(evidence, messages, turns)
    choices.chosen(evidence, messages, turns, carried)
    reasons.given(evidence, messages, turns)
    last_word(evidence, messages, turns, replied=bool(replies))
    commits.settled(evidence, messages, turns, behind, span.cwd)
    statements.stated(
        evidence, messages, turns, KeptFacts(behind, after, seen_after, answers.later, answers.finished)
    )
    statements.changed(evidence)
    _without_repeats(evidence)
    present = stale_lines.settle(evidence, messages, turns, span.cwd, span.kept, answers, span.known)
    named = {(one.kind, one.key) for one in seen_after}
    date_statements(evidence, turns, behind, answers.later, named, span.cwd)
    present |= {path: "" for path, work in evidence.files.items() if work.restored and not work.changes}
    earlier_requests.tell_changes(evidence, turns, same, present)
    tell_declared(evidence, present)
    tell_state(evidence, messages, span.kept, (previous, span.previous_entry), present, span.cwd)
    return evidence


def _addresses(
    evidence: Evidence, messages: Sequence[SpanMessage], sightings: Sequence[Sighting]
) -> set[str]:
    """The addresses that the user gave, that a call names, or that a call printed which does not show files.

    Another one is only in a reply's words, or in a file, or a program's hint where to read more, or was tried on this machine.
    """
    looking = {call.id for calls in evidence.calls.values() for call in calls if looks(call.arguments)}
    shown = {entry for entry, message in messages if str(message.get("toolCallId", "")) in looking}
    linked = {seen.entry for seen in sightings if seen.kind is FactKind.URL}
    hints = {entry: _hints(message) for entry, message in messages if entry in linked}
    return {
        seen.key
        for seen in sightings
        if seen.kind is FactKind.URL
        and (seen.voice in _GIVEN or (seen.voice is Voice.OUTPUT and seen.entry not in shown))
        and seen.text not in hints.get(seen.entry, ())
        and (seen.voice is Voice.USER or _LOOPBACK.match(seen.key) is None)
    }


def _hints(message: Body) -> set[str]:
    """The addresses in a message that a program printed for its user to read about what it says, perhaps in text that he pasted."""
    text = text_of(message.get("content"))
    if not any(map(text.__contains__, _OF_HINTS)):
        return set()
    return {one.rstrip(".,;:!?") for pair in _HINTS.findall(text) for one in pair if one}


def _missing(evidence: Evidence, sightings: Iterable[Sighting]) -> set[str]:
    """The files that calls only searched for, failed to write, or had in a text: perhaps they never were.

    A file is there all the same that an output, the user or an earlier summary names, but for what looks like one in a text.
    """
    missed = {
        path: work
        for path, work in evidence.files.items()
        if 0 < work.named <= work.missed and not (work.reads or work.changes)
    }
    if not missed:
        return set()
    named: dict[str, set[str]] = {}
    for seen in sightings:
        if seen.kind is FactKind.PATH and seen.voice in _KNOWING and seen.entry not in evidence.failed:
            named.setdefault(seen.key.rpartition("/")[2], set()).add(seen.key)
    return {
        path
        for path, work in missed.items()
        if work.named == work.written
        or not any(
            f"/{path}".endswith(f"/{other}") or f"/{other}".endswith(f"/{path}")
            for other in named.get(path.rpartition("/")[2], ())
        )
    }


def _without_repeats(evidence: Evidence) -> None:
    """Leaves out the reports that stand as the outcome of a request already, and those that name nothing."""
    outcomes = {line_key(one.came) for one in evidence.candidates if one.asks and OUTCOME in one.text}
    evidence.candidates = [
        one
        for one in evidence.candidates
        if not one.tells_work
        or OUTCOME in one.text
        or not (
            line_key(one.text) in outcomes
            or (not one.carries and _NAMELESS.issuperset(content_words(one.text)))
        )
    ]


def _drop_pieces(evidence: Evidence) -> None:
    """Leaves out the pieces of paths with blanks that are known whole: where nothing delimits such a path, its words are read one by one."""
    whole = [key for kind, key in evidence.facts if kind is FactKind.PATH and " " in key]
    for path in whole:
        words = path[:_SPACED].split(" ")
        for at in range(1, len(words)):
            for piece in (" ".join(words[:at]), " ".join(words[at:])):
                work = evidence.files.get(piece)
                if work is None or not (work.reads or work.changes):
                    evidence.files.pop(piece, None)
                    evidence.facts.pop((FactKind.PATH, piece), None)


def _join(files: dict[str, FileWork]) -> None:
    """Merges the work on a file under its whole path, where calls also used the end of that."""
    known = {path.lstrip("./") if path.startswith(("./", "../")) else path for path in files}
    whole = whole_paths(known)
    ends: dict[str, list[str]] = {}
    for path in known:
        ends.setdefault(path.rpartition("/")[2], []).append(path)
    for path in sorted(files):
        if files[path].from_root:
            continue
        bare = path.lstrip("./") if path.startswith(("./", "../")) else path
        longer = [other for other in ends.get(bare, ()) if other != bare]
        target = whole.get(bare) or (longer[0] if "/" not in bare and len(longer) == 1 else bare)
        if target == path or target not in files:
            continue
        short, work = files.pop(path), files[target]
        work.merge(short)


def _work(
    files: dict[str, FileWork],
    live: dict[str, FileWork],
    seen: Sequence[Sighting],
    calls: Sequence[ToolCall],
    written: Sequence[Written],
    failed: frozenset[str],
    place: int,
    entry: EntryIndex,
    cwd: str,
) -> None:
    """Records the effects of a reply's calls on files, and the names in the written texts; `failed` calls changed nothing.

    `live` gets the files that were changed.
    """
    done = [call for call in calls if call.id not in failed]
    saved = {path for call in calls if _SAVES.search(call.name) for path in paths_of(call.arguments)}
    # A search of a file reads no more of it than it finds.
    read = [call.arguments for call in done if not searches(call.arguments)]
    arguments = Counter(path for given in read for path in paths_of(given) if path not in saved)
    patches = [call for call in done if not changes_text(call.arguments)]
    patched = {path for call in patches for path in files_changed_by(call, cwd)}
    missed = {path for call in calls if call.id in failed for path in paths_of(call.arguments)}
    missed -= arguments.keys()
    commands = [command for call in calls if (command := command_of(call.arguments))]
    parts = list(_doubtful_parts(commands))
    texts = list(filter(_holds_text, commands))
    undone = Counter(one.path for one in written if one.call in failed)
    for sighting in seen:
        if sighting.kind is not FactKind.PATH or sighting.voice not in {Voice.CALL, Voice.CHANGED}:
            continue
        if "." not in sighting.key.rsplit("/", 1)[-1]:
            continue
        if sighting.voice is Voice.CALL and sighting.text in missed:
            # What could not be read is perhaps not there.
            continue
        work = files.setdefault(sighting.key, FileWork(sighting.key))
        work.last = place
        work.from_root |= from_root(sighting)
        if not work.sources or work.sources[-1] != entry:
            work.sources.append(entry)
        if sighting.voice is Voice.CHANGED and undone.get(sighting.text):
            undone[sighting.text] -= 1
            work.named += 1
            work.missed += 1
        elif sighting.voice is Voice.CHANGED or sighting.key in patched:
            if sighting.voice is Voice.CHANGED or work.changed != place:
                work.change(place)
                live[sighting.key] = work
        elif arguments[sighting.text] > 0:
            # A search beside it names it once more.
            arguments[sighting.text] -= 1
            work.reads += 1
        else:
            work.named += 1
            # In a text anything may look like a file.
            work.written += (within := _is_within(sighting.text, texts) or _is_text(sighting.text, commands))
            work.missed += within or any(sighting.text in part for part in parts)
    paths = {
        sighting.text: sighting.key
        for sighting in seen
        if sighting.kind is FactKind.PATH and sighting.voice is Voice.CHANGED
    }
    for one in written:
        work_of = files.get(paths.get(one.path, ""))
        if work_of is not None and one.call not in failed:
            # A file that is written whole has no name of before.
            work_of.take_out(work_of.names.keys() - one.names if one.whole else one.removed, place)
            work_of.write(one.names, place)
            if one.whole:
                work_of.declared.clear()
                if work_of.changes + work_of.reads + work_of.named == 1:
                    work_of.made = place
            work_of.declared.update(one.declared)
    _remove(files, done, cwd)


def _remove(files: Mapping[str, FileWork], calls: Iterable[ToolCall], cwd: str) -> None:
    """Records the files that successful calls removed."""
    for call in calls:
        command = command_of(call.arguments)
        if command and may_move(command):
            for path, to in moves(command, folder_of(call)):
                gone = files.get(forms.canonical_path(path, cwd)) if to is None else None
                if gone is not None:
                    gone.remove()


def _doubtful_parts(commands: Iterable[str]) -> Iterator[str]:
    """The parts of commands in which a name is perhaps no file, or of none that is there: searches and programs."""
    for command in commands:
        yield from filter(_SEARCHES.match, STEPS.split(command))
        for sign in _PROGRAM.finditer(command):
            yield sign[1] or command[sign.end() :]
            if not sign[1]:
                # It may be all that follows.
                break


def _holds_text(command: str) -> bool:
    """Whether a command writes a text of its own into files: by a patch, or behind `<<`."""
    return "*** Begin Patch" in command or any(written_texts(command))


def _is_within(name: str, texts: Iterable[str]) -> bool:
    """Whether a name stands in a text that one of some commands writes, and not before it."""
    return any(name in text and name not in text.partition("<<")[0] for text in texts)


def _is_text(name: str, commands: Iterable[str]) -> bool:
    """Whether commands have a name only in patterns, programs and what they print."""
    having = [command for command in commands if name in command]
    return bool(having) and all(is_text(name, command) for command in having)


def _bring_back(evidence: Evidence, live: dict[str, FileWork], call: ToolCall, place: int, cwd: str) -> None:
    """Takes changes that were not committed back where a command restores them; a failed commit keeps nothing.

    `live` are the files with such changes, and those that were put aside: of very many files few are looked at for a command.
    """
    failed = call.id in evidence.failed_calls
    for one in restorations.restorations(call, cwd, failed=failed):
        evidence.brought_back.add(one, place)
        for path in [path for path in live if one.covers(path, cwd)]:
            if one.by is BulkCommand.POP:
                live[path].put_back(place)
            else:
                live[path].restore(aside=one.by is BulkCommand.STASH)
            if live[path].is_settled:
                del live[path]
    if not failed and restorations.commits(command_of(call.arguments)):
        evidence.brought_back.commit(place)
        for path, work in list(live.items()):
            work.commit()
            if work.is_settled:
                del live[path]
