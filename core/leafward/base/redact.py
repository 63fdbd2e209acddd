"""Secrets in a text made unreadable: keys and tokens in the forms that providers give them, and what looks like one.

What was there is named in its place (`[redacted: github token]`), so that a reader sees that something was taken out.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

_FORMS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "private key",
        ("PRIVATE KEY",),
        r"-----BEGIN (?P<pem>[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?)-----[A-Za-z0-9+/=\s\\:,.\-]{0,20000}?-----END (?P=pem)-----",
    ),
    # What is left of a block that was cut off.
    (
        "private key",
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\\n|[A-Za-z0-9+/=\s]){20,20000}",
    ),
    ("anthropic key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{16,400}"),
    ("openrouter key", ("sk-or-",), r"sk-or-(?:v1-)?[A-Za-z0-9_-]{16,400}"),
    ("stripe key", ("k_live_", "k_test_"), r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,400}"),
    ("openai key", ("sk-",), r"sk-(?=[A-Za-z0-9_-]{0,60}[0-9])[A-Za-z0-9_-]{20,400}"),
    ("github token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{20,400}"),
    ("github token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{20,400}"),
    ("gitlab token", ("glpat-",), r"glpat-[A-Za-z0-9_-]{16,400}"),
    ("aws key", ("AKIA", "ASIA"), r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9+/=])"),
    ("google key", ("AIza",), r"AIza[A-Za-z0-9_-]{35}"),
    ("google token", ("ya29.",), r"ya29\.[A-Za-z0-9_-]{20,800}"),
    ("slack token", ("xox",), r"xox[abeoprs]-[A-Za-z0-9-]{10,400}"),
    ("slack webhook", ("hooks.slack.com",), r"https://hooks\.slack\.com/services/[A-Za-z0-9/_+-]{20,200}"),
    ("npm token", ("npm_",), r"npm_[A-Za-z0-9]{30,100}"),
    ("pypi token", ("pypi-",), r"pypi-[A-Za-z0-9_-]{40,400}"),
    ("hugging face token", ("hf_",), r"hf_[A-Za-z0-9]{30,100}"),
    ("groq key", ("gsk_",), r"gsk_[A-Za-z0-9]{30,100}"),
    ("xai key", ("xai-",), r"xai-[A-Za-z0-9]{40,200}"),
    ("telegram token", (":AA",), r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
    ("web token", ("eyJ",), r"eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,2000}"),
)
"""Secrets that can be told by their looks: name, a literal that each holds, form. All repetitions are bounded."""

_KNOWN = tuple((name, hints, re.compile(form)) for name, hints, form in _FORMS)

_BEARER = re.compile(r"(?i)\b(bearer|basic|token)(\s+)([A-Za-z0-9._~+/=-]{16,4000})")
_IN_URL = re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://[^\s:/@'\"]{1,100}:)([^\s@/'\"]{3,200})(@)")
_ASSIGNED = re.compile(
    r"(?i)((?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key"
    r"|credential)[a-z0-9_-]{0,20})"
    r"(\\?[\"']?\s{0,4}(?:=>|:=|=|:)\s{0,4}\\?[\"']?)"
    r"([^\s\"'\\,;(){}\[\]<>]{8,400}+)(?![(\[])"
)

_SHORTEST = 11
"""Characters below which a text holds no secret in any of the forms above: `ab://c:def@` is the shortest."""
_SHORTEST_VALUE = 8
"""The same for a string under a key that says what it is."""

_MIN_ENTROPY = 2.9
"""Bits a character from which an assigned value is taken for a secret; words of prose and paths lie below."""
_PLACEHOLDER = re.compile(
    r"(?i)^(?:x{4,}|\*{3,}|\.{3,}|(?:your|my|the|some|example|dummy|fake|test|changeme|placeholder|redacted|none|null|true|false)"
    r"(?:[-_ ].*)?|\$.*|%.*|process\.env.*|os\.environ.*|env\..*|config\..*|self\..*|this\..*)$"
)
_CODE = re.compile(r"^(?:[A-Za-z_]+(?:[.:/-][A-Za-z_]+)*\.?|[\w./-]+\.[a-z]{1,4})$")
"""A name, a dotted name, a word, a file: code or prose rather than a key."""


@dataclass(slots=True)
class Redactor:
    """Redacts texts and counts what it took out, by name."""

    found: Counter[str] = field(default_factory=Counter)
    """Different secrets, by name; one that is found twice counts once."""
    seen: set[str] = field(default_factory=set)

    def text(self, text: str) -> str:
        """`text` with every secret replaced by its name in brackets."""
        if len(text) < _SHORTEST:
            return text
        for name, hints, form in _KNOWN:
            for hint in hints:
                if hint in text:
                    text = form.sub(lambda match, name=name: self._known(match, name), text)  # type: ignore[misc]
                    break
        text = _BEARER.sub(self._bearer, text)
        if "://" in text and "@" in text:
            text = _IN_URL.sub(self._in_url, text)
        return _ASSIGNED.sub(self._assigned, text)

    def value(self, value: Any) -> Any:
        """A decoded JSON value with every string in it redacted; keys and images stay. Nested as deep as it likes."""
        if isinstance(value, str):
            return self.text(value)
        if not isinstance(value, (dict, list)):
            return value
        root: list[Any] = [value]
        waiting: list[Any] = [root]
        while waiting:
            holder = waiting.pop()
            picture = isinstance(holder, dict) and holder.get("type") == "image"
            for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
                item = holder[key]
                if picture and key == "data":
                    continue
                if isinstance(item, str):
                    holder[key] = self._field(key, item)
                elif isinstance(item, (dict, list)):
                    holder[key] = copy = dict(item) if isinstance(item, dict) else list(item)
                    waiting.append(copy)
        return root[0]

    def _field(self, key: object, text: str) -> str:
        """A string under a key: the key says as much as an assignment does."""
        if len(text) < _SHORTEST_VALUE:
            return text
        plain = self.text(text)
        if (
            plain is text
            and isinstance(key, str)
            and "\n" not in text
            and _ASSIGNED.fullmatch(f"{key}={text}")
        ):
            return self._assigned_value(text) or text
        return plain

    def _name(self, name: str, secret: str) -> str:
        if secret not in self.seen:
            self.seen.add(secret)
            self.found[name] += 1
        return f"[redacted: {name}]"

    def _known(self, match: re.Match[str], name: str) -> str:
        before = match.string[match.start() - 1 : match.start()]
        return match[0] if before.isalnum() else self._name(name, match[0])

    def _bearer(self, match: re.Match[str]) -> str:
        scheme, space, token = match.groups()
        plain = scheme.lower() == "token" and _entropy(token) < _MIN_ENTROPY
        if plain or not any(char.isdigit() for char in token) or "redacted" in token:
            return match[0]
        return f"{scheme}{space}{self._name('bearer token', token)}"

    def _in_url(self, match: re.Match[str]) -> str:
        if _PLACEHOLDER.match(match[2]) or match[2].startswith(("[redacted", "{", "<")):
            return match[0]
        return f"{match[1]}{self._name('password', match[2])}{match[3]}"

    def _assigned(self, match: re.Match[str]) -> str:
        replaced = self._assigned_value(match[3])
        return match[0] if replaced is None else f"{match[1]}{match[2]}{replaced}"

    def _assigned_value(self, value: str) -> str | None:
        if _PLACEHOLDER.match(value) or _CODE.match(value) or _entropy(value) < _MIN_ENTROPY:
            return None
        if value.isdecimal() or value.startswith(("/", "./", "~/", "http://", "https://")):
            return None
        return self._name("secret", value)


def _entropy(text: str) -> float:
    """Bits a character: how evenly the characters of a text are spread."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def redact(text: str) -> str:
    """`text` with every secret replaced by its name in brackets."""
    return Redactor().text(text)
