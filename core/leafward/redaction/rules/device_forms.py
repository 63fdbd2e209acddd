"""Lines of configurations in which routers, switches, firewalls and gateways keep passwords and shared keys."""

from __future__ import annotations

_GAP = r"[ \t]{1,4}"
_TYPE = rf"(?:[0-9]{_GAP})?"
"""Cisco's number for how the value is stored."""
_VALUE = r"""\\{0,7}["']?(?=[^\s"'\\;]{0,100}[0-9$])(?P<bare>[^\s"'\\;{}]{4,200})"""
"""A value with a digit: the same words stand in prose."""
_QUOTED = r"""\\{0,7}"(?P<quoted>[^\n"\\]{3,200})\\{0,7}\""""

DEVICE_FORMS: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    # Cisco and what reads the same.
    (("enable ",), ("enable password ", "enable secret "), rf"(?:level{_GAP}[0-9]{{1,2}}{_GAP})?{_VALUE}(?=[ \t\r]*(?:$|[\n\\\"']))"),
    (("neighbor ",), ("neighbor ",), rf"\S{{1,60}}{_GAP}password{_GAP}{_TYPE}{_VALUE}"),
    (("isakmp key ",), ("isakmp key ",), rf"{_TYPE}{_VALUE}(?={_GAP}(?:address|hostname)\b)"),
    (("message-digest-key ",), ("message-digest-key ",), rf"[0-9]{{1,3}}{_GAP}md5{_GAP}{_TYPE}{_VALUE}"),
    (("authentication-key ",), ("authentication-key ",), rf"(?:[0-9]{{1,5}}{_GAP}(?:md5|sha\w{{0,8}}|aes\w{{0,8}}|type{_GAP}\w{{1,8}}{_GAP}value){_GAP})?{_TYPE}{_VALUE}"),
    (("key-string ",), ("key-string ",), rf"{_TYPE}{_VALUE}"),
    (("standby ", "vrrp ", "glbp "), ("standby ", "vrrp ", "glbp "), rf"[0-9]{{1,4}}{_GAP}authentication{_GAP}(?:text{_GAP}|md5{_GAP}key-string{_GAP})?{_TYPE}{_VALUE}"),
    (("pre-shared-key ",), ("pre-shared-key ",), rf"(?:(?:local|remote|ascii-text|hexadecimal|hex|address{_GAP}\S{{1,60}}|key|[0-9]){_GAP}){{0,4}}{_VALUE}"),
    (("snmp-server user ",), (" auth sha ", " auth md5 ", " auth sha-2 "), rf"(?:[0-9]{{3}}{_GAP})?{_VALUE}"),
    (("snmp-server user ",), (" priv aes ", " priv des ", " priv 3des "), rf"(?:[0-9]{{3}}{_GAP})?{_VALUE}"),
    # Juniper: a form of its own, which is only scrambled.
    (("$9$",), ("$9$",), r"(?P<bare>[A-Za-z0-9./$-]{6,200})"),
    (("plain-text-password-value ", "ascii-text "), ("plain-text-password-value ", "ascii-text "), _VALUE),
    (("authorization ",), ("snmp community ", " community "), rf"(?P<bare>[^\s\"'\\;{{}}]{{4,100}})(?={_GAP}(?:\{{\s{{0,20}})?authorization )"),
    # Fortinet, MikroTik.
    (("ENC ",), (" ENC ",), r"\\{0,7}\"?(?P<token>[A-Za-z0-9+/]{16,400}={0,2})"),
    (("/snmp ",), ("/snmp community ",), rf"(?:add|set){_GAP}(?:[^\n]{{0,60}}[ ])?name={_VALUE}"),
    # Wireless networks.
    (("iwconfig ",), ("iwconfig ",), rf"\S{{1,30}}{_GAP}key{_GAP}(?:\[[0-9]\]{_GAP}|restricted{_GAP}|open{_GAP})?(?:s:)?{_VALUE}"),
    # TACACS+.
    (("cleartext ",), ("= cleartext ",), rf"(?:{_QUOTED}|(?P<bare>[^\s\"'\\]{{3,200}}))"),
    ((" des ",), ("login = des ", "enable = des ", "pap = des "), r"(?P<bare>[A-Za-z0-9./]{13})(?=\s|\\|$)"),
    (("tac_plus",), ("tac_plus",), rf"[^\x00]{{0,400}}?\bkey[ \t]{{0,4}}=[ \t]{{0,4}}(?:{_QUOTED}|(?P<bare>[^\s\"'\\]{{3,200}}))"),
    # IPsec: the name of a method stands before each.
    ((": PSK ",), (": PSK ",), _VALUE),
    ((": RSA ", ": ECDSA ", ": PKCS8 ", ": P12 "), (": RSA ", ": ECDSA ", ": PKCS8 ", ": P12 "), rf"[^\s\"\\]{{1,200}}{_GAP}{_QUOTED}"),
    # Asterisk.
    (("register =>",), ("register => ", "register =>"), r"[\w.-]{1,60}:(?P<bare>[^\s:@\"'\\]{3,100})@"),
)  # fmt: skip
"""Signs, literals and forms, as in `command_forms`."""
