"""The colours of a theme, and the TOML files they are read from.

A theme is fourteen colours and five tints. Hue has meaning and never decorates: `leaf` is live, kept, good; `memory`
summaries and compactions; `ghost` proposed or marked; `warn` look here; `bad` error or lost. The built-in themes
are files of the same form, read by the same function.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.color import Color, ColorParseError

import leafward_themes
from leafward.base.regular_files import read_regular
from leafward.base.safe_text import safe_line
from leafward_tui.ui.appearance.colours import contrast, grey, nearest_eight_bit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LARGEST = 1 << 16
"""Bytes of a theme file. The time that a name of many parts takes grows with the square of their number."""
_LONGEST_FAULT = 200
"""Characters."""

DEFAULT_DARK = "understory"
DEFAULT_LIGHT = "clearing"

TOKENS = (
    "bg",
    "panel",
    "raise",
    "sel",
    "line",
    "edge",
    "faint",
    "sub",
    "text",
    "leaf",
    "memory",
    "ghost",
    "warn",
    "bad",
)
"""Keys of `[palette]` in a theme file, from the ground up."""
HUES = ("leaf", "memory", "ghost", "warn", "bad")
"""Keys of `[tint]`: the tokens that mean something."""

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


class ThemeError(Exception):
    """A theme file that cannot be used; `faults` names file and key of each thing wrong with it."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


class Palette(NamedTuple):
    """The colours of a theme, each `#rrggbb`, or `ansi_…` for a colour of the terminal's own."""

    name: str
    title: str
    description: str
    dark: bool
    bg: str
    panel: str
    """Title bar, key bar."""
    raised: str
    """Inputs, chosen column, sheets; `raise` in files and stylesheets."""
    sel: str
    """Selected row."""
    line: str
    """Hairlines only: never carries meaning."""
    edge: str
    """Zero dots, unlit parts of bars."""
    faint: str
    """Headings of columns, units, paths, rails off the path."""
    sub: str
    """Machine text, rows off the path."""
    text: str
    """Prompts, values, file names."""
    leaf: str
    memory: str
    ghost: str
    warn: str
    bad: str
    leaf_tint: str
    memory_tint: str
    ghost_tint: str
    warn_tint: str
    bad_tint: str

    @property
    def ansi(self) -> bool:
        """Whether any colour is one of the terminal's own, whose contrast cannot be computed."""
        return any(getattr(self, name).startswith("ansi_") for name in _COLOUR_FIELDS)

    def mono(self) -> Palette:
        """The palette without hue: every colour becomes the grey of its luminance, so that all contrasts are unchanged.

        Colours of the terminal's own become `sub`: sign, fill and weight alone then tell states apart.
        """
        changed: dict[str, Any] = {}
        for name in _COLOUR_FIELDS:
            colour: str = getattr(self, name)
            if not colour.startswith("ansi_"):
                changed[name] = grey(colour)
            elif name in HUES:
                changed[name] = self.sub
        return self._replace(**changed)

    def eight_bit(self) -> Palette:
        """The palette in the fixed colours of a 256-colour terminal, chosen so that text stays readable."""
        if self.ansi:
            return self
        grounds = ("bg", "panel", "raised", "sel")
        changed: dict[str, Any] = {name: nearest_eight_bit(getattr(self, name)) for name in grounds}
        ground = changed["bg"]
        for name in ("line", "edge"):
            changed[name] = nearest_eight_bit(getattr(self, name), (ground,), 1.2)
        changed["faint"] = nearest_eight_bit(self.faint, (ground, changed["panel"]), 4.5)
        for name in ("sub", "text", *HUES):
            changed[name] = nearest_eight_bit(
                getattr(self, name), (ground, changed["raised"], changed["sel"]), 4.5
            )
        for hue in HUES:
            readers = (changed[hue], changed["sub"])
            changed[f"{hue}_tint"] = nearest_eight_bit(getattr(self, f"{hue}_tint"), readers, 4.5)
        return self._replace(**changed)


_COLOUR_FIELDS = tuple(
    name for name in Palette._fields if name not in {"name", "title", "description", "dark"}
)


# --- reading ----------------------------------------------------------------------------------------------------------


def load_theme(path: Path) -> Palette:
    """Reads the theme file at `path`. Raises ThemeError with every fault in it, each naming the file and the key."""
    try:
        data = tomllib.loads(read_regular(path, _LARGEST).decode("utf-8"))
    except OSError as error:
        raise ThemeError((f"{path.name}: {error.strerror or error}",)) from error
    except UnicodeDecodeError as error:
        raise ThemeError((f"{path.name}: not UTF-8 at byte {error.start}",)) from error
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ThemeError((f"{path.name}: not TOML: {reason}",)) from error
    faults: list[str] = []
    top = _Table(data, "", faults, ("name", "title", "description", "dark", "palette", "tint"))
    values: dict[str, Any] = {
        "name": top.text("name"),
        "title": top.text("title"),
        "description": top.text("description", required=False),
        "dark": top.truth("dark"),
    }
    if values["name"] and not _NAME.fullmatch(values["name"]):
        faults.append(f"name: {values['name']!r} may hold a-z, 0-9 and - only")
    palette = top.table("palette", TOKENS)
    for key in TOKENS:
        values["raised" if key == "raise" else key] = palette.colour(key)
    tint = top.table("tint", HUES)
    for hue in HUES:
        values[f"{hue}_tint"] = tint.colour(hue)
    if faults:
        raise ThemeError(tuple(safe_line(f"{path.name}: {fault}", _LONGEST_FAULT) for fault in faults))
    return Palette(**values)


class _Table:
    """One table of a theme file; a wrong value adds a fault to `faults` and is replaced by a default."""

    def __init__(self, data: dict[str, Any], prefix: str, faults: list[str], known: tuple[str, ...]) -> None:
        self._data = data
        self._prefix = prefix
        self._faults = faults
        for key in data:
            if key not in known:
                near = get_close_matches(key, known, 1, 0.5)
                hint = f", did you mean {prefix}{near[0]}?" if near else f", known are {', '.join(known)}"
                faults.append(f"{prefix}{key}: unknown key{hint}")

    def text(self, key: str, *, required: bool = True) -> str:
        value = self._data.get(key, None if required else "")
        if isinstance(value, str) and (value.strip() or not required) and value.isprintable():
            return value.strip()
        self._fault(key, "one line of text in quotes")
        return ""

    def truth(self, key: str) -> bool:
        value = self._data.get(key)
        if isinstance(value, bool):
            return value
        self._fault(key, "true or false")
        return True

    def table(self, key: str, known: tuple[str, ...]) -> _Table:
        value = self._data.get(key)
        if isinstance(value, dict):
            return _Table(value, f"{self._prefix}{key}.", self._faults, known)
        self._fault(key, f"a table [{key}]")
        return _Table({}, f"{self._prefix}{key}.", [], known)

    def colour(self, key: str) -> str:
        """The colour as `#rrggbb` or `ansi_…`; Textual parses it later, so it must be parsable here."""
        value = self._data.get(key)
        if not isinstance(value, str):
            self._fault(key, 'a colour such as "#9ccb7a"')
            return "#000000"
        try:
            colour = Color.parse(value.strip().lower())
        except (ColorParseError, OverflowError):
            self._faults.append(f"{self._prefix}{key}: {value!r} is no colour")
            return "#000000"
        if colour.ansi is not None:
            return colour.hex
        if colour.a < 1 or colour.auto:
            self._faults.append(f"{self._prefix}{key}: {value!r} is not opaque")
        return colour.hex6.lower()

    def _fault(self, key: str, expected: str) -> None:
        if key in self._data:
            self._faults.append(f"{self._prefix}{key}: must be {expected}, not {self._data[key]!r}")
        else:
            self._faults.append(f"{self._prefix}{key}: missing, must be {expected}")


@cache
def _built_in_folder() -> Path:
    """The folder of themes, beside their package's module: loading `importlib.resources` would delay the first frame."""
    return Path(leafward_themes.__path__[0])


@cache
def built_in_names() -> tuple[str, ...]:
    """Names of the built-in themes, the two defaults first; a name is also its file's."""
    found = sorted(
        path.name.removesuffix(".toml")
        for path in _built_in_folder().iterdir()
        if path.name.endswith(".toml")
    )
    return tuple(sorted(found, key=lambda name: (name != DEFAULT_DARK, name != DEFAULT_LIGHT)))


@cache
def built_in_theme(name: str) -> Palette:
    """The built-in theme `name`; reads that one file. Raises KeyError for an unknown name."""
    if name not in built_in_names():
        raise KeyError(name)
    return load_theme(_built_in_folder().joinpath(f"{name}.toml"))


class Palettes(Mapping[str, Palette]):
    """All themes by name, the two defaults first; a user's own replaces a built-in one of its name.

    The file of a built-in theme is read when it is first asked for: start-up needs one of them.
    """

    def __init__(self, own: Iterable[Palette] = ()) -> None:
        self._own = {palette.name: palette for palette in own}
        self._names = tuple(dict.fromkeys((*built_in_names(), *self._own)))

    def __getitem__(self, name: str) -> Palette:
        found = self._own.get(name)
        return found if found is not None else built_in_theme(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def user_themes(folder: Path) -> tuple[tuple[Palette, ...], tuple[str, ...]]:
    """Themes of the user's `folder` in the order of their file names, and problems of the files left out.

    A theme with the name of a built-in one is meant to replace it. A missing folder is no problem.
    """
    themes: dict[str, Palette] = {}
    problems: list[str] = []
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except FileNotFoundError:
        return (), ()
    except OSError as error:
        return (), (f"{folder}: {error.strerror or error}",)
    for path in paths:
        try:
            theme = load_theme(path)
        except ThemeError as error:
            problems.extend(error.faults)
            continue
        if theme.name in themes:
            problems.append(f"{path.name}: name: {theme.name!r} is taken by another file of this folder")
        else:
            themes[theme.name] = theme
    return tuple(themes.values()), tuple(problems)


def unknown_theme(name: str, palettes: Iterable[str]) -> str:
    """The message about a configured theme whose name is unknown."""
    close = get_close_matches(name, palettes, 1, 0.5)
    hint = f", did you mean {close[0]}?" if close else ""
    return f"theme: there is no theme {name!r}{hint}; {DEFAULT_DARK} is used"


# --- contrast ---------------------------------------------------------------------------------------------------------

_READ_ON = (
    ("bg", ("faint", "sub", "text", *HUES)),
    ("panel", ("faint", "sub", "text", *HUES)),
    ("raised", ("sub", "text", *HUES)),
    ("sel", ("sub", "text", *HUES)),
)


_READABLE = 4.5


def weak_contrasts(palette: Palette) -> tuple[str, ...]:
    """Pairs of colours that are read together and have less than 4.5 of contrast, one sentence each.

    For a user's own theme: it is used as it is, and these are the warnings about it. Nothing for `ansi` themes.
    """
    if palette.ansi:
        return ()
    pairs = [(ink, ground) for ground, inks in _READ_ON for ink in inks]
    pairs += [(ink, f"{hue}_tint") for hue in HUES for ink in (hue, "sub", "text")]
    weak = []
    for ink, ground in pairs:
        ratio = contrast(getattr(palette, ink), getattr(palette, ground))
        if ratio < _READABLE:
            weak.append(
                f"{palette.name}: {ink} on {ground} has a contrast of {ratio:.1f}, {_READABLE} is readable"
            )
    return tuple(weak)
