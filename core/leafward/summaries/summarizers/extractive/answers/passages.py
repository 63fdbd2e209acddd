"""The passages of an answer that can stand alone: sentences and items of lists that nobody has still to choose from."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts import prose
from leafward.summaries.summarizers.extractive.answers.sentence_sections import reached, section_of_sentence
from leafward.summaries.summarizers.outline import SummarySection, cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ADDRESSED = re.compile(r"(?i)^(?:now,? )?(?:you|we|i|they|it|this|that|here|these|there)\b(?:['’]\w+)?")
_PROMISES = re.compile(r"(?i)\b(?:will|would|should|could|can|may|might|to)(?: \w+ly| also| now)?\W*$")
"""The end of words that introduce a list of what is to come, or may."""
_WEIGHED = re.compile(r"(?i)^\W*(?:pros?|cons?|advantages|disadvantages)\W*$")
"""The head of a list that weighs one of several ways: its name, and whether it was chosen, are elsewhere."""
_WAY = re.compile(
    r"(?i)^\W*(?:option|approach|variant|alternative|proposal|idea) (?:#?\d{1,2}|[a-d])\b(?: \([^()\n]{1,60}\))?\s*(?:$|[:–—-])"
)
"""One of several ways, by its name. The request that chooses it is quoted with its text."""
_WAYS = re.compile(
    r"(?i)\b(?:(?:do you|would you|want|should i|shall i|i can|we can|we could|i could)\b(?: \w+){0,4})\W*$|^\W*(?:options|alternatives|opciones|opções|optionen|选项|選択肢)\W*$"
)
"""The head of a list of ways: nobody has chosen any of them."""
_OFFERS = re.compile(
    r"(?i)\byou(?:['’]d)? (?:can|could|may|might)\b|\b(?:could|can|might|may) (?:help|try|do|also|fix|prevent|improve|consider)\b"
    r"|\b(?:options?|alternatives?|suggestions?|recommendations?|ideas?|ways to|possible (?:fixes|improvements|solutions))\b"
    r"|\b(?:möglichkeiten|vorschläge|optionen|ideen|propositions?|pistes?|opciones|sugerencias)\b|建议|可以(?:尝试|考虑)|方案"
)
"""The head of a list of possibilities: nobody has chosen any of them."""
_SUGGESTS = late(
    r"(?i)^\W*(?:suggest(?:ed|ions?)|recommend(?:ed|ations?)|propos(?:ed|als?)|options|alternatives|possible (?:fixes|improvements|solutions))\b"
    r"|^\W*(?:vorschläge|empfehlungen|möglichkeiten|suggestions|recommandations|sugerencias|建议|可选方案)"
)
"""The heading of a part that only suggests."""
_IMPERATIVE = re.compile(
    r"(?i)^(?:(?:now|then|just|please|next(?: up| step)?)[,:]? |(?:in order )?to [^,;:]{3,80}, (?:\w+ly )?)?(?:run|set|use|add|try|install|change|update|replace|switch|move|enable|disable|configure|remove|delete|create|wait|keep|make|put|let|open|check"
    r"|consider|upgrade|pin|skip|merge|rebase|revert|rename|extract|split|document|log|verify|ask|search|restart|rebuild|test|bump)\b(?!-)"
)
_ADVISES = re.compile(
    r"(?i)^(?:[^:.]{1,60}: )?(?:(?:and|also|now|then|first|next|just|please|or)[\s,]+)*(?:check|try|open|search|look|compare|toggle|restart|reload|verify|inspect|re-?run|watch|confirm|ask|(?:say|tell me|pick|choose) (?:which|what|one))\b(?!-)"
    r"|^(?:the )?next time (?:you|it|this|that)\b|^(?:(?:i|we|you|one|it) )?(?:could|might) (?:also |then |instead )?(?!(?:be|have|not|only|lead|cause|mean|fail|break|explain)\b)[a-z]+\b"
)
_RECOMMENDS = late(
    r"(?i)\bi(?:['’]d| would)? (?:recommend|suggest|propose)\b|\bmy (?:recommendation|suggestion|proposal)\b|\bmeine empfehlung\b|\b(?:ich )?(?:empfehle|schlage vor)\b"
    r"|\bma recommandation\b|\bje (?:recommande|propose)\b|\b(?:mi|minha) (?:recomendaci[oó]n|recomendação|sugerencia|sugestão)\b|\b(?:recomiendo|recomendo|sugiero|sugiro)\b"
)
"""What the agent would do: nobody has chosen it."""
_LEAVES_IT = re.compile(
    # It begins with one class, so that the search passes over all other characters quickly.
    r"[IiWw](?<!\w.)(?i:(?<=i)f you(?:['’]d)? (?:want|like|need|prefer|wish)\b|(?<=w)orth (?:checking|trying|a (?:try|look))\b)"
)
"""What the reader of an answer was told to do, or could do, perhaps below words that say where."""
_BOX = re.compile(r"\[[ xX✓~-]\]\s")
"""An item of a checklist, which becomes a step."""
_LIST_ITEM = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+")
_DIRECTIVE = re.compile(r"::[a-z][a-z-]{1,40}\{")
"""A line of Codex for its own screen: `::git-commit{…}`."""
_DRAFTS = late(
    r"(?i)\b(?:commit[- ](?:messages?|title|text|nachricht)|(?:suggested|proposed) commit|(?:mensa(?:je|gem)|message|sugest[ãa]o|propuesta) (?:de|du) commit|(?:pull request|pr|mr|release|changelog) (?:title|description|body|text|notes?|entry))\b[^.!?\n]{0,60}[:：]\W*$|(?:提交信息|コミットメッセージ|커밋 메시지)[^。\n]{0,20}[:：]\W*$"
)
"""Words before a message that the agent drafts: what follows is no statement about the work."""
_LEADS = (":", "：")
"""The end of a line that introduces the next one."""
_ITEM = 100
"""Characters up to which the items of a list share a line."""
_TOGETHER = 290
"""Characters of such a line."""
_WAY_NAME = 50
"""Characters of a way's heading before the words that introduce a list about it."""


def bids(line: str) -> bool:
    """Whether a line of an answer tells its reader what to do."""
    return (
        _IMPERATIVE.match(line) is not None
        or _RECOMMENDS.search(line) is not None
        or _ADVISES.match(line) is not None
        or _LEAVES_IT.search(line) is not None
    )


@lru_cache(maxsize=1 << 12)
def quotable(text: str, shortest: int = 20) -> tuple[str, ...]:
    """Passages of an answer that can stand alone, outside code: sentences, items of lists.

    Short items of one list are joined after the words that introduce them: alone they seldom name their subject.
    """
    return tuple(_passages(text, shortest))


def without_suggestions(text: str) -> str:
    """An answer without the parts whose headings say that they only suggest, up to the next heading of their depth."""
    if "\n#" not in text and not text.startswith("#"):
        return text
    lines: list[str] = []
    suggests = 0
    for line in text.split("\n"):
        title = line.lstrip("#")
        depth = len(line) - len(title)
        if depth and title.startswith(" ") and (not suggests or depth <= suggests):
            suggests = depth if _SUGGESTS.match(title) else 0
        if not suggests:
            lines.append(line)
    return "\n".join(lines)


class _Draft:
    """A message that the agent drafts in its answer: a paragraph behind the words that lead to it, and the list below that."""

    def __init__(self) -> None:
        self._open = self._begun = self._ended = False

    def holds(self, line: str, *, is_item: bool) -> bool:
        """Whether the next line of the answer is part of a draft, or leads to one."""
        if _DRAFTS.search(line) is not None:
            self._open, self._begun, self._ended = True, False, False
        elif not line:
            self._ended = self._begun
        elif line.startswith("#") or (self._ended and not is_item):
            self._open = False
        else:
            self._begun = True
        return self._open


def _passages(text: str, shortest: int) -> Iterator[str]:
    intro = way_name = ""
    chosen_from, fenced = False, "```" in text
    draft = _Draft()
    items: list[str] = []
    for raw in prose.lines_outside_code(text):
        stripped = raw.strip().replace("**", "")
        mark = _LIST_ITEM.match(stripped)
        item = stripped[mark.end() :].strip() if mark is not None else ""
        if draft.holds(stripped, is_item=mark is not None) or not stripped or _DIRECTIVE.match(stripped):
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
            if len(item) >= 4 and not item.endswith(_LEADS):
                items.append(item)
            continue
        yield from _together(intro, items)
        items = []
        if mark is not None:
            if 12 <= len(item) <= 400 and not item.endswith(_LEADS):
                yield item
            continue
        intro = ""
        if stripped.startswith("#"):
            intro = stripped.lstrip("# ").rstrip(":： ")
            way_name = intro if _WAY.match(intro) else ""
        elif stripped.endswith(_LEADS):
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
    leads = 3 <= len(intro) <= 80 and not prose.announces(intro)
    # Without its verb a promise would be told as what is.
    leads = leads and (not _ADDRESSED.match(intro) or _PROMISES.search(intro) is not None)
    lead = f"{intro}: " if leads else ""
    line = ""
    for item in items:
        if line and len(line) + len(item) > _TOGETHER:
            yield line
            line = ""
        line = f"{line}; {item}" if line else lead + item
    if line:
        yield line


def _is_code(sentence: str) -> bool:
    """Whether a sentence has hardly a word outside its code, or comments some."""
    if sentence.startswith(("//", "/*")):
        return True
    outside = re.sub(r"`[^`]*`", " ", sentence) if "`" in sentence else sentence
    return len(prose.content_words(outside)) == 0
