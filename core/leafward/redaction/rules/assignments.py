"""Values assigned to names of secrets, in any syntax: code, settings, JSON, XML, tables, options, sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.joined import pieces_behind
from leafward.redaction.name_places import meaning_at
from leafward.redaction.names import LONGEST_NAME, RESOURCE, Meaning, words_of
from leafward.redaction.rules.spaced_values import BELOW, LINE_START, spaced_value
from leafward.redaction.rules.value_lists import is_plural, listed_in
from leafward.redaction.secret_values import ValueNotation, is_secret
from leafward.redaction.spans import SecretKind, hits
from leafward.redaction.written_values import LONGEST_BARE, QUOTE, RAW, bare_value, judged, quoted_value

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator

    from leafward.redaction.spans import Span

KEYWORDS = (
    "pass", "pw", "secret", "token", "key", "auth", "cred", "salt", "psk", "mnemonic", "sig=", "_sig",
    "sas", "phrase", "psw", "vault_", "pepper", "_sk", "seed", "securestring", "sensitive", "kennwort",
    "senha", "_pat", "csrf", "xsrf", "amz-signature", "goog-signature", "signature=", "code=", "sessionid=",
    "phpsessid=", "appid="
)  # fmt: skip
"""Parts of names of secrets, in small letters."""

_NAME = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

_ASSIGN = late(
    r"""(?x)
    (?: [ \t] (?: [0-9]{1,2} | base64 | hex | value | (?<=(?i:secret)[ ]) ID | (?<=(?i:key)[ ]) Content ) (?=[ \t]{0,40}[:=]) )?
    (?: [ ] (?: \( [^()\n]{1,40} \) | \[ [a-z]{1,20} \] ) (?= [ ]{0,2} [:=][ \t] ) )?
    (?P<close> \\{0,7} ["'`]{1,3} | \*{1,2} | &quot; | &\#39; | \\{1,7}u0022 | %22 )? [)\]}]{0,2} [?!]?
    (?: (?: [ \t]{0,4} : | [ \t]{1,4} As (?=[ \t]) ) [ \t]{0,4} [A-Za-z_&][\w.\[\]|<>&?' ]{0,40}? [ \t]{0,4} = [ \t]{0,4} (?= \\{0,7} ["'`] )   # with a type
      | (?: [ \t]{1,4} (?i:n?varchar|n?char|n?text|sysname) (?: \( [0-9A-Za-z]{1,5} \) )? | \[ \w{0,20} \] ) [ \t]{0,4} :?= [ \t]{0,4} (?= N? \\{0,7} ["'] )
      | [ \t]{0,40} (?P<sign> => | <- | (?<![)][ ])->(?=[ ]) | \.(?=[ ]\\{0,7}") | → | ⇒ | — | – | := | \?= | \|\|= | ={1,3} | !==? | ::? | ： | %3[DA] | &\#61; | \\u003d ) (?P<pad> (?: \*{1,2}[ \t]{1,4} | </\w{1,8}>[ \t]{0,4} | [ \t]{0,40} ) ) (?: &\w{1,30}[ \t]{1,4} | 0x[0-9a-f]{1,16}[ ] (?= \\{0,7} " ) | (?:(?:re)?set|changed|rotated|updated)[ ]to[ ]{1,2} )?
        (?: [|>][+-]?[0-9]? [ \t]{0,4} (?: \r?\n | \\n ) (?: [ \t→│|+:>] | [0-9]{1,6}(?=[ \t→│|:]) ){1,30} )?
        (?: \r?\n [ \t]{1,40} (?= \\{0,7} ["'] [^"'\n]{4,200} \\{0,7} ["'] [,;]? [ \t]{0,4} (?:$|\r?\n) ) )?
        (?: (?: \r?\n | \\n ) [ \t]{1,40} string\([0-9]{1,4}\)[ \t]{1,2} (?= \\{0,7} " ) )?
        (?: \{ (?: \s | \\n ){0,40} (?: \\{0,7}["']\w{1,40}\\{0,7}["'] [ \t]{0,4} : [ \t]{0,4} (?: \\{0,7}["'][^"'\n\\]{0,200}\\{0,7}["'] | [\w.+-]{1,40} ) , (?: \s | \\n ){0,40} ){0,4}
            \\{0,7}["'](?:value|plaintext|stringValue)\\{0,7}["'] [ \t]{0,4} : [ \t]{0,4} (?= \\{0,7} ["'] ) )?
        (?: << (?= \\{0,7} " ) )?
        (?: (?: Some | String::from | SecretStr | SecretString::new | Secret | Sensitive | str )? \( (?: \s | \\n ){0,40} (?= \\{0,7} ["'] ) )?
    )"""
)
_ATTRIBUTE = late(
    r"""(?x) (?: \\{0,7} ["'] | (?<=[A-Za-z]) (?=\s{1,4}[vV]alue=) ) (?: \s{1,20} [\w:-]{1,30} = \\{0,7} ["'] [^"'<>]{0,60} ["'] ){0,3} \s{1,20}
    (?: value | Value | content | VALUE | text ) \s{0,4} = \s{0,4}"""
)
_PAIR = late(
    r"""(?x) \\{0,7} ["']? [ \t]{0,4} (?: , (?=\\{0,7}["']) | ,? (?: [\s\d→│|+:] | \\{1,7}[nrt] ){1,60} ) \\{0,7} ["']? (?: [vV]alue | VALUE | stringValue | secretValue | secret_value )
    \\{0,7} ["']? [ \t]{0,8} [:=] [ \t]{0,8}"""
)
_ELEMENT = late(r"""\\{0,7}["']?(?:\s[^<>\n]{0,100})?>(?:\s|\\n){0,20}(?:<!\[CDATA\[)?""")
_INNER = late(
    r"""\\{0,7}["']?(?:\s[^<>\n]{0,100})?>(?:\s|\\{1,7}[nrt]){0,40}<(?:value|Value|string|text|plainText)>"""
)
"""An element or attribute whose value stands in an element inside it."""
_OF_FIELD = late(r"""[fF]or=\\{0,7}["']\Z""")
"""The beginning of a label: `<label for="password">`."""
_NEXT_ELEMENT = late(r"</\w{1,20}>(?:\s|\\{1,7}[nrt]|[+|│→\d]){0,40}<\w{1,20}>")
_CALLED = late(r"""(?:\([ \t]{0,4}|\{)(?=\\{0,7}["'`])""")
"""A call, or a value of C++ in braces."""
_SUM_OF = late(
    r"(?:MD5|SHA[0-9]{1,3}(?:-[0-9]{3})?|SHA2-[0-9]{3}|BLAKE2\w{1,8}|RMD160|CRC32) ?\([^()\n]{0,80}\Z"
)
"""The beginning of a checksum as BSD and openssl print it: `SHA256 (secret.txt) = …`."""
_CHANGED = late(
    r"""(?P<quote>\\{0,7}["'])[ \t]{1,4}->[ \t]{1,4}(?P=quote)(?P<value>[^"'\n\\]{4,400})(?P=quote)"""
)
"""The new value in a plan of Terraform."""
_TYPED = late(
    r"""\\{0,7}["']?\]?\\{0,7}["']?\)\.(?:type|fill|set|send_keys|sendKeys|setValue|keys)\([ \t]{0,4}(?=\\{0,7}["'`])"""
)
"""Call by which a test of a page fills in a field."""
_CLOSING, _OPENING = frozenset("\\\"'])"), frozenset("({")
"""The first characters of such calls."""
_BYTES = late(r"(?:Uint8Array\.from\()?\[\s{0,20}[0-9]{1,3}(?:\s{0,20},\s{0,20}[0-9]{1,3}){31,63}\s{0,20}\]")
"""A key as a list of its 32 or 64 bytes."""

_SETTING_BEFORE = late(r"(?:^|\s)[A-Za-z_][\w.-]{0,40}=[^\s\"'`(){}\[\]<>,;=]{1,60}[ \t]\Z")
"""Another setting of the same line: `ansible_user=ada ansible_ssh_pass=…`, as inventories and logs have them."""
_FALLBACK = late(
    r"""(?:[A-Za-z_][\w<>|]{0,30}[ ]=[ ])?[A-Za-z_$][\w.$]{0,60}(?:[\[(]\\{0,7}["'][\w.-]{1,60}\\{0,7}["'][\])])?[ \t]{1,4}(?:\|\||\?\?|\?:|or)[ \t]{1,4}(?=\\{0,7}["'`])"""
)
"""Text before the value that applies where a variable is missing: `process.env.JWT ?? "…"`."""
_ESCAPED = late(r"(?:2[0-9A-F]|3[A-F]|5[BD])(?=[A-Za-z])")
"""An escape of an address before a name."""
_LEAST_AGAIN = 7
_MOST_MORE = 6
"""Letters and digits: the fewest of a value that repeats its name, and the most that it may have beyond the name."""
_PHRASE = late(
    r"""\\{0,7}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,7}["'](?P<value>[a-z]{3,8}(?: [a-z]{3,8}){11,23})\\{0,7}["']"""
)
"""The words of a wallet as a value in quotes."""


_RUN = late(r"[A-Za-z0-9_.:=&/-]{1,1024}")
"""Names, signs and bare values without white space or quotes: where a name is followed by these alone, its value is one of them."""
_LONGEST_SIGN = 3
"""Characters of a sign of assignment among these."""

_CONTINUED = late(r"\\\r?\n[ \t]{0,20}")
"""A shell goes on in the next line."""


def assignments_in(text: str, low: str, keywords: Iterable[str]) -> Iterator[Span]:
    """The values of names of secrets. `low` is the text in small letters, `keywords` the keywords that it may hold.

    Where names and values follow each other without end, each value is as long as one can be, and holds the next names: only those
    names are looked at whose values reach further.
    """
    names = list(_names_in(text, low, keywords))
    looked_at: dict[int, list[Span]] = {}
    given: set[Span] = set()
    """A list in a list has the same items."""

    def found_at(number: int) -> list[Span]:
        spans = looked_at.get(number)
        if spans is None:
            spans = looked_at[number] = list(_assigned_to(text, *names[number]))
        return spans

    number = 0
    while number < len(names):
        spans = found_at(number)
        for span in spans:
            if span not in given:
                given.add(span)
                yield span
        del looked_at[number]
        number = _next(text, names, number, spans, found_at) if spans else number + 1


def _next(
    text: str,
    names: list[tuple[int, int]],
    number: int,
    spans: list[Span],
    found_at: Callable[[int], list[Span]],
) -> int:
    """The next name to look at behind one with a secret: the values of those between are parts of its own value and of that one's."""
    following = number + 1
    start, end, _ = spans[0]
    last = following
    while last < len(names) and names[last][1] < end:
        last += 1
    if last - following < 2 or names[following][0] < start or (run := _RUN.match(text, start)) is None:
        return following
    for other in range(last - 1, following, -1):
        further = found_at(other)
        if (
            further
            and further[0][0] < end
            and names[other - 1][1] + _LONGEST_SIGN + LONGEST_BARE <= further[0][1] <= run.end()
            and not any(is_plural(text[slice(*one)].strip(".")) for one in names[following:other])
        ):
            return other
    return following


def _names_in(text: str, low: str, keywords: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Begin and end of each name that holds a keyword."""
    done = 0
    for at in hits(low, keywords):
        if at >= done:
            start, done = _name_at(text, at)
            if done - start <= LONGEST_NAME:
                yield start, done


def _assigned_to(text: str, start: int, end: int) -> Iterator[Span]:
    """The value of the name between two places, if it is a secret."""
    name = text[start:end].strip(".")
    if text[end : end + 1] == ")" and _SUM_OF.search(text, max(0, start - 100), start):
        return
    if text[start - 1 : start] == ":" and RESOURCE.search(text, max(0, start - 100), start):
        return
    if start and text[start - 1] == "\\" and name[:1] in "nrt":
        start, name = start + 1, name[1:]
    elif start and text[start - 1] == "%" and _ESCAPED.match(name):
        start, name = start + 2, name[2:]
    if text[start - 2 : start] == "${" and text[end : end + 2].lstrip(":")[:1] in ("?", "+"):
        # The message of a shell for a missing variable.
        return
    meaning = meaning_at(text, start, end, name)
    if meaning is None:
        if name.lower() == "seed" and (phrase := _PHRASE.match(text, end)) is not None:
            yield *phrase.span("value"), SecretKind.WALLET_PHRASE
        yield from listed_in(text, end, name)
        return
    found = _value(text, start, end, name, meaning)
    if found is not None and not (
        meaning is not Meaning.PASSWORD and _says_again(name, text[found[0] : found[1]])
    ):
        yield (*found, SecretKind.SECRET)
        for piece in pieces_behind(text, *found):
            yield (*piece, SecretKind.SECRET)
        changed = _CHANGED.match(text, found[1])
        if changed is not None and is_secret(changed["value"], meaning, ValueNotation.QUOTED, quoted=True):
            yield *changed.span("value"), SecretKind.SECRET


def _says_again(name: str, value: str) -> bool:
    """Whether a value repeats its name in another spelling: `ACCESS_TOKEN = "X-Access-Token"`."""
    name, value = ("".join(words_of(text)) for text in (name, value))
    return len(value) >= _LEAST_AGAIN and (
        value in name
        or (name in value and len(name) >= _LEAST_AGAIN and len(value) - len(name) <= _MOST_MORE)
    )


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
            return quoted_value(text, attribute.end(), meaning, ValueNotation.SETTING)
        element = _INNER.match(text, end) or _ELEMENT.match(text, end)
        labels = _OF_FIELD.search(text, max(0, start - 16), start)
        if element is not None and labels is None and not text.startswith("<", element.end()):
            stop = text.find("<", element.end(), element.end() + 600)
            return (
                judged(text, element.end(), stop, meaning, ValueNotation.SETTING)
                if text[stop + 1 : stop + 2] in ("/", "\\", "!")
                else None
            )
    if text[max(0, start - 4) : start] == "&lt;" and text.startswith("&gt;", end):
        stop = text.find("&lt;/", end + 4, end + 600)
        return judged(text, end + 4, stop, meaning, ValueNotation.SETTING)
    if before == ">" or text[start - 1 : start] == '"':
        following = _NEXT_ELEMENT.match(text, end)
        if following is not None:
            stop = text.find("<", following.end(), following.end() + 600)
            return judged(text, following.end(), stop, meaning, ValueNotation.SETTING)
    behind = text[end : end + 1]
    typed = _TYPED.match(text, end) if behind in _CLOSING else None
    if typed is not None:
        return quoted_value(text, typed.end(), meaning, ValueNotation.INLINE)
    call = _CALLED.match(text, end) if behind in _OPENING else None
    if call is not None and words_of(name)[0] not in ("get", "read", "fetch", "load", "is", "has"):
        return quoted_value(text, call.end(), meaning, ValueNotation.INLINE)
    pair = _PAIR.match(text, end)
    if pair is not None:
        return quoted_value(text, pair.end(), meaning, ValueNotation.SETTING) or bare_value(
            text, pair.end(), meaning, ValueNotation.SETTING
        )
    return spaced_value(text, start, end, name, meaning)


def _assigned(
    text: str, start: int, found: re.Match[str], name: str, meaning: Meaning
) -> tuple[int, int] | None:
    sign, at = found["sign"], found.end()
    tight = (
        sign == "=" and not found["pad"] and (found["close"] is None) and found.start("sign") == found.start()
    )
    if tight and (continued := _CONTINUED.match(text, at)) is not None:
        at = continued.end()
    if text.startswith("[[", at):
        # A long string of Lua.
        return judged(text, at + 2, text.find("]]", at, at + 600), meaning, ValueNotation.QUOTED)
    first = LINE_START.search(text, max(0, start - 60), start) is not None
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
    if meaning in (Meaning.SECRET, Meaning.KEY) and (numbers := _BYTES.match(text, at)) is not None:
        return numbers.span()
    if sign in ("==", "===", "!=", "!=="):
        return quoted_value(text, at, meaning, ValueNotation.INLINE)
    queried = (
        text[start - 1 : start] in ("?", "&", ";")
        or name.startswith("-")
        # `pass` alone is a number of tests as well.
        or (
            tight
            and name.lower() != "pass"
            and _SETTING_BEFORE.search(text, max(0, start - 110), start) is not None
        )
    )
    place = ValueNotation.SETTING if tight and (upper or queried or first) else ValueNotation.QUOTED
    if QUOTE.match(text, at):
        return quoted_value(text, at, meaning, ValueNotation.SETTING if upper else place)
    if (fallback := _FALLBACK.match(text, at)) is not None:
        return quoted_value(text, fallback.end(), meaning, ValueNotation.INLINE)
    if tight and text[start - 1 : start] == "/":
        return bare_value(text, at, meaning, ValueNotation.SETTING, "path")
    if queried and tight:
        return bare_value(
            text, at, meaning, ValueNotation.SETTING, "query" if text[start - 1] in "?&" else "inline"
        )
    if tight and first and not upper and (end := RAW.match(text, at)) is not None and end[0][-1] in ",)":
        # An argument of a call over several lines.
        return bare_value(text, at, meaning, ValueNotation.INLINE)
    if tight and (upper or first):
        return bare_value(text, at, meaning, ValueNotation.SETTING, "setting")
    if sign == ":" and first and (below := BELOW.match(text, found.end("sign"))) is not None:
        return judged(text, *below.span("value"), meaning, ValueNotation.LINE)
    return bare_value(
        text, at, meaning, ValueNotation.LINE if first or found["close"] else ValueNotation.INLINE
    )
