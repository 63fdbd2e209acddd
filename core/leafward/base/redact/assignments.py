"""Values assigned to names of secrets, in any syntax: code, settings, JSON, XML, tables, options, sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.redact.joined import pieces_behind
from leafward.base.redact.name_places import meaning_at
from leafward.base.redact.names import LONGEST_NAME, RESOURCE, Meaning, words_of
from leafward.base.redact.secret_values import Place, is_secret
from leafward.base.redact.written_values import QUOTE, RAW, bare_value, cell_value, judged, quoted_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.base.redact.spans import Span

KEYWORDS = (
    *(
        "pass",
        "pw",
        "secret",
        "token",
        "key",
        "auth",
        "cred",
        "salt",
        "psk",
        "mnemonic",
        "sig=",
        "_sig",
        "sas",
    ),
    *(
        "phrase",
        "psw",
        "vault_",
        "pepper",
        "_sk",
        "seed",
        "securestring",
        "sensitive",
        "kennwort",
        "senha",
        "_pat",
        "csrf",
        "xsrf",
        "amz-signature",
        "goog-signature",
        "signature=",
        "code=",
        "sessionid=",
        "phpsessid=",
    ),
)
"""Parts of names of secrets, in small letters."""

_NAME = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

_ASSIGN = re.compile(
    r"""(?x)
    (?: [ \t] (?: [0-9]{1,2} | base64 | hex | value | (?<=(?i:secret)[ ]) ID | (?<=(?i:key)[ ]) Content ) (?=[ \t]{0,40}[:=]) )?
    (?: [ ] \( [^()\n]{1,40} \) (?= [ ]{0,2} [:=][ \t] ) )?
    (?P<close> \\{0,7} ["'`]{1,3} | \*{1,2} | &quot; | &\#39; | \\{1,7}u0022 | %22 )? [)\]}]{0,2} [?!]?
    (?: (?: [ \t]{0,4} : | [ \t]{1,4} As (?=[ \t]) ) [ \t]{0,4} [A-Za-z_&][\w.\[\]|<>&?' ]{0,40}? [ \t]{0,4} = [ \t]{0,4} (?= \\{0,7} ["'`] )   # with a type
      | (?: [ \t]{1,4} (?i:n?varchar|n?char|n?text|sysname) (?: \( [0-9A-Za-z]{1,5} \) )? | \[ \w{0,20} \] ) [ \t]{0,4} :?= [ \t]{0,4} (?= N? \\{0,7} ["'] )
      | [ \t]{0,40} (?P<sign> => | → | ⇒ | := | \?= | \|\|= | ={1,3} | !==? | ::? | ： | %3[DA] | &\#61; | \\u003d ) (?P<pad> (?: \*{1,2}[ \t]{1,4} | [ \t]{0,40} ) ) (?: &\w{1,30}[ \t]{1,4} | 0x[0-9a-f]{1,16}[ ] (?= \\{0,7} " ) )?
        (?: [|>][+-]?[0-9]? [ \t]{0,4} (?: \r?\n | \\n ) [ \t\d→│|+:>]{1,30} )?
        (?: \r?\n [ \t]{1,40} (?= \\{0,7} ["'] [^"'\n]{4,200} \\{0,7} ["'] [,;]? [ \t]{0,4} (?:$|\r?\n) ) )?
        (?: (?: \r?\n | \\n ) [ \t]{1,40} string\([0-9]{1,4}\)[ \t]{1,2} (?= \\{0,7} " ) )?
        (?: \{ (?: \s | \\n ){0,40} (?: \\{0,7}["']\w{1,40}\\{0,7}["'] [ \t]{0,4} : [ \t]{0,4} (?: \\{0,7}["'][^"'\n\\]{0,200}\\{0,7}["'] | [\w.+-]{1,40} ) , (?: \s | \\n ){0,40} ){0,4}
            \\{0,7}["'](?:value|plaintext|stringValue)\\{0,7}["'] [ \t]{0,4} : [ \t]{0,4} (?= \\{0,7} ["'] ) )?
        (?: << (?= \\{0,7} " ) )?
        (?: (?: Some | String::from | SecretStr | SecretString::new | Secret | Sensitive | str )? \( (?: \s | \\n ){0,40} (?= \\{0,7} ["'] ) )?
    )"""
)
_ATTRIBUTE = re.compile(
    r"""(?x) (?: \\{0,7} ["'] | (?<=[A-Za-z]) (?=\s{1,4}[vV]alue=) ) (?: \s{1,20} [\w:-]{1,30} = \\{0,7} ["'] [^"'<>]{0,60} ["'] ){0,3} \s{1,20}
    (?: value | Value | content | VALUE | text ) \s{0,4} = \s{0,4}"""
)
_PAIR = re.compile(
    r"""(?x) \\{0,7} ["']? [ \t]{0,4} (?: , (?=\\{0,7}["']) | ,? (?: [\s\d→│|+:] | \\{1,7}[nrt] ){1,60} ) \\{0,7} ["']? (?: [vV]alue | VALUE | stringValue | secretValue | secret_value )
    \\{0,7} ["']? [ \t]{0,8} [:=] [ \t]{0,8}"""
)
_ELEMENT = re.compile(r"""\\{0,7}["']?(?:\s[^<>\n]{0,100})?>(?:\s|\\n){0,20}(?:<!\[CDATA\[)?""")
_INNER = re.compile(
    r"""\\{0,7}["']?(?:\s[^<>\n]{0,100})?>(?:\s|\\{1,7}[nrt]){0,40}<(?:value|Value|string|text|plainText)>"""
)
"""An element or attribute whose value stands in an element inside it."""
_NEXT_ELEMENT = re.compile(r"</\w{1,20}>(?:\s|\\{1,7}[nrt]|[+|│→\d]){0,40}<\w{1,20}>")
_CELL = re.compile(r"[`*]{0,3}[ \t]{0,60}[|│┃][ \t]{0,60}")
_CELL_START = re.compile(r"[|│┃][ \t`*\w-]{0,40}\Z")
_ARGUMENT = re.compile(
    r"""(?:\\{0,7}["'`]\]?[ \t]{0,4},[ \t]{0,40}|[ \t]{0,4},[ \t]{0,4}<<)(?=\\{0,7}["'`])"""
)
_CALLED = re.compile(r"""\([ \t]{0,4}(?=\\{0,7}["'`])""")
_OPTION = re.compile(r"""[ \t]{1,8}(?:\\{1,3}\n[ \t]{0,20})?(?![-|>&])""")
_SAID = re.compile(
    r"""\\{0,7}["'`*]{0,3}[ \t]{1,4}(?:(?:is|was|to|are|as|by|be|=|being)[ \t]{1,4})?(?:now |still |set to |changed to )?(?=\\{0,7}["'`*]{1,3}[^\s"'`*])"""
)
_SAID_BARE = re.compile(
    r"""\\{0,7}["'`]?[ \t]{1,4}(?:(?:(?:has|have)[ ]been[ ]|is[ ]now[ ]|was[ ]|got[ ])?(?:(?:re)?set|rotated|changed|updated)[ ]to|is|was|to):?[ \t]{1,4}(?:now |still |set to |changed to )?(?=[^\s"'`])"""
)
_ROTATED = re.compile(
    r"[ ](?:(?:has[ ]been|is|was|got)[ ](?:now[ ])?(?:(?:re)?set|rotated|changed|updated)[ ]to|is[ ]now):?[ ]{1,2}[\"'`*]{0,2}(?=[^\s\"'`])"
)
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
_DIRECTIVES = ("requirepass", "masterauth", "bindpw")
_COLUMN = re.compile(
    r"(?:[ ]{2,60}|\t{1,4})(?:REG_(?:EXPAND_)?SZ(?:[ ]{2,60}|\t{1,4}))?(?P<value>[^\s\"'`\\()]{6,400})[ \t]{0,8}(?=\r?\n|\\{1,7}[nr]|\Z|\\{0,7}\")"
)
"""A name and its value as columns of a line, as `vault kv get` shows them."""
_CHANGED = re.compile(
    r"""(?P<quote>\\{0,7}["'])[ \t]{1,4}->[ \t]{1,4}(?P=quote)(?P<value>[^"'\n\\]{4,400})(?P=quote)"""
)
"""The new value in a plan of Terraform."""
_TYPED = re.compile(
    r"""\\{0,7}["']?\]?\\{0,7}["']?\)\.(?:type|fill|send_keys|sendKeys|setValue|keys)\([ \t]{0,4}(?=\\{0,7}["'`])"""
)
"""Call by which a test of a page fills in a field."""
_SPACE = re.compile(r"[ \t]{1,20}(?:(?:--body|-b|--value|-v|--data)[ \t=]{1,4})?")
_OTHERWISE = re.compile(
    r"""\\{0,7}["']?[)\]}]{0,2}[ \t]{0,4}(?:\|\||\?\?|\bor\b)[ \t]{0,4}(?=\\{0,7}["'`])"""
)
"""Text before a fallback, which applies where the named value is missing."""
_LINE_START = re.compile(
    r"(?:^|\n|\\n|\\r)[\s\d+|>│┃→:#*.;/$-]{0,30}(?:(?:export|set|declare -x|ENV|ARG|env|-e|local|readonly|SET)\s{1,4})?\Z"
)

_BYTES = re.compile(
    r"(?:Uint8Array\.from\()?\[\s{0,20}[0-9]{1,3}(?:\s{0,20},\s{0,20}[0-9]{1,3}){31,63}\s{0,20}\]"
)
"""A key as a list of its 32 or 64 bytes."""

_ESCAPED = re.compile(r"(?:2[0-9A-F]|3[A-F]|5[BD])(?=[A-Za-z])")
"""An escape of an address before a name."""
_LEAST_AGAIN = 7
_MOST_MORE = 6
"""Letters and digits: the fewest of a value that repeats its name, and the most that it may have beyond the name."""
_PHRASE = re.compile(
    r"""\\{0,7}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,7}["'](?P<value>[a-z]{3,8}(?: [a-z]{3,8}){11,23})\\{0,7}["']"""
)
"""The words of a wallet as a value in quotes."""


def assignments_in(text: str, low: str, keywords: Iterable[str]) -> Iterator[Span]:
    """The values of names of secrets. `low` is the text in small letters, `keywords` the keywords that it may hold."""
    done = 0
    for at in _hits(low, keywords):
        if at < done:
            continue
        start, done = _name_at(text, at)
        if done - start > LONGEST_NAME:
            continue
        name = text[start:done].strip(".")
        if text[start - 1 : start] == ":" and RESOURCE.search(text, max(0, start - 100), start):
            continue
        if start and text[start - 1] == "\\" and name[:1] in "nrt":
            start, name = start + 1, name[1:]
        elif start and text[start - 1] == "%" and _ESCAPED.match(name):
            start, name = start + 2, name[2:]
        if text[start - 2 : start] == "${" and text[done : done + 2].lstrip(":")[:1] in ("?", "+"):
            # The message of a shell for a missing variable.
            continue
        meaning = meaning_at(text, start, done, name)
        if meaning is None:
            if name.lower() == "seed" and (phrase := _PHRASE.match(text, done)) is not None:
                yield *phrase.span("value"), "wallet phrase"
            continue
        found = _value(text, start, done, name, meaning)
        if found is not None and not (
            meaning is not Meaning.PASSWORD and _says_again(name, text[found[0] : found[1]])
        ):
            yield (*found, "secret")
            for piece in pieces_behind(text, *found):
                yield (*piece, "secret")
            changed = _CHANGED.match(text, found[1])
            if changed is not None and is_secret(changed["value"], meaning, Place.QUOTED, quoted=True):
                yield *changed.span("value"), "secret"


def _says_again(name: str, value: str) -> bool:
    """Whether a value repeats its name in another spelling: `ACCESS_TOKEN = "X-Access-Token"`."""
    name, value = ("".join(words_of(text)) for text in (name, value))
    return len(value) >= _LEAST_AGAIN and (
        value in name
        or (name in value and len(name) >= _LEAST_AGAIN and len(value) - len(name) <= _MOST_MORE)
    )


def _hits(low: str, keywords: Iterable[str]) -> list[int]:
    found: list[int] = []
    for keyword in keywords:
        at = low.find(keyword)
        size = len(keyword)
        while at >= 0:
            found.append(at)
            at = low.find(keyword, at + size)
    found.sort()
    return found


def _name_at(text: str, at: int) -> tuple[int, int]:
    """Begin and end of the name around a place, limited to the length that a name can have."""
    before = text[max(0, at - LONGEST_NAME) : at]
    start = at - len(before) + len(before.rstrip(_NAME))
    behind = text[at : at + LONGEST_NAME]
    return start, at + len(behind) - len(behind.lstrip(_NAME))


def _value(text: str, start: int, end: int, name: str, meaning: Meaning) -> tuple[int, int] | None:
    """The place of the value of a name of a secret."""
    while end > start and text[end - 1] == ".":
        end -= 1
    before = text[start - 1 : start]
    found = _ASSIGN.match(text, end)
    if found is not None:
        return _assigned(text, start, found, name, meaning)
    if before in ("<", "/", ":") or text[start - 2 : start] in ('="', "='", '\\"'):
        attribute = _ATTRIBUTE.match(text, end)
        if attribute is not None:
            return quoted_value(text, attribute.end(), meaning, Place.SETTING)
        element = _INNER.match(text, end) or _ELEMENT.match(text, end)
        if element is not None and not text.startswith("<", element.end()):
            stop = text.find("<", element.end(), element.end() + 600)
            return (
                judged(text, element.end(), stop, meaning, Place.SETTING)
                if text[stop + 1 : stop + 2] in ("/", "\\", "!")
                else None
            )
    if text[max(0, start - 4) : start] == "&lt;" and text.startswith("&gt;", end):
        stop = text.find("&lt;/", end + 4, end + 600)
        return judged(text, end + 4, stop, meaning, Place.SETTING)
    if before == ">" or text[start - 1 : start] == '"':
        following = _NEXT_ELEMENT.match(text, end)
        if following is not None:
            stop = text.find("<", following.end(), following.end() + 600)
            return judged(text, following.end(), stop, meaning, Place.SETTING)
    typed = _TYPED.match(text, end)
    if typed is not None:
        return quoted_value(text, typed.end(), meaning, Place.INLINE)
    call = _CALLED.match(text, end)
    if call is not None and words_of(name)[0] not in ("get", "read", "fetch", "load", "is", "has"):
        return quoted_value(text, call.end(), meaning, Place.INLINE)
    pair = _PAIR.match(text, end)
    if pair is not None:
        return quoted_value(text, pair.end(), meaning, Place.SETTING) or bare_value(
            text, pair.end(), meaning, Place.SETTING
        )
    return _spaced(text, start, end, name, meaning)


def _assigned(
    text: str, start: int, found: re.Match[str], name: str, meaning: Meaning
) -> tuple[int, int] | None:
    sign, at = found["sign"], found.end()
    tight = (
        sign == "=" and not found["pad"] and (found["close"] is None) and found.start("sign") == found.start()
    )
    if text.startswith("[[", at):
        # A long string of Lua.
        return judged(text, at + 2, text.find("]]", at, at + 600), meaning, Place.QUOTED)
    first = _LINE_START.search(text, max(0, start - 60), start) is not None
    upper = name.isupper()
    if (
        name in ("PASS", "pass", "Pass")
        and sign != "="
        and found["close"] is None
        and not ((first and name != "PASS") or text[start - 1 : start] == "/")
        and QUOTE.match(text, at) is None
    ):
        # The mark of a test that passed.
        return None
    if meaning is Meaning.SECRET and (numbers := _BYTES.match(text, at)) is not None:
        return numbers.span()
    if sign in ("==", "===", "!=", "!=="):
        return quoted_value(text, at, meaning, Place.INLINE)
    queried = text[start - 1 : start] in ("?", "&", ";") or name.startswith("-")
    place = Place.SETTING if tight and (upper or queried or first) else Place.QUOTED
    if QUOTE.match(text, at):
        return quoted_value(text, at, meaning, Place.SETTING if upper else place)
    if tight and text[start - 1 : start] == "/":
        return bare_value(text, at, meaning, Place.SETTING, "path")
    if queried and tight:
        return bare_value(text, at, meaning, Place.SETTING, "query" if text[start - 1] in "?&" else "inline")
    if tight and first and not upper and (end := RAW.match(text, at)) is not None and end[0][-1] in ",)":
        # An argument of a call over several lines.
        return bare_value(text, at, meaning, Place.INLINE)
    if tight and (upper or first):
        return bare_value(text, at, meaning, Place.SETTING, "setting")
    return bare_value(text, at, meaning, Place.LINE if first or found["close"] else Place.INLINE)


def _spaced(text: str, start: int, end: int, name: str, meaning: Meaning) -> tuple[int, int] | None:
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
    row = _ROW.match(text, end)
    if row is not None and _LINE_START.search(text, max(0, start - 60), start):
        return judged(text, *row.span("value"), meaning, Place.INLINE)
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
    if column is not None and _LINE_START.search(text, max(0, start - 60), start):
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
        and _LINE_START.search(text, max(0, start - 60), start) is not None
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
        return (
            bare_value(text, rotated.end(), meaning, Place.INLINE, "setting") if rotated is not None else None
        )
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
    if space is not None and meaning is not Meaning.KEY and "\n" not in space[0]:
        return bare_value(text, space.end(), Meaning.PERHAPS, Place.INLINE)
    return None
