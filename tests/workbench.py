"""An agent that really works: its calls change files in a folder, and are recorded as pi records them. For tests."""

from __future__ import annotations

import random
import shlex
import subprocess
from typing import TYPE_CHECKING

from tests.acting import Acting, call

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("a.py", "src/b.py", "src/deep/c.txt", "d.md")
_LIMIT = 12
"""Lines that a read shows at most here."""


def commands(name: str, other: str, number: int) -> tuple[str, ...]:
    """Commands that an agent might run on two files."""
    quoted, other = shlex.quote(name), shlex.quote(other)
    return (
        f"rm -f {quoted}",
        f"cat {quoted}",
        f"sed -n '1,4p' {quoted}",
        f"echo 'appended {number}' >> {quoted}",
        f"cat > {quoted} <<'EOF'\nhere {number}\nand $there\nEOF",
        f"mkdir -p src/deep && mv {quoted} {other}",
        f"mkdir -p src/deep && cp {quoted} {other}",
        f"sed -i 's/line/LINE/' {quoted}",
        "cd src && cat b.py && echo done > b.py",
        "ls",
        "rm -f src/*.py",
        "sed -i s/e/E/ *.* src/[b-c].py",
        "for f in *.py src/*; do test -f $f && echo each >> $f; done; true",
        "mv src/*.py . 2>/dev/null; true",
        f"cat {quoted} && false",
        f"mv {quoted} {other}; true",
        f"cp {quoted} {other} || true",
        f"test -f {quoted} && echo found > {other}; true",
        f"test -f {quoted} || echo made > {quoted}",
        f"if [ -f {quoted} ]; then echo yes > {other}; else rm -f {other}; fi",
        f"for f in {quoted} {other}; do echo loop >> $f; done",
        f"while false; do rm -f {quoted}; done",
        f"false && rm -f {quoted}; echo",
        f"false || rm -f {quoted} && echo a > {other}",
        "(cd src && echo sub > b.py); echo here > a.py",
        f"change() {{ echo never > {quoted}; }}; true",
        f"echo a > {quoted} && false || true",
        f"cat {quoted} > {other}; true",
        "cd nowhere && echo lost > a.py; true",
        f"tail -n +2 {quoted} > t && mv t {quoted}",
        f"exit 0; rm -f {quoted}",
        f"true && rm -f {quoted} && echo done",
        f"echo one > {quoted}; echo two >> {quoted}; true",
        f"case x in y) rm -f {quoted};; *) echo star > {other};; esac",
        f"echo x > nodir/f; mv {quoted} nodir/; true",
        f"{{ echo group; echo more; }} > {quoted}",
        f"! rm {quoted}",
        f"rm {quoted} | cat",
        f"echo x | tee {quoted} > /dev/null",
        f"truncate -s 3 {quoted}; touch {other}",
        f"bash -c 'cd src && echo inner > b.py'; rm -f {quoted}",
        f"bash -ec 'false; echo never > a.py'; echo x > {other}",
        f"bash <<'EOF'\ncat {quoted} > {other}\nEOF",
        f"env A=1 timeout 5 sed -i s/e/E/ {quoted}",
        f"command rm -f {quoted}; exec cp a.py {other}",
        "pushd src > /dev/null && echo pushed > b.py; popd > /dev/null; echo popped > a.py",
        "touch src/{b,d}.py; rm -f {a,d}.{py,md}",
        "for f in b d; do echo each > src/$f.py; done",
        "for f in src/*.py; do mv $f ${f%.py}.txt; done; true",
        "for f in a.py d.md; do mv $f src/; done; true",
        f"cp -n {quoted} {other}; mv -t src {quoted}; true",
        "mv *.py src/; true",
        "cp src/*.py .; true",
        f"install -m 644 {quoted} {other} || install -d x",
        f"perl -0pi -e 's/e/E/' {quoted}",
        f"sort -o {other} {quoted}; true",
        f"python3 - <<'EOF'\np = {name!r}\nopen(p, 'a').write('more\\n')\nEOF",
        f'printf \'import os\\nos.remove("a.py")\\n\' > {other}; python3 -c \'open("a.py", "w").write("py")\'',
    )


class Workbench:
    """Does what it records. Every call is really made; a result says what came of it."""

    def __init__(self, session: Path, folder: Path, seed: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        header = {
            "type": "session",
            "version": 3,
            "id": f"bench-{seed}",
            "timestamp": "2026-11-21T21:18:10.175Z",
            "cwd": str(folder),
        }
        self.file = Acting(session, header)
        self.random = random.Random(seed)
        self.number = 0
        for name in NAMES[:3]:
            self._put(name, "".join(f"{name} line {at}\n" for at in range(self.random.randint(0, 20))))
        self.file.user("begin")

    @property
    def name(self) -> str:
        """The name of its session's file."""
        return self.file.path.name

    def user(self, text: str) -> str:
        """A prompt; its id."""
        return self.file.user(text)

    def reply(self, text: str) -> str:
        """Ends a turn; the id of the reply."""
        return self.file.reply(text)

    def close(self) -> Path:
        """Everything is in the file already; where it lies."""
        return self.file.path

    def _put(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def text(self, name: str) -> str | None:
        """Bytes of the file on disk; None where there is none."""
        path = self.folder / name
        return path.read_bytes().decode() if path.is_file() else None

    def _call(self, tool: str, **arguments: object) -> str:
        self.number += 1
        call_id = f"call-{self.number}"
        self.file.said(call(tool, call_id, **arguments))
        return call_id

    def read(self, name: str, offset: int | None = None, limit: int | None = None) -> None:
        """As pi 1.5.2 reads: a part says how much is left."""
        given = {key: value for key, value in (("offset", offset), ("limit", limit)) if value is not None}
        call_id = self._call("read", path=name, **given)
        text = self.text(name)
        if text is None:
            self.file.answered(call_id, "read", f"no such file: {name}", failed=True)
            return
        lines = text.split("\n")
        first = (offset or 1) - 1
        if first >= len(lines):
            self.file.answered(call_id, "read", "beyond the end", failed=True)
            return
        shown = lines[first : first + min(limit or _LIMIT, _LIMIT)]
        left = len(lines) - first - len(shown)
        note = (
            f"\n\n[{left} more lines in file. Use offset={first + len(shown) + 1} to continue.]"
            if left
            else ""
        )
        self.file.answered(call_id, "read", "\n".join(shown) + note)

    def write(self, name: str, text: str) -> None:
        call_id = self._call("write", path=name, content=text)
        self._put(name, text)
        self.file.answered(call_id, "write", f"wrote {len(text)} bytes")

    def edit(self, name: str, old: str, new: str) -> None:
        """Fails unless the old text stands there once."""
        call_id = self._call("edit", path=name, edits=[{"oldText": old, "newText": new}])
        text = self.text(name)
        if text is None or not old or text.count(old) != 1:
            self.file.answered(call_id, "edit", "could not find it once", failed=True)
            return
        self._put(name, text.replace(old, new))
        self.file.answered(call_id, "edit", "replaced")

    def run(self, script: str) -> None:
        """A command of the agent's."""
        call_id = self._call("bash", command=script)
        done = subprocess.run(
            ["bash", "-c", script], cwd=self.folder, capture_output=True, text=True, check=False
        )
        text = done.stdout + done.stderr or "(no output)"
        if done.returncode:
            text += f"\n\nCommand exited with code {done.returncode}"
        self.file.answered(call_id, "bash", text, failed=bool(done.returncode))

    def ran(self, script: str, text: str = "(no output)") -> None:
        """A command that changes nothing: it is recorded with what it printed, and not run."""
        self.file.answered(self._call("bash", command=script), "bash", text)

    def step(self) -> None:
        """Something that an agent might do."""
        pick, name = self.random.random(), self.random.choice(NAMES)
        text = self.text(name) or ""
        lines = text.split("\n")
        if pick < 0.3:
            whole = self.random.random() < 0.5
            self.read(
                name,
                *(() if whole else (self.random.randint(1, max(1, len(lines))), self.random.randint(1, 9))),
            )
        elif pick < 0.42:
            self.write(
                name,
                "".join(f"new {self.random.randint(0, 99)}\n" for _ in range(self.random.randint(0, 9)))
                + self.random.choice(("", "no newline")),
            )
        elif pick < 0.75:
            at = self.random.randrange(len(lines))
            old = "\n".join(lines[at : at + self.random.randint(1, 3)])
            new = self.random.choice(
                ("", f"edited {self.number}", f"edited {self.number}\nand more\n", old + "\nafter")
            )
            self.edit(name, old, new)
        else:
            self.run(self.random.choice(commands(name, self.random.choice(NAMES), self.number)))
