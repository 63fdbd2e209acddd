"""The turns of a span: the user's requests, and whether any work followed."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import Body, EntryIndex, text_of, tool_calls
from leafward.session.messages import as_typed, command_in, is_users_call, shell_command
from leafward.summaries.facts.calls.declined_calls import said_against
from leafward.summaries.facts.calls.printed_errors import printed_errors
from leafward.summaries.facts.memory_citation import without_citation
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.corrections import standing_part
from leafward.summaries.facts.sentences.demands import only_limits
from leafward.summaries.facts.sentences.pasting import divided
from leafward.summaries.facts.sentences.prose import sentences
from leafward.summaries.facts.sentences.questions import asks, without_fillers
from leafward.summaries.facts.sentences.responses import (
    agrees,
    declines,
    is_pleased,
    only_praises,
    only_refuses,
    says_it_works,
    without_offer,
)
from leafward.summaries.facts.sentences.responses import keeps_going as goes_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.survival.spans import SpanMessage

_PICTURE = re.compile(
    r"(?i)'/[^'\n]{1,400}\.(?:png|jpe?g|gif|webp|heic)'|(?<!\S)/(?:var|tmp|private)/\S{1,400}\.(?:png|jpe?g|gif|webp|heic)"
)
_MACHINE = re.compile(r"(?s)^<([A-Za-z][\w-]{1,60})[ >].*</\1>$")
"""A message that is one element of markup."""
_ENCLOSED = re.compile(r"</[A-Za-z][\w-]{1,60}>$")
_FENCED = re.compile(r"(?ms)^[^\S\n]*(```|~~~).*?(?:^[^\S\n]*\1[ \t\r]*$|\Z)")
_QUOTED = re.compile(r"(?m)^[ \t]*> .*$")
_TRIVIAL = re.compile(
    r"(?i)^(?:/[\w:-]*(?:\s|$)|(?:continue|go on|go ahead|proceed|resume|hello|hi|sleep|retry|(?:please )?(?:try|do) (?:it |that )?(?:again|once more)|again|commit|stop|wait"
    r"|(?:bitte )?(?:(?:versuch|probier)(?:e|['’]?s)?(?: es)? )?(?:noch ?mal|erneut)|réessaie[rz]?|encore une fois|(?:inténtalo )?(?:otra vez|de nuevo)|reintenta|(?:spróbuj )?(?:jeszcze raz|ponownie))\W*$|\[[^\]]*\]$"
    r"|(?:(?:yes|yep|yeah|ok(?:ay)?|please|do it|sure|go|ja|jep|genau|bitte|gerne?|gut|super|danke|mach(?:e)?(?: das| es| mal| so)?"
    r"|weiter|los|passt|klar|oui|ouais|d['’]accord|vas-?y|continue[rz]?|merci|parfait|s[ií]|claro|dale|adelante|gracias|por favor|hazlo"
    r"|tak|jasne|dobra|dobrze|okej|proszę|prosze|dzięki|dzieki|zrób to|zrob to|kontynuuj|dalej"
    r"|да|давай|продолжай)(?:[\s,.!]+|$))+$"
    r"|(?:(?:好的?|可以|是的?|对|行|嗯|没问题|同意|开始吧?|继续吧?|请|谢谢|はい|お願いします|続けて(?:ください)?|もう一度(?:お願いします)?|再试(?:一次|一下)?|重试(?:一次|一下)?|再来一次|네|응|그래|계속(?:해(?:줘|주세요)?)?|(?:다시|그렇게) ?해(?:줘|주세요|봐|라)?|다시 시도)[，,、。！!\s]*)+$)"
)
_COMMAND_TYPED = re.compile(r"/[A-Za-z][\w:-]*(?:\s|$)")
"""A command of the agent's that stands in the text of its message."""
_ANNOUNCES = (":", "：")
"""The ends of words that are followed by something."""
_LISTED = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s")
"""The beginning of an item of a list."""
_CALL_TYPED = re.compile(r"</(?:antml:)?(?:invoke|function_calls|tool_calls?|tool_use)>\s*\Z")
"""The end of a call that a model wrote as words: nothing ran it."""
_BROKEN_OFF = frozenset({"aborted", "error", "length"})
_AGENT_ERROR = "API Error: "
"""The beginning of a reply that Claude Code wrote itself where no model answered; older files (2.1.158) do not mark it otherwise."""
_STOPPED = ("[Request interrupted by user", "<turn_aborted>")
"""The beginnings of notes of Claude Code and Codex that the user stopped the work."""
CHOOSES = re.compile(r"(?i)\b(option|approach|variant|alternative|proposal|idea) #?(\d{1,2}|[a-d])\b")
"""One of several ways, by its number."""
_TITLE = re.compile(r"#{1,6} (\S[^\n]{0,200})")
_PRAISE = re.compile(
    r"(?i)^(?:(?:(?:wow|oh|ok(?:ay)?|yes|great|perfect|nice)[\s,!.]+)*(?:(?:this|that|it)(?:['’]s| is| looks) (?:really |very |so |absolutely |exactly )?"
    r"(?:helpful|great|good|perfect|excellent|awesome|amazing|wonderful|fantastic|what i (?:needed|wanted))|(?:thank you|thanks)(?: (?:so|very) much| a lot| for [^.!?\n]{1,80})?)[.!]+\s+)+(?=\S)"
)
"""Praise before a request."""
_WELCOMES = late(
    r"(?i)\W*(?:you(?:['’]re| are) (?:very |most |so )?welcome|(?:sehr )?gern(?:e)? geschehen|de rien|de nada|不客气|どういたしまして)"
)
"""The beginning of an answer to thanks, in however many words these were."""
_SHOWN_ONLY = "[output pasted without a word]"
_SHOWN = 120
"""Characters that are quoted of a text pasted after a request."""
_WHAT_NEXT = late(
    r"(?i)\b(?:what (?:are your|(?:other )?) ?questions(?: do you have)?|what (?:would you like|do you want)(?: me)? to (?:know|ask|do next|tackle next|work on next)|what['’]?s next|what next|(?:what|how) (?:else )?can i help(?: you)?(?: with)?(?: next| today)?"
    r"|welche fragen hast du|was (?:möchtest|willst) du wissen|was (?:kommt )?als nächstes)\?$|(?:有什么问题|接下来(?:想)?做什么)(?:吗|呢)?[?？]$"
)
"""A question for whatever the user wants next."""
_BRIEFEST = 80
"""Characters at the end of an answer in which it stands."""
SUBSTANTIAL = 3
"""Content words from which a request names its subject."""
_BRIEF = 2
"""Content words from which it does where work followed."""
_NAMES_IT = 160
"""Characters of a sentence before a question that says what the question is about."""
TELLING = 8
"""Content words from which it does where no work followed."""
FAR = 500
"""Requests behind one, or before it, that are looked through for the same words: of very many all would take quadratic time."""


_OUTPUT_TOOL, _RETURNED = "StructuredOutput", "Returned the structured output."
"""The tool by which a run of Claude Code's SDK with a schema ends (2.1), and its answer where no words stand before it."""
_COMMAND = "command"
"""The key of a message with the command before the typed prompt."""


@dataclass(slots=True)
class Turn:
    """One request, with its consequences."""

    entry: EntryIndex
    text: str
    """The request as it is quoted: without filler words at its beginning, with pasted pictures named as such."""
    own: str
    """The whole typed text, on one line."""
    words: int
    """Content words; 0 where it only keeps the work going."""
    first: int
    """Position of the request."""
    last: int
    """Position of the last reply; that of the request where there is none."""
    works: bool = False
    """Whether a tool was called."""
    answer: str = ""
    """The model's last words, where the turn ended with them: its answer to the request."""
    said: str = ""
    """The model's last words, anywhere in the turn."""
    runs: bool = False
    """Whether it was typed after a command of the agent's."""
    told_before: bool = False
    """Whether it is from before the earlier summary, and the user went on to another one since."""
    pasted: str = ""
    """The first error in the text that was pasted with a brief request."""
    screen: str = ""
    """The first line of an agent's screen there, where it has no error."""
    doubted: bool = False
    """Whether the user's next words call its answer wrong, or say that the work does not do; or a run shows so."""
    belied: bool = False
    """Whether a run shows it."""
    amid: bool = False
    """Whether the user did not allow a call with it, and it is brief or a question: once the agent works on, that goes on with what was asked before."""
    left: bool = False
    """Whether the user came back to it from a branch: its work went on there, and the summary of that branch describes it."""

    @property
    def waits(self) -> bool:
        """Whether nothing followed it."""
        return self.last == self.first

    @property
    def shows(self) -> bool:
        """Whether it is only output that the user pasted."""
        return self.own == _SHOWN_ONLY

    @property
    def tells(self) -> bool:
        """Whether it names its subject."""
        return self.words >= (_BRIEF if self.works else SUBSTANTIAL)


def by_machine(message: Body) -> bool:
    """Whether a program wrote a message under the user's name, or added it to the user's text."""
    role = message.get("role")
    if role not in ("user", "custom"):
        return False
    text = text_of(message.get("content")).strip()
    return bool(_MACHINE.match(text) or (role == "custom" and _ENCLOSED.search(text)))


def as_asked(message: Body) -> Body:
    """A message in its speaker's own words, with the command before them: its effect is requested too."""
    typed = as_typed(message)
    if message.get("role") != "user":
        return without_citation(typed)
    # A field with that name in a file is not a command.
    return {**typed, _COMMAND: command_in(message) or shell_command(message)}


def turns_of(messages: Sequence[SpanMessage]) -> list[Turn]:
    """The turns that the user began, in order; messages before the first of them are not a turn."""
    turns: list[Turn] = []
    command, by_user, outputs = "", set[str](), set[str]()
    for place, (_, message) in enumerate(messages):
        role, against = message.get("role"), said_against(message)
        if role == "user" or against:
            command = str(message.get(_COMMAND) or "")
            if command.startswith("!"):
                # A command that the user ran is not a request.
                continue
            turn = _begun(place, messages[place], against, command, turns[-1] if turns else None)
            if turn is not None:
                turns.append(turn)
        elif role == "assistant" and is_users_call(message, command):
            by_user.update(call.id for call in tool_calls(message))
            command = ""
        elif role == "assistant" and turns:
            calls = tool_calls(message)
            while turns[-1].amid and calls and len(turns) > 1:
                turns.pop()
            turns[-1].last, turns[-1].left = place, False
            outputs.update(call.id for call in calls if call.name == _OUTPUT_TOOL)
            called = bool(calls)
            turns[-1].works = turns[-1].works or called
            spoken = standing_part(_spoken_in(message))
            turns[-1].answer = "" if _is_cut_off(message, spoken, called=called) else spoken
            turns[-1].said = spoken or turns[-1].said
        elif role == "toolResult" and turns and str(message.get("toolCallId")) not in by_user:
            returned = str(message.get("toolCallId")) in outputs and not message.get("isError")
            turns[-1].answer = turns[-1].said or _RETURNED if returned else ""
        elif role == "branchSummary" and turns:
            turns[-1].left = True
        elif role == "custom" and turns and turns[-1].runs and turns[-1].waits and _was_stopped(message):
            # The user stopped the command before anything came of it.
            turns.pop()
    for turn in turns:
        if turn.runs and turn.works:
            # The name of a command that led to work is the request.
            turn.words = max(turn.words, SUBSTANTIAL)
    return turns


def _begun(place: int, spoken: SpanMessage, against: str, command: str, before: Turn | None) -> Turn | None:
    """The turn that a message of the user's begins; None where it goes on with the one before, or asks for nothing.

    `against` are the words with which the user did not allow a call, `command` is what stands before the prompt.
    """
    whole = against or text_of(spoken.message.get("content"))
    text = " ".join(whole.split())
    if not (text or command) or text == "/" or by_machine(spoken.message):
        return None
    typed, pasted = divided(whole)
    own = " ".join(typed.split()).rstrip("` ")
    if before is not None and not (command or before.answer) and before.words and only_limits(own):
        # The work that was asked for goes on; the limit is told as a rule.
        return None
    # Text in a fence or with quote signs was copied, unless there is nothing else.
    bare = " ".join(_without_copies(typed).split()) or own or " ".join(pasted.split())
    prompt = without_fillers(_PRAISE.sub("", _without_pictures(bare or text))) or bare or text
    says = not (_TRIVIAL.match(prompt) or goes_on(prompt)) and without_fillers(prompt)
    words = len(content_words(prompt.replace("[image]", ""))) if says else 0
    words = 1 if words > _BRIEF and only_refuses(prompt) else words
    if pasted.strip() and not own and before is not None:
        # Text that was only shown adds nothing to the request before it.
        words, own = 0, _SHOWN_ONLY
    prompt = _with_subject(prompt, pasted) if prompt.endswith(_ANNOUNCES) else prompt
    brief = bool(pasted) and words < TELLING
    error = next(printed_errors(pasted, failed=False), "") if brief else ""
    return Turn(
        spoken.entry,
        prompt if words >= SUBSTANTIAL else f"{command} {prompt}".strip(),
        own,
        words,
        place,
        place,
        runs=bool(command) or _COMMAND_TYPED.match(own) is not None,
        pasted=" ".join(error.split()),
        screen=_first_shown(pasted) if brief and not error else "",
        amid=bool(against) and (words < TELLING or all(map(asks, sentences(own)))),
    )


def _with_subject(prompt: str, pasted: str) -> str:
    """A prompt that announces a pasted text, with the title or the first sentence of that: the subject is there."""
    title = _TITLE.match(pasted)
    shown = title[1] if title else next((" ".join(one.split()) for one in sentences(pasted)), "")
    return f"{prompt} {shown[:_SHOWN]}".strip()


def _first_shown(pasted: str) -> str:
    """The first line of a pasted text where that was copied from Claude Code's screen, without its sign."""
    first = pasted.strip().partition("\n")[0]
    return first[1:].strip()[:_SHOWN] if first.startswith("⏺") else ""


def _was_stopped(message: Body) -> bool:
    """Whether a message is an agent's note that the user stopped the work."""
    return text_of(message.get("content")).startswith(_STOPPED)


def _spoken_in(reply: Body) -> str:
    """The model's words in a reply; empty where the agent wrote it itself."""
    spoken = text_of(reply.get("content")).strip()
    return "" if spoken.startswith(_AGENT_ERROR) else spoken


def _is_cut_off(reply: Body, spoken: str, *, called: bool) -> bool:
    """Whether something was to follow a reply: it was broken off, a colon announces what did not come, or a call in its words did not run.

    With `called` results were to follow, unless the provider itself ran the calls and the model went on in the same reply.
    """
    return (
        (called and not (spoken and reply.get("stopReason") == "stop"))
        or spoken.endswith(_ANNOUNCES)
        or _CALL_TYPED.search(spoken) is not None
        or str(reply.get("stopReason")) in _BROKEN_OFF
    )


def mark_told_before(turns: Sequence[Turn], summary: EntryIndex) -> None:
    """Marks the requests that were kept without their answers, as Codex keeps them beside a summary: all but the last one."""
    for turn in turns[:-1]:
        if not turn.waits or turn.entry >= summary:
            return
        turn.told_before = True


def _without_copies(text: str) -> str:
    """A prompt without text in a fence or with quote signs."""
    text = _FENCED.sub(" ", text) if "```" in text or "~~~" in text else text
    return _QUOTED.sub(" ", text) if ">" in text else text


def _without_pictures(text: str) -> str:
    """A prompt with a word for the paths of pictures that were pasted or dropped into it."""
    return _PICTURE.sub("[image]", text) if "/" in text else text


def goal_of(turns: Sequence[Turn]) -> Turn | None:
    """The request that the span works on: the first one that names its subject, and led to work or is long."""
    substantial = [turn for turn in turns if turn.words >= SUBSTANTIAL]
    for turn in substantial:
        if turn.works or turn.words >= TELLING:
            return turn
    if substantial:
        return substantial[0]
    readable = next((turn for turn in turns if _is_readable(turn)), None)
    return readable or next((turn for turn in reversed(turns) if turn.works and turn.words), None)


def last_of(turns: Sequence[Turn]) -> Turn | None:
    """The last request with any content; one without an answer yet may be short."""
    if (
        turns
        and _asks_by_itself(turns)
        and not (_reports(turns[-1].own) or is_praise(turns[-1]))
        and not only_declines(turns, turns[-1])
    ):
        return turns[-1]
    turns = [turn for turn in turns if not turn.told_before]
    telling = [turn for turn in turns if turn.tells and not is_praise(turn)]
    if telling:
        return telling[-1]
    return next((turn for turn in reversed(turns) if _is_readable(turn)), None)


def _asks_by_itself(turns: Sequence[Turn]) -> bool:
    """Whether the last request has content beyond the answer before it, or nothing followed it yet."""
    last = turns[-1]
    if last.waits or not last.works:
        if not last.answer:
            # Where the user broke off the reply, nothing was done about it.
            return last.words > 0
        speaks = agrees(last.own) or asks(last.own) or (len(turns) > 1 and asks_back(turns[-2].answer))
        return last.words >= _BRIEF and not speaks
    if last.words == 0 or agrees(last.own) or asks(last.own):
        # It is quoted with the text that it agrees to, or asks about.
        return False
    return len(turns) == 1 or not asks_back(turns[-2].answer)


def _reports(own: str) -> bool:
    """Whether a text only confirms that the result is right, or works."""
    return is_pleased(own) or says_it_works(own)


def is_praise(turn: Turn) -> bool:
    """Whether a request only praises, or says that the result works, and no work followed: it asks for nothing."""
    thanked = _WELCOMES.match(turn.answer) is not None and not asks(turn.own)
    return only_praises(turn.own) or ((thanked or _reports(turn.own)) and not turn.works)


def keeps_going(turn: Turn) -> bool:
    """Whether a request only asks for more of the same."""
    return turn.words == 0


def _is_readable(turn: Turn) -> bool:
    return turn.words > 0 and (len(turn.text) >= 12 or (len(turn.text) >= 4 and not turn.text.isascii()))


def is_answered(turn: Turn) -> bool:
    """Whether the model ended with words, and these ask nothing back."""
    return bool(turn.answer) and not asks_back(turn.answer)


def only_declines(turns: Sequence[Turn], turn: Turn) -> bool:
    """Whether a request declines what the answer before it offered, and asks for nothing."""
    before = turn_before(turns, turn)
    return before is not None and turn.words <= _BRIEF and declines(turn.own, question_of(before.answer))


def turn_before(turns: Sequence[Turn], turn: Turn) -> Turn | None:
    """The request before one."""
    place = position(turns, turn)
    return turns[place - 1] if place else None


def position(turns: Sequence[Turn], turn: Turn) -> int:
    """The number of a turn among some, which come in the order of their places."""
    return bisect_left(turns, turn.first, key=attrgetter("first"))


def asks_back(answer: str) -> bool:
    """Whether an answer ends with a question; one for whatever is wanted next asks nothing back."""
    end = answer.rstrip("*_ )\n")
    return end.endswith(("?", "？")) and _WHAT_NEXT.search(end, max(0, len(end) - _BRIEFEST)) is None


def asks_above_list(answer: str) -> bool:
    """Whether nothing but a list or addresses, with or without a head, stand behind the question of an answer: its choices, or sources."""
    lines = [line for line in answer.split("\n") if line.strip()]
    end = len(lines)
    while end and (_LISTED.match(lines[end - 1]) or "://" in lines[end - 1]):
        end -= 1
    if end and end < len(lines) and lines[end - 1].rstrip("*_ ").endswith(_ANNOUNCES):
        end -= 1
    return 0 < end < len(lines) and asks_back(lines[end - 1])


def question_of(answer: str) -> str:
    """The question at the end of an answer; empty where there is none.

    A question that names nothing (`Shall I?`) comes with the sentence before it on its line.
    """
    lines = [line for line in answer.split("\n") if line.strip()]
    said = [(one, before) for line in lines[-2:] for before, one in pairwise(["", *sentences(line)])]
    asked, before = next((pair for pair in reversed(said) if asks_back(pair[0])), ("", ""))
    if before and len(before) <= _NAMES_IT and len(content_words(without_offer(asked))) < _BRIEF:
        return f"{before} {asked}"
    return asked
