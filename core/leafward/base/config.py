"""Settings: one value read from `config.toml`. Every problem in the file is reported, and the default used instead."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from leafward.base.model_windows import Window, WindowSource, known_window
from leafward.base.paths import config_dir
from leafward.base.regular_files import read_regular
from leafward.base.strategies import OWN_STRATEGY, STRATEGY_CHOICES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

FILE_NAME = "config.toml"
_LARGEST = 1 << 16
"""Bytes of the file. The time that a name of many parts takes grows with the square of their number."""

DEFAULT_WINDOW = 200_000
"""Context window assumed where none is configured and the model is not known, in tokens."""
KEEP_RECENT = 20_000
"""Tokens that a compaction keeps (pi 1.5.2)."""
PI_RESERVE = 16_384
"""Tokens that pi 1.5.2 reserves for the reply."""
INJECTION_BUDGET = 8_000
"""Code points."""
TIMEOUT, DEADLINE, ATTEMPTS, PARALLEL = 120.0, 900.0, 4, 4
"""Defaults for requests to a model."""

DENSITIES = ("turns", "entries", "comfortable")
ORDERS = ("recent", "alpha")

_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_PLACE = r" \(at line (\d+), column (\d+)\)$"


class ConfigProblem(NamedTuple):
    """One thing in a configuration file that could not be used."""

    file: Path
    code: str
    """`unreadable`, `syntax`, `unknown-key` or `bad-value`."""
    key: str
    """Dotted; empty for the whole file."""
    text: str
    """The problem and the value used instead, on one line, without the file's name."""
    line: int | None = None
    """From 1; None where it is not known."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else str(self.file)
        return f"{place}: {self.text}"


_NOTHING: Mapping[str, Any] = MappingProxyType({})

# A named tuple: making a frozen dataclass takes eight times as long, and the first frame waits for it.


class Config(NamedTuple):
    """All settings. The field names are the file's keys with `_` for `-`; sizes are in tokens unless said."""

    model: str | None = None
    """Model for summaries, as litellm names it; None: the built-in extractive summariser."""
    window: int = DEFAULT_WINDOW
    """For models that are not in `windows`; a configured value also applies to known models."""
    windows: Mapping[str, int] = _NOTHING
    """Context window by model name."""
    base_urls: Mapping[str, str] = _NOTHING
    """Address of a model's server, by model name or provider."""
    keys: Mapping[str, str] = _NOTHING
    """Environment variable that holds the key, by model name or provider, where it is not the provider's usual one."""
    summaries_timeout: float = TIMEOUT
    """Seconds without an answer from a model after which a request is abandoned."""
    summaries_deadline: float = DEADLINE
    """Seconds after which it is abandoned in any case."""
    summaries_attempts: int = ATTEMPTS
    """Requests to a model in all, where a retry may help."""
    summaries_parallel: int = PARALLEL
    """Parallel requests for one summary."""
    keep_recent: int = KEEP_RECENT
    reserve: int = PI_RESERVE
    strategy: str = OWN_STRATEGY
    theme: str | None = None
    """Name of a theme; None: one that suits the terminal."""
    ascii: bool | Literal["auto"] = "auto"
    density: str = "turns"
    keymap: Mapping[str, tuple[str, ...]] = _NOTHING
    """Keys by the id of their action; an empty tuple unbinds it."""
    roots: Mapping[str, tuple[str, ...]] = _NOTHING
    """Folders searched for an agent's sessions instead of its own, by agent."""
    extra_roots: Mapping[str, tuple[str, ...]] = _NOTHING
    """Folders searched besides those, by agent."""
    exclude: tuple[str, ...] = ()
    """Folders whose sessions are neither listed nor read: globs of stores or of projects; `!` includes one again."""
    injection_budget: int = INJECTION_BUDGET
    """In code points."""
    injection_order: str = "recent"
    injection_off: tuple[str, ...] = ()
    """Sections that are never injected, by key or by the beginning of their keys."""
    restore_keep_days: int = 90
    """Days after which the copies that a restore made may be cleared."""
    restore_keep_mb: int = 1024
    """MiB that the copies of all restores may take before the oldest may be cleared."""
    follow_interval: float = 0.1
    """Seconds between two checks of a followed session."""
    window_set: bool = False
    """Whether `window` is set in the file."""

    def window_of(self, model: str | None) -> int:
        """The context window of a model in tokens, see `window_for`."""
        return self.window_for(model).tokens

    def window_for(self, model: str | None, recorded: int | None = None, used: int = 0) -> Window:
        """The context window of a model: configured, else recorded by the agent, else known by its name, else assumed.

        It may be configured under its name, under the part after the provider, or for all. `used` are tokens already sent to it.
        """
        named = self.windows.get(model) or self.windows.get(model.rpartition("/")[2]) if model else None
        if named is None and (self.window_set or self.window != DEFAULT_WINDOW):
            named = self.window
        if named is not None:
            return Window(named, WindowSource.CONFIGURED)
        if recorded:
            return Window(recorded, WindowSource.RECORDED)
        known = known_window(model, used)
        if known is not None:
            return Window(known, WindowSource.KNOWN)
        return Window(self.window, WindowSource.ASSUMED)


class _BadValue(Exception):
    """A value of the wrong type or out of range; the text names the expected values."""


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _BadValue("a text")
    return value


def _whole(smallest: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
            raise _BadValue(f"a whole number of at least {smallest}")
        return value

    return read


def _seconds(smallest: float, largest: float) -> Callable[[object], float]:
    def read(value: object) -> float:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not smallest <= value <= largest:  # type: ignore[operator]  # a number
            raise _BadValue(f"a number of seconds from {smallest:g} to {largest:g}")
        return float(value)  # type: ignore[arg-type]  # a number

    return read


def _variable(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(_VARIABLE, value):
        raise _BadValue("the name of an environment variable")
    return value


def unfit_url(url: str) -> str | None:
    """Why no request is sent to a URL; None where one may be. The reason quotes nothing of the URL, which may hold a password."""
    from urllib.parse import urlsplit

    if not url.startswith(("http://", "https://")):
        return "has to begin with http:// or https://"
    # Programs differ in how they read every other character.
    if not re.fullmatch(r"[!#-;=?-\[\]_a-z~]+", url):
        return "has a character that no URL may have"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "has no host, or an invalid port"
    if not host or port == 0:
        return "has no host, or an invalid port"
    if "@" in parts.netloc:
        return "has a name or password: put the key into an environment variable (keys)"
    if "?" in url or "#" in url:
        return "has more than a host and a path"
    return None


def _address(value: object) -> str:
    if not isinstance(value, str):
        raise _BadValue("a URL that begins with http:// or https://")
    reason = unfit_url(value)
    if reason is not None:
        begins = reason.startswith("has to begin")
        raise _BadValue(
            "a URL that begins with http:// or https://" if begins else f"a plain URL: it {reason}"
        )
    return value


def _one_of(choices: tuple[str, ...]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            raise _BadValue("one of " + ", ".join(choices))
        return value

    return read


def _switch(value: object) -> bool | Literal["auto"]:
    if isinstance(value, bool):
        return value
    if value == "auto":
        return "auto"
    raise _BadValue('true, false or "auto"')


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise _BadValue("a text or a list of texts")


def _folders(value: object) -> tuple[str, ...]:
    folders = _texts(value)
    if any("\0" in folder for folder in folders):
        raise _BadValue("a text or a list of texts without NUL characters")
    return folders


_KEYS: dict[str, tuple[str, Callable[[object], object]]] = {
    "model": ("model", _text),
    "window": ("window", _whole(1)),
    "keep-recent": ("keep_recent", _whole(0)),
    "reserve": ("reserve", _whole(0)),
    "strategy": ("strategy", _one_of(STRATEGY_CHOICES)),
    "theme": ("theme", _text),
    "ascii": ("ascii", _switch),
    "density": ("density", _one_of(DENSITIES)),
    "exclude": ("exclude", _folders),
    "follow-interval": ("follow_interval", _seconds(0.02, 60)),
    "restore.keep-days": ("restore_keep_days", _whole(1)),
    "restore.keep-mb": ("restore_keep_mb", _whole(1)),
    "summaries.timeout": ("summaries_timeout", _seconds(1, 3600)),
    "summaries.deadline": ("summaries_deadline", _seconds(1, 86_400)),
    "summaries.attempts": ("summaries_attempts", _whole(1)),
    "summaries.parallel": ("summaries_parallel", _whole(1)),
    "injection.budget": ("injection_budget", _whole(0)),
    "injection.order": ("injection_order", _one_of(ORDERS)),
    "injection.off": ("injection_off", _texts),
}
"""Key in the file to field and reader."""

_TABLES: dict[str, tuple[str, Callable[[object], object]]] = {
    "windows": ("windows", _whole(1)),
    "base-urls": ("base_urls", _address),
    "keys": ("keys", _variable),
    "keymap": ("keymap", _texts),
    "roots": ("roots", _folders),
    "extra-roots": ("extra_roots", _folders),
}
"""Tables whose keys are the user's own."""

_SECTIONS = {key.partition(".")[0] for key in _KEYS if "." in key}


def known_keys() -> list[str]:
    """Every key a file may hold, dotted; a table of the user's own keys ends in `.*`."""
    return sorted([*_KEYS, *(f"{name}.*" for name in _TABLES)])


def config_path() -> Path:
    """The file that is read where no other is named."""
    return config_dir() / FILE_NAME


def load(path: Path | None = None) -> tuple[Config, list[ConfigProblem]]:
    """The settings in a file (the user's by default) and its problems. A missing file means all defaults."""
    path = config_path() if path is None else path
    try:
        source = read_regular(path, _LARGEST).decode("utf-8-sig")
    except FileNotFoundError:
        return Config(), []
    except OSError as error:
        reason = error.strerror or str(error)
        return Config(), [
            ConfigProblem(path, "unreadable", "", f"cannot be read ({reason}); defaults are used")
        ]
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        return Config(), [ConfigProblem(path, "syntax", "", "is not UTF-8; defaults are used", line)]
    return parse(source, path)


def parse(source: str, path: Path) -> tuple[Config, list[ConfigProblem]]:
    """The settings in a TOML text; `path` is only the name in problems."""
    # Most users have no settings file.
    import tomllib

    try:
        document = tomllib.loads(source)
    except (ValueError, RecursionError) as error:
        # A number with more digits than Python accepts raises a ValueError of its own.
        place = re.search(_PLACE, str(error))
        reason = re.sub(_PLACE, "", str(error)) or "nested too deeply"
        line = int(place[1]) if place else None
        return Config(), [
            ConfigProblem(path, "syntax", "", f"is not TOML: {reason}; defaults are used", line)
        ]
    problems: list[ConfigProblem] = []
    values: dict[str, Any] = {}
    for key, value in _flat(document):
        _read(
            key, value, values, lambda code, key, text: problems.append(ConfigProblem(path, code, key, text))
        )
    for name, value in values.items():
        if isinstance(value, dict):
            values[name] = MappingProxyType(value)
    return Config(**values, window_set="window" in values), problems


def _flat(document: dict[str, Any]) -> list[tuple[str, object]]:
    """Keys and values, those of our sections dotted; `_` in a key of ours reads as `-`."""
    found: list[tuple[str, object]] = []
    for key, value in document.items():
        name = key.replace("_", "-")
        if name in _SECTIONS and isinstance(value, dict):
            found.extend((f"{name}.{inner.replace('_', '-')}", item) for inner, item in value.items())
        else:
            found.append((name, value))
    return found


def _read(key: str, value: object, values: dict[str, Any], report: Callable[[str, str, str], object]) -> None:
    if key in _TABLES:
        name, reader = _TABLES[key]
        if not isinstance(value, dict):
            report("bad-value", key, f"{key} must be a table; it is ignored")
            return
        table = values.setdefault(name, {})
        for inner, item in value.items():
            try:
                table[inner] = reader(item)
            except _BadValue as expected:
                then = "it is ignored"
                if key == "base-urls":
                    # If it were ignored, requests meant for this address would go to the provider's own.
                    table[inner] = item if isinstance(item, str) and item else "no text"
                    then = "nothing is sent to these models until it is"
                report("bad-value", f"{key}.{inner}", f"{key}.{inner} must be {expected}; {then}")
        return
    if key in _SECTIONS:
        report("bad-value", key, f"{key} must be a table; it is ignored")
        return
    if key not in _KEYS:
        report("unknown-key", key, f"unknown key {key!r}{_nearest(key)}; it is ignored")
        return
    name, reader = _KEYS[key]
    try:
        values[name] = reader(value)
    except _BadValue as expected:
        default = getattr(Config(), name)
        used = "none" if default in (None, ()) else repr(default) if isinstance(default, str) else default
        report("bad-value", key, f"{key} must be {expected}; the default ({used}) is used")


def _nearest(key: str) -> str:
    from difflib import get_close_matches

    candidates = [*_KEYS, *_TABLES, *_SECTIONS]
    short = {name.rpartition(".")[2]: name for name in candidates}
    close = get_close_matches(key, candidates, 1, 0.6)
    if not close:
        close = [short[name] for name in get_close_matches(key.rpartition(".")[2], list(short), 1, 0.6)]
    return f" (did you mean {close[0]!r}?)" if close else ""
