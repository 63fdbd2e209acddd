"""Secrets that a program prints alone, as `gh auth token` does: the command tells that the output is one."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.redaction.names import Meaning, meaning_of
from leafward.redaction.rules.provider_keys import by_first_letter
from leafward.redaction.secret_values import ValueNotation, is_secret
from leafward.redaction.spans import SecretKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.redaction.spans import Span

_ARGUMENTS = r"[^\n|;&<>()`]{0,300}?"
_NAMED = r"[\"']?\$?\{?(?:env:)?(?P<name>\w{2,80})\}?[\"']?"
_COMMANDS: tuple[tuple[str, str, bool], ...] = (
    # Password stores.
    ("pass ", r"(?:show[ \t]{1,4})?(?:-\w{1,8}[ \t]{1,4})?[\w.@-]{1,60}(?:/[\w.@-]{1,60}){0,6}", True),
    ("gopass ", _ARGUMENTS, True),
    ("lpass show ", rf"{_ARGUMENTS}--password{_ARGUMENTS}", True),
    ("op read ", _ARGUMENTS, True),
    ("op item get ", rf"{_ARGUMENTS}(?:--fields|--otp){_ARGUMENTS}", True),
    ("bw unlock ", rf"{_ARGUMENTS}--raw{_ARGUMENTS}", True),
    ("bw login ", rf"{_ARGUMENTS}--raw{_ARGUMENTS}", True),
    ("bw get ", r"(?:password|totp|notes)\b" + _ARGUMENTS, True),
    ("find-generic-password ", rf"{_ARGUMENTS}-\w{{0,4}}w\b{_ARGUMENTS}", True),
    ("find-internet-password ", rf"{_ARGUMENTS}-\w{{0,4}}w\b{_ARGUMENTS}", True),
    ("secret-tool lookup ", _ARGUMENTS, True),
    ("keyring get ", _ARGUMENTS, True),
    # Secret stores of clouds.
    ("get-parameter ", rf"{_ARGUMENTS}--with-decryption{_ARGUMENTS}", True),
    ("get-secret-value ", rf"{_ARGUMENTS}SecretString{_ARGUMENTS}", True),
    ("get-login-password", _ARGUMENTS, True),
    ("generate-db-auth-token", _ARGUMENTS, True),
    ("secrets versions access ", _ARGUMENTS, True),
    ("print-access-token", _ARGUMENTS, True),
    ("print-identity-token", _ARGUMENTS, True),
    ("secret show ", rf"{_ARGUMENTS}(?:-o|--output)[ =]tsv{_ARGUMENTS}", True),
    ("account keys list ", rf"{_ARGUMENTS}(?:-o|--output)[ =]tsv{_ARGUMENTS}", True),
    ("get-access-token", rf"{_ARGUMENTS}(?:-o|--output)[ =]tsv{_ARGUMENTS}", True),
    ("kv get ", rf"{_ARGUMENTS}-field[= ]{_ARGUMENTS}", True),
    ("vault read ", rf"{_ARGUMENTS}-field[= ]{_ARGUMENTS}", True),
    ("get secret", rf"{_ARGUMENTS}(?:jsonpath|go-template|custom-columns)(?:'[^'\n]{{0,200}}'|[^\n|;&]){{0,100}}", True),
    ("extract secret", _ARGUMENTS, True),
    ("create token ", _ARGUMENTS, True),
    ("admin initial-password", _ARGUMENTS, True),
    ("secrets get ", rf"{_ARGUMENTS}--plain{_ARGUMENTS}", True),
    # Tokens of the logged-in user.
    ("auth token", _ARGUMENTS, False),
    ("auth:token", _ARGUMENTS, False),
    ("token create", _ARGUMENTS, False),
    # Generators.
    ("openssl rand ", _ARGUMENTS, False),
    ("pwgen", _ARGUMENTS, False),
    ("apg ", _ARGUMENTS, False),
    ("/dev/urandom", _ARGUMENTS, False),
    ("wg gen", r"(?:key|psk)", False),
    ("secrets.token_", r"(?:urlsafe|hex)\([^\n|;&()]{0,40}\)+[\"']?", False),
    ("Fernet.generate_key()", r"[^\n|;&]{0,60}", False),
    ("randomBytes(", r"[^\n|;&]{0,100}", False),
    ("rails secret", "", False),
    ("get_random_secret_key", r"[^\n\\]{0,120}", False),
    ("key:generate --show", "", False),
    # Names that tell the kind of the output.
    ("printenv ", _NAMED, True),
    # Questions to a debugger.
    ("(Pdb) p", rf"p?[ \t]{{1,4}}(?:\w{{1,40}}\.){{0,4}}{_NAMED}", True),
    ("ipdb> p", rf"p?[ \t]{{1,4}}(?:\w{{1,40}}\.){{0,4}}{_NAMED}", True),
    ("echo %", r"(?P<name>\w{2,80})%", True),
    ("> process.env.", r"(?P<name>\w{2,80})", True),
    (" Rails.application.", r"(?:\w{1,40}[.!]{1,2}){0,3}(?P<name>\w{2,80})", True),
    ("Get-Content ", rf"Env:\\{{0,4}}{_NAMED}", True),
    ("environ[", r"[\"'](?P<name>\w{2,80})[\"']\]\)?;?\\{0,7}[\"']", True),
    ("getenv(", r"[\"'](?P<name>\w{2,80})[\"']\){1,2};?\\{0,7}[\"']", True),
    ("process.env.", r"(?P<name>\w{2,80})\)?;?\\{0,7}[\"']", True),
    (">>> ", rf"(?:print\()?(?:\w{{1,40}}\.){{0,4}}(?:environ\[)?{_NAMED}[\])]{{0,2}}", True),
    ("> var.", _NAMED, True),
    ("irb> ENV", r"(?:\.fetch)?[\[(][\"'](?P<name>\w{2,80})[\"'][\])]", True),
    ("0> ENV", r"(?:\.fetch)?[\[(][\"'](?P<name>\w{2,80})[\"'][\])]", True),
    ("echo ", r"(?:-n[ \t]{1,4})?(?=[\"']?\$)" + _NAMED, True),
    ("config:get ", rf"{_NAMED}{_ARGUMENTS}", True),
    ("config get ", rf"{_NAMED}{_ARGUMENTS}", False),
    ("output -raw ", _NAMED, True),
    ("yq ", r"(?:-\w{1,3}[ \t]{1,4}){0,3}[\"']?[\w.\[\]]{0,100}\.(?P<name>\w{2,80})[\"']?(?:[ \t]{1,4}[\w./~-]{1,100})?", True),
    ("jq ", r"(?:-\w{1,3}[ \t]{1,4}){0,3}[\"']?[\w.\[\]]{0,100}\.(?P<name>\w{2,80})[\"']?(?:[ \t]{1,4}[\w./~-]{1,100})?", True),
    ("cat ", r"[\"']?(?:[\w.~$@{}-]{0,60}/){0,12}?(?:secrets/[\w.-]{1,80}|config/(?:master|credentials/\w{1,30})\.key|(?P<name>[A-Za-z._-][\w-]{1,80}?)(?:\.(?:txt|key|secret|pass|pw))?)[\"']?", True),
)  # fmt: skip
"""The beginning of a command, its rest, and whether its output is a secret whatever it looks like."""
LITERALS = tuple(literal for literal, _, _ in _COMMANDS)
_ANY = late(by_first_letter(LITERALS))
"""The beginning of any of the commands."""
_PROMPT = late(
    # Each begins with one character, so that the search passes over all others quickly.
    r"\$ |\+ (?:(?<=\n\+ )|(?<=\\n\+ ))|>(?: (?:(?<=ipdb> )|process\.env\.|ENV|echo %|Rails\.|var\.)|(?<=PS>)|echo %|>> )"
    r"|P(?:db\) (?<=\(Pdb\) )|S C:)"
)
"""The prompt before a command that is shown with its output: most texts hold none."""
_FILTER = r"(?:[ \t]{0,4}(?:2>[ \t]{0,2}(?:/dev/null|&1)|\|[ \t]{0,4}(?:base64|tr|head|tail|cut|tee|jq|sed|awk|fold|xargs|python3?|od|xxd|rev)\b[^\n|;&<>`]{0,200}?)){0,4}[ \t]{0,4}(?:(?:;|&&)[ \t]{0,4}echo[ \t]{0,4}(?=\r?\n|\\{1,7}n|\Z))?"
_PROGRAMS = frozenset({
    "pass ", "gopass ", "op read ", "op item get ", "bw get ", "apg ", "pwgen", "printenv ", "echo ", "jq ",
    "cat "
})  # fmt: skip
"""Programs whose names are words of prose as well."""
_OF_CODE = frozenset({
    "secrets.token_", "Fernet.generate_key()", "randomBytes(", "get_random_secret_key", "environ[",
    "getenv(", "process.env."
})  # fmt: skip
"""Expressions inside a call that prints their value."""
_REACH = 120
_STOP = r"(?P<stop>\r?\n|\\{1,7}n|\\{0,7}[\"'\]}]|\Z|&&|;)"
_BREAK = r"(?:[ \t\r]|\n|\\{1,7}[nr]){0,12}"
_VALUE = late(
    rf"{_BREAK}(?:=>[ ])?\\{{0,7}}[\"']?(?P<value>[^\s\"'\\]{{6,4000}})\\{{0,7}}[\"']?[ \t]{{0,4}}(?=\r?\n|\\{{1,7}}[nr]|\Z|\\{{0,7}}\"[,}}\]])"
)
_OUTPUT = late(r"(?:Output:|\"output\":[ \t]{0,4}\"|<stdout>)(?=(?:\s|\\n)*[^\s\\])")
"""Text that agents put before the output of a program."""
_NO_COMMAND = late(r"(?:\$\(|`|[=(]|[\w.-])\Z")
"""Text before a command whose output is not shown, and before the mere end of a word."""
_BEGINS = late(
    r"(?:\A|[\n\"'&|;({\[:]|\\n|(?<![^\s\d])[#%>+]|[$❯➜│→]|\b(?:sudo|exec|time|then|do)[ \t])[ \t]{0,8}(?:[A-Z_]{1,40}=\S{0,60} )?\Z"
)
"""Text before the beginning of a command."""
_LONGEST_CALL = 4000


@cache
def _compiled(rest: str) -> re.Pattern[str]:
    return re.compile(rf"{rest}{_FILTER}{_STOP}")


def printed_in(text: str) -> Iterator[Span]:
    """The secrets below the commands that printed them."""
    if _PROMPT.search(text) is None and (text.isascii() or not ("❯ " in text or "➜ " in text)):
        return
    for found, sure in _commands(text):
        if found["stop"].lstrip("\\\r") in ("\n", "n"):
            span = _judged(text, found.end("stop"), sure)
            if span is not None:
                yield (*span, SecretKind.SECRET)


def prints_secret(call: str) -> bool | None:
    """Whether a called program prints a secret: True for certain, False where it may; else None."""
    if len(call) > _LONGEST_CALL:
        return None
    return next((sure for _, sure in _commands(call)), None) if may_print(call) else None


def may_print(call: str) -> bool:
    """Whether a call holds the beginning of a command that prints a secret: most hold none."""
    return _ANY.search(call) is not None


def lone_value(output: str, *, sure: bool) -> tuple[int, int] | None:
    """The place of the secret in the output of such a program."""
    head = _OUTPUT.search(output)
    return _judged(output, head.end() if head is not None else 0, sure)


def _commands(text: str) -> Iterator[tuple[re.Match[str], bool]]:
    for literal, rest, sure in _COMMANDS:
        at = text.find(literal)
        while at >= 0:
            end = at + len(literal)
            found = _compiled(rest).match(text, end)
            if (
                found is not None
                and literal in _PROGRAMS
                and not _BEGINS.search(text, max(0, at - _REACH), at)
            ):
                found = None
            if found is not None and (
                literal in _OF_CODE or _NO_COMMAND.search(text, max(0, at - 2), at) is None
            ):
                name = found.groupdict().get("name")
                if name is None or meaning_of(name.strip("._-")) in (Meaning.PASSWORD, Meaning.SECRET):
                    yield found, sure
            at = text.find(literal, end)


def _judged(text: str, at: int, sure: bool) -> tuple[int, int] | None:
    found = _VALUE.match(text, at)
    if found is None or not is_secret(
        found["value"], Meaning.PASSWORD, ValueNotation.SETTING if sure else ValueNotation.LINE
    ):
        return None
    if found["value"].isdecimal() or found["value"].endswith((":", ",")):
        return None
    return found.span("value")
