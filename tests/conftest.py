"""Surroundings of every test: folders of its own, a fixed terminal, zone, locale and umask, no network, no litellm."""

from __future__ import annotations

import ast
import gc
import ipaddress
import os
import re
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import ExitStack, closing
from itertools import count
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from leafward.session import native_file
from leafward.session.lines import line_decoding
from leafward.session.session import Session
from tests.foreign_sessions import close_all
from tests.foreign_stores import AGENTS, watched
from tests.model_endpoint import Endpoint, Reply
from tests.surroundings import CORPORA, REPOSITORY, THOROUGH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from pathlib import Path
    from types import ModuleType

    from leafward.session.entries import Body
    from tests.foreign_stores import Store


# Deadlines measure the machine, not the code. What failed is remembered nowhere: the seed is printed instead.
hypothesis.settings.register_profile(
    "leafward", deadline=None, database=None, print_blob=True, max_examples=100 if THOROUGH else 25
)
hypothesis.settings.load_profile("leafward")

_REMOVED = {
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORFGBG",
    "COLUMNS",
    "ESCDELAY",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LINES",
    "NO_COLOR",
    "SSH_CONNECTION",
    "SSH_TTY",
    "STY",
    "TERM_PROGRAM",
    "TMUX",
    "TMUX_PANE",
}
_REMOVED_PREFIXES = (
    "CLAUDE_",
    "CODEX_",
    # A hook of git tells what it runs where its repository is.
    "GIT_",
    "LC_",
    "LEAFWARD_",
    "LITELLM_",
    "OPENCODE_",
    "PI_",
    "TEXTUAL_",
    "XDG_",
)
_REMOVED_SUFFIXES = ("_API_BASE", "_API_KEY", "_AUTH_TOKEN", "_BASE_URL", "_PROXY")
_KEPT = {
    "LEAFWARD_CLAUDE",
    "LEAFWARD_NODE",
    "LEAFWARD_OPENCODE",
    "LEAFWARD_PI",
    "LEAFWARD_TEST_WORKERS",
    "LEAFWARD_THOROUGH",
    "TEXTUAL_SNAPSHOT_TEMPDIR",
}
"""Variables that steer the tests themselves; by the last one the processes of the snapshot plugin share their folder."""

_SERIAL = count()

_LONGEST_ID = 60
"""Characters of a value in the name of a test."""

_TEXTUAL_CONSTANTS = {
    "COLOR_SYSTEM": "auto",
    "ESCAPE_DELAY": 0.1,
    "FILTERS": "",
    "TEXTUAL_ANIMATIONS": "none",
}
"""Textual reads its variables once, when the snapshot plugin imports it before this file: set again here."""


def pytest_xdist_auto_num_workers() -> int:
    """Half again as many processes as processors: what waits for a screen, a disk or a server leaves its own idle."""
    ours = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, ours * 3 // 2)


def pytest_make_parametrize_id(val: object) -> str | None:
    """A long value is named by its beginning: names go between the processes, into reports and the environment of children."""
    if isinstance(val, str | bytes) and len(val) > _LONGEST_ID:
        return f"{val[:_LONGEST_ID]!a}-{len(val)}"
    return None


def pytest_collection_finish() -> None:
    """The tests themselves are no garbage: that each collection looks through them takes a tenth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _from_outside(name: str) -> bool:
    upper = name.upper()
    return upper not in _KEPT and (
        upper in _REMOVED or upper.startswith(_REMOVED_PREFIXES) or upper.endswith(_REMOVED_SUFFIXES)
    )


@pytest.fixture
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for this test alone. pytest's own numbers cost a look through the folders of all tests before it."""
    folder = tmp_path_factory.getbasetemp() / str(next(_SERIAL))
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def tmp_path(_folder: Path, request: pytest.FixtureRequest) -> Path:
    """An empty folder with the name of the test, as pytest's own."""
    folder = _folder / (re.sub(r"\W", "_", request.node.name)[:30] + "0")
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def isolated_environment(_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of this test, empty, and outside its `tmp_path`; children inherit all of this."""
    for name in list(os.environ):
        if _from_outside(name):
            monkeypatch.delenv(name)
    home, temporary = _folder / "home", str(_folder / "temporary")
    home.mkdir()
    os.mkdir(temporary)
    folders = {
        "HOME": home,
        "USERPROFILE": home,
        "APPDATA": home / "AppData" / "Roaming",
        "LOCALAPPDATA": home / "AppData" / "Local",
        "LEAFWARD_HOME": home / "leafward",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "PI_CODING_AGENT_DIR": home / ".pi" / "agent",
        "CODEX_HOME": home / ".codex",
        "CLAUDE_CONFIG_DIR": home / ".claude",
    }
    for name, folder in folders.items():
        monkeypatch.setenv(name, str(folder))
    # What others leave in the machine's own folder is none of a test's business.
    monkeypatch.setenv("TMPDIR", temporary)
    monkeypatch.setattr(tempfile, "tempdir", temporary)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setenv("TZ", "UTC")
    return home


@pytest.fixture(autouse=True, scope="session")
def _utc() -> Iterator[None]:
    """The zone of this process; the variable alone is read by children only."""
    if not hasattr(time, "tzset"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def in_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Sets the zone of this process and its children until the test is over."""
    if not hasattr(time, "tzset"):
        pytest.skip("the zone of a process cannot be changed here")

    def enter(name: str) -> None:
        patch.setenv("TZ", name)
        time.tzset()

    with monkeypatch.context() as patch:
        yield enter
    time.tzset()


@pytest.fixture(autouse=True, scope="session")
def _umask() -> Iterator[None]:
    """Permissions of new files are those of most machines, also for children."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture(autouse=True, scope="session")
def _textual_constants() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _TEXTUAL_CONSTANTS.items():
            patch.setattr(f"textual.constants.{name}", value)
        yield


@pytest.fixture(autouse=True, scope="session")
def _parsed_one_at_a_time() -> Iterator[None]:
    """Python before 3.11.8 and 3.12.2 raises SystemError where two threads parse at once.

    litellm does, in the loop's thread, for the traceback of each failed request; pytest and inspect do, in the main thread.
    """
    parse, one_at_a_time = ast.parse, threading.RLock()

    def parsed_alone(*source: Any, **how: Any) -> Any:
        with one_at_a_time:
            return parse(*source, **how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ast, "parse", parsed_alone)
        yield


class OutsideNetworkError(AssertionError):
    """A test tried to leave this machine."""


def _loopback(host: object) -> bool:
    if host is None:
        return True
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name.lower() in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True, scope="session")
def _loopback_only() -> Iterator[None]:
    """Sockets reach Unix paths and loopback, and names are looked up only when they are local."""
    connect, connect_ex, sendto = socket.socket.connect, socket.socket.connect_ex, socket.socket.sendto
    getaddrinfo = socket.getaddrinfo

    def refuse_outside(family: int, address: object) -> None:
        if family not in {socket.AF_INET, socket.AF_INET6}:
            return
        if not isinstance(address, tuple) or not _loopback(address[0]):
            raise OutsideNetworkError(f"tests use no network but loopback: {address!r}")

    def local_connect(self: socket.socket, address: tuple[str, int]) -> None:
        refuse_outside(self.family, address)
        connect(self, address)

    def local_connect_ex(self: socket.socket, address: tuple[str, int]) -> int:
        refuse_outside(self.family, address)
        return connect_ex(self, address)

    def local_sendto(self: socket.socket, data: bytes, *rest: Any) -> int:
        refuse_outside(self.family, rest[-1])
        return sendto(self, data, *rest)

    def local_getaddrinfo(host: str | bytes | None, *rest: Any, **named: Any) -> object:
        if not _loopback(host):
            raise OutsideNetworkError(f"tests look up no names: {host!r}")
        return getaddrinfo(host, *rest, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", local_connect)
        patch.setattr(socket.socket, "connect_ex", local_connect_ex)
        patch.setattr(socket.socket, "sendto", local_sendto)
        patch.setattr(socket, "getaddrinfo", local_getaddrinfo)
        yield


class LitellmImportedError(AssertionError):
    """litellm was imported in the test process; no `except ImportError` may hide that."""


class _NoLitellm:
    """A finder that comes before all others and refuses one package."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name == "litellm" or name.startswith("litellm."):
            raise LitellmImportedError("litellm imported; mark the test `litellm` if it is meant to")
        return None


@pytest.fixture(autouse=True)
def _no_litellm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("litellm") is None:
        # A marked test that ran before in this process has left it loaded.
        monkeypatch.delitem(sys.modules, "litellm", raising=False)
        monkeypatch.setattr(sys, "meta_path", [_NoLitellm, *sys.meta_path])


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Real session files by agent, where they lie beside the checkout; the test is skipped where they do not."""
    if not CORPORA.is_dir():
        pytest.skip("no ../shared/corpora beside this checkout")
    return CORPORA


@pytest.fixture(autouse=True)
def opened_sessions_are_closed() -> Iterator[None]:
    """Closes the sessions that a test opened for as long as it runs."""
    yield
    close_all()


@pytest.fixture(params=AGENTS)
def foreign(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A session of each other agent in turn; whatever is done to it, nothing of the store may change."""
    with watched(request.param, tmp_path / "store") as made:
        yield made


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoint]:
    """A server for a module; the loop that asked it is closed with it."""
    with Endpoint() as endpoint:
        yield endpoint
        if "leafward.summaries.summarizers.model.litellm_requests" in sys.modules:
            from leafward.summaries.summarizers.model.litellm_requests import close_model_loop

            close_model_loop()
    gc.collect()


@pytest.fixture
def endpoint(server: Endpoint) -> Endpoint:
    """The server, with a whole answer to whatever it is asked."""
    server.play(Reply())
    return server


@pytest.fixture
def opened() -> Iterator[Callable[[Path], Session]]:
    """Opens session files and closes them when the test is over."""
    with ExitStack() as stack:
        yield lambda path: stack.enter_context(closing(Session.open(path)))


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Lines decoded whole by a session, and their bytes; a scan's own count is `Scan.decoded`."""
    found: Counter[str] = Counter()
    really = line_decoding.decode_line

    def counting(line: bytes) -> Body | None:
        found["lines"] += 1
        found["bytes"] += len(line)
        return really(line)

    monkeypatch.setattr(native_file, "decode_line", counting)
    return found
