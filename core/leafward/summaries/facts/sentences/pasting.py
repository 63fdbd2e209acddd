"""The typed part of a prompt, and the other parts: pasted logs, and text that an agent encloses in tags."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from leafward.session.entries import text_of
from leafward.summaries.facts.sentences.prose import sentences, unwrapped
from leafward.summaries.facts.sentences.questions import asks

_OPENS = re.compile(
    r"<(system-reminder|skill|skills_instructions|skill_content|environment_context|user_instructions|INSTRUCTIONS"
    r"|permissions instructions|collaboration_mode|apps_instructions|plugins_instructions|local-command-[a-z]{1,40}"
    r"|ide_[a-z_]{1,40}|command-contents)(?:[ \t][^<>\n]{0,400})?>"
)
"""Tags that agents and editors add to a prompt: skills, reminders, instructions, open files."""
_CLOSES = re.compile(r"</([\w -]{1,60})>")
_PASTES, _PASTED = "<pasted_content", "</pasted_content"
"""Tags of Claude Code's desktop application around a text that was pasted (2.1.284)."""
_TIME = r"(?:\[?\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}|\[?\d{2}:\d{2}:\d{2}\b|[A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2}\b)"
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|SEVERE)"
_LOG = re.compile(
    # The blanks before it are taken at once: tried in every number, they take quadratic time.
    rf"^\s*+(?:{_TIME}"
    rf"|[\[(<]?{_LEVEL}[\])>]?(?:\s*[:|\]]|\s+\S*[\[(:])"
    r"|##\[(?:error|warning|debug|group|endgroup|section|command)\]"
    r"|(?:npm|yarn|pnpm|pip|cargo) (?:ERR!|WARN|error|warn|warning|notice)(?=\s)"
    r"|(?:error|warning|fatal|panic)(?:\[\w{1,12}\])?:\s"
    r"|(?<=\s)at\s+\S+.{0,200}[:(]\d+"
    r"|(?<=\s)at [\w.$<>]{1,80}\s*$"
    r"|[\w.$<>]{1,80} @ \S{1,300}:\d"
    r"|\S{0,80}(?: \([\w./-]{1,80}\))? {0,3}➜\s"
    r"|node:[\w/:-]{1,80}:\d{1,7}\s*$|Node\.js v\d|\^[~^]*\s*$|[\u2800-\u28ff]\s"
    r"|[~/]\S{0,200} \([\w./-]{1,80}\)\s*$"
    r"|File \"[^\"\n]{1,300}\", line \d+"
    r"|Traceback \(most recent call last\)"
    r"|[\w./\\@-]{1,200}[:(]\d{1,7}(?:[:,]\d{1,7})?\)?[:\s]"
    r"|[A-Za-z_.]{0,60}(?:Error|Exception|Warning)(?::|\s+\[)"
    r"|[\w.-]{1,40}(?:@[\w.-]{1,40})?(?:\[\d{1,7}\])?:\s+(?:error|warning|fatal)\b"
    r"|(?:\$|%|>>>|PS [A-Z]:.{0,80}>)\s+\S"
    r"|(?:bash|sh|zsh|fish|make(?:\[\d+\])?): "
    rf"|{_LEVEL}\s{{2,}}\S"
    # turbo writes the package and the task before each line.
    r"|@?[\w./-]{1,60}:[a-z][\w-]{1,30}:(?:\s|$)"
    r"|[+-]{3} \S|@@ -\d|diff --git "
    r"|[⏺⎿]\s|--> \S{1,300}:\d|(?:\d{1,7} |(?<=\s))\|(?:\s|$)|= (?:note|help|hint): )"
)
"""The beginning of a line in a log, a trace, a compiler's message or a shell session."""
_SHELL = re.compile(
    r"^\s{0,8}(?:\([\w.-]{1,40}\) )?(?:\[[\w.-]{1,40}@[\w.-]{1,60} [^\]\n]{1,100}\][$#]|[\w.-]{1,40}@[\w.-]{1,60}(?::[~/][^\s$#]{0,200}[$#]| \S{1,100} %)|PS [A-Z]:\\[^>\n]{0,200}>|[❯➜])(?:\s|$)"
)
"""The prompt of a shell with its user and machine, or its sign that nobody types."""
_SHELL_SIGNS = ("@", "❯", "➜", "PS ")
"""Of these each has one."""
_MAYBE = re.compile(
    r"^\s*(?:\[[\w./:@ -]{1,60}\]\s+\S|(?:PASS|FAIL|FAILED|ok|not ok|✓|✗|×|✘)\s+\S"
    r"|(?:note|hint|info|help)(?:\[\w{1,12}\])?:\s)"
)
"""A beginning that people write too: such a line counts as pasted only beside another one."""
_COUNTED = (
    r"\S\s+\[(?:[+-]?\d[\d,]*+ ?(?:[a-z]{1,12})? ?){1,3}\]\s*$"
    r"|\b(?:\d{1,3} (?:s|secs?|seconds?|m|mins?|minutes?|h|hours?|days?|weeks?|months?) ago|just now)\W*(?:\[[^\[\]\n]{0,40}\]\s*)?$"
)
_SCREEN = re.compile(rf"^\s*(?:[│┃┊┆║├└╭╰┌▸▾▶▼●◆○◦◉]\s*\S|─{{4,}})|{_COUNTED}")
"""A row of a program's screen: a branch of a tree, a rule across it, or a line with a count, a difference or an age at its end."""
_FRAME_TOP, _FRAMED, _FRAME_END = (re.compile(rf"\s*[{chars}]") for chars in ("╭┌╔", "│┃║┊├┠╞╟", "╰└╚"))
_FRAME_TOPS = ("╭", "┌", "╔")
_CALLED = re.compile(r"• [A-Z]")
"""The head of a call on the screen of Codex; what came of it is a branch below it."""
_BRANCH = re.compile(r"\s+└ ")
_COLUMNS = re.compile(r"^\s*[A-Z][A-Z0-9_%/()-]{1,40}(?:\s+[A-Z][A-Z0-9_%/()-]{1,40}){2,20}\s*$")
"""The head of a table in a program's output."""
_OF_AGENT = re.compile(r"\s*[⏺⎿]\s")
"""A line of Claude Code's screen: the first of a reply or a call, or of what that printed; the others are indented below it."""
_ROOT = re.compile(rf"\s*[^\w\s\"'`(\[#@/~-]\s?.{{0,400}}?(?:{_COUNTED})")
"""Such a row with a sign before it: the lines indented below it belong to it."""
_WITHIN = re.compile(r"(?<=[:\s])(?:[Ww]?arning|[A-Z]\w{0,40}(?:Error|Exception)): (?=[A-Z])")
"""The beginning of a printed message in the middle of a line."""
_MESSAGES = ("arning: ", "Error: ", "Exception: ")
"""Ends of such beginnings."""
_SAID_BEFORE = re.compile(r"^([^\W\d_][\w'’]*(?: [^\s:]+){2,30}:)[ \t]{2,}(?=\S)")
"""A person's words with a colon, followed by the first row of a screen on the same line."""
_EDITOR = re.compile(
    r"(?ms)\A\s*# (?:Context from my IDE setup|Files (?:mentioned|pasted|attached) by the user):.*?^## My request(?: for Codex)?:[ \t]*$\n?(?=\s*\S)"
)
"""What Codex's extension for editors and its desktop application put before a prompt: open files, tabs, attached files."""
_COMMAND_TEXT = re.compile(
    r"(?is)\A\s*+(?:---\n.{0,4000}?\n---\s++)?(?:# [^\n]{1,200}\n\s*+)?"
    r"(?:#{1,3} User Input[ \t]*\n\s*+```(?:text)?[ \t]*\n(.{0,20000}?)```\s*(?:You \W*MUST\W* )?consider the user input before proceeding[^\n]*"
    r"|The user input to you can be provided [^\n]{1,300}\n\s*+User input:[ \t]*\n(?:[ \t]*\n)?(.{0,20000}?)\n[ \t]*(?=\n))"
)
"""The beginning of a command of Spec Kit's kind, which Codex sends with what was typed behind the command's name put into it."""
_INIT = re.compile(
    r"\A\s*(?P<asked>(?:Please analyze this codebase and create an? \S{1,40} file|Generate a file named AGENTS\.md|Create or update \W?AGENTS\.md)[^\n]{0,200})\n"
)
"""The beginning of `/init`, the command by which Claude Code, Codex and opencode have their file of instructions written."""
_INIT_SIGNS = ("be given to", "Your goal is to produce", "(honor these):")
"""Words further on, of which the text of the command has one."""
_FOCUS, _BEHIND_FOCUS = "(honor these):", "\n## How to investigate"
"""What opencode puts what was typed between."""
_WORDED = re.compile(r"(?m)^(?!#|[^\w\n]*$)(?:\d+\. |Goal: )?(.{1,400})$")
"""The first line of its own words."""
_REPORT_HEAD = re.compile(
    r"(?i)^\W*(?:describe the bug|bug (?:description|report)|(?:steps )?to reproduce|reproduction(?: steps)?|(?:expected|actual|current|observed) (?:behaviou?r|results?)"
    r"|what happened|what (?:did you expect|should have happened).{0,20}|additional context|environment|system info(?:rmation)?|relevant log output)\W*$"
)
"""Heads of the forms in which bugs are reported to a project."""
_TITLE = re.compile(r"^#{1,6} \S")
_MARK = re.compile(r"\s*(?:[-*+•]|\d{1,2}[.)])\s")
_WIDE = 80
"""Characters of a line from which a terminal may have wrapped it."""
_SCREENFUL = 6
"""Lines from which indented prose may be the copy of a screen."""
_NEAR = 2
"""Lines of a block that must look pasted for the others to count as pasted."""
_HEAD_LENGTH = 60
"""Characters of a head in a form."""


def typed_sentences(content: object) -> list[str]:
    """The sentences that a person typed in a prompt's content."""
    return list(sentences(unwrapped(divided(text_of(content))[0])))


@lru_cache(maxsize=1 << 10)
def divided(text: str) -> tuple[str, str]:
    """The typed and the pasted part of a prompt; text in an agent's tags is in neither.

    A line that begins like a log was pasted, and so were indented lines below it. So are the lines of a block from the first
    of at least two such lines on; a blank line ends a block.
    """
    text = _without_enclosed(text) if "<" in text else text
    text = _EDITOR.sub("", text, count=1)
    text = _without_command(text) if "before proceeding" in text else text
    text = _without_init(text) if any(map(text.__contains__, _INIT_SIGNS)) else text
    text, screen = _screen_apart(text)
    text, framed = _frames_apart(text) if any(map(text.__contains__, _FRAME_TOPS)) else (text, "")
    text, terminal = _terminal_apart(text) if any(map(text.__contains__, _SHELL_SIGNS)) else (text, "")
    text, report = _report_apart(text)
    text, shown = _pastes_apart(text) if _PASTES in text else (text, "")
    own: list[str] = []
    pasted: list[str] = [one for one in (screen, framed, terminal, report, shown) if one]
    block: list[str] = []
    in_screen = False
    for line in [*text.split("\n"), ""]:
        if line.strip():
            block.append(line)
            continue
        marks = _marked(block)
        if len(block) > 1:
            marks = [mark or in_table for mark, in_table in zip(marks, _of_tables(block), strict=True)]
        perhaps = [
            mark or _is_maybe(one) or (_CALLED.match(one) is not None and _BRANCH.match(below) is not None)
            for mark, one, below in zip(marks, block, [*block[1:], ""], strict=False)
        ]
        if sum(perhaps) >= _NEAR and (True in marks or sum(perhaps) * 2 > len(block)):
            marks = perhaps
        indented = all(one[:2].isspace() for one in block[1:])
        if (
            indented
            and block
            and ((len(block) > 1 and _ROOT.match(block[0])) or (in_screen and block[0][:2].isspace()))
        ):
            marks = [True] * len(block)
        first = marks.index(True) if True in marks else len(block)
        together = sum(marks) >= _NEAR
        goes_on = False
        for place, one in enumerate(block):
            goes_on = marks[place] or (together and place > first) or (goes_on and one[:1].isspace())
            if goes_on:
                said = _SAID_BEFORE.match(one) if place == first and _LOG.match(one) is None else None
                if said is not None:
                    own.append(said[1])
                pasted.append(one[said.end() :] if said is not None else one)
                continue
            within = _WITHIN.search(one) if any(map(one.__contains__, _MESSAGES)) else None
            own.append(one[: within.start()] if within is not None else one)
            if within is not None:
                pasted.append(one[within.start() :])
        if block:
            in_screen = goes_on and (in_screen or any(map(_OF_AGENT.match, block)))
        own.append("")
        block = []
    return "\n".join(own), "\n".join(pasted)


def _without_command(text: str) -> str:
    """What was typed behind the name of a command in whose text it stands; where that is nothing, the first words of that text."""
    found = _COMMAND_TEXT.match(text)
    if found is None:
        return text
    typed = next(filter(None, found.groups()), "").strip()
    begins = _WORDED.search(text, found.end()) if not typed else None
    return next(sentences(begins[1]), "") if begins is not None else typed


def _without_init(text: str) -> str:
    """What `/init` asks for, and what was typed behind its name: the rest tells the agent how to do just that."""
    found = _INIT.match(text)
    if found is None:
        return text
    _, _, behind = text.partition(_FOCUS)
    typed = behind.partition(_BEHIND_FOCUS)[0].strip()
    return f"{found['asked']}\n\n{typed}" if typed else found["asked"]


def _pastes_apart(text: str) -> tuple[str, str]:
    """A prompt without the texts in tags of a paste, and these; a tag that is never closed encloses nothing."""
    own: list[str] = []
    pasted: list[str] = []
    at = 0
    while (start := text.find(_PASTES, at)) >= 0:
        inside, closes = text.find(">", start), text.find(_PASTED, start)
        end = text.find(">", closes)
        if not start < inside < closes < end:
            break
        own.append(text[at:start])
        pasted.append(text[inside + 1 : closes])
        at = end + 1
    return "\n".join([*own, text[at:]]), "\n".join(pasted)


def _screen_apart(text: str) -> tuple[str, str]:
    """A prompt without the prose that was copied from an agent's screen: all lines but the first are indented, and wrapped."""
    first, *below = text.strip().split("\n")
    lines = [line for line in below if line.strip()]
    if len(lines) < _SCREENFUL or not all(line[:2].isspace() for line in lines):
        return text, ""
    wrapped = sum(
        len(line) >= _WIDE and bool(then.strip()) and _MARK.match(then) is None
        for line, then in pairwise(below)
    )
    return (first, "\n".join(below)) if wrapped >= _NEAR else (text, "")


def _frames_apart(text: str) -> tuple[str, str]:
    """A prompt without the frames of a screen, and these; a frame without an end encloses nothing."""
    own: list[str] = []
    framed: list[str] = []
    begun: list[str] = []
    for line in text.split("\n"):
        if begun and _FRAME_END.match(line):
            framed += [*begun, line]
            # What stands on both sides of it was not said in one breath.
            own.append("")
            begun = []
        elif _FRAME_TOP.match(line) or (begun and _FRAMED.match(line)):
            begun.append(line)
        else:
            own += [*begun, line]
            begun = []
    return "\n".join([*own, *begun]), "\n".join(framed)


def _terminal_apart(text: str) -> tuple[str, str]:
    """A prompt without the part that was copied from a terminal, and that part: from the first shell prompt to the last one.

    What the last command printed ends with a blank line; a question behind the last shell prompt was typed there.
    """
    lines = text.split("\n")
    there = [place for place, line in enumerate(lines) if _SHELL.match(line)]
    if not there:
        return text, ""
    first, last = there[0], there[-1]
    found = _SHELL.match(lines[last])
    typed = lines[last][found.end() :].strip() if found is not None else ""
    end = last + 1
    if asks(typed):
        return "\n".join([*lines[:first], typed, *lines[end:]]), "\n".join(lines[first:last])
    while typed and end < len(lines) and lines[end].strip():
        end += 1
    return "\n".join([*lines[:first], *lines[end:]]), "\n".join(lines[first:end])


def _report_apart(text: str) -> tuple[str, str]:
    """A prompt without the bug report that it ends with, and the report, from its title on; a report has two heads of a form at least."""
    lines = text.split("\n")
    heads = [
        place for place, line in enumerate(lines) if len(line) <= _HEAD_LENGTH and _REPORT_HEAD.match(line)
    ]
    if len(heads) < _NEAR:
        return text, ""
    first = next((place for place, line in enumerate(lines[: heads[0]]) if _TITLE.match(line)), heads[0])
    return "\n".join(lines[:first]), "\n".join(lines[first:])


def _of_tables(block: list[str]) -> list[bool]:
    """Whether each line of a block is a head of columns in capitals, or is below one with as many columns."""
    marks: list[bool] = []
    width = -1
    for line in block:
        count = len(line.split())
        if _COLUMNS.match(line) is not None:
            width = count
        elif count != width:
            width = -1
        marks.append(width >= 0)
    return marks


def _is_maybe(line: str) -> bool:
    if _MAYBE.match(line) is not None:
        return True
    # What no row of a screen lacks is looked for first.
    may = not line.isascii() or "[" in line or " ago" in line or "just now" in line
    return may and _SCREEN.search(line) is not None


def _marked(block: list[str]) -> list[bool]:
    """Whether each line of a block begins like a log, or continues an object that such a line opens without closing it."""
    marks: list[bool] = []
    deep = 0
    for line in block:
        marks.append(deep > 0 or _LOG.match(line) is not None)
        if marks[-1]:
            deep = max(0, deep + line.count("{") - line.count("}"))
    # An opening without an end encloses nothing.
    return marks if not deep else [_LOG.match(line) is not None for line in block]


def _without_enclosed(text: str) -> str:
    """A text without the parts that agents enclosed in tags; a tag that is never closed encloses nothing."""
    parts: list[str] = []
    last = {found[1]: found.start() for found in _CLOSES.finditer(text)}
    start = 0
    opening = _OPENS.search(text)
    while opening is not None:
        tag = opening[1]
        following = opening.end()
        if last.get(tag, -1) >= following:
            closes = text.find(f"</{tag}>", following)
            parts.append(text[start : opening.start()])
            start = following = closes + len(tag) + 3
        opening = _OPENS.search(text, following)
    return "\n".join([*parts, text[start:]])
