"""Values behind a name and a space, a comma or the border of a cell: options, columns, sentences, settings without a sign."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning
from leafward.redaction.secret_values import ValueNotation, stands_out
from leafward.redaction.written_values import bare_value, cell_value, judged, quoted_value

if TYPE_CHECKING:
    from collections.abc import Callable

_CELL = late(r"[`*]{0,3}[ \t]{0,60}[|│┃][ \t]{0,60}")
_CELL_START = late(r"[|│┃][ \t`*\w-]{0,40}\Z")
_ARGUMENT = late(
    r"""(?:\\{0,7}["'`]\]?[ \t]{0,4},[ \t]{0,40}(?:with:[ ])?|[ \t]{0,4},[ \t]{0,4}<<)(?=\\{0,7}["'`])"""
)
_ATOM = late(r"""[ ]?,[ ]{0,4}(?:<<)?(?=\\{0,7}["'])""")
"""A pair of Erlang: `{password, "…"}`."""
_OPTION = late(r"""[ \t]{1,8}(?:\\{1,3}\n[ \t]{0,20})?(?![-|>&])""")
_SAID = late(
    r"""\\{0,7}["'`*]{0,3}[ \t]{1,4}(?:(?:is|was|to|are|as|by|be|=|being)[ \t]{1,4})?(?:now |still |set to |changed to )?(?=\\{0,7}["'`*]{1,3}[^\s"'`*])"""
)
_SAID_BARE = late(
    r"""(?i)\\{0,7}["'`]?[ \t]{1,4}(?:(?:(?:has|have)[ ]been[ ]|is[ ]now[ ]|was[ ]|got[ ])?(?:(?:re)?set|rotated|changed|updated)[ ]to|is|was|to|è|é|ist|lautet|est|es|är):?[ \t]{1,4}(?:now |still |set to |changed to )?(?=[^\s"'`])"""
)
_ROTATED = late(
    r"[ ](?:(?:has[ ]been|is|was|got)[ ](?:now[ ])?(?:(?:re)?set|rotated|changed|updated)[ ]to|is[ ]now):?[ ]{1,2}[\"'`*]{0,2}(?=[^\s\"'`])"
)
BELOW = late(
    r"[ \t]{0,8}\r?\n(?:[=-]{3,80}\r?\n|[ \t]{0,8}\r?\n)?[ \t]{0,8}(?P<value>[^\s\"'`]{8,200})[ \t]{0,8}(?=\r?\n|\Z)"
)
"""A label on its line, and a value alone below it."""
_LOGIN = late(
    r"\b(?:user|login|username|account)[:=]?[ ](?:is[ ])?(?P<q>[\"'`*]{0,2})[\w.@+\\-]{1,40}(?P=q)(?:,|[ ]and|,[ ]and)?[ ]\Z"
)
"""A user's name before `pass` and the password."""
_ANSWER = late(r"\?[ \t]{1,8}(?P<value>[^\s\"'`]{8,200})(?=[ \t]{0,8}(?:\r?\n|\\{1,7}[nr]|\\{0,7}\"|\Z))")
"""A question of a program, and the typed answer up to the end of its line."""
_ROW = late(r",(?P<value>[^\s,\"'()]{8,200})(?=\r?\n|\Z)")
"""A name and its value as a row of a table with commas."""
_GIVEN = late(
    r"(?<![\w-])(?:setx?|set -g?x|set -gx|ENV|ARG|setenv|SetEnv|configure set|config set|secret set|fastcgi_param|add|put)[ \t]{1,4}"
    r"(?:(?:-[A-Za-z]{1,3}|--[a-z]{1,20})[ \t]{1,4}){0,2}(?:[\w./:-]{0,60}[/:])?\Z"
)
"""Text before a name whose value follows behind a space."""
_NETRC = late(r"\b(?:machine|login|user|account|default|credentials?)\b")
"""Words before a password that follows behind a space."""
_ODD = late(
    r"(?=[^\s]{0,60}[A-Z])(?=[^\s]{0,60}[a-z])(?=[^\s]{0,60}[0-9])(?=[^\s]{0,60}[!#$%&*+?@^~])[A-Za-z0-9!#$%&*+?@^~_-]{8,60}(?=$|[\s.,;:)\"'`])"
)
"""A word with all sorts of characters in it: no word of prose or code that follows `password`."""
_DIRECTIVES = ("requirepass", "masterauth", "bindpw", "insecure-password")
_COLUMN = late(
    r"(?:[ ]{2,60}|\t{1,4})(?:REG_(?:EXPAND_)?SZ(?:[ ]{2,60}|\t{1,4}))?(?P<value>[^\s\"'`\\()]{6,400})[ \t]{0,8}(?=\r?\n|\\{1,7}[nr]|\Z|\\{0,7}\")"
)
"""A name and its value as columns of a line, as `vault kv get` shows them."""
_SPACE = late(r"[ \t]{1,20}(?:(?:--body|-b|--value|-v|--data)[ \t=]{1,4})?")
_OTHERWISE = late(
    r"""\\{0,7}["']?[)\]}]{0,2}(?:[ \t]{0,4}(?:\|\||\?\?|\?:|\bor\b|\belse\b)[ \t]{0,4}|(?:\.ok\(\))?\.unwrap_or(?:_else\(\|\w?\||\()[ ]?)(?=\\{0,7}["'`])"""
)
"""Text before a fallback, which applies where the named value is missing."""
LINE_START = late(
    r"(?:^|\n|\\n|\\r)[\s\d+|>│┃→:#*.;/$-]{0,30}(?:(?:export|set|declare -x|ENV|ARG|env|-e|local|readonly|SET)\s{1,4})?\Z"
)


_Span = tuple[int, int]


class _Named(NamedTuple):
    """A name in a text, whose value stands behind it."""

    text: str
    start: int
    end: int
    name: str
    meaning: Meaning

    def begins_line(self) -> bool:
        """Whether nothing but signs and words of assignment stands before it on its line."""
        return self.follows(LINE_START, 60)

    def follows(self, pattern: re.Pattern[str], reach: int) -> bool:
        """Whether a pattern is found in as many characters before it."""
        return pattern.search(self.text, max(0, self.start - reach), self.start) is not None

    def quoted(self, at: int, place: ValueNotation) -> _Span | None:
        """The quoted value that begins at a place."""
        return quoted_value(self.text, at, self.meaning, place)

    def bare(self, at: int, place: ValueNotation) -> _Span | None:
        """The value without quotes that begins at a place, in a text."""
        return bare_value(self.text, at, self.meaning, place)

    def judged(self, found: re.Match[str], place: ValueNotation) -> _Span | None:
        """The value that a pattern found, if it is a secret."""
        return judged(self.text, *found.span("value"), self.meaning, place)

    def setting(self, at: int, quoted: ValueNotation, bare: ValueNotation) -> _Span | None:
        """The value of a setting that begins at a place, with quotes or without."""
        return self.quoted(at, quoted) or bare_value(self.text, at, self.meaning, bare, "setting")


def _argument(named: _Named, found: re.Match[str]) -> _Span | None:
    return named.quoted(
        found.end(), ValueNotation.SETTING if named.name.startswith("--") else ValueNotation.INLINE
    )


def _is_variable(named: _Named) -> bool:
    return named.name.isupper() and "_" in named.name


def _is_option(named: _Named) -> bool:
    before = named.text[max(0, named.start - 1) : named.start]
    return named.name.startswith("-") and (not before or before in " \t\n\"'`=│|[(\\")


def _cell(named: _Named, found: re.Match[str]) -> _Span | None:
    text, at = named.text, found.end()
    ends = [place for sign in "|│┃\n" if (place := text.find(sign, at, at + 300)) >= 0]
    return cell_value(text, at, min(ends, default=-1), named.meaning)


_Form = tuple[
    re.Pattern[str], "Callable[[_Named], bool] | None", "Callable[[_Named, re.Match[str]], _Span | None]"
]

_FORMS: tuple[tuple[str, _Form], ...] = (
    ("\\\"'` \t,", (_ARGUMENT, None, _argument)),
    (
        " \t",
        (
            _OPTION,
            _is_option,
            lambda one, at: one.setting(at.end(), ValueNotation.SETTING, ValueNotation.LINE),
        ),
    ),
    (
        " \t\r\n",
        (BELOW, _Named.begins_line, lambda _, at: at.span("value") if stands_out(at["value"]) else None),
    ),
    ("?", (_ANSWER, None, lambda one, at: one.judged(at, ValueNotation.INLINE))),
    (",", (_ROW, _Named.begins_line, lambda one, at: one.judged(at, ValueNotation.INLINE))),
    (
        " ,",
        (
            _ATOM,
            lambda one: one.text.endswith("{", 0, one.start),
            lambda one, at: one.quoted(at.end(), ValueNotation.INLINE),
        ),
    ),
    ("\\\"')]} \t|?oe.", (_OTHERWISE, None, lambda one, at: one.quoted(at.end(), ValueNotation.INLINE))),
    ("|", (re.compile(r"\|"), _is_variable, lambda one, at: one.bare(at.end(), ValueNotation.INLINE))),
    ("`* \t|│┃", (_CELL, lambda one: one.follows(_CELL_START, 50), _cell)),
    (" \t", (_COLUMN, _Named.begins_line, lambda one, at: one.judged(at, ValueNotation.LINE))),
)
"""What may stand behind a name, in the order of trial: the characters that it may begin with; its pattern, a condition on the name,
and the value. The first that fits decides, also where it has no value.
"""
FORMS_BY_FIRST = {
    char: [form for first, form in _FORMS if char in first]
    for char in {char for first, _ in _FORMS for char in first}
}


def spaced_value(text: str, start: int, end: int, name: str, meaning: Meaning) -> tuple[int, int] | None:
    """A value behind a space, a comma or the border of a cell."""
    named = _Named(text, start, end, name, meaning)
    for behind, fits, value in FORMS_BY_FIRST.get(text[end : end + 1], ()):
        found = behind.match(text, end)
        if found is not None and (fits is None or fits(named)):
            return value(named, found)
    space = _SPACE.match(text, end)
    if space is not None:
        return _behind_space(named, space)
    spoken = _SAID.match(text, end)
    return _said(named, spoken) if spoken is not None and name.lower() != "pass" else None


def _behind_space(named: _Named, space: re.Match[str]) -> _Span | None:
    text, at, name = named.text, space.end(), named.name.lower()
    is_password = named.meaning is Meaning.PASSWORD
    if named.follows(_GIVEN, 100):
        given = named.setting(at, ValueNotation.SETTING, ValueNotation.SETTING)
        # `set password …` is a sentence as well.
        if given and name.isalpha() and text[slice(*given)].isalpha() and text[slice(*given)].islower():
            return None
        if given or not text.startswith("to ", at):
            return given
    if is_password and "." in name and named.begins_line():
        # A setting of Java, whose name ends with a space.
        return named.bare(at, ValueNotation.LINE)
    if name in _DIRECTIVES or (is_password and name in ("password", "passwd") and named.follows(_NETRC, 240)):
        given = named.setting(at, ValueNotation.LINE, ValueNotation.LINE)
        # A sentence that names the user too goes on: `user ada, the password is …`.
        if given is not None or name in _DIRECTIVES:
            return given
    if name == "pass":
        return _passed(named, at)
    if (spoken := _SAID.match(text, named.end)) is not None:
        return _said(named, spoken)
    if (spoken := _SAID_BARE.match(text, named.end)) is not None:
        return bare_value(text, spoken.end(), named.meaning, ValueNotation.INLINE, "setting")
    if text[named.end] == "\t" or _is_variable(named):
        return named.bare(at, ValueNotation.INLINE)
    if is_password:
        if (odd := _ODD.match(text, at)) is not None:
            return judged(text, *odd.span(), named.meaning, ValueNotation.INLINE)
        found = named.bare(at, ValueNotation.INLINE)
        if (
            found is not None
            and stands_out(value := text[slice(*found)])
            and sum(map(str.isdigit, value)) > 1
        ):
            return found
    if named.meaning is not Meaning.KEY and "\n" not in space[0]:
        return bare_value(text, at, Meaning.PERHAPS, ValueNotation.INLINE)
    return None


def _passed(named: _Named, at: int) -> _Span | None:
    """A value behind `pass`, which is a word of prose and code as well."""
    text = named.text
    rotated = _ROTATED.match(text, named.end)
    if rotated is not None:
        return bare_value(text, rotated.end(), named.meaning, ValueNotation.INLINE, "setting")
    if text[at : at + 1] in ("'", '"', "`"):
        return (
            named.quoted(at, ValueNotation.INLINE)
            if named.begins_line() or named.follows(_LOGIN, 80)
            else None
        )
    login = _LOGIN.search(text, max(0, named.start - 80), named.start)
    found = named.bare(at, ValueNotation.INLINE) if login is not None else None
    sure = login is not None and "," in login[0]
    return found if found is not None and (sure or stands_out(text[slice(*found)])) else None


def _said(named: _Named, spoken: re.Match[str]) -> _Span | None:
    """A quoted value in a sentence: `the password is "…"`."""
    at = spoken.end()
    while named.text.startswith("*", at):
        at += 1
    sure = named.meaning is Meaning.PASSWORD and spoken[0].strip("\\\"'`* \t") != ""
    return named.quoted(at, ValueNotation.QUOTED if sure else ValueNotation.INLINE)
