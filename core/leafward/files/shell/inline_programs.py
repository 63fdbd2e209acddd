"""Programs of Python, JavaScript, Ruby in a shell's command: the files that they change, where they name them as texts.

Nothing is run, and it is not known which parts of a program ran: each file may have been changed.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.files.shell.lexer import ShellWord

SIGNS = ("open(", "write_", "writeFile", "appendFile", "unlink", "File.write", "os.re", "shutil.", "Sync(")
"""Texts of which every program has one that changes files in a way that is known here."""
_INTERPRETER = late(r"(?:python|pypy)[\d.]*|node|bun|ruby")
_TEXT = r"""'[^'\\\n{}]{1,300}'|"[^"\\\n{}]{1,300}\""""
_FILE = rf"({_TEXT}|[A-Za-z_]\w{{0,60}})"
"""A text, or the variable that holds it."""
_CHANGES = late(
    rf"\bopen\(\s{{0,20}}{_FILE}\s{{0,20}},\s{{0,20}}(?:mode\s?=\s?)?['\"](?:[wax]|rb?\+)"
    rf"|\bPath\(\s{{0,20}}{_FILE}\s{{0,20}}\)\s{{0,20}}\.\s{{0,20}}(?:write_text|write_bytes|unlink|touch)\b"
    rf"|\b([A-Za-z_]\w{{0,60}})\.(?:write_text|write_bytes|unlink)\("
    rf"|\bos\.(?:remove|unlink|truncate)\(\s{{0,20}}{_FILE}"
    rf"|\b(?:write|append)File(?:Sync)?\(\s{{0,20}}{_FILE}|\b(?:unlink|rm|truncate)Sync\(\s{{0,20}}{_FILE}"
    rf"|\bFile\.write\(\s{{0,20}}{_FILE}"
)
_TWO = late(
    rf"\b(?:os\.(?:rename|replace)|shutil\.(?:move|copy\w{{0,8}})|(?:rename|copyFile)Sync)\(\s{{0,20}}{_FILE}\s{{0,20}},\s{{0,20}}{_FILE}"
)
_NAMED = late(
    rf"\b([A-Za-z_]\w{{0,60}})\s{{0,20}}=\s{{0,20}}(?:pathlib\.)?(?:Path\(\s{{0,20}})?({_TEXT})\s{{0,20}}\)?\s{{0,20}}(?:[;\n#]|\Z)"
)
_IN_TURN = late(
    rf"\bfor\s{{1,20}}([A-Za-z_]\w{{0,60}})\s{{1,20}}in\s{{0,20}}[\[(]\s{{0,20}}((?:{_TEXT})(?:\s{{0,20}},\s{{0,20}}(?:{_TEXT})){{0,100}})"
)


def files_changed(program: str, words: Sequence[ShellWord], document: str | None) -> Iterator[str]:
    """The files that a program in a command may change, by the names in it; `document` is its input, where that is known.

    `words` are those after the interpreter. Nothing of a program that changes its folder.
    """
    if _INTERPRETER.fullmatch(program) is None:
        return
    text = _program_in(words)
    if text is None:
        text = document if all(word.text.startswith("-") for word in words) else None
    if text is None or "chdir" in text:
        return
    values: dict[str, list[str]] = {}
    for name, value in _NAMED.findall(text):
        values.setdefault(name, []).append(value)
    for name, listed in _IN_TURN.findall(text):
        values.setdefault(name, []).extend(re.findall(_TEXT, listed))
    named = dict.fromkeys(one for groups in (*_CHANGES.findall(text), *_TWO.findall(text)) for one in groups)
    files = dict.fromkeys(
        file[1:-1] for one in named if one for file in ([one] if one[0] in "'\"" else values.get(one, ()))
    )
    yield from (file for file in files if "://" not in file)


def _program_in(words: Sequence[ShellWord]) -> str | None:
    """The program that is the value of an option; None where there is none."""
    for option, word in itertools.pairwise(words):
        if option.text in ("-c", "-e", "--eval", "-pe", "-ne"):
            return word.text
        if not option.text.startswith("-"):
            break
    return None
