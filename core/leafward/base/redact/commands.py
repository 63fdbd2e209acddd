"""Passwords on command lines that no name tells of: `curl -u user:password`, `sshpass -p`, `mysql -p…`, `echo … | sudo -S`."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from leafward.base.redact.names import Meaning
from leafward.base.redact.secret_values import Place, is_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.base.redact.spans import Span

_WORD = r"""(?:(?P<q>\\{0,7}["'])(?P<quoted>[^\n"']{1,200}?)(?P=q)|(?P<bare>[^\s"'`\\;|&<>()-][^\s"'`\\;|<>]{2,200}))"""
_STRING = r"""\\{0,7}["'][^"'\n\\]{0,200}\\{0,7}["']"""
_REST = r"""(?:[^\n|;&]|\\\n|&(?!&)){0,400}?"""
"""What may stand between a program and its option."""
_GAP = r"""(?:[ \t]{1,8}|[ \t]{0,4}\\{1,3}n?\n?[ \t]{0,20}|["'],[ \t]{0,4}(?=["']))"""

_COMMANDS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("curl", "wget", "http ", "https ", "xh "),
        rf"\w*{_REST}(?<=[\s\"'])(?:-u|--user|--proxy-user|-U|-a|--auth)(?:{_GAP}|=)?(?P<o>\\{{0,7}}[\"'])?[^\s:\"'\\/]{{0,80}}:(?P<bare>[^\s\"'\\][^\s\"'\\]{{2,200}})",
    ),
    (
        (" -u ", "--user ", "--user=", '-u", "'),
        r"[\"']?[A-Za-z][^\s:\"'\\/]{0,80}:(?P<strange>[^\s\"'\\/:]{4,200})",
    ),
    (("sshpass",), rf"{_REST}(?<=[\s\"'])-p{_GAP}?{_WORD}"),
    (("mysql", "mariadb"), rf"[a-z]{{0,10}}\b{_REST}(?<=[\s\"'])-p{_WORD}"),
    (
        (
            "docker login",
            "podman login",
            "buildah login",
            "skopeo login",
            "helm registry login",
            "nerdctl login",
            "az login",
            "az acr login",
            "oc login",
            "crane auth login",
            "oras login",
            "cf login",
            "twine upload",
            "mongo",
            "influx ",
            "ansible-",
            "dotnet ",
            "nuget ",
            "lpass ",
            "ibmcloud login",
            "cqlsh",
            "arangosh",
            "rabbitmqadmin",
        ),
        rf"[a-z]{{0,10}}\b{_REST}(?<=[\s\"'])-p{_GAP}{_WORD}",
    ),
    (("redis-cli", "valkey-cli", "keydb-cli"), rf"{_REST}(?<=[\s\"'])-a{_GAP}{_WORD}"),
    (
        ("ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami", "ldapdelete", "ldappasswd"),
        rf"{_REST}(?<=[\s\"'])-w{_GAP}?{_WORD}",
    ),
    (
        ("smbclient", "rpcclient", "smbmap", "mount.cifs", "nmblookup"),
        rf"{_REST}(?<=[\s\"'])-U{_GAP}?[\"']?[^\s%\"']{{1,80}}%(?P<bare>[^\s\"']{{3,100}})",
    ),
    (("openssl",), rf"{_REST}\bpass:(?P<bare>[^\s\"'\\]{{3,100}})"),
    (("openssl enc", "openssl aes"), rf"{_REST}(?<=[\s\"'])-k{_GAP}{_WORD}"),
    (("7z ", "7za ", "rar "), rf"{_REST}(?<=[\s\"'])-h?p{_WORD}"),
    (("zip ", "sqlcmd ", "ipmitool ", "bcp ", "ssh-keygen "), rf"{_REST}(?<=[\s\"'])-[PN]{_GAP}?{_WORD}"),
    (
        ("htpasswd",),
        rf"[ \t]{{1,4}}-[a-zA-Z0-9]{{0,6}}b[a-zA-Z0-9]{{0,6}}(?:[ \t]{{1,4}}-\S{{1,4}}){{0,3}}[ \t]{{1,4}}(?:\S{{1,200}}[ \t]{{1,4}})?[A-Za-z0-9_.@\"'-]{{1,60}}[ \t]{{1,4}}{_WORD}(?=[ \t]*(?:$|[\n\\|;&>]))",
    ),
    (("xfreerdp", "rdesktop", "wfreerdp"), rf"{_REST}(?:/p:|-p[ \t]{{1,4}}){_WORD}"),
    (("net use",), rf"{_REST}/user:[^\s\"']{{1,80}}[ \t]{{1,4}}{_WORD}"),
    (("net user ",), rf"[\w.-]{{1,40}}[ \t]{{1,4}}{_WORD}"),
    (("cmdkey", "runas"), rf"{_REST}/pass:{_WORD}"),
    (
        ("IDENTIFIED ", "identified ", "Identified "),
        r"(?i:(?:with[ \t]{1,4}\S{1,40}[ \t]{1,4})?(?:by|as)[ \t]{1,4}(?:values[ \t]{1,4})?(?:password[ \t]{1,4})?)(?P<q>\\{0,7}[\"'])(?P<quoted>[^\n\"']{3,200})(?P=q)",
    ),
    (
        (
            "auth=(",
            "auth = (",
            "BasicAuth(",
            "basic_auth(",
            "basicAuth(",
            "basic_auth=(",
            "Credentials(",
            ".login(",
            "algoliasearch(",
            "SearchClient.create(",
        ),
        r"\s{0,20}[\w.=]{0,20}\\{0,7}[\"'][^\"'\n\\]{1,80}\\{0,7}[\"']\s{0,4},\s{0,20}[\w.=]{0,20}\\{0,7}[\"'](?P<strange>[^\"'\n\\]{4,100})\\{0,7}[\"']",
    ),
    (
        ("Sequelize(", "PDO(", "mysqli(", "mysqli_connect(", ".getConnection("),
        rf"(?:\s{{0,20}}(?:{_STRING}|[$\w.>-]{{1,60}})\s{{0,4}},){{2}}\s{{0,20}}\\{{0,7}}[\"'](?P<strange>[^\"'\n\\]{{4,100}})\\{{0,7}}[\"']",
    ),
    (
        ("Client(", "Api(", "API(", "SDK("),
        r"\s{0,20}\\{0,7}[\"'](?P<key>[A-Za-z0-9_-]{24,100})\\{0,7}[\"']",
    ),
    (("ConvertTo-SecureString",), rf"(?:[ \t]{{1,4}}-String)?[ \t]{{1,4}}(?=\\{{0,7}}[\"']){_WORD}"),
    (("schtasks",), rf"(?i:{_REST}/rp)[ \t]{{1,4}}{_WORD}"),
    (("mosquitto_",), rf"{_REST}(?<=[\s\"'])-P{_GAP}{_WORD}"),
    (("vault login",), rf"(?:[ \t]{{1,4}}-[\w=-]{{1,40}}){{0,4}}[ \t]{{1,4}}(?:token=)?{_WORD}"),
    (
        ("mc alias set", "mc config host add"),
        rf"[ \t]{{1,4}}\S{{1,60}}[ \t]{{1,4}}\S{{1,200}}[ \t]{{1,4}}\S{{1,100}}[ \t]{{1,4}}{_WORD}",
    ),
    (("lftp",), rf"{_REST}(?<=[\s\"'])-u{_GAP}?[\"']?[^\s,\"']{{1,80}},(?P<bare>[^\s\"']{{3,100}})"),
    (("wpa_passphrase",), rf"[ \t]{{1,4}}(?:\"[^\"\n]{{1,60}}\"|\S{{1,60}})[ \t]{{1,4}}{_WORD}"),
    (("nmcli",), rf"{_REST}\bpassword[ \t]{{1,4}}{_WORD}"),
    (("snmpwalk", "snmpget", "snmpset"), rf"{_REST}(?<=[\s\"'])-[AX]{_GAP}{_WORD}"),
    (("useradd", "usermod"), rf"{_REST}(?<=[\s\"'])-p{_GAP}{_WORD}"),
    (
        ("expect ", "send ", "send --", "sendline("),
        r"[\"'\\ -]{0,6}(?P<strange>[^\s\"'\\]{6,100})\\{1,3}[rn]",
    ),
    (
        ("echo ", "printf ", "echo -n "),
        r"(?:-[neE]{1,3}[ \t]{1,4})?(?:\\{0,7}[\"'](?:%s\\{1,4}n\\{0,7}[\"'][ \t]{1,4}\\{0,7}[\"'])?)?(?:[a-z_][\w-]{0,31}:)?(?P<bare>[^\s\"'|$`][^\n\"'|]{2,100}?)(?:\\{1,4}n)?\\{0,7}[\"']?[ \t]{0,4}\|[ \t]{0,4}(?:sudo[ \t]{1,4}(?:-[a-zA-Z]{1,5}[ \t]{1,4}){0,4}-\w{0,3}S|[^\n|;]{1,200}--(?:password|api-key|token|secret)-stdin|[^\n|;]{0,60}passwd[^\n|;]{0,40}--stdin|(?:sudo )?chpasswd|[^\n|;]{1,120}--with-token|gpg[^\n|;]{1,120}--passphrase-fd|cryptsetup)",
    ),
    (
        ("sudo -S", "--password-stdin", "--passphrase-fd 0", "--with-token", "keepassxc-cli", "cryptsetup"),
        rf"[^\n|;<]{{0,120}}<<<[ \t]{{0,4}}{_WORD}",
    ),
)

_PGPASS = re.compile(
    r"(?<![^\s\"'`→│|>+#:\d])(?:[\w.*-]{1,100}):(?:[0-9]{2,5}|\*):(?:[\w*-]{1,63}):(?:[\w.*@-]{1,63}):(?P<bare>[^\s:\"'`\\]{3,200})(?=[ \t]*(?:$|[\n\r\"'`\\|│]))"
)


_PARTS = (
    "login",
    "ldap",
    "snmp",
    "-cli",
    "openssl",
    "mysql",
    "-u",
    "smb",
    "user",
    "zip",
    "echo",
    "send",
    "exp",
    "htt",
    "rdesk",
    "free",
    "ans",
    "mc ",
    "sq",
)
"""What several of the literals share: where it is missing they are not looked for."""


def _by_part() -> tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]:
    found: dict[str, list[str]] = {}
    for literals, form in _COMMANDS:
        for literal in literals:
            found.setdefault(literal, []).append(form)
    parts: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for literal, forms in found.items():
        part = next((part for part in _PARTS if part in literal), literal)
        parts.setdefault(part, []).append((literal, tuple(forms)))
    return tuple((part, tuple(literals)) for part, literals in parts.items())


_TABLE = _by_part()


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form)


def commands_in(text: str) -> Iterator[Span]:
    """The passwords that programs are given."""
    if (" " in text or "(" in text) and any(map(text.__contains__, _SIGNS)):
        for part, literals in _TABLE:
            if part in text:
                for literal, forms in literals:
                    if literal in text:
                        yield from _of_literal(text, literal, forms)
    if ":*:" in text or ":5432:" in text or _PGPASS_PORT.search(text):
        for found in _PGPASS.finditer(text):
            span = _secret(found)
            if span is not None and not found["bare"].isdecimal():
                yield (*span, "password")


def _of_literal(text: str, literal: str, forms: tuple[str, ...]) -> Iterator[Span]:
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        for form in forms:
            found = _compiled(form).match(text, end)
            span = _secret(found) if found is not None else None
            if span is not None:
                yield (*span, "password")
        at = text.find(literal, end)


_SIGNS = (
    " -",
    '"-',
    "'-",
    "|",
    "<<<",
    "pass:",
    "/p:",
    "/user:",
    "alias set",
    "host add",
    "login",
    "send",
    "expect",
    "nmcli",
    "wpa_",
    "ENTIFIED",
    "entified",
    "auth",
    "Auth(",
    "redentials(",
    "net user",
    "oliasearch(",
    "Client",
    "Api(",
    "API(",
    "SDK(",
    "Sequelize(",
    "PDO(",
    "mysqli",
    ".getConnection(",
    "/rp",
)
"""What a command line that is known here has one of."""
_PGPASS_PORT = re.compile(r":[1-9][0-9]{3,4}:[\w*-]{1,63}:")


_GROUPS = (
    ("quoted", Meaning.PASSWORD, Place.SETTING),
    ("bare", Meaning.PASSWORD, Place.SETTING),
    ("strange", Meaning.PASSWORD, Place.INLINE),
    ("key", Meaning.KEY, Place.QUOTED),
)
"""The groups that a form may have, and how sure each is of its value."""


def _secret(found: re.Match[str]) -> tuple[int, int] | None:
    groups = found.groupdict()
    for name, meaning, place in _GROUPS:
        value = groups.get(name)
        if (
            value is not None
            and is_secret(value, meaning, place)
            and not (name == "strange" and value.isdecimal())
        ):
            return found.start(name), found.end(name)
    return None
