"""Sessions grown at random for comparing plans with pi: python -m tests.oracle.wild SEED ENTRIES FILE.

Everything that a cut depends on happens in them: branches, results without calls, entries that say nothing, edits that
remove or replace what they should not, compactions that keep odd entries, letters outside ASCII.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

from tests.acting import Acting, call, usage

_QUIET = (
    ("custom", {"customType": "note", "data": {}}),
    ("model_change", {"provider": "local", "modelId": "scripted-1"}),
    ("label", {"targetId": "00000001", "label": "here"}),
    ("thinking_level_change", {"thinkingLevel": "high"}),
    ("session_info", {"name": "grown"}),
)


class Grown(Acting):
    """A session in the making that knows the path it is on."""

    def __init__(self, path: Path, seed: int) -> None:
        super().__init__(path)
        self.rng = random.Random(seed)
        self.parents: dict[str, str | None] = {}

    def entry(self, type_: str, parent: str | None = "?", **fields: Any) -> str:
        above = self.leaf if parent == "?" else parent
        made = super().entry(type_, parent, **fields)
        self.parents[made] = above
        return made

    def above(self) -> list[str]:
        found, at = [], self.leaf
        while at is not None:
            found.append(at)
            at = self.parents[at]
        return found[::-1]

    def text(self) -> str:
        return self.rng.choice("abcé好 ") * self.rng.choice((0, 1, 3, 10, 40, 100, 400))

    def content(self) -> Any:
        block = {"type": "text", "text": self.text()}
        image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
        return self.rng.choice((self.text(), [block], [block, image]))

    def message(self, role: str, **fields: Any) -> str:
        return self.entry("message", message={"role": role, **fields})

    def reply(self, *_: Any, **__: Any) -> str:
        rng = self.rng
        blocks: list[dict[str, Any] | str] = [self.text()]
        if rng.random() < 0.3:
            blocks.append({"type": "thinking", "thinking": self.text()})
        for number in range(rng.choice((0, 0, 1, 1, 2))):
            tool = rng.choice(("read", "edit", "write", "bash", "skill"))
            blocks.append(
                call(
                    tool,
                    f"c{self.count}-{number}",
                    path=f"f{rng.randrange(6)}.py",
                    n=rng.choice((1, 2.5)),
                    t=self.text(),
                )
            )
        stop = rng.choice(("stop", "toolUse", "toolUse", "aborted", "error"))
        return self.said(*blocks, stop=stop, tokens=usage(rng.choice((0, 0, 500, 9000))))

    def result(self, *_: Any, **__: Any) -> str:
        rng = self.rng
        nested = {
            "id": "n",
            "name": "write",
            "arguments": {"path": "n.py"},
            "status": rng.choice(("ok", "error")),
        }
        more: dict[str, Any] = (
            {"nestedCalls": {"complete": True, "calls": [nested]}} if rng.random() < 0.1 else {}
        )
        tool = rng.choice(("read", "bash", "skill"))
        return self.answered(
            "c", tool, self.text() * rng.choice((1, 1, 4)), failed=rng.random() < 0.1, **more
        )

    def edit(self, above: list[str]) -> str:
        target = self.rng.choice(above[-6:] if self.rng.random() < 0.8 else above)
        content = self.rng.choice((None, None, {"content": self.content()}))
        return self.entry("context_edit", targetId=target, replacement=content)

    def retry(self) -> None:
        """A prompt whose replies fail and are edited out, as an agent that tries again does it."""
        self.message("user", content=self.text() + "x")
        for _ in range(self.rng.choice((1, 1, 2))):
            failed = self.said(self.text(), stop=self.rng.choice(("error", "aborted", "stop")))
            self.entry("context_edit", targetId=failed, replacement=None)

    def compact(self, above: list[str]) -> str:
        rng = self.rng
        lists = {"readFiles": ["old.py", "f1.py"], "modifiedFiles": ["m.py"]}
        system = {"role": "system", "content": self.text(), "timestamp": 1}
        more: dict[str, Any] = {"systemMessage": system} if rng.random() < 0.4 else {}
        kept = rng.choice([*above[-12:], "nowhere"])
        return self.compacted(
            kept, self.text(), details=rng.choice((None, lists)), fromHook=rng.random() < 0.2, **more
        )

    def grow(self) -> None:
        """Adds one entry."""
        rng = self.rng
        if self.count > 5 and rng.random() < 0.03:
            self.leaf = rng.choice(list(self.parents))
        above = self.above()
        draw = rng.random()
        if draw < 0.15:
            self.message("user", content=self.content())
        elif draw < 0.45:
            self.reply()
        elif draw < 0.68:
            self.result()
        elif draw < 0.71:
            self.message("bashExecution", command="ls", output=self.text(), cancelled=False, truncated=False)
        elif draw < 0.74:
            self.message("system", content=self.text(), sections={"a": self.text()})
        elif draw < 0.76:
            self.message(rng.choice(("custom", "martian")), customType="z", content=self.text(), display=True)
        elif draw < 0.79:
            self.entry("custom_message", customType="q", content=self.text(), display=False)
        elif draw < 0.81:
            self.entry("branch_summary", fromId="root", summary=self.text())
        elif draw < 0.89:
            kind, fields = rng.choice(_QUIET)
            self.entry(kind, **fields)
        elif draw < 0.95 and above:
            self.edit(above)
        elif draw < 0.97:
            self.retry()
        elif len(above) > 4:
            self.compact(above)


def write(path: Path, seed: int, entries: int) -> Path:
    """Writes a session of at least so many entries."""
    grown = Grown(path, seed)
    while grown.count < entries:
        grown.grow()
    return path


if __name__ == "__main__":
    write(Path(sys.argv[3]), int(sys.argv[1]), int(sys.argv[2]))
