"""Every verb that writes, on sessions of every kind: what is there before, and what is called."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.session.session import Session
from tests.foreign_stores import make
from tests.surroundings import REPOSITORY
from tests.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STORED = REPOSITORY / "tests" / "data" / "pi" / "sessions"
FOREIGN_PROJECT = "/home/ada/orchard"
"""Where the sessions of the other agents worked; it is not here."""
AGENTS_ID = "a9e27bee"
AGENTS_LINE = (
    b'{"type":"message","id":"a9e27bee","parentId":null,"timestamp":"2026-11-22T10:00:00.000Z",'
    b'"message":{"role":"user","content":[{"type":"text","text":"from the agent"}],"timestamp":1}}\n'
)
"""Line appended by an agent that has the session open."""


@dataclass
class World:
    """A home of its own: the stores of all agents and Leafward's folders."""

    root: Path
    other: Path
    """A folder that may lie on another file system."""

    @property
    def store(self) -> Path:
        return self.root / "home" / ".pi" / "agent" / "sessions" / "--project--"

    @property
    def project(self) -> Path:
        return self.root / "project"

    def enter(self, *, two_disks: bool = False) -> None:
        """Makes the environment of this process that of the home."""
        home = self.root / "home"
        ours = (self.other if two_disks else self.root) / "leafward"
        for folder in (self.store, self.project, self.root / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        tempfile.tempdir = str(self.root / "tmp")
        os.environ.update(
            {
                "HOME": str(home),
                "LEAFWARD_HOME": str(ours),
                "PI_CODING_AGENT_DIR": str(home / ".pi" / "agent"),
                "CODEX_HOME": str(home / ".codex"),
                "CLAUDE_CONFIG_DIR": str(home / ".claude"),
                "XDG_DATA_HOME": str(home / ".local" / "share"),
                "XDG_CONFIG_HOME": str(home / ".config"),
                "LEAFWARD_DEBUG": "",
                "TMPDIR": str(self.root / "tmp"),
                "TZ": "UTC",
                "NO_COLOR": "1",
            }
        )


@dataclass(frozen=True)
class Scene:
    """One call of one verb."""

    name: str
    agent: str
    """Whose session it is; `pi` is native."""
    session: Callable[[World], Path]
    """Makes the session."""
    arguments: Callable[[World, Path], list[str]]
    before: tuple[Callable[[World, Path], list[str]], ...] = ()
    """Calls that come before it, and work."""
    two_disks: bool = False
    makes: tuple[str, ...] = ()
    """Names below the home where it makes files of its own."""
    may_go: bool = False
    """Whether the session may lie in the trash afterwards, or come from there."""
    links: bool = True
    """Whether the file system knows hard links."""
    appends: bool = True
    """Whether it adds lines to the session or its sidecar."""
    installs_in: str = ""
    """The agent into whose file Leafward is put, or out of which it is taken."""

    @property
    def native(self) -> bool:
        return self.agent == "pi"


def _native(name: str, change: Callable[[bytes], bytes] = lambda data: data) -> Callable[[World], Path]:
    def made(world: World) -> Path:
        head, newline, rest = (STORED / f"{name}.jsonl").read_bytes().partition(b"\n")
        header = {**json.loads(head), "cwd": str(world.project)}
        path = world.store / f"2026-11-22T10-00-00-000Z_{header.get('id', name)}.jsonl"
        data = change(json.dumps(header, separators=(",", ":")).encode() + newline + rest)
        path.write_bytes(data)
        return path

    return made


def _foreign(agent: str) -> Callable[[World], Path]:
    def made(world: World) -> Path:
        root = world.root / "home" / (".local/share" if agent == "opencode" else "")
        store = make(agent, root)
        store.close()
        return store.path

    return made


def _verb(*words: str) -> Callable[[World, Path], list[str]]:
    """A call with the session behind the verb; `{other}` is the leaf of another branch, `{root}` the home."""

    def made(world: World, path: Path) -> list[str]:
        other = _other_leaf(path) if any("{other}" in word for word in words) else ""
        given = [word.replace("{other}", other).replace("{root}", str(world.root)) for word in words]
        return [given[0], str(path), *given[1:]]

    return made


def _other_leaf(path: Path) -> str:
    session = Session.open(path)
    try:
        tree = session.tree
        other = next(leaf for leaf in tree.leaves() if not tree.is_ancestor(leaf, session.leaf))
        return str(session.columns.id(other))
    finally:
        session.close()


PROJECT_NOW = {"a.py": b"later\n", "made.py": b"made\n", "sub": b"a file\n", "room/inside": b"inside\n"}
"""Files of the project before a restore of the files at `RESTORED`, and after its undo."""
PROJECT_THEN = {"a.py": b"first\n", "gone.md": b"here\n", "sub/deep": b"deep\n", "room": b"plain\n"}
RESTORED = "0000000b"


def _worked(world: World) -> Path:
    """A session that changed, removed and made files in the project, with folders that became files and files that became folders."""
    bench = Workbench(world.store / "2026-11-22T10-00-00-000Z_worked.jsonl", world.project, 1)
    for name in ("a.py", "src/b.py", "src/deep/c.txt"):
        (world.project / name).unlink()
    bench.run("rm -f made.py")
    for name, data in PROJECT_THEN.items():
        bench.write(name, data.decode())
    if bench.file.leaf != RESTORED:
        raise RuntimeError(f"the entry to restore is {bench.file.leaf}")
    bench.run("rm -f gone.md sub/deep room && rmdir sub && mkdir room")
    for name, data in PROJECT_NOW.items():
        bench.write(name, data.decode())
    return bench.file.path


_MINE = """{
    "model": "opus",   "env": {"NAME": "Zo\u00eb"},
    "hooks": {"PreCompact": [{"matcher": "manual", "hooks": [{"type": "command", "command": "echo mine"}]}]},
  "last": [1,2,  3]
}
"""
"""Settings of a user, as a user lays them out."""
SETTINGS: dict[str, dict[str, bytes]] = {
    "claude": {".claude/settings.json": _MINE.encode()},
    "codex": {".codex/hooks.json": b'{ "hooks": {"PreCompact": []} }'},
    "pi": {".pi/agent/extensions/mine.js": b"// mine\nexport default () => {};\n"},
    "opencode": {".config/opencode/plugin/mine.js": b"/* mine */ export {};\n"},
}
"""Files in the agents' folders before anything is installed."""


def _settled(world: World) -> Path:
    """A session, and the user's own settings of every agent."""
    for files in SETTINGS.values():
        for name, data in files.items():
            path = world.root / "home" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return _native("branches")(world)


def _installing(verb: str, agent: str) -> Callable[[World, Path], list[str]]:
    return lambda _world, _path: [verb, agent]


def _relocation(world: World, _path: Path) -> list[str]:
    return ["relocate", str(world.project), str(world.root / "home")]


def _relocation_to_project(world: World, _path: Path) -> list[str]:
    return ["relocate", FOREIGN_PROJECT, str(world.project)]


LONG = "x" * 9000
_LABEL = _verb("label", "#3", "a label")
_APPENDING: dict[str, Callable[[World, Path], list[str]]] = {
    "move": _verb("move", "#1"),
    "move-summary": _verb("move", "#1", "--summary", "extractive"),
    "label": _LABEL,
    "label-long": _verb("label", "#3", LONG),
    "name": _verb("name", "a name"),
    "archive": _verb("archive"),
    "archive-entry": _verb("archive", "#2"),
    "compact": _verb("compact", "--keep-recent", "1", "--model", "extractive", "--larger", "--accept-loss"),
    "edit-context": _verb("edit-context", "--select", "context() & replies()", "--keep", "1"),
}
_UNDO: dict[str, tuple[Callable[[World, Path], list[str]], ...]] = {
    "undo": (_LABEL,),
    "redo": (_LABEL, _verb("undo")),
}


def scenes() -> list[Scene]:
    """All of them."""
    found = [Scene(name, "pi", _native("branches"), call) for name, call in _APPENDING.items()]
    branches = _native("branches")
    found += [Scene(name, "pi", branches, _verb(name), before) for name, before in _UNDO.items()]
    found += [
        Scene("graft", "pi", branches, _verb("graft", "--select", "turn({other}) - ancestors(leaf)")),
        Scene(
            "merge-summaries", "pi", branches, _verb("merge-summaries", "{other}", "leaf", "--prefer", "both")
        ),
        Scene(
            "compact-elsewhere",
            "pi",
            branches,
            _verb("compact", "--at", "{other}", "--keep-recent", "1", "--larger", "--accept-loss"),
        ),
    ]
    for name, change in (("torn", lambda data: data[:-9]), ("unended", lambda data: data[:-1])):
        made = _native("branches", change)
        found += [
            Scene(f"{verb}-{name}", "pi", made, _APPENDING[verb]) for verb in ("label", "move", "compact")
        ]
    for stored in ("compacted-twice", "edits-and-extras", "moved-away", "rpc-errors"):
        made = _native(stored)
        found += [
            Scene(f"{verb}-{stored}", "pi", made, _APPENDING[verb])
            for verb in ("label", "move", "name", "archive", "archive-entry", "label-long")
        ]
    for version in ("version-1", "version-2"):
        old = _native(version)
        found += [
            Scene(f"{verb}-{version}", "pi", old, _APPENDING[verb], makes=("leafward/state/backups",))
            for verb in ("label", "move")
        ]
    for agent in ("claude", "codex", "opencode"):
        store = _foreign(agent)
        calls = {**_APPENDING, "edit-context": _verb("edit-context", "#1", "--omit")}
        found += [Scene(f"{name}-{agent}", agent, store, call) for name, call in calls.items()]
        found += [
            Scene(f"{name}-again-{agent}", agent, store, _APPENDING[name], (_verb("label", "#1", "before"),))
            for name in ("move", "label", "label-long", "compact")
        ]
        found += [
            Scene(f"{name}-{agent}", agent, store, _verb(name), before) for name, before in _UNDO.items()
        ]
        moved = (_verb("move", "#1"),)
        found += [
            Scene(f"graft-{agent}", agent, store, _verb("graft", "#4", "#5"), moved),
            Scene(
                f"merge-summaries-{agent}",
                agent,
                store,
                _verb("merge-summaries", "#5", "leaf", "--prefer", "both"),
                (*moved, _verb("graft", "#2", "#3")),
            ),
        ]
    for agent, store in (
        ("pi", branches),
        *((name, _foreign(name)) for name in ("claude", "codex", "opencode")),
    ):
        cwd = ("--cwd", "{root}/project")
        found += [
            Scene(
                f"fork-{agent}-to-{to}",
                agent,
                store,
                _verb("fork", "leaf", "--to", to, *cwd),
                makes=("home", "leafward/state/imports"),
                appends=False,
            )
            for to in ("pi", "codex", "claude", "opencode")
        ]
        found += [
            Scene(f"keep-{agent}", agent, store, _verb("keep"), makes=("leafward/data/kept",), appends=False),
            Scene(
                f"keep-sanitised-{agent}",
                agent,
                store,
                _verb("keep", "--sanitised", "{root}/clean/here"),
                makes=("clean",),
                appends=False,
            ),
            *(
                Scene(
                    f"export-{written}-{agent}",
                    agent,
                    store,
                    _verb("export", "--format", written, "-o", "{root}/out"),
                    makes=("",),
                    appends=False,
                )
                for written in ("md", "html", "json")
            ),
            Scene(
                f"diff-{agent}",
                agent,
                store,
                _verb("diff", "#1", "leaf", "--format", "html", "-o", "{root}/out"),
                makes=("",),
                appends=False,
            ),
        ]
        if agent != "pi":
            found.append(
                Scene(
                    f"fork-summary-{agent}",
                    agent,
                    store,
                    _verb("fork", "#3", "--summary", "extractive", "--inject", *cwd),
                    makes=("home", "leafward/state/imports"),
                    appends=False,
                )
            )
        if agent in ("claude", "codex"):
            found.append(
                Scene(
                    f"heal-{agent}",
                    agent,
                    store,
                    _verb("heal", "--anyway", *cwd),
                    makes=("home", "leafward/state/imports"),
                    appends=False,
                )
            )
    found.append(
        Scene("heal", "pi", _native("edits-and-extras"), _verb("heal"), makes=("home",), appends=False)
    )
    # opencode takes new sessions from its own import only.
    for agent, store in (("pi", branches), ("claude", _foreign("claude")), ("codex", _foreign("codex"))):
        found.append(
            Scene(
                f"relocate-{agent}",
                agent,
                store,
                _relocation if agent == "pi" else _relocation_to_project,
                makes=("home",),
                appends=False,
            )
        )
    found += [
        Scene(
            "files", "pi", branches, _verb("files", "--into", "{root}/into"), makes=("into",), appends=False
        ),
        Scene(
            "bisect",
            "pi",
            _worked,
            _verb(
                "bisect",
                "--good",
                RESTORED,
                "--bad",
                "leaf",
                "--base",
                "",
                "--label",
                "bad",
                "--",
                "test",
                "-e",
                "gone.md",
            ),
        ),
        Scene(
            "demo",
            "pi",
            branches,
            lambda world, _path: ["demo", "--copy", str(world.root / "out")],
            makes=("",),
            appends=False,
        ),
        Scene(
            "fork-summary",
            "pi",
            branches,
            _verb("fork", "#6", "--summary", "extractive", "--inject"),
            makes=("home",),
            appends=False,
        ),
        Scene("label-no-links", "claude", _foreign("claude"), _LABEL, links=False),
        Scene(
            "fork-no-links",
            "pi",
            branches,
            _verb("fork", "leaf"),
            links=False,
            makes=("home",),
            appends=False,
        ),
        Scene("ls", "pi", branches, lambda _world, _path: ["ls"], appends=False),
        Scene(
            "forget",
            "pi",
            branches,
            lambda _world, _path: ["doctor", "--forget"],
            (lambda _world, _path: ["ls"],),
            appends=False,
        ),
    ]
    here = ("home", "leafward")
    for agent in SETTINGS:
        put, take = _installing("install", agent), _installing("uninstall", agent)
        for name, call, first in (("install", put, ()), ("uninstall", take, (put,))):
            found.append(
                Scene(
                    f"{name}-{agent}",
                    "pi",
                    _settled,
                    call,
                    first,
                    makes=here,
                    appends=False,
                    installs_in=agent,
                )
            )
    back = _verb("restore", RESTORED)
    below = ("project", "leafward/state/restores")
    restores: tuple[
        tuple[str, Callable[[World, Path], list[str]], tuple[Callable[[World, Path], list[str]], ...]], ...
    ] = (
        ("restore", back, ()),
        ("restore-overwrite", _verb("restore", RESTORED, "a.py", "gone.md", "--overwrite"), ()),
        ("restore-undo", _verb("restore", "--undo"), (back,)),
    )
    for name, call, before in restores:
        found += [
            Scene(f"{name}{end}", "pi", _worked, call, before, makes=below, appends=False, links=links)
            for end, links in (("", True), ("-no-links", False))
        ]
    for two_disks in (False, True):
        name = "-two-disks" if two_disks else ""
        found += [
            Scene(
                f"delete{name}",
                "pi",
                branches,
                _verb("delete"),
                two_disks=two_disks,
                may_go=True,
                appends=False,
            ),
            Scene(
                f"delete-undo{name}",
                "pi",
                branches,
                lambda _world, path: ["delete", "--undo", str(path)],
                (_verb("delete"),),
                two_disks=two_disks,
                may_go=True,
                appends=False,
            ),
        ]
    return found
