"""Private keys as files hold them, and as agents show them: with line numbers, quoted, cut at the beginning, end or middle.

A block is walked line by line from its known beginning, or backwards from its end, as long as the lines look like a key,
with any frame in front of them.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.redaction.spans import Span

_BEGIN = late(r"-{4,5} ?BEGIN (?P<what>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?) ?-{4,5}")
_END = late(r"-{4,5} ?END (?P<what>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?) ?-{4,5}")
_LONGEST = 40_000
"""Code points beyond which a text is not taken for one key."""

_MOST_BEHIND = 100
"""Code points behind a BEGIN line that belong to the command that writes it."""
_LEAST = 40
"""Base64 characters of a key that begins without its BEGIN line."""

_BREAK = late(r"\r?\n|(?:\\{1,15}r)?\\{1,15}n|<br ?/?>")
"""The end of a line, also in a text inside a text."""
_LONGEST_BREAK = 32
"""Code points of the longest of them."""
_FRAME = r"(?:[\s>|│┃║▏▎▌┆┊╎:#*+,;/\"'`\\→=\].()\[$-]{1,200}+|L?[0-9]{1,6}(?=[\s:→|│.\t)+>-])|\b(?:echo|printf|cat|rem)\b){0,12}"
"""The frame of a shown line: numbers, arrows, borders, quotes, signs of comments and diffs."""
_LINE = late(
    rf"""(?x) {_FRAME} (?:
        (?P<body> [A-Za-z0-9+/_-]{{16,}} ={{0,3}} )
      | (?P<rest> [A-Za-z0-9+/]{{1,76}} ={{0,3}} )
      | (?P<head> (?: Proc-Type | DEK-Info | Version | Comment | Charset | Hash | MessageID | X-[\w-]{{1,20}} | Subject | Private-Lines | Private-MAC
            | Private-Hash | Key-Derivation | Argon2-[\w]{{1,20}} ) [^\n\\]{{0,200}} )
      | (?P<cut> (?: \.{{2,}} | … | ⋮ | \[ | \( | < | \+ )? [^\n\\A-Z]{{0,12}} (?: \.{{3}} | … | ⋮ | truncated | omitted | lines? | more | elided | snip ) [^\n\\]{{0,80}} )
      | (?P<blank> ) ) {_FRAME} \Z"""
)
_RUN_BEHIND = late(r"(?P<body>[A-Za-z0-9+/]{40,}={0,3})[\s|│┃\"'`,;$\\]{0,200}(?:>{1,2} ?[^\s>]{1,80})?\Z")
"""A line of a key behind other text: the name of a file, or the author and time of the line."""
_RUN = late(r"[A-Za-z0-9+/]{16}")
_ONE_LINE = late(r"(?:[A-Za-z0-9+/=]|\s|\\{1,15}[nr]|[\"',+]){0,40000}?(?=-{4,5} ?END )")
_STARTS = (
    "b3BlbnNzaC1rZXktdjE", "MII", "MHcCAQEE", "MIGkAgEBBD", "MIHcAgEBBEI", "MIGHAgEAMBMGByqGSM49",
    "MIG2AgEAMBAGByqGSM49", "MIHuAgEAMBAGByqGSM49", "MC4CAQAwBQYDK2Vw", "MC4CAQAwBQYDK2Vu", "lQOYB",
    "lQHYB", "lQWGB", "lIYEY", "lIYEZ", "lFgEY", "lFgEZ"
)  # fmt: skip
"""Beginnings of private keys in base64: OpenSSH, RSA, elliptic curves, encrypted ones."""
_RSA = late(r"MII[A-Za-z0-9+/]{3}IBA[AD]|MII[A-Za-z0-9+/]{3,8}BgkqhkiG9w0BBQ")
"""Beginnings with `MII` that are private keys: certificates begin with `MII` too."""
_ENCODED = "LS0tLS1CRUdJTi"
"""`-----BEGIN ` in base64."""
_BASE64 = late(r"[A-Za-z0-9+/=]{20,40000}")
_PUTTY = late(r"Private-Lines: ?[0-9]{1,4}")
_STATIC = late(r"BEGIN OpenVPN Static key V1-----(?P<value>(?:[0-9a-f\s|>+→\d-]|\\{1,7}[nr]){16,2000})")
_JWK = late(
    r"""\\{0,7}["'](?P<part>d|p|q|dp|dq|qi|k)\\{0,7}["']\s{0,4}:\s{0,4}\\{0,7}["'](?P<value>[A-Za-z0-9_-]{20,2000})\\{0,7}["']"""
)
_SIGNED_BY = late(
    r"untrusted comment:[^\n\\]{0,100}secret key[^\n\\]{0,60}(?:\n|\\n)(?P<value>[A-Za-z0-9+/]{80,400}={0,2})"
)
"""The file format of minisign and signify."""
_PRINTED = late(
    r"(?:privateExponent|prime[12]|exponent[12]|coefficient|priv):(?P<value>(?:[\s:]|\\n|[0-9a-f]{2}(?![0-9a-zA-Z])){30,4000})"
)
"""The output of `openssl rsa -text`."""
_KEY_PAIR = late(r"\[[0-9]{1,3}(?:, ?[0-9]{1,3}){63}\](?=\s|\\|\Z)")
"""The 64 bytes of a Solana key: the whole of its file."""
_LEAST_BYTES = 40
"""Different bytes among them, at least."""
_RSA_XML = late(r"<(?P<part>D|P|Q|DP|DQ|InverseQ)>\s{0,10}(?P<value>[A-Za-z0-9+/=\s]{16,2000})</(?P=part)>")


_FORMS = (
    (("OpenVPN Static key",), _STATIC),
    (('"kty', "'kty"), _JWK),
    (("untrusted comment:",), _SIGNED_BY),
    (("privateExponent:", "priv:"), _PRINTED),
    (("<InverseQ>", "<D>"), _RSA_XML),
)
"""Keys that stand in a form of their own: words of which one is in a text that holds one, and the pattern with the key as `value`."""


LITERALS = (
    "PRIVATE KEY",
    "Private-Lines",
    *_STARTS,
    _ENCODED,
    *(word for words, _ in _FORMS for word in words),
)
"""Texts of which one is in every text with a private key, but for lists of bytes."""


class _Lines:
    """The lines of a text. A long line is searched for its end once, however many keys may begin in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._first = self._clear = 0
        """No line ends between these offsets."""

    def end(self, at: int, limit: int) -> tuple[int, int] | None:
        """The next end of a line: its own beginning and end. None where there is none up to a limit."""
        if not self._first <= at <= self._clear:
            self._first = self._clear = at
        found = _BREAK.search(self.text, max(at, self._clear), limit)
        self._clear = found.start() if found is not None else max(self._clear, limit - _LONGEST_BREAK)
        return found.span() if found is not None else None


def keys_in(text: str, together: str) -> Iterator[Span]:
    """The private keys in a text, as whole blocks or remains of them. `together` are the long runs of the text."""
    lines = _Lines(text)
    if "PRIVATE KEY" in text:
        yield from _blocks(lines)
    for literal in _STARTS:
        if literal in together:
            yield from _runs(lines, literal)
    if _ENCODED in together:
        yield from _encoded(lines)
    if "Private-Lines" in text:
        for putty in _PUTTY.finditer(text):
            yield putty.start(), _walk(lines, putty.end()), SecretKind.PRIVATE_KEY
    for words, pattern in _FORMS:
        if any(map(text.__contains__, words)):
            for found in pattern.finditer(text):
                yield *found.span("value"), SecretKind.PRIVATE_KEY


def _blocks(lines: _Lines) -> Iterator[Span]:
    """Blocks with a BEGIN line, then what stands before END lines without one."""
    text = lines.text
    begins, closes = list(_BEGIN.finditer(text)), list(_END.finditer(text))
    ends = [close.start() for close in closes]
    done = 0
    for at, begin in enumerate(begins):
        if begin.start() < done:
            continue
        following = bisect_left(ends, begin.end())
        close = closes[following] if following < len(closes) else None
        if close is not None and close.start() > begin.end() + _LONGEST:
            close = None
        alone = close is None or at + 1 == len(begins) or begins[at + 1].start() > close.start()
        end = _block_end(lines, begin.end(), close, alone)
        if end > begin.end():
            done = end
            yield begin.start(), end, SecretKind.PRIVATE_KEY
    done = 0
    for close in closes:
        start = _tail_start(text, close.start(), done)
        if start < close.start():
            yield start, close.end(), SecretKind.PRIVATE_KEY
        done = close.end()


def _runs(lines: _Lines, literal: str) -> Iterator[Span]:
    """Keys without a BEGIN line, by the characters that they begin with."""
    text = lines.text
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        if (not text[at - 1 : at].isalnum() or text[at - 2 : at - 1] == "\\") and (
            literal != "MII" or _RSA.match(text, at)
        ):
            end = max(end, _walk(lines, at))
            if end - at >= _LEAST:
                yield at, end, SecretKind.PRIVATE_KEY
        at = text.find(literal, end)


def byte_lists_in(text: str) -> Iterator[Span]:
    """Keys written as lines of numbers."""
    for begin in ("\n[", "\\n["):
        at = text.find(begin)
        while at >= 0:
            at += len(begin) - 1
            yield from _byte_list(text, at)
            at = text.find(begin, at)
    if text.startswith("["):
        yield from _byte_list(text, 0)


def _byte_list(text: str, at: int) -> Iterator[Span]:
    pair = _KEY_PAIR.match(text, at)
    if pair is not None and len(set(re.findall("[0-9]+", pair[0]))) >= _LEAST_BYTES:
        yield *pair.span(), SecretKind.PRIVATE_KEY


def _block_end(lines: _Lines, at: int, close: re.Match[str] | None, alone: bool) -> int:
    """The end of a block whose BEGIN line ends at `at`: behind its END line, else behind the last line that looks like a key.

    `alone`: no other block begins before that END line.
    """
    text, walked = lines.text, _walk(lines, at)
    if (
        close is not None
        and alone
        and (close.start() <= walked + 3 or _ONE_LINE.match(text, at, close.end()) is not None)
        and _holds_key(text, at, close.start())
    ):
        return close.end()
    return walked if _holds_key(text, at, walked) else at


def _holds_key(text: str, start: int, end: int) -> bool:
    return _RUN.search(text, start, end) is not None


def _walk(lines: _Lines, at: int) -> int:
    """The place behind the last line that looks like a key, from `at` on; a few lines in between may be missing."""
    text, end = lines.text, at
    limit = min(len(text), at + _LONGEST)
    first = True
    strange = 0
    while at < limit:
        stop = lines.end(at, limit)
        line_end = stop[0] if stop is not None else limit
        line = text[at : min(line_end, at + 4000)]
        close = _END.search(line)
        if close is not None:
            return at + close.end()
        found = _LINE.match(line)
        if found is None:
            partial = re.match(rf"{_FRAME}[A-Za-z0-9+/]{{16,}}={{0,3}}", line)
            if first and partial is not None:
                return at + partial.end()
            behind = _RUN_BEHIND.search(line)
            if behind is not None:
                end, strange = at + behind.end("body"), 0
            elif stop is None or not (
                # The rest of the BEGIN line: the command that writes it.
                len(line) <= _MOST_BEHIND
                if first
                # The last line of a key is short: the END line behind it shows that it belongs to the key.
                else _ends_next(text, stop[1])
            ):
                return at + partial.end() if partial is not None and partial.end() >= _LEAST else end
        elif found["body"] is not None:
            end = at + found.end("body")
            strange = 0
        elif found["head"] is not None:
            end = at + found.end("head")
        elif found["rest"] is not None:
            if not first and _is_last(found["rest"]):
                end = at + found.end("rest")
            strange += 1
        elif found["cut"] is not None:
            strange += 1
        else:
            strange += 0 if first else 1
        if strange > 3:
            break
        first = False
        if stop is None:
            break
        at = stop[1]
    return end


def _ends_next(text: str, at: int) -> bool:
    """Whether the next line is an END line."""
    stop = _BREAK.search(text, at, at + 400)
    return _END.search(text, at, stop.start() if stop is not None else at + 400) is not None


def _is_last(rest: str) -> bool:
    """Whether a short line is the last one of a key, and not a word."""
    return (
        rest.endswith("=")
        or any(char.isdigit() for char in rest)
        or (len(rest) > 2 and not rest.islower() and not rest.istitle())
    )


def _tail_start(text: str, close: int, floor: int) -> int:
    """The beginning of the lines before an END line that look like a key."""
    start = at = close
    floor = max(floor, close - _LONGEST)
    window = text[floor:close]
    breaks = [(found.start() + floor, found.end() + floor) for found in _BREAK.finditer(window)]
    strange = 0
    for stop, begin in [*reversed(breaks), (floor, floor)]:
        if begin > at:
            continue
        line = text[begin:at]
        if _BEGIN.search(line):
            return close
        found = _LINE.match(line[-4000:])
        if found is None:
            tail = _RUN_BEHIND.search(line[-4000:])
            if tail is None and at == close and len(line) <= 200:
                # Text before the END line itself, such as the name of the file.
                at = stop
                continue
            if tail is None:
                return start
            start, strange = at - len(line[-4000:]) + tail.start(), 0
            at = stop
            continue
        if found["body"] is not None:
            start = begin + found.start("body")
            strange = 0
        elif found["rest"] is not None and _is_last(found["rest"]):
            start = begin + found.start("rest")
            strange += 1
        else:
            strange += 1
        if strange > 3:
            break
        at = stop
    return start


def _encoded(lines: _Lines) -> Iterator[Span]:
    """Blocks in base64, as in manifests of Kubernetes."""
    text = lines.text
    at = text.find(_ENCODED)
    while at >= 0:
        run = _BASE64.match(text, at)
        end = run.end() if run is not None else at + len(_ENCODED)
        try:
            plain = base64.b64decode(text[at : at + 64])
        except (binascii.Error, ValueError):
            plain = b""
        if b"PRIVATE KEY" in plain:
            yield at, _walk(lines, at) if run is None else max(end, _walk(lines, at)), SecretKind.PRIVATE_KEY
        at = text.find(_ENCODED, end)
