"""The model's statements as lines: those of its sentences that can stand alone."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.cancellation import unless_cancelled
from leafward.base.late_pattern import late
from leafward.session.entries import Body, EntryIndex, blocks_of, tool_calls
from leafward.summaries.facts import demands, prose
from leafward.summaries.facts.marker_words import markers
from leafward.summaries.facts.outcomes import files_changed
from leafward.summaries.facts.passing_states import tells_a_passing_state
from leafward.summaries.summarizers.candidates import SAID_EARLIER, Evidence, add
from leafward.summaries.summarizers.outline import (
    Provenance,
    SummarySection,
    cut,
    is_drawn,
    line_key,
    read_outline,
)
from leafward.summaries.summarizers.turns import CHOOSES, asks_back, is_answered, keeps_going, question_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.summaries.facts.marker_words import Markers
    from leafward.summaries.summarizers.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_MORE_FINISHED = (
    "deployed|rebased|reverted|restored|installed|uninstalled|published|squashed|bumped|upgraded|downgraded|configured|enabled|disabled"
    "|tagged|restarted|migrated|reworked|restructured|simplified|dropped|documented|translated|shortened|reformatted|formatted"
    "|adjusted|corrected|resolved|inlined|exposed|wrapped|wired|tightened|cherry-picked"
)
_STATES = (
    "fixed|added|created|updated|implemented|removed|renamed|moved|replaced|refactored|completed|finished|committed|pushed|extracted"
    f"|converted|rewritten|written|ported|changed|deleted|switched|merged|released|done|{_MORE_FINISHED}"
)
_FINISHED = markers(
    r"(?i)^\W{0,3}(?:i(?:['’]ve| have)? )?(?:fixed|added|created|updated|implemented|removed|renamed|moved|replaced|refactored|completed"
    r"|committed|pushed|extracted|converted|rewrote|rewritten|wrote|written|ported|changed|deleted|switched|merged|released"
    rf"|(?:{_MORE_FINISHED})(?! \w+ (?:is|are|was|were|has|have|should|must|can|needs?)\b))\b"
    r"|^the (?:fix|solution) was\b"
    r"|^(?:\S+ ){0,5}(?:now|no longer) (?:\w+s|will|have|are|works?|passes)\b|^now,? (?!.*: |i\b|we\b|you\b|it\b|let\b)(?:[\w`./()-]+ ){1,4}?(?:will|shows?|has|have|uses?|works?|supports?)\b|^✅|完成|已"
    r"|^(?:behoben|erledigt|umgesetzt|eingebaut|hinzugefügt|geändert|c['’]est fait|corrigé|ajouté|hecho|listo|corregido|añadido|arreglado)\b ?[:.,–—-]"
    r"|\b(?:hinzugefügt|ergänzt|gelöscht|verschoben|korrigiert|angepasst|überarbeitet|ersetzt|behoben|entfernt|umbenannt|angelegt|erstellt|aktualisiert|implementiert|eingebaut|umgestellt|geändert)(?:\W*$|, )"
    r"|\b(?:est|sont|a été|ont été) (?:maintenant |bien |aussi )?(?:ajouté|corrigé|remplacé|supprimé|créé|renommé|modifié|validé|terminé|traduit)e?s?(?:\W*$|[,;] )"
    r"|^(?:j['’]ai|nous avons|on a) (?:ajouté|corrigé|remplacé|supprimé|créé|implémenté|renommé|mis à jour)\b|(?:ました|しました)。?$",
    "opened fixed added created updated implemented removed renamed moved replaced refactored completed committed pushed extracted converted "
    "rewrote rewritten wrote written ported changed deleted switched merged released passes fix solution "
    + " ".join(_MORE_FINISHED.replace("-", "|").split("|"))
    + " now longer ergänzt gelöscht verschoben korrigiert angepasst überarbeitet behoben erledigt umgesetzt eingebaut fait hecho listo corregido arreglado ersetzt entfernt umbenannt angelegt erstellt "
    "aktualisiert implementiert umgestellt",
)
"""A result, by the finished work or by the new state; approval alone is not a result. `Split` may be a proposal as well."""
_STATED = late(
    # Without a stop behind it, the participle describes what the code does: is written in `a.go`, is created by the hook.
    rf"(?i)^(?:[^\s,;:]+ ){{1,8}}?(?:is|are|has been|have been) (?:now |all |also |both )?(?:{_STATES})(?: and (?:now )?(?:{_STATES}))?(?: now| too| again| as well)?[.;,!]?(?:$|(?<=[;,]) )"
)
"""A new state of the work, told from its first word on."""
_NOW = late(
    r"(?i)^(?!.*\b(?:fail\w*|broken|still|not|n['’]t|slow|slower|wrong|i|we|you|your|let)\b)[^:?]{12,200}(?<!\bfor)(?<!\bright)(?<!\bby)(?<!\buntil)(?<!\bjust)(?<!\bfrom) now\.?$"
)
"""What something does now, so that it does not fail."""
_SIGNS = (" is ", " are ", " been ")
"""Every such sentence holds one."""
_SO_I = late(
    r"(?i)\b(?:so|and) i(?:['’]ve| have)? (?:also |then )?(?:opened|fixed|added|created|updated|implemented|removed|renamed|moved|replaced|committed|pushed|merged|rewrote|changed|deleted)\b"
)
"""Work told behind its reason."""
_PASSED = markers(
    r"(?i)^(?:all|everything)(?: \w+){0,2} (?:pass(?:es|ed|ing)|green)\b|\b\d+ passed\b"
    r"|\b(?:all|\d+)(?: the)? (?:\w+ )?(?:tests?|checks?)(?: (?:on|in|of) [^\s,.;:]+(?: #?\d+)?)? (?:now )?(?:pass|passed|are green|green)\b"
    r"|\btests? pass(?:es)?\b(?! (?:`|an? |the |its? |in |to ))",
    "pass passes passed passing green",
)
"""The outcome of runs in a reply's words. A later run may have another one, and the runs themselves are recorded."""
_CONTRAST = re.compile(r"(?i)\b(?:instead of|rather than)\b")
_OPENING = re.compile(r"(?i)\W*(?:done|ok(?:ay)?|good|great|perfect|excellent|all set)[,.:!]+\s+(?=\S)")
_TALK = re.compile(
    r"(?i)^\W*(?:i\b|you\b|your\b|we\b|let\b|here(?:['’]s| is| are)\b|these\b|this\b|that\b|it['’]s\b|but\b|or\b|so\b|and\b|if\b|what\b|my\b|try\b|see\b|set\b|check\b)"
)
"""Sentences that depend on the text around them."""
_ADDRESSED = re.compile(r"(?i)^(?:now,? )?(?:you|we|i|they|it|this|that|here|these|there)\b(?:['’]\w+)?")
_WEIGHED = re.compile(r"(?i)^\W*(?:pros?|cons?|advantages|disadvantages)\W*$")
"""The head of a list that weighs one of several ways: its name, and whether it was chosen, are elsewhere."""
_WAY = re.compile(
    r"(?i)^\W*(?:option|approach|variant|alternative|proposal|idea) (?:#?\d{1,2}|[a-d])\b(?: \([^()\n]{1,60}\))?\s*(?:$|[:–—-])"
)
"""One of several ways, by its name. The request that chooses it is quoted with its text."""
_WAYS = re.compile(
    r"(?i)\b(?:(?:do you|would you|want|should i|shall i|i can|we can|we could|i could)\b(?: \w+){0,4})\W*$|^\W*(?:options|alternatives)\W*$"
)
"""The head of a list of ways: nobody has chosen any of them."""
_OFFERS = re.compile(
    r"(?i)\byou(?:['’]d)? (?:can|could|may|might)\b|\b(?:could|can|might|may) (?:help|try|do|also|fix|prevent|improve|consider)\b"
    r"|\b(?:options?|alternatives?|suggestions?|recommendations?|ideas?|ways to|possible (?:fixes|improvements|solutions))\b"
    r"|\b(?:möglichkeiten|vorschläge|optionen|ideen|propositions?|pistes?|opciones|sugerencias)\b|建议|可以(?:尝试|考虑)|方案"
)
"""The head of a list of possibilities: nobody has chosen any of them."""
_IMPERATIVE = re.compile(
    r"(?i)^(?:(?:now|then|just|please),? )?(?:run|set|use|add|try|install|change|update|replace|switch|move|enable|disable|configure|remove|delete|create|wait|keep|make|put|let|open|check"
    r"|consider|upgrade|pin|skip|merge|rebase|revert|rename|extract|split|document|log|verify|ask|search|restart|rebuild|test)\b(?!-)"
)
_ADVISES = re.compile(
    r"(?i)^(?:[^:.]{1,60}: )?(?:(?:and|also|now|then|first|next|just|please|or)[\s,]+)*(?:check|try|open|search|look|compare|toggle|restart|reload|verify|inspect|re-?run|watch|confirm|ask)\b(?!-)"
    r"|\bif you(?:['’]d)? (?:want|like|need|prefer|wish)\b|\bworth (?:checking|trying|a (?:try|look))\b"
)
"""What the reader of an answer was told to do, or could do, perhaps below words that say where."""
_BOX = re.compile(r"\[[ xX✓~-]\]\s")
"""An item of a checklist, which becomes a step."""
_LIST_ITEM = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+")
_DIRECTIVE = re.compile(r"::[a-z][a-z-]{1,40}\{")
"""A line of Codex for its own screen: `::git-commit{…}`."""
_CONTINUED = re.compile(r"[:：]$")
_HEADING = re.compile(r"(?m)^#{1,6} ")
_ENDED = re.compile(r"[.!?。！？;…]$")
WAITING = "Waiting for the user: "
"""The beginning of a question of the model's that the user has not answered."""
_QUOTED = re.compile(
    r"^(?:Waiting for the user|Asked|Asked last|Answered last|Last request(?: before the messages that were kept)?|Last reply|Said last): "
)
_OF_A_BRANCH: dict[SummarySection, tuple[SummarySection, float, str]] = {
    SummarySection.GOAL: (SummarySection.CONTEXT, 1.5, "A branch that was left: "),
    SummarySection.CONSTRAINTS: (SummarySection.CONSTRAINTS, 2.5, ""),
    SummarySection.DONE: (SummarySection.DONE, 0.5, "On a branch that was left: "),
    SummarySection.IN_PROGRESS: (SummarySection.CONTEXT, 0.4, "Open on a branch that was left: "),
    SummarySection.BLOCKED: (SummarySection.CONTEXT, 0.4, "Open on a branch that was left: "),
    SummarySection.DECISIONS: (SummarySection.DECISIONS, 1.0, ""),
    SummarySection.NEXT: (SummarySection.CONTEXT, 0.4, "Open on a branch that was left: "),
    SummarySection.CONTEXT: (SummarySection.CONTEXT, 0.3, ""),
}
"""The new section, the worth and the lead of a branch summary's lines.

The branch's goal and next steps are not the current ones.
"""
REQUEST_LIMIT = 280
"""Characters of a request that are quoted."""


_OUTCOMES = (SummarySection.DONE, SummarySection.DECISIONS, SummarySection.NEXT)
_WHOLE = 8
"""Words from which a statement is no half thought."""
_ITEM = 100
"""Characters up to which the items of a list share a line."""
_TOGETHER = 290
"""Characters of such a line."""
_WAY_NAME = 50
"""Characters of a way's heading before the words that introduce a list about it."""


def bids(line: str) -> bool:
    """Whether a line of an answer tells its reader what to do."""
    return _IMPERATIVE.match(line) is not None or _ADVISES.search(line) is not None


def reached(sentence: str) -> bool:
    """Whether a sentence reports a result."""
    return section_of_sentence(sentence) is SummarySection.DONE


def answers(
    evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn], stop: Callable[[], bool]
) -> None:
    """Adds lines of the replies that ended a turn, in the sections of their sentences. Raises Cancelled.

    A reply between calls is about the next one: the end of its turn says what came of it.
    """
    total = max(1, len(messages))
    before = turns[0].first if turns else total
    final = {turn.last for turn in turns}
    # Messages before the first request belong to a turn that began before the span.
    final.update(
        [at for at, reply in enumerate(messages[:before]) if reply.message.get("role") == "assistant"][-1:]
    )
    working = {turn.last for turn in turns if turn.works}
    # A mere question leaves the answer before it under discussion.
    current = next((turn.first for turn in reversed(turns[-2:]) if turn.works), before)
    # Later work may have changed the state at the end of a turn.
    since = max((turn.first for turn in turns if turn.works or turn.waits), default=0)
    backwards = reversed(list(enumerate(messages)))
    changed = next((place for place, (_, made) in backwards if any(files_changed(made, frozenset(), ""))), -1)
    proposed = {
        turn.last for turn, then in zip(turns, [*turns[1:], None], strict=False) if _is_offer(turn, then)
    }
    talk = not any(tool_calls(message) for _, message in messages)
    for place, (entry, message) in enumerate(unless_cancelled(messages, stop)):
        role = message.get("role")
        # A turn without a reply ends with the request itself.
        if role != "branchSummary" and (role != "assistant" or place not in final):
            continue
        recency = 0.4 + 0.6 * (place + 1) / total
        worked = place in working or place < before
        over = place < max(since, current)
        for text in _texts(message):
            outline = _HEADING.search(text) if role == "branchSummary" else None
            if outline is not None:
                _branch(evidence, entry, text[outline.start() :], recency)
                continue
            for line in quotable(text):
                if _leads(line):
                    continue
                said = _said(line)
                section = said.section
                if section is SummarySection.DECISIONS and place in proposed and not _is_finished(line):
                    # The offer was not accepted.
                    section = SummarySection.CONTEXT
                if section is SummarySection.DONE and (not worked or said.of_runs):
                    section = SummarySection.CONTEXT
                if section is SummarySection.DONE:
                    line = _without_opening(line)
                context = section is SummarySection.CONTEXT
                if context and not said.alone:
                    continue
                if context and over and said.passing:
                    # The end of the last turn tells the final state.
                    continue
                if context and (place in proposed or over) and said.bids:
                    # Nobody chose it, or it was done.
                    continue
                # A decision from before later work is told as said then: the work may have changed it. Other statements have
                # their own heading.
                lead = SAID_EARLIER * (place < max(changed, since) and section is SummarySection.DECISIONS)
                add(
                    evidence,
                    section,
                    line,
                    (entry,),
                    recency * (0.3 if context else 1.0),
                    # A statement that names nothing of the span counts only where work was done, or none at all.
                    names_something=context and not (talk or worked),
                    provenance=Provenance.SAID,
                    lead=lead,
                )


def answered_before(messages: Sequence[SpanMessage], turns: Sequence[Turn]) -> int:
    """The position of the answer that ended a turn from before the span; 0 where there is none."""
    for place in range((turns[0].first if turns else len(messages)) - 1, 0, -1):
        message = messages[place].message
        if message.get("role") == "assistant":
            text = "\n".join(_texts(message))
            return place if text.strip() and not any(tool_calls(message)) and not asks_back(text) else 0
    return 0


def _is_offer(turn: Turn, then: Turn | None) -> bool:
    """Whether an answer proposes something, and the next request, if there is one, does not accept it."""
    if not asks_back(turn.answer) or prose.reports(turn.answer):
        return False
    return then is None or not (
        keeps_going(then) or demands.agrees(then.own) or CHOOSES.search(then.text) is not None
    )


class _Said(NamedTuple):
    """The classification of a line of an answer, independent of its place."""

    section: SummarySection
    alone: bool
    """Whether it states something, and is understandable without the text around it."""
    passing: bool
    """Whether it describes a state at that moment."""
    bids: bool
    """Whether it says what to do."""
    of_runs: bool
    """Whether it tells the outcome of runs, and no work."""


@lru_cache(maxsize=1 << 13)
def _said(line: str) -> _Said:
    return _Said(
        section_of_sentence(line),
        len(line.split()) >= _WHOLE and not _TALK.match(line) and not _is_guessed(line),
        tells_a_passing_state(line),
        bids(line),
        _found(_PASSED, line) and not _found(_FINISHED, _without_opening(line)),
    )


@lru_cache(maxsize=1 << 13)
def _leads(line: str) -> bool:
    """Whether a line is a drawing, or leads to the next one."""
    return is_drawn(line) or prose.announces(_without_opening(line))


def _branch(evidence: Evidence, entry: EntryIndex, text: str, weight: float) -> None:
    """Adds the lines of an abandoned branch's summary. Its goal is the goal only where nothing else is."""
    evidence.left.add(entry)
    aimless = not any(candidate.section is SummarySection.GOAL for candidate in evidence.candidates)
    for section, raw, is_open in read_outline(text):
        line = _without_opening(_QUOTED.sub("", raw))
        if len(line) < 8 or line == "(none)" or _CONTINUED.search(line):
            continue
        if section is SummarySection.GOAL and aimless:
            add(evidence, section, line, (entry,), 3.0, first=True, limit=REQUEST_LIMIT)
            continue
        if is_open is False and section in {SummarySection.NEXT, SummarySection.IN_PROGRESS}:
            section = SummarySection.DONE
        target, worth, lead = _OF_A_BRANCH[section]
        add(evidence, target, line, (entry,), worth * weight, limit=240, lead=lead)


def last_word(
    evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn], *, replied: bool
) -> None:
    """Adds the model's last statements that no other section has: as many whole passages as fit a line.

    `replied` says that the kept messages have what the user said next: nothing waits for that, and they go on from there.
    """
    over = replied or is_answered(turns[-1]) or turns[-1].left if turns else answered_before(messages, turns)
    if over:
        # Nothing is in progress; the sentences of the answer are in their own sections.
        return
    request = turns[-1].first if turns else -1
    for place in range(len(messages) - 1, request, -1):
        # Messages before the last request are not replies to it.
        entry, message = messages[place]
        if message.get("role") != "assistant":
            continue
        elsewhere = {
            line_key(candidate.text)
            for candidate in evidence.candidates
            if entry in candidate.sources and candidate.section in _OUTCOMES
        }
        passages = ""
        texts = [text for text in _texts(message) if text.strip()]
        for text in texts:
            for passage in quotable(text, shortest=8):
                plain = _without_opening(passage)
                if line_key(plain) in elsewhere or prose.announces(plain) or prose.accompanies(passage):
                    continue
                if passages and len(passages) + len(passage) >= REQUEST_LIMIT - 40:
                    break
                passages += (" " if _ENDED.search(passages) else ". ") * bool(passages) + passage
        question = "" if any(tool_calls(message)) else question_of("\n".join(texts))
        if question:
            add(
                evidence,
                SummarySection.IN_PROGRESS,
                question,
                (entry,),
                1.6,
                first=True,
                limit=REQUEST_LIMIT,
                lead=WAITING,
            )
        if passages:
            add(
                evidence,
                SummarySection.CONTEXT,
                passages,
                (entry,),
                1.6,
                limit=REQUEST_LIMIT,
                lead="Last reply: ",
                provenance=Provenance.SAID,
            )
        if texts:
            # An earlier statement is not the last reply.
            return


def _texts(message: Body) -> Iterator[str]:
    if message.get("role") == "branchSummary":
        yield str(message.get("summary") or "")
        return
    for block in blocks_of(message.get("content")):
        text = block.get("text") if block.get("type") == "text" else None
        if isinstance(text, str):
            yield text


@lru_cache(maxsize=1 << 12)
def quotable(text: str, shortest: int = 20) -> tuple[str, ...]:
    """Passages of an answer that can stand alone, outside code: sentences, items of lists.

    Short items of one list are joined after the words that introduce them: alone they seldom name their subject.
    """
    return tuple(_passages(text, shortest))


def _passages(text: str, shortest: int) -> Iterator[str]:
    intro = way_name = ""
    chosen_from, fenced = False, "```" in text
    items: list[str] = []
    for raw in prose.lines_outside_code(text):
        stripped = raw.strip().replace("**", "")
        mark = _LIST_ITEM.match(stripped)
        item = stripped[mark.end() :].strip() if mark is not None else ""
        if not stripped or _DIRECTIVE.match(stripped):
            continue
        if mark is not None and (
            _BOX.match(item) or chosen_from or (_IMPERATIVE.match(item) and _OFFERS.search(intro))
        ):
            continue
        chosen_from = stripped.rstrip("*_ ").endswith(("?", "？", "?:", "？："))
        if mark is None and not chosen_from:
            way = _WAY.match(stripped.lstrip("# ")) is not None
            chosen_from = way or (stripped.endswith((":", "：")) and _WAYS.search(stripped) is not None)
            if way and stripped[0] != "#":
                continue
        if mark is not None and len(item) <= _ITEM and section_of_sentence(item) is SummarySection.CONTEXT:
            if len(item) >= 4 and not _CONTINUED.search(item):
                items.append(item)
            continue
        yield from _together(intro, items)
        items = []
        if mark is not None:
            if 12 <= len(item) <= 400 and not _CONTINUED.search(item):
                yield item
            continue
        intro = ""
        if stripped.startswith("#"):
            intro = stripped.lstrip("# ")
            way_name = intro if _WAY.match(intro) else ""
        elif _CONTINUED.search(stripped):
            intro = prose.last_sentence(stripped).rstrip(":：")
            # A report before the words that introduce a list is no part of them.
            yield from (
                one
                for one in [*prose.sentences(raw)][:-1]
                if len(one) >= shortest and (reached(one) or prose.reports(one))
            )
            if way_name and not _WEIGHED.match(intro):
                # Alone it does not say that it is about one of several ways.
                intro = f"{cut(way_name, _WAY_NAME)}, {intro}"
        elif not stripped.startswith(("|", ">", "<")):
            for number, sentence in enumerate(prose.sentences(raw)):
                if fenced and not number and stripped[0].islower():
                    # Its beginning is before the code.
                    continue
                asked = sentence.endswith(("?", "？"))
                if len(sentence) >= shortest and not asked and not _is_code(sentence):
                    yield sentence
    yield from _together(intro, items)


def _together(intro: str, items: Sequence[str]) -> Iterator[str]:
    """Short items joined into lines."""
    if _WEIGHED.match(intro):
        return
    leads = 3 <= len(intro) <= 80 and not prose.announces(intro) and not _ADDRESSED.match(intro)
    lead = f"{intro}: " if leads else ""
    line = ""
    for item in items:
        if line and len(line) + len(item) > _TOGETHER:
            yield line
            line = ""
        line = f"{line}; {item}" if line else lead + item
    if line:
        yield line


def _without_opening(sentence: str) -> str:
    """A sentence without the word of satisfaction at its beginning."""
    found = _OPENING.match(sentence)
    return sentence[found.end() :] if found is not None else sentence


def _is_code(sentence: str) -> bool:
    """Whether a sentence has hardly a word outside its code, or comments some."""
    if sentence.startswith(("//", "/*")):
        return True
    outside = re.sub(r"`[^`]*`", " ", sentence) if "`" in sentence else sentence
    return len(prose.content_words(outside)) == 0


def _is_guessed(sentence: str) -> bool:
    return demands.guesses(sentence) or prose.hedges(sentence)


def _is_finished(sentence: str) -> bool:
    if _found(_FINISHED, sentence) or _found(_PASSED, sentence):
        return True
    if any(sign in sentence for sign in _SIGNS) and _STATED.match(sentence) is not None:
        return True
    if sentence.endswith((" now.", " now")) and _NOW.match(sentence) is not None:
        return True
    return (" so I" in sentence or " and I" in sentence) and _SO_I.search(sentence) is not None


def _found(result: Markers, sentence: str) -> bool:
    """Whether a sentence matches as it stands, capitals included."""
    return result.may_stand_in(sentence) and result.pattern.search(sentence) is not None


def _names_enough(sentence: str) -> bool:
    """Whether a report says of what it is: with three words, or two of which one is a name."""
    words = prose.content_words(sentence)
    return len(words) > 2 or (len(words) == 2 and not all(map(str.isalpha, words)))


@lru_cache(maxsize=1 << 14)
def section_of_sentence(sentence: str) -> SummarySection:
    """The section of a model's sentence; context where it reports no decision, result or remaining work."""
    if demands.asks(sentence):
        return SummarySection.CONTEXT
    guessed = _is_guessed(sentence)
    finished = _is_finished(_without_opening(sentence)) and not guessed and _names_enough(sentence)
    # A report of finished work tells a decision only with its reason: that something was there before is none.
    decided = (
        prose.decides(_CONTRAST.sub(" ", sentence), strictly=True) if finished else prose.decides(sentence)
    )
    if decided and not guessed:
        return SummarySection.DECISIONS
    if finished:
        return SummarySection.DONE
    if prose.remains(sentence):
        return SummarySection.NEXT
    return SummarySection.CONTEXT
