from __future__ import annotations

import base64
import os
import select
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from textual.app import App

from leafward_tui.ui.appearance.terminal import (
    OSC52_LIMIT,
    Copied,
    CopiedTo,
    Depth,
    Multiplexer,
    Terminal,
    _rich_depth,
    color_system,
    copy_text,
    osc52,
    textual_settings,
)

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {None: Depth.NONE, "standard": Depth.SIXTEEN, "256": Depth.EIGHT_BIT, "truecolor": Depth.TRUE}
TRUE = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


@pytest.mark.skipif(sys.platform == "win32", reason="Rich asks the console there")
@pytest.mark.parametrize(
    "term",
    ["", "xterm", "xterm-256color", "xterm-kitty", "screen-16color", "linux", "dumb", "foot", "xterm-direct"],
)
@pytest.mark.parametrize("colorterm", ["", "truecolor", "24bit", "yes"])
def test_we_know_what_rich_decides(term: str, colorterm: str) -> None:
    env = {"TERM": term, "COLORTERM": colorterm}
    console = Console(force_terminal=True, _environ=env)
    assert _rich_depth(env) is NAMES[console.color_system]


@pytest.mark.parametrize(
    ("env", "depth", "override"),
    [
        (TRUE, Depth.TRUE, None),
        ({"TERM": "xterm-256color"}, Depth.EIGHT_BIT, None),
        ({"TERM": "xterm"}, Depth.SIXTEEN, None),
        ({"TERM": "linux"}, Depth.SIXTEEN, None),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, Depth.NONE, None),
        # what Rich misses
        ({"TERM": "xterm-ghostty"}, Depth.TRUE, "truecolor"),
        ({"TERM": "alacritty"}, Depth.TRUE, "truecolor"),
        ({"TERM": "xterm-kitty"}, Depth.TRUE, "truecolor"),
        ({"TERM": "xterm-direct"}, Depth.TRUE, "truecolor"),
        ({"TERM": "tmux-256color"}, Depth.TRUE, "truecolor"),
        ({"TERM": "screen-256color", "TMUX": "/tmp/tmux-0/default,1,0"}, Depth.TRUE, "truecolor"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, Depth.TRUE, "truecolor"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "3409"}, Depth.EIGHT_BIT, None),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, Depth.TRUE, "truecolor"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, Depth.EIGHT_BIT, None),
        ({"TERM": "screen-256color", "STY": "1.pts-0", "VTE_VERSION": "7600"}, Depth.EIGHT_BIT, None),
        # the user's word
        ({**TRUE, "TEXTUAL_COLOR_SYSTEM": "256"}, Depth.EIGHT_BIT, None),
        ({"TERM": "xterm-ghostty", "TEXTUAL_COLOR_SYSTEM": "standard"}, Depth.SIXTEEN, None),
        ({**TRUE, "TEXTUAL_COLOR_SYSTEM": "auto"}, Depth.TRUE, None),
    ],
)
def test_the_environment_tells_the_depth_of_colours(
    env: dict[str, str], depth: Depth, override: str | None
) -> None:
    assert Terminal.detect(env, windows=False).depth is depth
    assert color_system(env, windows=False) == override


def test_no_color_counts_only_when_it_says_something() -> None:
    assert Terminal.detect({**TRUE, "NO_COLOR": "1"}, windows=False).no_color
    assert not Terminal.detect({**TRUE, "NO_COLOR": ""}, windows=False).no_color
    assert not Terminal.detect(TRUE, windows=False).no_color


def test_on_windows_rich_asks_the_console() -> None:
    assert color_system({}, windows=True) is None
    assert Terminal.detect({}, windows=True).depth is Depth.TRUE


def test_textual_is_told_what_the_user_has_not_said() -> None:
    ghostty = {"TERM": "xterm-ghostty"}
    assert textual_settings(ghostty, windows=False) == {
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TEXTUAL_FPS": "120",
    }
    assert textual_settings({**ghostty, "TEXTUAL_FPS": "30"}, windows=False) == {
        "TEXTUAL_COLOR_SYSTEM": "truecolor"
    }
    assert textual_settings(TRUE, windows=False) == {"TEXTUAL_FPS": "120"}


def test_the_module_decides_before_textual_is_imported() -> None:
    code = "import sys, leafward_tui.ui.appearance.terminal; print([m for m in ('textual', 'rich') if m in sys.modules])"
    roots = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": roots},
    )
    assert done.stdout.strip() == "[]"


# --- copying


def payloads(sequence: str) -> list[str]:
    return [base64.b64decode(part.split("\x07")[0]).decode() for part in sequence.split("]52;c;")[1:]]


def test_the_text_is_inside_as_base64() -> None:
    hostile = "a\x1b]52;c;evil\x07\x1b\\ b 你好"
    plain = osc52(hostile)
    assert plain.startswith("\x1b]52;c;")
    assert plain.endswith("\x07")
    assert plain.count("\x1b") == 1
    assert payloads(plain) == [hostile]


def test_in_tmux_it_stands_raw_and_wrapped() -> None:
    raw = osc52("leaf")
    both = osc52("leaf", Multiplexer.TMUX)
    assert both == raw + "\x1bPtmux;\x1b\x1b]52;c;bGVhZg==\x07\x1b\\"


def test_in_screen_it_is_cut_into_strings_it_can_hold() -> None:
    text = "leaf " * 400
    pieces = osc52(text, Multiplexer.SCREEN).split("\x1b\\")
    assert pieces.pop() == ""
    assert all(piece.startswith("\x1bP") and len(piece) <= 242 for piece in pieces)
    assert "".join(piece[2:] for piece in pieces) == osc52(text)


def test_a_lone_surrogate_does_not_stop_it() -> None:
    assert payloads(osc52("a\ud800b")) == ["a?b"]


@pytest.mark.parametrize(
    ("env", "multiplexer", "clipboard"),
    [
        (TRUE, Multiplexer.NONE, True),
        ({**TRUE, "TMUX": "x"}, Multiplexer.TMUX, True),
        ({**TRUE, "STY": "x"}, Multiplexer.SCREEN, True),
        ({"TERM": "linux"}, Multiplexer.NONE, False),
        ({"TERM": "dumb"}, Multiplexer.NONE, False),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, Multiplexer.NONE, False),
    ],
)
def test_the_way_to_the_clipboard(env: dict[str, str], multiplexer: Multiplexer, clipboard: bool) -> None:
    terminal = Terminal.detect(env, windows=False)
    assert (terminal.multiplexer, terminal.clipboard) == (multiplexer, clipboard)


async def test_what_the_terminal_cannot_take_goes_to_a_file_of_ours(tmp_path: Path) -> None:
    app: App[None] = App()
    fallback = tmp_path / "state" / "clipboard.txt"
    able, deaf = (Terminal.detect(env, windows=False) for env in (TRUE, {"TERM": "linux"}))
    async with app.run_test():
        assert copy_text(app, "short", terminal=able, fallback=fallback) == Copied(CopiedTo.TERMINAL, 5)
        assert app.clipboard == "short"
        assert not fallback.exists()

        copied = copy_text(app, "dün", terminal=deaf, fallback=fallback)
        assert (copied.to, copied.path, copied.characters) == (CopiedTo.FILE, fallback, 3)
        assert fallback.read_text(encoding="utf-8") == "dün"
        if sys.platform != "win32":
            assert fallback.stat().st_mode & 0o777 == 0o600
            assert fallback.parent.stat().st_mode & 0o777 == 0o700
        assert [path.name for path in fallback.parent.iterdir()] == ["clipboard.txt"]

        edge = "é" * (OSC52_LIMIT // 2)
        assert copy_text(app, edge, terminal=able, fallback=fallback).to is CopiedTo.TERMINAL
        longer = copy_text(app, edge + "x", terminal=able, fallback=fallback)
        assert longer.to is CopiedTo.FILE
        assert str(longer).startswith("wrote 37,498 characters to ")
        assert "too long" in str(longer)


async def test_screen_gets_no_sequence_that_is_longer_than_its_buffer(tmp_path: Path) -> None:
    """GNU screen draws the rest of a sequence that is longer than its buffer as text."""
    app: App[None] = App()
    terminal = Terminal.detect({**TRUE, "STY": "x"}, windows=False)
    async with app.run_test():
        sent: list[str] = []
        app._driver.write = sent.append  # type: ignore[union-attr,method-assign]
        copy_text(app, "leaf " * 4000, terminal=terminal, fallback=tmp_path / "unused")
        assert sent == [osc52("leaf " * 4000, Multiplexer.SCREEN)]
        assert app.clipboard == "leaf " * 4000


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
def test_a_real_tmux_takes_it_whole_and_draws_nothing(tmp_path: Path) -> None:
    text = "\x1b]0;x\x07" + "leaf 你" * 4000
    data = tmp_path / "sequence"
    data.write_text(osc52(text, Multiplexer.TMUX), "utf-8")
    # The name of a socket may have a hundred characters: it is named from its folder.
    tmux = ["tmux", "-S", "t", "-f", os.devnull]
    settings = ["set", "-g", "set-clipboard", "on", ";", "set", "-g", "allow-passthrough", "on"]
    env = {**os.environ, "LC_ALL": "C.UTF-8"}
    wait = f"cat {data.name}; tmux -S t wait-for -S done; cat"

    def ask(*words: str) -> str:
        done = subprocess.run(
            [*tmux, *words], cwd=tmp_path, capture_output=True, env=env, timeout=60, check=True
        )
        return done.stdout.decode()

    try:
        ask("new-session", "-d", "-x", "80", "-y", "24", "cat", ";", *settings)
        ask("new-window", wait, ";", "wait-for", "done")
        assert ask("show-buffer") == text
        assert ask("capture-pane", "-p").strip() == ""
    finally:
        subprocess.run([*tmux, "kill-server"], cwd=tmp_path, capture_output=True, timeout=60, check=False)


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    app: App[None] = App()
    async with app.run_test():
        terminal = Terminal.detect({"TERM": "linux"}, windows=False)
        copied = copy_text(app, "x", terminal=terminal, fallback=tmp_path / "file" / "clipboard.txt")
    assert copied.to is CopiedTo.NOWHERE
    assert str(copied).startswith("not copied: this terminal has no clipboard sequence, and ")


APP = """
from __future__ import annotations
import os
from pathlib import Path
from textual.app import App
from leafward_tui.ui.appearance.terminal import Terminal, copy_text

class Copier(App[None]):
    def on_mount(self) -> None:
        copy_text(self, "to the leaf", terminal=Terminal.detect(os.environ), fallback=Path("unused"))
        self.set_timer(0.05, self.exit)

Copier().run()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_both_sequences_reach_a_real_terminal(tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    env = {
        **os.environ,
        **TRUE,
        "TMUX": "/tmp/tmux,1,0",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    child = subprocess.Popen(
        [sys.executable, "-c", APP], stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=tmp_path
    )
    os.close(theirs)
    seen = b""
    deadline = time.monotonic() + 60
    try:
        while time.monotonic() < deadline:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    data = os.read(ours, 65536)
                except OSError:
                    break
                if not data:
                    break
                seen += data
            elif child.poll() is not None:
                break
    finally:
        os.close(ours)
        child.kill()
        child.wait()
    assert osc52("to the leaf", Multiplexer.TMUX).encode() in seen
