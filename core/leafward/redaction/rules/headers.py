"""Credentials in requests: `Authorization` in all its schemes, and cookies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.secret_values import entropy, is_code, is_login, stands_for
from leafward.redaction.spans import SecretKind, words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from leafward.redaction.spans import Span

_SCHEMES = ("bearer", "basic", "token", "ssws")
_RARE_SCHEMES = ("apikey", "flyv1", "splunk", "genie")
"""Only in texts that mention the header."""
_OF_COOKIES = frozenset({"cookie", "curl", "httponly"})
SIGNS = (*_SCHEMES, "authorization", *sorted(_OF_COOKIES))
"""In small letters: a text with a header holds at least one of them."""
_TOKEN = late(
    r"(?:[ \t]{1,8}|%20|\+)(?:\\{0,7}[\"'][ \t]{0,4}[+.][ \t]{0,4}(?=\\{0,7}[\"'])|-a[ \t]{1,4})?(?:token=)?\\{0,7}[\"']?(?P<token>[A-Za-z0-9._~+/=%$:-]{8,4000})"
)
"""Text behind a scheme, also in a concatenation in code, or in `http -A bearer -a …`."""
_AUTHORIZATION = late(
    r"""(?ix) (?:-token)? \\{0,7} ["'`\]]{0,3} (?: \s{0,4} (?: [:=] | => | , )) \s{0,8} \\{0,7} [f$]?["'`]? (?: (?: bearer|basic|token|apikey|digest|negotiate|ssws|key|hmac|mac|ntlm|hawk|oauth|splunk|genie|genieKey|aws4-hmac-sha256|aws|sharedkey(?:lite)?|oss|obs|goog1|tc3-hmac-sha256) (?: \s{1,4}|%20|\+) )?
    (?P<token> [A-Za-z0-9._~+/=%:$-]{8,4000} )"""
)
_SIGNATURE = late(
    r"(?i)\b(?:oauth_)?(?:signature|response|mac)=\\{0,7}\"?(?P<token>[0-9a-f]{64}|[0-9a-f]{32}(?![0-9a-f])|[A-Za-z0-9+/%]{27,100}={0,2})"
)
_LEAST_ENTROPY = 2.9

_COOKIES = late(
    r"""\\{0,7}["'`\]]{0,3}(?:[ \t]{0,4}[:=]|[ \t]{1,4}|,)[ \t]{0,4}\\{0,7}["'`]?(?P<all>[^\s"'`\\=;]{1,100}=[^\n"'`\\]{4,8000})"""
)
_CURL_COOKIES = late(
    r"""(?<=[\s"'])-b[ \t]{1,4}\\{0,7}["']?(?P<all>[^\s"'`\\=;]{1,100}=[^\n"'`\\]{4,8000})"""
)
_COOKIE = late(r"(?P<name>[^\s=;,\"']{1,100})=(?P<value>[^\s;,\"'<>(){}]{6,4000})")
_COOKIE_DICT = late(r"(?i)cookies?\\{0,7}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\{(?P<all>[^{}]{8,4000})\}")
_COOKIE_ITEM = late(
    r"""\\{0,7}["'](?P<name>[\w.-]{1,100})\\{0,7}["'][ \t]{0,4}:[ \t]{0,4}\\{0,7}["'](?P<value>[^\s"'\\]{6,4000})"""
)
_STORED_COOKIE = late(
    r"""\\{0,7}["']name\\{0,7}["']\s{0,4}:\s{0,4}\\{0,7}["'](?P<name>[^\s"'\\]{1,100})\\{0,7}["'],(?:\s|\\{1,7}n){0,40}\\{0,7}["']value\\{0,7}["']\s{0,4}:\s{0,4}\\{0,7}["'](?P<value>[^\s"'\\]{6,4000})"""
)
"""A cookie in the stored state of a browser: `{"name": "sid", "value": …, "httpOnly": true}`."""
_COOKIE_FACTS = words("path domain expires max-age samesite secure httponly version priority partitioned")
_SESSION = late(
    r"(?i)sess|sid\b|^sid|auth|token|jwt|login|remember|user|csrf|xsrf|\bid\b|cf_clearance|secure|__host"
)
_JAR = late(
    r"(?:TRUE|FALSE)(?:\t|\\t)[^\s\\]{1,200}(?:\t|\\t)(?:TRUE|FALSE)(?:\t|\\t)[0-9]{1,12}(?:\t|\\t)[^\s\\]{1,200}(?:\t|\\t)(?P<value>[^\s\\\"']{6,4000})"
)


def headers_in(text: str, low: str, signs: Collection[str]) -> Iterator[Span]:
    """Tokens of authorization headers, and the values of cookies.

    `low` is the text in small letters, `signs` those of `SIGNS` that it may hold.
    """
    rare = _RARE_SCHEMES if "authorization" in signs else ()
    for scheme in (*filter(signs.__contains__, _SCHEMES), *rare):
        at = low.find(scheme)
        while at >= 0:
            end = at + len(scheme)
            if not text[at - 1 : at].isalnum() or text[at - 2 : at - 1] == "\\":
                found = _TOKEN.match(text, end)
                if found is not None and _is_token(found["token"], scheme):
                    yield found.start("token"), found.end("token"), SecretKind.BEARER_TOKEN
                    end = found.end()
            at = low.find(scheme, end)
    if rare:
        yield from _authorizations(text, low)
    if not _OF_COOKIES.isdisjoint(signs):
        yield from _cookies(text, low)


def _authorizations(text: str, low: str) -> Iterator[Span]:
    at = low.find("authorization")
    while at >= 0:
        end = at + len("authorization")
        found = _AUTHORIZATION.match(text, end)
        called = found is not None and text[found.end() : found.end() + 1] == "("
        if found is not None and not called and _is_credential(found["token"]):
            yield found.start("token"), found.end("token"), SecretKind.BEARER_TOKEN
            end = found.end()
        signature = _SIGNATURE.search(text, end, end + 600)
        if signature is not None:
            yield signature.start("token"), signature.end("token"), SecretKind.BEARER_TOKEN
        at = low.find("authorization", end)


def _is_token(token: str, scheme: str) -> bool:
    if stands_for(token):
        return False
    if scheme == "basic":
        return is_login(token) or (
            len(token) >= 16 and any(map(str.isdigit, token)) and entropy(token) >= _LEAST_ENTROPY
        )
    if len(token) < 16 or not any(map(str.isdigit, token)):
        return False
    if scheme != "bearer" and (":" in token or "$" in token or "/" in token):
        return False
    return scheme == "bearer" or entropy(token) >= _LEAST_ENTROPY


def _is_credential(token: str) -> bool:
    if (
        stands_for(token)
        or token.lower() in _WORDS
        or "://" in token
        or is_code(token)
        or _NAME.fullmatch(token)
    ):
        return False
    return (
        is_login(token)
        or (any(map(str.isdigit, token)) and any(map(str.isalpha, token)) and entropy(token) >= 2.5)
        or (
            len(token) >= 16
            and entropy(token) >= 3.5
            and not token.replace("-", "").replace("_", "").replace(".", "").islower()
        )
    )


_NAME = late(r"[A-Za-z]+(?:-[A-Za-z0-9]{1,12})+")
"""The name of another header."""
_WORDS = words("bearer basic digest negotiate undefined required optional string authorization")


def _cookies(text: str, low: str) -> Iterator[Span]:
    at = low.find("cookie")
    while at >= 0:
        end = at + len("cookie")
        found = _COOKIES.match(text, end)
        if found is not None:
            end = found.end()
            for one in _COOKIE.finditer(text, found.start("all"), found.end("all")):
                name, value = one["name"], one["value"]
                if name.lower() not in _COOKIE_FACTS and _is_cookie(name, value):
                    yield one.start("value"), one.end("value"), SecretKind.COOKIE
        elif (items := _COOKIE_DICT.match(text, at)) is not None:
            end = items.end()
            for one in _COOKIE_ITEM.finditer(text, items.start("all"), end):
                if _is_cookie(one["name"], one["value"]):
                    yield one.start("value"), one.end("value"), SecretKind.COOKIE
        at = low.find("cookie", end)
    if "httponly" in low:
        for stored in _STORED_COOKIE.finditer(text):
            if _is_cookie(stored["name"], stored["value"]):
                yield stored.start("value"), stored.end("value"), SecretKind.COOKIE
    if "curl" in low:
        for option in _CURL_COOKIES.finditer(text):
            for one in _COOKIE.finditer(text, option.start("all"), option.end("all")):
                if _is_cookie(one["name"], one["value"]):
                    yield one.start("value"), one.end("value"), SecretKind.COOKIE
    if "TRUE" in text or "FALSE" in text:
        for jar in _JAR.finditer(text):
            if _is_cookie("", jar["value"]):
                yield jar.start("value"), jar.end("value"), SecretKind.COOKIE


def _is_cookie(name: str, value: str) -> bool:
    if stands_for(value) or "(" in value or value.isdecimal():
        return False
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    if _SESSION.search(name):
        return len(value) >= 8 and (mixed or (len(value) >= 16 and entropy(value) >= 3.5))
    return len(value) >= 16 and mixed and entropy(value) >= 3.2
