"""Whether the value of a secret's name is a secret, or a placeholder, a variable, code or a word."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from enum import Enum
from functools import lru_cache
from itertools import pairwise

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning
from leafward.redaction.spans import MARKER, words


class ValueNotation(Enum):
    """The notation of a value, which tells how certainly it is a value."""

    SETTING = "setting"
    """`DB_PASS=…`, a connection string, an option of a command, an element of XML."""
    QUOTED = "quoted"
    LINE = "line"
    """Behind a name, up to the end of the line."""
    INLINE = "inline"
    """In the middle of a line."""


LONGEST_VALUE = 2000
"""Characters of a value beyond which it is not taken for a secret."""

_STANDS_FOR = late(
    r"""(?ix) ^ (?:
        (?: x{3,} | \*{2,} | \.{2,} | -{3,} | _{3,} | \#{2,} | •+ | … .* | \?{2,} | 0{4,} | x+(?:-x+)+ )
        | (?: your | my | the | some | a | an | example | dummy | fake | sample | changeme | change | placeholder | redacted
            | masked | hidden | insert | enter | replace | put | add | use | paste | todo | tbd | fixme | foo | bar | baz
            | foobar | enc | none | null | nil | true | false | yes | no | empty | undefined | optional | required
            | urn | tag | invalid | wrong | generated | generate | unset | not )
          (?: [-_\s.:<(!?|] .* )?
        | (?: nullable | sometimes | bail | string | confirmed | present | filled ) (?: \| .* )
        | (?: your | my | some ) (?: password|passwd|secret|token|api|key|access|private|pass ) .*
        | (?: placeholder | example ) .*
        | (?-i: (?:test|my|user)? (?:password|passwd|secret) [0-9]{0,4} )
        | \$ (?-i:[A-Z_]{3,}) .* | [$@] [A-Za-z_({][\w.:}){-]* | %[A-Za-z_]\w*% | %[({s].* | \$\$ .* | \$\{ .* | \$\( .* | \{\{ .* | \{ .* | <.* | \[.* | \( .* | ` .* | ![A-Za-z]+ (?: [\s.] .* )?
        | (?: process\.env | os\.environ | os\.getenv | env | environ | config | settings | self | this | var | local | locals
            | data | module | secrets | vars | params | args | opts | options | ctx | req | request | res | response | props
            | state | import\.meta | ENV | Deno | std | ref\+\w+ | vault | op | ssm | arn | sops | file | keyring | awssm ) [.:\[/(] .*
    ) $"""
)
_BEGIN = late(
    r"(?i)(?:your|my|some|example|placeholder|change_?me|dummy|fake|sample)?[-_.]?(?:password|passwd|secret|token|key)?[-_.:]?"
)
_LEAST_REST = 6
"""Fewest random characters behind words of a placeholder."""
_ARTICLE = late(r"(?i)(?:a|an|no|my)[-_.:]")
"""Words so short that a random value may begin with them."""
_HOLES = late(
    r"(?i)x{6}|\*{3}|\.{3}$|…|redacted|your[-_ ]|[-_]here\b|placeholder|<[a-z][^>]*>|\$\{|\{\{|\$\(|\bexample\b(?!\.(?:com|org))|changeme|dummy|#\{|abcdefghijkl|example(?:key|token|secret)?\Z"
)
"""Marks anywhere in a value that show a placeholder."""
_IN_HOLES = (
    "xxxxxx", "***", "...", "…", "redacted", "your", "here", "placeholder", "<", "${", "{{", "$(", "example", "changeme",
    "dummy", "#{", "abcdefgh",
)  # fmt: skip
"""Texts in small letters of which each of these marks holds one: they are found thirty times as fast."""

_TYPES = words(
    "string str text bytes bool boolean int integer number float object any none null nil true false undefined optional"
    " required hidden password passwd secret token key apikey username user value default auto disabled enabled redacted"
    " encrypted plaintext plain bearer basic oauth oauth2 jwt unknown never void secretstr char varchar binary base64"
    " email login authorization credentials credential admin root test testing example public private access refresh"
    " pass pwd prompt ask manual inherit keychain keyring env environment vault file stdin passphrase missing invalid"
)
_INTERFACE = late(
    r"(?i)\b(?:passwor[dt]s?|passphrase|enter|must|required?|please|invalid|wrong|forgot|reset|confirm|incorrect|cannot|"
    r"should|your|you|the|is|are|to|and|or|for|of|with|not|from|token|secret|key|new|old|current|show|hide|change|this)\b"
)
"""Words of labels and messages about secrets."""
_MESSAGE = late(
    r"(?i)\b(?:passwor[dt]s?|passphrase|enter|must|required?|please|invalid|wrong|forgot|reset|confirm|incorrect|cannot|"
    r"should|your|you|token|secret|key|new|current|show|hide|change)\b"
)
"""Those of them that no passphrase of words would hold."""
_CODE = late(
    r"^[A-Za-z_$@&*]?[A-Za-z_]*(?:[.:/-]+[A-Za-z_]+)*[.:;?!]*$"
    r"|^[\w./@-]+\.[a-z]{1,5}$"
    r"|^\w+\.\w+\.\w+$(?<![0-9]{3})|^[\w.-]+/[\w.-]+:[\w.-]+$"
)
"""Code or prose rather than a key: a name, a dotted name, a word, a file, a call."""
_IDENTIFIER = late(
    r"^(?:[a-z]+[0-9]*(?:[_-][a-z0-9]+){0,8}|[a-z]+(?:[A-Z][a-z0-9]+){1,8}|(?:[A-Z][a-z]+){1,6}[0-9]{0,2}|[A-Z][A-Z_]+[0-9]{0,3})$"
)
_NUMBERED_WORD = late(r"^[A-Za-z_]*[a-z_]{2}[0-9]{1,2}$|^(?:[a-z]+[0-9]?[-_.:/]){1,6}[a-z]+[0-9]{0,3}$")
_PATH = late(
    r"^(?:~|\.{1,2})?/(?:[\w.@~-]*[a-z_]{3}[\w.@~-]*(?:/|$)|$)|^[a-z][a-z0-9+.-]{1,20}:\\*/\\*/|^[A-Z]:\\|^\./|^\.\./|^projects/|^/v[0-9]/[a-z]"
)
_TITLED = late(r"(?:[A-Z][a-z]{2,20}_){2,6}[A-Z][a-z]{2,20}")
"""Words with capitals, as people join them and code does not."""
_SNAKE = late(r"^[A-Za-z]*(?:_+[A-Za-z]+)+[0-9]?_?$")
_LETTERS = late(r"[A-Za-z]{4,}")
_LETTERS5 = late(r"[a-z]{6}|[A-Z]{6}")
_KEY_SHAPE = late(r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^0-9]*[0-9][^0-9]*[0-9])[A-Za-z0-9+/_=-]+\Z")
_CONSTANT = late(r"^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_NUMBER = late(r"^[0-9.,_]+(?:[eE][+-]?[0-9]+)?$")
_SHORT_HEX = late(r"0[xX][0-9a-fA-F]{1,16}[uUlL]{0,3}\Z")
"""A number of C."""
_VERSION = late(r"[A-Za-z][A-Za-z-]{2,30}[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}(?:-[a-z]{1,10})?[,.;:!?)]*\Z")
"""A name with its version: `Kubernetes1.31`."""
_OF_DIGEST = late(r"(?:[A-Za-z][\w.]{0,40}-){1,8}[0-9.]{0,8}-?(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{32})\Z")
"""Words and a checksum behind them, as caches are named."""
_CAMEL = late(r"[a-z]*(?:[A-Z][a-z]{2,}|Id)+[A-Z]?\Z")
_TYPE = late(
    r"(?:[a-z]\w{0,30}\.){0,4}(?=\w*(?:Key|Token|Secret|Credential|Auth|Passw))[A-Za-z_]*[0-9]{0,5}(?:_?[A-Z][a-z]{2,}[0-9]{0,3})+[A-Z]?\Z"
)
"""The name of a type or field of a secret: `Ed25519PrivateKey`."""
_DATE = late(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ENCRYPTED = late(r"\{(?=[A-Za-z+/]*[0-9])[A-Za-z0-9+/]{24,400}={1,2}\}")
"""A password as Maven and Jenkins store it: encrypted, with a key beside it."""
_APP_PASSWORD = late(r"[a-z]{4}(?:-[a-z]{4}){3}")
"""A password that Apple issues for one program."""
_FOUR_SORTS = late(
    r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?=[^0-9]*[0-9])(?=[^!#$%&*?^~]*[!#$%&*?^~])(?![$#&~])(?!.*%[0-9A-F]{2})[A-Za-z0-9!#$%&*+?^~_-]{10,60}\Z"
)
"""All sorts of characters, as rules for passwords demand them. Escapes of addresses, variables and places in documents have them too."""
_MEMBER = late(
    r"[A-Za-z][a-z]+(?:[A-Z][a-z]+)*[0-9]?[#$][A-Z]?[a-z]+(?:[A-Z][a-z]+)*[0-9A-Z]{0,3}[.,;:!?)]*\Z"
)
"""A class in another one, or a member of one, as compilers name them: `React$Node2`."""
_PUBLISHED = late(r"pk_(?:live|test)_|pk\.eyJ|sb_publishable_|phc_")
"""The beginning of a key that a page shows to everybody, beside another one that is secret."""
_BASE64 = late(r"[A-Za-z0-9+/_-]{8,}={0,2}")

_LEAST_KEY = 24
"""Fewest characters of the value of a key of unknown sort."""
LEAST_PERHAPS = 16
"""Fewest characters of a secret whose name tells little."""
_RANDOM_TURNS = 0.5
"""Share of characters that change sort: six in ten in random values, two in ten in names and paths."""
_SOME_TURNS = 0.35
"""Share of characters that change sort in a random value without six letters of one sort in a row."""
_LEAST_ALONE = 10
"""Characters of a random value that has no signs around it."""
_PASSPHRASE = late(r"[a-z]{3,9}(?:-[a-z]{3,9}){3,7}")
"""Words chosen by a program: `copper-violet-harbor-timber`."""
_LEAST_ENTROPY = 2.9
"""Bits per character from which a value is taken for random; words of prose and paths have fewer."""


def entropy(text: str) -> float:
    """Bits per character: how evenly the characters of a text are spread."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def stands_for(value: str) -> bool:
    """Whether a value only stands for a secret: a placeholder, a variable, a redacted value."""
    return bool(
        MARKER in value
        or _PUBLISHED.match(value)
        or (
            (
                (_STANDS_FOR.match(value) and not (_ARTICLE.match(value) and _KEY_SHAPE.match(value[2:])))
                or _has_hole(value)
            )
            and not _goes_on(value)
        )
    )


def _goes_on(value: str) -> bool:
    """Whether a value only begins like a placeholder, and what follows is random: `changeme9Kf2Lq`."""
    begin = _BEGIN.match(value)
    rest = value[begin.end() :] if begin is not None else ""
    return (
        len(rest) >= _LEAST_REST
        and _KEY_SHAPE.match(rest) is not None
        and _turns(rest) >= len(rest) * _RANDOM_TURNS
    )


def _has_hole(value: str) -> bool:
    low = value.lower()
    return any(map(low.__contains__, _IN_HOLES)) and _HOLES.search(value) is not None


# A text that repeats a name without end has the same value behind each of them.
@lru_cache(maxsize=16)
def is_secret(value: str, meaning: Meaning, place: ValueNotation, *, quoted: bool = False) -> bool:
    """Whether the value of a name with `meaning`, written as `place`, is a secret. A `quoted` value is not code."""
    size = len(value)
    if meaning in (Meaning.PASSWORD, Meaning.SECRET) and _ENCRYPTED.fullmatch(value):
        return True
    if meaning is Meaning.KEY and " " not in value and not (size >= _LEAST_KEY and _KEY_SHAPE.match(value)):
        return False
    if (
        _SHORT_HEX.match(value)
        or not 3 <= size <= LONGEST_VALUE
        or (stands_for(value) and not (quoted and MARKER not in value and _noise(value)))
        or value.lower() in _TYPES
        or _is_path(value)
    ):
        return False
    if (_PATTERN if quoted else _CALL).search(value) and not (quoted and _noise(value)):
        return False
    if place is ValueNotation.INLINE and _VERSION.match(value):
        return False
    if meaning is Meaning.PASSWORD:
        return _password(value, place)
    if meaning is Meaning.ENCODED:
        return is_login(value) or (
            size >= (12 if place is ValueNotation.SETTING else 16)
            and " " not in value
            and _random(value)
            and entropy(value) >= 3.2
        )
    if size < 8 or _DATE.match(value) or _TYPE.match(value) or _MEMBER.match(value):
        return False
    if " " in value:
        signs = sum(char in "!@#$%^&*+?~=|<>{}[];:" for char in value)
        return quoted and size >= 32 and signs >= 4 and (len(_LETTERS.findall(value)) < 2 or _noise(value))
    if _CONSTANT.match(value) and sum(map(str.isdigit, value)) < 5:
        return False
    if meaning in (Meaning.KEY, Meaning.PERHAPS) and _OF_DIGEST.match(value):
        return False
    if meaning is Meaning.KEY:
        return (_turns(value) >= size * _RANDOM_TURNS or not _LETTERS5.search(value)) and entropy(value) >= 4
    if meaning is Meaning.PERHAPS:
        return (
            size >= LEAST_PERHAPS
            and _mixed(value)
            and entropy(value) >= 3.3
            and not _CODE.search(value)
            and not _IDENTIFIER.match(value)
        )
    return _random(value) or (place is ValueNotation.SETTING and _set_secret(value))


def _noise(value: str) -> bool:
    """Whether a quoted value mixes all sorts of signs, as the keys of WordPress do, and is neither a pattern nor a template."""
    return (
        len(value) >= 2 * _LEAST_ALONE
        and "(?" not in value
        and len(_LETTERS.findall(value)) <= len(value) // 16
        and sum(not char.isalnum() for char in set(value)) >= _LEAST_ALONE
    )


def _is_path(value: str) -> bool:
    """Whether a value names a file or an address; base64 with a leading slash does not."""
    return _PATH.match(value) is not None and not (value.endswith("=") and _KEY_SHAPE.match(value))


def is_login(value: str) -> bool:
    """Whether a value is base64 of `user:password`, as in basic authentication."""
    if not _BASE64.fullmatch(value):
        return False
    try:
        plain = base64.b64decode(
            value + "=" * (-len(value) % 4), altchars=b"-_" if "-" in value or "_" in value else None
        )
        name, colon, secret = plain.decode("utf-8").partition(":")
    except (binascii.Error, ValueError):
        return False
    return bool(colon and secret and (name + secret).isprintable())


def _password(value: str, place: ValueNotation) -> bool:
    if value.isdecimal():
        return len(value) >= 4 and (
            place is ValueNotation.SETTING or (place is not ValueNotation.INLINE and len(value) >= 6)
        )
    if _APP_PASSWORD.fullmatch(value):
        return True
    if place is ValueNotation.SETTING:
        return not (" " in value and _MESSAGE.search(value))
    if " " in value:
        return place is ValueNotation.QUOTED and _phrase(value)
    if place is not ValueNotation.INLINE and _PASSPHRASE.fullmatch(value):
        return _INTERFACE.search(value) is None
    if place is ValueNotation.QUOTED:
        return len(value) >= 4 and (
            _strange(value) or (len(value) >= 8 and value.isascii() and value.isalpha() and value.islower())
        )
    if _CODE.search(value) and not _shuffled(value):
        return False
    return _strange(value) and (place is ValueNotation.LINE or len(value) >= 6)


_CALL = late(
    r"^[\w.:>&*-]+\(|^\.[a-z]{2}|^\w+\[|=>|->|::|\?\.|\?\?|\|\||&&|[!=]==|\\[dwsbS]|^\^|^self\.|^this\.|\[\^|^(?:[A-Za-z_]\w*\.)+[A-Za-z_]*[a-z]{4}\w*$(?<![0-9]{4})|\{\w+\}|\($"
)
"""Code that makes or fetches a value."""
_PATTERN = late(r"\\[dwsbS]|^\^.*[\[\\*+$(]|\[\^|\{\w+\}|%s$|^(?:self|this|process|os)\.|^[\w.]+\(\)?$")
"""Patterns and templates."""


def _phrase(value: str) -> bool:
    """Whether a value consists of several words and is not a sentence of an interface."""
    words = value.split(" ")
    if not value.isascii() or _INTERFACE.search(value) or any(not word for word in words):
        return False
    return len(words) >= 3 or any(char.isdigit() for char in value)


def _strange(value: str) -> bool:
    """Whether a word is neither prose nor a name in code: it has digits or signs, or capitals in odd places."""
    if not value.isascii():
        return any(char.isdigit() for char in value)
    if _NUMBERED_WORD.match(value) and len(value) < 8:
        return any(char.isdigit() for char in value) and value[-1].isdigit() and len(value) >= 6
    if any(char.isdigit() for char in value):
        return any(char.isalpha() or char in "!@#$%^&*+?~" for char in value)
    if any(char in "!@#$%^&*+?~" for char in value[:-1]):
        return not value.startswith(("@", "#", "&", "*"))
    return _shuffled(value)


def is_code(value: str) -> bool:
    """Whether a value is a name, a dotted name or a word."""
    return _CODE.search(value) is not None and not _shuffled(value)


def _shuffled(value: str) -> bool:
    """Whether capitals and small letters alternate more often than in names."""
    if (
        len(value) < 8
        or value.islower()
        or value.isupper()
        or _CAMEL.match(value)
        or not any(char.isupper() for char in value)
        or not any(char.islower() for char in value)
    ):
        return False
    pairs = [
        one.islower() != two.islower() for one, two in pairwise(value) if one.isalpha() and two.isalpha()
    ]
    return sum(pairs) >= max(3, len(pairs) / 3)


def stands_out(value: str) -> bool:
    """Whether a word is certainly a secret, in any place: capitals, small letters and digits alternate, or a sign is among them."""
    size = len(value)
    if (
        not _LEAST_ALONE <= size <= LONGEST_VALUE
        or stands_for(value)
        or _is_path(value)
        or _TYPE.match(value)
        or _MEMBER.match(value)
    ):
        return False
    if _CALL.search(value) or not any(map(str.islower, value)) or not any(map(str.isupper, value)):
        return False
    if _IDENTIFIER.match(value) or not (any(map(str.isdigit, value)) or _shuffled(value)):
        return False
    if _FOUR_SORTS.match(value):
        return True
    turns = _turns(value)
    return turns >= size * _RANDOM_TURNS or (turns >= size * _SOME_TURNS and not _LETTERS5.search(value))


def _turns(value: str) -> int:
    """The number of changes between capitals, small letters, digits and signs."""
    sorts = [char.islower() + 2 * char.isupper() + 3 * char.isdigit() for char in value]
    return sum(one != two for one, two in pairwise(sorts))


def _mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _random(value: str) -> bool:
    """Whether a value looks as if a program made it."""
    if _NUMBER.match(value) or entropy(value) < _LEAST_ENTROPY:
        return False
    if _shuffled(value) and len(value) >= 16:
        return True
    if _CODE.search(value) or _NUMBERED_WORD.match(value):
        return False
    if _IDENTIFIER.match(value) and sum(map(str.isdigit, value)) < 3:
        return False
    return _mixed(value) or any(char in "!@#$%^&*+?~=/" for char in value)


def _set_secret(value: str) -> bool:
    """Whether a setting's value is a secret that a person chose in place of a random one: `SECRET_KEY=correct-horse-battery`."""
    return (
        not _NUMBER.match(value)
        and (not _SNAKE.match(value) or _TITLED.fullmatch(value) is not None)
        and (_mixed(value) or len(value) >= 16)
        and "/" not in value
        and not re.fullmatch(r"[A-Za-z]+", value)
    ) or (len(value) >= 20 and value.isalpha() and value.isascii() and entropy(value) >= 3.5)
