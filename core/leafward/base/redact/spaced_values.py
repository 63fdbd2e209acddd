"""Values behind a name and a space, a comma or the border of a cell: options, columns, sentences, settings without a sign."""

from __future__ import annotations

import re

from leafward.base.redact.names import Meaning
from leafward.base.redact.secret_values import Place, stands_out
from leafward.base.redact.written_values import bare_value, cell_value, judged, quoted_value

_CELL = re.compile(r"[`*]{0,3}[ \t]{0,60}[|│┃][ \t]{0,60}")
_CELL_START = re.compile(r"[|│┃][ \t`*\w-]{0,40}\Z")
_ARGUMENT = re.compile(
    r"""(?:\\{0,7}["'`]\]?[ \t]{0,4},[ \t]{0,40}(?:with:[ ])?|[ \t]{0,4},[ \t]{0,4}<<)(?=\\{0,7}["'`])"""
)
_ATOM = re.compile(r"""[ ]?,[ ]{0,4}(?:<<)?(?=\\{0,7}["'])""")
"""A pair of Erlang: `{password, "…"}`."""
_OPTION = re.compile(r"""[ \t]{1,8}(?:\\{1,3}\n[ \t]{0,20})?(?![-|>&])""")
_SAID = re.compile(
    r"""\\{0,7}["'`*]{0,3}[ \t]{1,4}(?:(?:is|was|to|are|as|by|be|=|being)[ \t]{1,4})?(?:now |still |set to |changed to )?(?=\\{0,7}["'`*]{1,3}[^\s"'`*])"""
)
_SAID_BARE = re.compile(
    r"""\\{0,7}["'`]?[ \t]{1,4}(?:(?:(?:has|have)[ ]been[ ]|is[ ]now[ ]|was[ ]|got[ ])?(?:(?:re)?set|rotated|changed|updated)[ ]to|is|was|to|è|é|ist|lautet|est|es|är):?[ \t]{1,4}(?:now |still |set to |changed to )?(?=[^\s"'`])"""
)
_ROTATED = re.compile(
    r"[ ](?:(?:has[ ]been|is|was|got)[ ](?:now[ ])?(?:(?:re)?set|rotated|changed|updated)[ ]to|is[ ]now):?[ ]{1,2}[\"'`*]{0,2}(?=[^\s\"'`])"
)
_BELOW = re.compile(
    r"[ \t]{0,8}\r?\n(?:[=-]{3,80}\r?\n|[ \t]{0,8}\r?\n)?[ \t]{0,8}(?P<value>[^\s\"'`]{8,200})[ \t]{0,8}(?=\r?\n|\Z)"
)
"""A label on its line, and a value alone below it."""
_LOGIN = re.compile(r"\b(?:user|login|username|account)[:=]?[ ]\S{1,40}[ ]\Z")
"""A user's name before `pass` and the password."""
_ROW = re.compile(r",(?P<value>[^\s,\"'()]{8,200})(?=\r?\n|\Z)")
"""A name and its value as a row of a table with commas."""
_GIVEN = re.compile(
    r"(?<![\w-])(?:setx?|set -g?x|set -gx|ENV|ARG|setenv|SetEnv|configure set|config set|secret set|fastcgi_param|add|put)[ \t]{1,4}"
    r"(?:(?:-[A-Za-z]{1,3}|--[a-z]{1,20})[ \t]{1,4}){0,2}(?:[\w./:-]{0,60}[/:])?\Z"
)
"""Text before a name whose value follows behind a space."""
_NETRC = re.compile(r"\b(?:machine|login|user|account|default|credentials?)\b")
"""Words before a password that follows behind a space."""
_ODD = re.compile(
    r"(?=[^\s]{0,60}[A-Z])(?=[^\s]{0,60}[a-z])(?=[^\s]{0,60}[0-9])(?=[^\s]{0,60}[!#$%&*+?@^~])[A-Za-z0-9!#$%&*+?@^~_-]{8,60}(?=$|[\s.,;:)\"'`])"
)
"""A word with all sorts of characters in it: no word of prose or code that follows `password`."""
_DIRECTIVES = ("requirepass", "masterauth", "bindpw", "insecure-password")
_COLUMN = re.compile(
    r"(?:[ ]{2,60}|\t{1,4})(?:REG_(?:EXPAND_)?SZ(?:[ ]{2,60}|\t{1,4}))?(?P<value>[^\s\"'`\\()]{6,400})[ \t]{0,8}(?=\r?\n|\\{1,7}[nr]|\Z|\\{0,7}\")"
)
"""A name and its value as columns of a line, as `vault kv get` shows them."""
_SPACE = re.compile(r"[ \t]{1,20}(?:(?:--body|-b|--value|-v|--data)[ \t=]{1,4})?")
_OTHERWISE = re.compile(
    r"""\\{0,7}["']?[)\]}]{0,2}[ \t]{0,4}(?:\|\||\?\?|\bor\b)[ \t]{0,4}(?=\\{0,7}["'`])"""
)
"""Text before a fallback, which applies where the named value is missing."""
LINE_START = re.compile(
    r"(?:^|\n|\\n|\\r)[\s\d+|>│┃→:#*.;/$-]{0,30}(?:(?:export|set|declare -x|ENV|ARG|env|-e|local|readonly|SET)\s{1,4})?\Z"
)


def spaced_value(text: str, start: int, end: int, name: str, meaning: Meaning) -> tuple[int, int] | None:
    """A value behind a space, a comma or the border of a cell."""
    before = text[max(0, start - 4) : start]
    argument = _ARGUMENT.match(text, end)
    if argument is not None:
        return quoted_value(
            text, argument.end(), meaning, Place.SETTING if name.startswith("--") else Place.INLINE
        )
    if name.startswith("-") and (not before or before[-1] in " \t\n\"'`=│|[(\\"):
        option = _OPTION.match(text, end)
        if option is not None:
            at = option.end()
            return quoted_value(text, at, meaning, Place.SETTING) or bare_value(
                text, at, meaning, Place.LINE, "setting"
            )
    below = _BELOW.match(text, end)
    if below is not None and LINE_START.search(text, max(0, start - 60), start):
        return below.span("value") if stands_out(below["value"]) else None
    row = _ROW.match(text, end)
    if row is not None and LINE_START.search(text, max(0, start - 60), start):
        return judged(text, *row.span("value"), meaning, Place.INLINE)
    if before[-1:] == "{" and (atom := _ATOM.match(text, end)) is not None:
        return quoted_value(text, atom.end(), meaning, Place.INLINE)
    otherwise = _OTHERWISE.match(text, end)
    if otherwise is not None:
        return quoted_value(text, otherwise.end(), meaning, Place.INLINE)
    if text.startswith("|", end) and name.isupper() and "_" in name:
        return bare_value(text, end + 1, meaning, Place.INLINE)
    cell = _CELL.match(text, end)
    if cell is not None and _CELL_START.search(text, max(0, start - 50), start):
        stop = min(
            (place for sign in "|│┃\n" if (place := text.find(sign, cell.end(), cell.end() + 300)) >= 0),
            default=-1,
        )
        return cell_value(text, cell.end(), stop, meaning)
    column = _COLUMN.match(text, end)
    if column is not None and LINE_START.search(text, max(0, start - 60), start):
        return judged(text, *column.span("value"), meaning, Place.LINE)
    space = _SPACE.match(text, end)
    if space is None and not _SAID.match(text, end):
        return None
    if space is not None and _GIVEN.search(text, max(0, start - 100), start):
        at = space.end()
        given = quoted_value(text, at, meaning, Place.SETTING) or bare_value(
            text, at, meaning, Place.SETTING, "setting"
        )
        # `set password …` is a sentence as well.
        if given and name.isalpha() and text[slice(*given)].isalpha() and text[slice(*given)].islower():
            return None
        if given or not text.startswith("to ", at):
            return given
    low = name.lower()
    if (
        space is not None
        and "." in name
        and meaning is Meaning.PASSWORD
        and LINE_START.search(text, max(0, start - 60), start) is not None
    ):
        # A setting of Java, whose name ends with a space.
        return bare_value(text, space.end(), meaning, Place.LINE)
    if space is not None and (
        low in _DIRECTIVES
        or (
            meaning is Meaning.PASSWORD
            and low in ("password", "passwd")
            and _NETRC.search(text, max(0, start - 240), start)
        )
    ):
        at = space.end()
        return quoted_value(text, at, meaning, Place.LINE) or bare_value(
            text, at, meaning, Place.LINE, "setting"
        )
    if low == "pass":
        rotated = _ROTATED.match(text, end)
        if rotated is not None:
            return bare_value(text, rotated.end(), meaning, Place.INLINE, "setting")
        if space is not None and text[space.end() : space.end() + 1] in ("'", '"'):
            first = LINE_START.search(text, max(0, start - 60), start) is not None
            return quoted_value(text, space.end(), meaning, Place.INLINE) if first else None
        login = _LOGIN.search(text, max(0, start - 80), start) if space is not None else None
        found = bare_value(text, space.end(), meaning, Place.INLINE) if space is not None and login else None
        return found if found is not None and stands_out(text[slice(*found)]) else None
    spoken = _SAID.match(text, end)
    if spoken is not None:
        at = spoken.end()
        while text.startswith("*", at):
            at += 1
        sure = meaning is Meaning.PASSWORD and spoken[0].strip("\\\"'`* \t") != ""
        return quoted_value(text, at, meaning, Place.QUOTED if sure else Place.INLINE)
    bare = _SAID_BARE.match(text, end)
    if bare is not None:
        return bare_value(text, bare.end(), meaning, Place.INLINE, "setting")
    if space is not None and (text[end] == "\t" or (name.isupper() and "_" in name)):
        return bare_value(text, space.end(), meaning, Place.INLINE)
    if (
        space is not None
        and meaning is Meaning.PASSWORD
        and (odd := _ODD.match(text, space.end())) is not None
    ):
        return judged(text, odd.start(), odd.end(), meaning, Place.INLINE)
    if space is not None and meaning is Meaning.PASSWORD:
        found = bare_value(text, space.end(), meaning, Place.INLINE)
        if (
            found is not None
            and stands_out(value := text[slice(*found)])
            and sum(map(str.isdigit, value)) > 1
        ):
            return found
    if space is not None and meaning is not Meaning.KEY and "\n" not in space[0]:
        return bare_value(text, space.end(), Meaning.PERHAPS, Place.INLINE)
    return None
