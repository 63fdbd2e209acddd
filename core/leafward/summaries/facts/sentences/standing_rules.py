"""The user's rules that are in force: a revocation names its subject, and seldom in the same words."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations
from typing import TYPE_CHECKING

from leafward.base.emphasis import without_emphasis
from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.demands import (
    is_for_once,
    is_work,
    limits_work,
    only_limits,
    revoked,
)
from leafward.summaries.facts.sentences.marker_words import markers
from leafward.summaries.facts.sentences.negation import negated, sentence_key
from leafward.summaries.facts.sentences.prose import lines_outside_code, list_items
from leafward.summaries.facts.sentences.questions import asks
from leafward.summaries.facts.sentences.standing_orders import orders_agent
from leafward.summaries.facts.sentences.wishes import is_wish
from leafward.summaries.facts.values import DROPPED, FactKind, Sighting, Voice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.session.entries import EntryIndex
    from leafward.summaries.facts.values import Fact

_SAME = 2
"""Words that a rule shares at least with a revocation of it, where that has so many."""

_HEAD = late(
    r"(?im)^(?:#{1,6} .{0,60}?|.{0,80}?)\b(?:rules|guidelines|constraints|conventions|regeln|vorgaben|règles|consignes|contraintes|reglas|normas)\b[^:：\n]{0,60}[:：]\W*$"
    r"|^#{1,6} .{0,40}\b(?:rules|guidelines|constraints|conventions|regeln|vorgaben|règles|consignes|contraintes|reglas|normas)\W*$"
    r"|^.{0,20}(?:规则|规范|约定|ルール)[^:：\n]{0,20}[:：]\W*$"
)
"""Words that make the list after them one of rules, whatever its items say."""
_HEAD_WORDS = (
    *(
        "rules",
        "guidelines",
        "constraints",
        "conventions",
        "regeln",
        "vorgaben",
        "règles",
        "consignes",
        "contraintes",
    ),
    *("reglas", "normas", "规则", "规范", "约定", "ルール"),
)
"""Lower-case words of such heads: every head holds at least one."""
_ITEM = late(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(.{4,400})$")
_SPARES = late(
    r"(?i)^\W*(?:please |bitte )?(?:keep|leave|retain|preserve|(?:do not|don['’]?t|never) (?:delete|remove|drop)|behalte|lass|garde[rz]?|laisse[rz]?|conserve[rz]?|mantén)\b|^(?:保留|不要删)"
)
_SPARED = frozenset(
    content_words(
        "keep keeping leave retain preserve delete remove drop work working code file files alongside please"
    )
)
"""Words of a rule that name nothing."""
_VERBS = "drop kill erase purge lösch lösche entfern entferne supprime supprimer supprimez enlève elimina borra quita"
# Typed in haste: with the letters behind the first one in another order.
_HASTY = {word[0] + "".join(rest) for word in ("remove", "delete") for rest in permutations(word[1:])}
_REMOVAL_WORDS = [*_VERBS.split(), *sorted(_HASTY)]
_REMOVAL = markers(rf"(?<!\w)(?i:{'|'.join(_REMOVAL_WORDS)})\b", " ".join(_REMOVAL_WORDS))
"""Requests for a removal."""
_BESIDE = late(r"(?i)[,;:.]?\s(?:alongside|along with|next to|besides?|neben|à côté|junto)\b")
"""Words before what the spared thing stands beside."""
_NEGATED = late(
    r"(?i)(?:\b(?:never|not|dont|no|nothing|without|nicht|nie(?:mals)?|kein\w*|ohne|ne|pas|jamais|sans|nunca|sin)|n['’]t)\b(?:[^\w,.;:]+\w+){0,3}[^\w,.;:]*$"
)
"""A negation before a word of removal, which asks for the opposite."""
_BEFORE_WORK = late(
    r"(?i)\b(?:do not|don['’]?t|no|not|never)\b.{0,40}\b(?:cod\w+|implement\w*|start\w*|begin\w*|chang\w+|edit\w*|modify\w*|build\w*|execut\w+)\b.{0,60}\b(?:yet|for now|until|before)\b"
    r"|\b(?:do not|don['’]?t)\b \w+ (?:any|anything|code)\b[^.!?]{0,20}\b(?:just|only|simply) [a-z]+"
    r"|\bnoch (?:nicht|nichts|kein\w*)\b.{0,40}\b(?:code|anfangen|beginnen|umsetzen|implementieren|ändern|programmieren)\b|\b(?:pas encore|todavía no|aún no)\b.{0,40}\b(?:code\w*|commence\w*|implément\w*|modifi\w*|empie\w+|implement\w*)\b"
    r"|先不要(?:写|改|动)|まだ(?:実装|コード|変更)"
)
"""A rule that holds until the work may begin."""
_NO_WORK = late(
    r"(?i)^(?:\W*(?:please|but|and|just|for now),? )*(?:do not|don['’]?t) (?:(?:try|start|begin) (?:to )?)?(?:edit|modify|change|touch|write|implement|code?|execute(?= anything)|(commit))(?:ing)?"
    r"(?: (?:any ?thing|any|the|code|files?))*(?: yet| for now| now)?\W*$"
)
"""A ban on work as such, or on commits: nobody sets it for good."""
_UNTIL_TOLD = late(
    r"(?i)\b(?:until|till|before) (?:i|we) (?:say|tell|told|ask|give|approve|confirm|agree|ok)\b|\bbis ich (?:es |das )?(?:sage|freigebe)\b"
)
"""The end of a rule that holds until the user asks for the thing himself."""
_FORBIDDING = frozenset(content_words("do not don't dont never please anything"))
_GO_AHEAD = late(
    r"(?i)^\W*(?:(?:ok(?:ay)?|yes|yep|yeah|great|good|perfect|nice|cool|lgtm|(?:looks|sounds) (?:good|great)|(?:the )?plan (?:is |looks )?(?:good|great|fine|ok(?:ay)?)|ja|gut|super|passt|oui|d['’]accord|s[ií]|vale|好的?|はい|[^\W\d_]{2,20}(?=[,.!] ))[\s,.!，。]+)*"
    r"(?:(?:please|now|you can|let['’]s|bitte|dann|jetzt)[\s,]+)*"
    r"(?:(?:the )?(?:plan )?(?:is )?approved|go(?: ahead| for it)?\W*$|go ahead|(?:start|begin)(?: with)?(?: \w+)? (?:now|implement\w*|cod\w+|step|phase|the (?:work|implementation))|(?:start|begin|proceed|implement)\W*$|implement (?:it|this|that|the plan)|write the code|build it|do it\W*$"
    r"|leg los|fang an|setz (?:es|das|den plan) um|vas-y|allez-y|adelante|empieza|开始(?:吧|写|实现|实施)|动手吧|進めて|始めて)"
)
"""The beginning of a prompt that lets planned work begin."""
_BRIEF = 120
"""Characters of a sentence that sets a rule anew."""
_OTHER_LIMIT = late(
    r"(?i)^(?:(?:ok(?:ay)?|no|well|but|and|actually|hm+|sorry|nein|doch|non)[\s,.]+)*(?:(?:please|let['’]s|let us|bitte)\s+)?(?:make|raise|lower|change|set|increase|reduce|mach|setz)\w*\s+(?:it|that|this|the limit|the maximum|daraus|das)\b"
    r"|^(?:\W*(?:no|actually|sorry|nein|non)\W+)+\d+ \w+"
)
"""The beginning of a sentence that gives another limit."""
_LIMIT = late(r"\b(\d[\d,]{0,9}) ([a-zà-ÿ]{3,20})\b")
_FROM_NOW = late(
    r"(?i)^(?:no|nein|non|actually|sorry)\b|\b(?:from now on|instead|after all|ab jetzt|stattdessen|désormais|plutôt|ahora|mejor)\b"
)
"""Words of a rule that takes the place of another one."""
_USE = late(r"\b(?:use|using|write|with|nimm|nutze|verwende|utilise[rz]?|usa)\s+([a-zà-ÿ][\w-]{2,30})\b")
_UNUSED = late(
    r"\b(?:never|no|not|without|(?:don['’]?t|do not) use|instead of|nie(?:mals)?|keine?n?|ohne|jamais(?: de)?|sans|pas de|nunca|sin)\s+(?:use\s+)?([a-zà-ÿ][\w-]{2,30})\b"
)
_FIRST_WORDS = 12
_WORD = late(r"[^\W\d_]+")
_AND = late(r"(?i)[,;:.]\s|\s(?:and|but|und|aber|et|mais|y|pero)\s|[，；、]|并且|而且")
_STEM = 3
"""Letters that two forms of a word share at least."""
_NAMED = late(r"[^\s,;:]*[\d/\\`][^\s,;:]*")
"""A word with a figure, or a path, or in quotation marks of code."""
_LEAST_SHAPE = 6
"""Words from which two rules that differ only in such words are one, set again."""


def goes_ahead(prompt: str) -> bool:
    """Whether a prompt lets planned work begin."""
    return _GO_AHEAD.match(prompt) is not None


@dataclass(slots=True)
class StandingRules:
    """The rules that the user has set, and their revocations."""

    _told: dict[str, str] = field(default_factory=dict)
    """The text of each rule, by the key of its fact."""
    _shapes: dict[str, str] = field(default_factory=dict)
    """The last rule of each shape: its words without names and figures."""
    _spared: dict[str, frozenset[str]] = field(default_factory=dict)
    """What those spare that spare something."""
    _until_asked: dict[str, frozenset[str]] = field(default_factory=dict)
    """What those forbid that hold until the user asks for it himself."""
    _before_work: dict[str, None] = field(default_factory=dict)
    """Those that hold until the work may begin."""
    _revoked: list[tuple[frozenset[str], str]] = field(default_factory=list)
    """The subject of each revocation, and its sentence."""
    _removals: list[str] = field(default_factory=list)
    """Removals that the user asked for."""
    _went_ahead: str = ""
    """The last prompt that let work begin."""
    _bans: dict[str, bool] = field(default_factory=dict)
    """The bans on work of earlier prompts, by the keys of their rules, and whether each is one on commits."""
    _fresh: dict[str, bool] = field(default_factory=dict)
    """Those of the last prompt."""
    _prompt: str = ""
    """The last prompt."""
    _lasting: set[str] = field(default_factory=set)
    """The keys of rules that took the place of others, or were all that was said."""
    alone: set[str] = field(default_factory=set)
    """The keys of the rules of the last prompt, where it said nothing else and no call followed yet."""
    _worked_for: dict[bool, str] = field(default_factory=dict)
    """The last prompts that led to changed files (False), and to commits (True)."""

    def set(self, sightings: Iterable[Sighting], prompt: str, entry: EntryIndex) -> list[Sighting]:
        """Records the demands of a prompt; returns the earlier ones that it sets again with other names or figures."""
        replaced = []
        self._bans.update(self._fresh)
        again = prompt.strip() != self._prompt
        self._fresh, self._prompt = {}, prompt.strip()
        keys = set()
        for seen in sightings:
            if seen.kind is FactKind.CONSTRAINT and seen.voice is Voice.USER:
                keys.add(seen.key)
                before = self._tell(seen.key, seen.text) if again else ""
                if before and before not in keys and (rule := self._forget(before)):
                    replaced.append(_dropped(before, rule, entry))
                if (ban := _NO_WORK.match(seen.text)) is not None:
                    self._bans.pop(seen.key, None)
                    self._fresh[seen.key] = ban[1] is not None
        self.alone = keys if keys and only_limits(prompt) else set()
        return replaced

    def called(self) -> None:
        """Records that a call followed the last prompt: it asked for work."""
        self.alone.clear()

    def answered(self) -> None:
        """Records that the last prompt was answered: what it said alone, and nothing was done for, is a rule."""
        self._lasting |= self.alone

    def _tell(self, key: str, rule: str) -> str:
        """Records a rule, and what ends it: of very many rules few are asked about at each prompt.

        Returns the key of an earlier one that is the same but for names and figures; empty where there is none.
        """
        self._forget(key)
        self._told[key] = rule
        shape = _NAMED.sub("#", rule.casefold())
        before = self._shapes.get(shape, key) if "#" in shape and len(shape.split()) >= _LEAST_SHAPE else key
        self._shapes[shape] = key
        if spared := _spared(rule):
            self._spared[key] = spared
        if (told := _UNTIL_TOLD.search(rule)) is not None:
            self._until_asked[key] = frozenset(content_words(rule[: told.start()])) - _FORBIDDING
        if _BEFORE_WORK.search(rule) is not None:
            self._before_work[key] = None
        return before if before != key else ""

    def _forget(self, key: str) -> str:
        """Takes a rule out, and returns it; empty where it is not known."""
        for some in (self._spared, self._until_asked, self._before_work):
            some.pop(key, None)
        return self._told.pop(key, "")

    def lasts(self, rule: Fact) -> bool:
        """Whether a demand holds beyond its request.

        It is an order about how the agent works, took the place of another rule, was said alone, or names its end.
        """
        until = rule.key in self._before_work or rule.key in self._until_asked
        return until or rule.key in self._lasting or orders_agent(rule.text)

    def revoke(self, sentences: Iterable[str], entry: EntryIndex) -> Iterator[Sighting]:
        """Records the revocations in a prompt's sentences; yields the revoked rules.

        Where a rule has a further part, that stays in force: the sentence becomes a rule beside it.
        """
        for sentence in sentences:
            if removal := _removal(sentence):
                self._removals.append(removal)
                words = frozenset(content_words(removal))
                for key in [key for key, spared in self._spared.items() if spared <= words]:
                    yield _dropped(key, self._forget(key), entry)
            about = revoked(sentence)
            if not about:
                if not (self._told and _sets_anew(sentence)):
                    continue
                for key in [key for key, rule in self._told.items() if _replaces(sentence, rule)]:
                    yield _dropped(key, self._forget(key), entry)
                    # It says what holds from now on, though in words that are no rule alone.
                    yield self._in_its_place(sentence, entry)
                continue
            self._revoked.append((about, sentence))
            for key in [key for key, rule in self._told.items() if _is_about(rule, about)]:
                if _says_more(self._told[key], about):
                    yield self._in_its_place(sentence, entry)
                    continue
                yield _dropped(key, self._forget(key), entry)

    def _in_its_place(self, sentence: str, entry: EntryIndex) -> Sighting:
        """A sentence that takes the place of a rule, or of a part of one."""
        key = sentence_key(sentence)
        self._lasting.add(key)
        return Sighting(FactKind.CONSTRAINT, key, sentence, Voice.USER, entry)

    def begun(self, prompt: str, entry: EntryIndex) -> Iterator[Sighting]:
        """Yields the rules that held until the work might begin, where a prompt lets it begin."""
        if goes_ahead(prompt):
            self._went_ahead = prompt
        if not (self._until_asked or self._before_work) or asks(prompt):
            return
        asked = frozenset(content_words(prompt)) if not negated(prompt) else frozenset()
        over = [key for key, forbidden in self._until_asked.items() if forbidden <= asked]
        if goes_ahead(prompt):
            over += [key for key in self._before_work if key not in over]
        for key in over:
            rule = self._forget(key)
            yield _dropped(key, rule, entry)

    def worked(self, entry: EntryIndex, *, committed: bool) -> Iterator[Sighting]:
        """Yields the bans of earlier prompts on changes of files, or on commits, where a call makes one: the user asked for it since."""
        self._worked_for[committed] = self._prompt
        for key in [key for key, of_commits in self._bans.items() if of_commits is committed]:
            del self._bans[key]
            rule = self._forget(key)
            if rule:
                yield _dropped(key, rule, entry)

    def is_revoked(self, rule: str) -> bool:
        """Whether the user revoked the whole of a rule from an earlier summary."""
        return self.revoked_by(rule) != ""

    def revoked_by(self, rule: str) -> str:
        """The words by which the user revoked the whole of a rule that was set elsewhere; empty where there are none."""
        sentences = (
            sentence
            for about, sentence in reversed(self._revoked)
            if _is_about(rule, about) and not _says_more(rule, about)
        )
        spared = _spared(rule)
        removals = (
            removal
            for removal in reversed(self._removals if spared else ())
            if spared.issubset(content_words(removal))
        )
        began = self._went_ahead if self._went_ahead and _BEFORE_WORK.search(rule) else ""
        ban = _NO_WORK.match(rule)
        lifted = self._worked_for.get(ban[1] is not None, "") if ban is not None else ""
        return next(sentences, "") or next(removals, "") or began or lifted

    def asked_since(self, rule: str) -> str:
        """The last removal that may concern what a rule spares; empty where there is none."""
        if _SPARES.match(rule) is None:
            return ""
        words = frozenset(content_words(rule)) - _SPARED
        return next((one for one in reversed(self._removals) if words.intersection(content_words(one))), "")


def _sets_anew(sentence: str) -> bool:
    """Whether a sentence may set a rule in place of another one."""
    if len(sentence) > _BRIEF or asks(sentence):
        return False
    return _OTHER_LIMIT.match(sentence) is not None or _FROM_NOW.search(sentence) is not None


def _replaces(sentence: str, rule: str) -> bool:
    """Whether a later sentence sets another limit in place of a rule's, or forbids what it demands, or the other way round."""
    if sentence_key(sentence) == sentence_key(rule):
        return False
    if _OTHER_LIMIT.match(sentence) is not None:
        limits, others = (dict(map(reversed, _LIMIT.findall(one.lower()))) for one in (sentence, rule))
        if len(limits) == 1 and any(others.get(unit, figure) != figure for unit, figure in limits.items()):
            return True
    if _FROM_NOW.search(sentence) is None:
        return False
    wanted, unwanted = _used(sentence), _unused(sentence)
    return bool((wanted & _unused(rule)) | (unwanted & _used(rule)))


def _used(rule: str) -> set[str]:
    return set(_USE.findall(_UNUSED.sub(" ", rule.lower())))


def _unused(rule: str) -> set[str]:
    return set(_UNUSED.findall(rule.lower()))


def _spared(rule: str) -> frozenset[str]:
    """The words for what a rule spares: where a removal has all of them, nothing is left that it could bind. None where it spares nothing."""
    if _SPARES.match(rule) is None:
        return frozenset()
    return frozenset(content_words(_BESIDE.split(rule)[0])) - _SPARED


def _removal(sentence: str) -> str:
    """The removal that a sentence asks for, from its verb on, also where that has its letters in another order."""
    if not _REMOVAL.may_stand_in(sentence):
        return ""
    for found in _REMOVAL.pattern.finditer(sentence):
        if len(_WORD.findall(sentence, 0, found.start())) >= _FIRST_WORDS:
            break
        if _NEGATED.search(sentence, 0, found.start()) is None:
            return "" if asks(sentence.rstrip("?？ ")) else sentence[found.start() :]
    return ""


def listed_rules(prompt: str) -> list[str]:
    """The items of a prompt's lists of rules."""
    found: list[str] = []
    low = prompt.lower()
    if not any(map(low.__contains__, _HEAD_WORDS)) or _HEAD.search(prompt) is None:
        return found
    under = False
    for line in lines_outside_code(prompt):
        item = _ITEM.match(line)
        said = without_emphasis(line if item is None else item[1]).strip()
        if item is not None and under:
            found.append(said)
        elif said:
            # What is to be done with rules makes none.
            under = _HEAD.match(line) is not None and not is_work(said)
    return found


def _dropped(key: str, rule: str, entry: EntryIndex) -> Sighting:
    """A rule that the user revoked, or set again in other words."""
    return Sighting(FactKind.CONSTRAINT, key, rule, Voice.USER, entry, outcome=DROPPED, is_open=False)


def _is_about(rule: str, about: frozenset[str]) -> bool:
    words = content_words(rule)
    same = [word for word in about if any(_is_form(word, other) for other in words)]
    if any(not word.isalpha() for word in same):
        return True
    return len(same) >= min(_SAME, len(about)) and 2 * len(same) >= len(about)


def _says_more(rule: str, about: frozenset[str]) -> bool:
    """Whether a rule has a second part about something else."""
    parts = [part for part in _AND.split(rule) if len(content_words(part)) >= _SAME]
    return len(parts) > 1 and not all(_is_about(part, about) for part in parts)


def _is_form(one: str, other: str) -> bool:
    """Whether two words are equal, or forms of the same word."""
    shorter, longer = (one, other) if len(one) < len(other) else (other, one)
    return one == other or (len(shorter) >= _STEM and longer.startswith(shorter))


def ends_with_answer(demand: str, prompt: str, *, ordered: bool) -> bool:
    """Whether a demand of a prompt binds the work on that prompt alone.

    `ordered`: something was to be written just before.
    """
    items, works = _listed(prompt)
    amid = demand in items
    return (
        is_for_once(demand, ordered=ordered, amid=amid, beside_work=amid and works)
        or limits_work(demand, prompt)
        or is_wish(demand, amid=amid)
    )


@lru_cache(maxsize=4)
def _listed(prompt: str) -> tuple[str, bool]:
    """The items of a prompt's lists, each on its line, and whether one is work: read once for all demands of the prompt."""
    items = list_items(prompt)
    return "\n".join(items), any(map(is_work, items))
