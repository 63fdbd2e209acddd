"""Lines too large or too deep to be decoded: the shorter line says the same but for what is left out."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from leafward.session.lines import abridged_lines as module
from leafward.session.lines.abridged_lines import DEEPEST, Abridger, abridged
from leafward.session.lines.line_decoding import decode_line


def _in_pieces(line: bytes, chance: random.Random) -> bytes | None:
    abridger, at = Abridger(), 0
    while at < len(line):
        size = chance.randint(1, 7)
        abridger.feed(line[at : at + size])
        at += size
    return abridger.finish()


def _value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.random()
    if depth > 4 or kind < 0.4:
        return chance.choice(
            [1, -2.5e10, True, None, False, "é", 'a"\\\n', "", "x" * chance.randint(0, 30), 10**29]
        )
    if kind < 0.7:
        return [_value(chance, depth + 1) for _ in range(chance.randint(0, 4))]
    return {f"k{number}": _value(chance, depth + 1) for number in range(chance.randint(0, 4))}


def _is_object(line: bytes) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        return isinstance(json.loads(line.decode("utf-8", "replace"), parse_constant=refuse), dict)
    except ValueError:
        return False


def test_what_is_small_stays_as_it_is_however_it_is_cut_into_pieces() -> None:
    chance = random.Random(12)
    for _ in range(1500):
        value = {"a": _value(chance), "b": _value(chance)}
        line = json.dumps(value, ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 1])).encode()
        shorter = _in_pieces(line, chance)
        assert shorter is not None
        assert json.loads(shorter) == value


def test_what_is_no_object_is_found_to_be_none() -> None:
    chance = random.Random(13)
    refused = 0
    for _ in range(3000):
        line = bytearray(json.dumps({"a": _value(chance), "b": _value(chance)}).encode())
        at = chance.randrange(len(line))
        line[at : at + 1] = chance.choice([b"", b"x", b",", b"]", b"{", b'"', b"\0", b"1", b"."])
        fits = _is_object(bytes(line))
        refused += not fits
        assert (abridged(bytes(line)) is not None) is fits, line
        assert (_in_pieces(bytes(line), chance) is not None) is fits, line
    assert refused > 1000


LARGE = 1 << 20


@pytest.mark.parametrize(
    "inside",
    [
        b'"' + b"x" * LARGE + b'"',
        b'"' + b"ab\\n" * (LARGE // 4) + b'"',
        b'"' + "é".encode() * (LARGE // 2) + b'"',
        b'"' + b"\\ud83d\\ude00" * (LARGE // 12) + b'"',
        b"[" + b"1," * (LARGE // 2) + b"1]",
        b"[" + b"[]," * (LARGE // 3) + b"1]",
        b"[" + b'"abc",' * (LARGE // 6) + b"1]",
        b"[" + b'{"a":[{"b":"]"}]},' * (LARGE // 18) + b"1]",
        b"1" * LARGE,
        b"[" * (LARGE // 8) + b"]" * (LARGE // 8),
    ],
    ids=["text", "escapes", "letters", "pairs", "numbers", "lists", "texts", "nested", "digits", "brackets"],
)
def test_what_stands_behind_something_large_is_kept(inside: bytes) -> None:
    line = b'{"id":"first","a":' + inside + b',"parentId":"last"}'
    shorter = abridged(line)
    assert shorter is not None
    assert len(shorter) < 600_000
    body = decode_line(shorter)
    assert body is not None
    assert (body["id"], body["parentId"]) == ("first", "last")


def test_a_cut_text_says_how_much_of_it_is_missing() -> None:
    body = decode_line(abridged(b'{"a":"' + b"x" * 100_000 + b'"}') or b"")
    assert body == {"a": "x" * 16_384 + " … [83,616 bytes more]"}


def test_a_text_that_is_not_whole_or_holds_nuls_makes_no_object() -> None:
    assert abridged(b'{"a":"' + b"x" * LARGE) is None
    assert abridged(b'{"a":"' + b"x" * LARGE + b'\0"}') is None
    assert abridged(b'{"a":"' + b"x" * LARGE + b'\\"}') is None


def test_what_would_take_too_long_is_closed_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_STEPS", 50)
    for inside in (b'[1,2,{"a":3},' + b"4," * 100 + b"5]", b"[" * 300 + b"]" * 300):
        shorter = abridged(b'{"id":"first","a":' + inside + b"}")
        assert shorter is not None
        assert (decode_line(shorter) or {})["id"] == "first"


def test_no_more_is_nested_than_is_kept() -> None:
    def depth(value: object) -> int:
        return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0

    body = decode_line(b'{"id":"x","a":' + b"[" * 5000 + b"]" * 5000 + b"}")
    assert body is not None
    assert depth(body["a"]) == DEEPEST
    assert body["id"] == "x"


@pytest.mark.parametrize(
    ("digits", "value"),
    [(b"1" * 18, int("1" * 18)), (b"1" * 25, 1.1111111111111111e24), (b"1" * 400, None), (b"-1e999", None)],
)
def test_numbers_are_those_of_javascript(digits: bytes, value: object) -> None:
    # The lone surrogate makes the standard parser read the line.
    for rest in (b'""', b'"\\ud800"'):
        body = decode_line(b'{"n":' + digits + b',"t":' + rest + b"}")
        assert body is not None
        assert body["n"] == value


def test_an_integer_of_a_hundred_thousand_digits_hides_no_line() -> None:
    assert decode_line(b'{"id":"x","n":' + b"7" * 100_000 + b"}") == {"id": "x", "n": None}
