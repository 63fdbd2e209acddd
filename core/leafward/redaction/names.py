"""Names of secrets: `DB_PASS`, `clientSecret`, `client-key-data`, but not `token_count` or `public_key`."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from leafward.base.late_pattern import late
from leafward.redaction.spans import words


class Meaning(Enum):
    """The kind of value that a name announces."""

    PASSWORD = "password"  # noqa: S105  # a kind of name
    """Chosen by a person: it may be short, or consist of words."""
    SECRET = "secret"  # noqa: S105
    """Made by a program: random."""
    ENCODED = "encoded"
    """`auth`: a secret where the value is long and random, or base64."""
    PERHAPS = "perhaps"
    """A secret only where the value is clearly random."""
    KEY = "key"
    """A key of unknown sort: a secret only where its value is long and mixes capitals, small letters and digits."""


LONGEST_NAME = 80
"""Characters beyond which a text is not taken for a name."""

RESOURCE = late(r"arn:[\w:*-]{1,95}\Z")
"""Text before the last part of a name that AWS gives to a resource."""

_WORDS = late(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_PASSWORDS = words(
    "password passwd passphrase pwd psw pass pw passcode userpass dbpass dbpw mysqlpwd bindpw rootpw userpw keypass"
    " pswd storepass remotepass localpass requirepass masterauth mnemonic psk kennwort passwort contrasena senha sshpass pgpass"
)
_SECRETS = words(
    "secret pepper token credential credentials cred creds apikey accesskey secretkey privatekey authkey accountkey authtoken"
    " accesstoken refreshtoken signingkey encryptionkey masterkey sharedkey apitoken apisecret clientsecret sas"
    " sharedaccesskey accesskeysecret secretaccesskey presharedkey privkey appsecret secrettoken"
)
_PASSWORD_ENDS = ("password", "passwd", "passphrase", "userpass", "dbpass", "storepass", "keypass")
_SECRET_ENDS = (
    "secret",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "accountkey",
    "activationkey",
    "token",
)
_KEYS = words(
    "api access secret private encryption encrypt enc signing sign master account shared auth storage webhook hmac jwt"
    " crypt crypto cipher aes app application admin service deploy ingest integration subscription function functions"
    " preshared license licence instrumentation session cookie data server root consumer customer appsecret secure"
    " openai anthropic stripe sendgrid mailgun twilio google maps gemini groq mistral cohere deepseek datadog dd"
    " newrelic algolia client pagerduty logged nonce vault unseal recovery wallet seed transit kms rsa ssh tls"
    " ssl pem fernet hash salt bot live test sandbox prod write decryption derivation symmetric password user validation"
    " routing unlock"
    " certificate"
)
"""Words before `key` in names of secrets."""
_NETWORKS = words("wifi wlan wpa wpa2 wpa3 wep wireless")
"""Words before `key` in names of passwords that people choose."""
_OTHER_KEYS = words(
    "public primary foreign cache sort partition index map dict hash group order row column unique natural composite"
    " host known shortcut hot idempotency prompt lookup storage-key entry object node item query config setting"
    " translation i18n react page next press arrow function-key registry pub answer band short event match any same"
    " by each surrogate websocket route topic trace context field option metric count label tag keyboard gpg pgp publishable anon site socket"
)
_OTHER_TOKENS = words(
    "next page continuation cancel cancellation cancelation max min num number total input output prompt completion"
    " change request dedup stop eos bos pad unk mask first last per shift sync cached cache reasoning lex lexer parse parser current"
    " previous prev start end sep cls design syntax punctuation string word sub special added budget used count of"
    " keyword estimated limit single each thinking context pagination position logprob colon identifier"
)
_AFTER = words(
    "data value val prod production dev development test testing staging stage base b64 base64 encoded enc old new raw"
    " str string text plain plaintext literal default primary secondary live sandbox main backup user admin root db rw"
    " ro hex sha256 env var current previous org ci local env1 key stub mock real example here for github gitlab aws"
    " gcp azure npm bot app web api server client pem"
)
"""Words that may follow in a name of a secret, such as its sort."""
_SAYS_OTHER = words(
    "count counts limit limits size sizes length len max min num number total type types kind name names id ids field"
    " fields label labels hint hints help title prompt message messages error errors regex pattern policy rule rules"
    " strength score placeholder description desc url uri endpoint path paths file files filename dir folder location"
    " store manager provider service header headers prefix suffix format usage budget window rate ratio cost price"
    " expiry expires expiration ttl lifetime age time timeout date at in created updated modified rotation version"
    " index position offset stream generator factory handler helper util utils validator validation verify verified"
    " check checker checks enabled disabled required optional visible visibility toggle changed change reset forgot"
    " forgotten confirm confirmation repeat mismatch match matches invalid valid missing empty exists is has needed"
    " input output element ref reference refs selector class style width height icon button link page screen view form"
    " dialog modal route stdin fd command cmd helper env ring chain board word words stroke strokes press down up code"
    " codes ing ed er ers less s list array map set dict tuple object group iser izer ization estimate estimates"
    " estimated counter counting used left remaining per second seconds minute minutes hash fingerprint digest checksum"
    " public alias arn role owner scope scopes audience issuer mode model models algorithm algo bits curve schema spec"
    " table column row test tests case cases through over out off on thru port ports phrase1 uses reader writer parser"
    " bucket engine backend signature docs doc documentation example examples info status state details detail note"
    " md md5 only free based aware safe like id1 names1 mask masked redacted hidden obscured ai review with bag"
)
"""Words behind a keyword that give the name another meaning."""


def words_of(name: str) -> list[str]:
    """The words of a name in small letters: those of `clientSecret`, `client-secret` and `CLIENT_SECRET` are the same."""
    return [word.lower() for word in _WORDS.findall(name)]


@lru_cache(maxsize=8192)
def meaning_of(name: str) -> Meaning | None:
    """The kind of value that a name announces; None where it is not a secret."""
    if not 2 <= len(name) <= LONGEST_NAME:
        return None
    words = words_of(name)
    for at in range(len(words) - 1, -1, -1):
        meaning = _word(words, at, name)
        if meaning is None:
            continue
        if words[at:] == ["secret", "id"]:
            # The name of one half of a login in Vault and Consul; other programs name a secret so.
            return Meaning.PERHAPS
        behind = [word for word in words[at + 1 :] if not word.isdigit()]
        if not behind or all(word in _AFTER for word in behind):
            return meaning
        if any(word in _SAYS_OTHER for word in behind) or len(behind) > 3:
            return None
        return Meaning.PERHAPS
    # The prefix of encrypted values among Ansible's users, and a table of secrets in settings: `secrets.jwt`.
    return Meaning.PERHAPS if name.startswith(("vault_", "secrets.", "secret.")) else None


def _word(words: list[str], at: int, name: str) -> Meaning | None:
    """The kind that one word of a name announces at its place."""
    word = words[at]
    before = words[at - 1] if at else ""
    if word in _PASSWORDS or word.endswith(_PASSWORD_ENDS):
        return Meaning.PASSWORD if word not in ("pw", "pass") or at == len(words) - 1 else Meaning.PERHAPS
    if word == "token" and before in _OTHER_TOKENS:
        return None
    if word in _SECRETS or (word.endswith(_SECRET_ENDS) and word != "secretary"):
        return Meaning.SECRET
    if word == "key":
        if before in _NETWORKS:
            return Meaning.PASSWORD
        if before in ("primary", "secondary") and not name.islower():
            # The names of the two keys that Azure gives out; a database has a primary key as well.
            return Meaning.KEY
        if before in _OTHER_KEYS or (before == "public" or "public" in words[:at]):
            return None
        if before in _KEYS:
            return Meaning.SECRET
        # In names of headers (`Fastly-Key`) and variables; other names need a value that mixes all sorts of characters.
        named = name.isupper() or ("-" in name and name.istitle())
        if before and (named or ("_" in name and name[0].isupper() and len(words) == 2)):
            return Meaning.PERHAPS
        return Meaning.KEY if not before or at == len(words) - 1 else None
    if word == "keypair":
        # Of an account of Solana, as the list of its bytes; of other things a name.
        return Meaning.KEY
    if word == "signature" and before in ("amz", "goog"):
        return Meaning.SECRET
    if word == "phrase" and before in ("pass", "seed", "recovery"):
        return Meaning.PASSWORD
    if word in ("csrf", "xsrf") and at == len(words) - 1:
        return Meaning.PERHAPS
    if word == "string" and before == "authentication":
        # A column of MySQL with the hash of a password.
        return Meaning.SECRET
    if word in ("auth", "authorization"):
        return Meaning.ENCODED
    if word in ("salt", "pat", "sig", "cookie") and (name.isupper() or word == "sig"):
        return Meaning.PERHAPS
    if word in ("sk", "seed") and name.isupper() and at == len(words) - 1:
        return Meaning.PERHAPS
    if word in ("salt", "pat") and at == len(words) - 1 and before:
        return Meaning.KEY
    return None
