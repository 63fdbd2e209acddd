"""The abilities of the terminal, decided from its environment: number of colours, a way to the clipboard.

Imports neither Textual nor Rich: `textual_settings` has to be asked, and its answer put into the environment, before
Textual is imported, because Textual reads its variables once.
"""

from __future__ import annotations

import base64
import sys
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from textual.app import App

COLOR_SYSTEM_VARIABLE = "TEXTUAL_COLOR_SYSTEM"
"""The variable that sets the number of colours for Textual, at import."""

FRAMES_VARIABLE = "TEXTUAL_FPS"
"""The variable that sets the most frames a second for Textual, at import."""
_FRAMES = 120
"""Textual waits one to two frames after a frame before it paints the next: with its own 60, a key that comes just after
something else was painted is seen up to 33 ms later, with these at most 17."""

OSC52_LIMIT = 74_994
"""Bytes of text one OSC 52 sequence may carry: 99,992 as base64, just under the 100,000 that terminals cut at."""


class Depth(IntEnum):
    """The number of colour bits that the terminal takes."""

    NONE = 0
    SIXTEEN = 4
    EIGHT_BIT = 8
    TRUE = 24


class Multiplexer(StrEnum):
    """The program between us and the terminal, which eats escape sequences it does not know."""

    NONE = "none"
    TMUX = "tmux"
    SCREEN = "screen"


# Terminals with 24 bits that name themselves in TERM; ssh hands TERM on, but not COLORTERM.
_TRUE_TERMS = (
    "xterm-kitty",
    "xterm-ghostty",
    "ghostty",
    "alacritty",
    "foot",
    "wezterm",
    "contour",
    "rio",
    "tmux",
)
_TRUE_PROGRAMS = frozenset(
    {"iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "rio", "Tabby", "WarpTerminal", "zed"}
)
_VTE_TRUE = 3600  # VTE 0.36 brought 24 bits
_COLOR_SYSTEMS = {
    "standard": Depth.SIXTEEN,
    "windows": Depth.SIXTEEN,
    "256": Depth.EIGHT_BIT,
    "truecolor": Depth.TRUE,
}
_SYSTEM_NAMES = {Depth.SIXTEEN: "standard", Depth.EIGHT_BIT: "256", Depth.TRUE: "truecolor"}


def _rich_depth(env: Mapping[str, str]) -> Depth:
    """The depth Rich 15 finds by itself from COLORTERM and the ending of TERM."""
    term = env.get("TERM", "").strip().lower()
    if term in {"dumb", "unknown"}:
        return Depth.NONE
    if env.get("COLORTERM", "").strip().lower() in {"truecolor", "24bit"}:
        return Depth.TRUE
    return Depth.EIGHT_BIT if term.endswith(("-256color", "-kitty")) else Depth.SIXTEEN


def _vte_true(env: Mapping[str, str]) -> bool:
    version = env.get("VTE_VERSION", "")
    return version.isdecimal() and int(version) >= _VTE_TRUE


def _depth(env: Mapping[str, str], *, windows: bool) -> Depth:
    named = env.get(COLOR_SYSTEM_VARIABLE, "").strip().lower()
    if named in _COLOR_SYSTEMS:
        return _COLOR_SYSTEMS[named]
    found = _rich_depth(env)
    term = env.get("TERM", "").strip().lower()
    if windows and not term:
        return Depth.TRUE  # every console since Windows 10; Rich asks the console itself
    if found in {Depth.NONE, Depth.TRUE} or term.startswith("linux"):
        return found
    if env.get("TMUX"):
        return Depth.TRUE  # tmux takes 24 bits and reduces them itself, better than Rich, for what is outside
    if env.get("STY"):
        return found  # what stands around GNU screen says nothing about what passes through it
    if term.startswith(_TRUE_TERMS) or term.endswith("-direct"):
        return Depth.TRUE
    if (
        env.get("TERM_PROGRAM") in _TRUE_PROGRAMS
        or env.get("WT_SESSION")
        or env.get("KONSOLE_VERSION")
        or _vte_true(env)
    ):
        return Depth.TRUE
    return found


class Terminal(NamedTuple):
    """The facts known of the terminal; a value, made once at the start with `Terminal.detect(os.environ)`."""

    depth: Depth
    no_color: bool
    """Whether the user asked for no hues: NO_COLOR is set and not empty (no-color.org)."""
    multiplexer: Multiplexer
    clipboard: bool
    """False where OSC 52 is known to go nowhere. True promises nothing: a terminal never reports the outcome."""

    @classmethod
    def detect(cls, env: Mapping[str, str], *, windows: bool = sys.platform == "win32") -> Terminal:
        """Reads the environment `env`; nothing is asked of the terminal itself."""
        term = env.get("TERM", "").strip().lower()
        if env.get("TMUX"):
            multiplexer = Multiplexer.TMUX
        elif env.get("STY"):
            multiplexer = Multiplexer.SCREEN
        else:
            multiplexer = Multiplexer.NONE
        deaf = term.startswith(("linux", "dumb", "unknown")) or env.get("TERM_PROGRAM") == "Apple_Terminal"
        return cls(
            depth=_depth(env, windows=windows),
            no_color=bool(env.get("NO_COLOR")),
            multiplexer=multiplexer,
            clipboard=not deaf,
        )


def textual_settings(env: Mapping[str, str], *, windows: bool = sys.platform == "win32") -> dict[str, str]:
    """The variables to set while Textual is imported. A variable that the user has set stays."""
    settings = {}
    if (colours := color_system(env, windows=windows)) is not None:
        settings[COLOR_SYSTEM_VARIABLE] = colours
    if not env.get(FRAMES_VARIABLE):
        settings[FRAMES_VARIABLE] = str(_FRAMES)
    return settings


def color_system(env: Mapping[str, str], *, windows: bool) -> str | None:
    """The value to set for `TEXTUAL_COLOR_SYSTEM` before Textual is imported, None where Rich already finds it.

    Rich looks at COLORTERM and the last part of TERM only: Ghostty, foot and Alacritty over ssh would get 16 colours,
    kitty 256, and `xterm-direct` 16.
    """
    if windows or env.get(COLOR_SYSTEM_VARIABLE):
        return None
    depth = _depth(env, windows=windows)
    return None if depth is _rich_depth(env) else _SYSTEM_NAMES.get(depth)


class CopiedTo(StrEnum):
    """The places that a copied text reached."""

    TERMINAL = "terminal"
    FILE = "file"
    NOWHERE = "nowhere"


class Copied(NamedTuple):
    """The outcome of a copy, for a message of one line."""

    to: CopiedTo
    characters: int
    path: Path | None = None
    """The file the text was written to."""
    reason: str = ""
    """The reason why it did not go to the terminal; empty when it did."""
    what: str = ""
    """The name of the copied text, `the prompt`; empty where the user chose it."""

    def __str__(self) -> str:
        size = f"{self.characters:,} character" + ("" if self.characters == 1 else "s")
        if self.what:
            size = f"{self.what} ({size})"
        if self.to is CopiedTo.TERMINAL:
            return f"copied {size}"
        if self.to is CopiedTo.FILE:
            return f"wrote {size} to {self.path}: {self.reason}"
        return f"not copied: {self.reason}"


def osc52(text: str, multiplexer: Multiplexer = Multiplexer.NONE) -> str:
    r"""The escape sequence that puts `text` on the terminal's clipboard, in base64, so that no part of it is obeyed.

    Inside tmux it is there twice: raw, which tmux takes itself under `set-clipboard on`, and wrapped in `\ePtmux;`
    … `\e\\` with every escape doubled, which it passes through under `allow-passthrough on`. GNU screen gets it in
    device control strings short enough for its buffer.
    """
    payload = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    raw = f"\x1b]52;c;{payload}\x07"
    if multiplexer is Multiplexer.TMUX:
        return f"{raw}\x1bPtmux;{raw.replace(chr(27), chr(27) * 2)}\x1b\\"
    if multiplexer is Multiplexer.SCREEN:
        return "".join(f"\x1bP{raw[i : i + 240]}\x1b\\" for i in range(0, len(raw), 240))
    return raw


def _write_private(path: Path, text: str) -> None:
    """Writes `text` to `path`, mode 0600, whole or not at all; the folder is made with mode 0700."""
    from leafward.base.durable import replace_file

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(path, text.encode("utf-8", "replace"))


def copy_text(app: App[Any], text: str, *, terminal: Terminal, fallback: Path) -> Copied:
    """Puts `text` on the clipboard by OSC 52, or into the file `fallback` where that cannot work; never raises.

    A text of more than `OSC52_LIMIT` bytes goes to the file whole: a terminal would drop it, or worse, cut it.
    `App.clipboard` holds the text in every case, so pasting inside the application works.
    """
    size = len(text.encode("utf-8", "replace"))
    # Textual's own copy_to_clipboard also writes the raw sequence, whatever multiplexer is between us and the terminal:
    # GNU screen draws the part of it that is longer than its buffer.
    app._clipboard = text.encode("utf-8", "replace").decode("utf-8")  # noqa: SLF001  # no other way to set it alone
    driver = getattr(app, "_driver", None)
    if terminal.clipboard and size <= OSC52_LIMIT and driver is not None:
        driver.write(osc52(text, terminal.multiplexer))
        return Copied(CopiedTo.TERMINAL, len(text))
    if size > OSC52_LIMIT:
        reason = "too long for the terminal's clipboard"
    else:
        reason = "this terminal has no clipboard sequence"
    try:
        _write_private(fallback, text)
    except OSError as error:
        return Copied(
            CopiedTo.NOWHERE, len(text), reason=f"{reason}, and {fallback}: {error.strerror or error}"
        )
    return Copied(CopiedTo.FILE, len(text), fallback, reason)


def hung_up(descriptor: int) -> bool:
    """Whether the other end of a terminal is gone: its window was closed, or the connection broke.

    A process that no shell stands behind gets no signal then, and reading gives an empty answer at once, for ever.
    """
    import select

    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & select.POLLHUP for _, event in poll.poll(0))
