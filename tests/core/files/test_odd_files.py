"""Files with odd names and contents: patches that `git apply` takes, and folders that are written and nothing beside them."""

from __future__ import annotations

import os
import random
import subprocess
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Refused
from leafward.branches.diff.patches import patch_of
from leafward.branches.diff.sides import sides
from leafward.files.file_replay.output_folder import write_rebuilt
from leafward.files.file_replay.path_files import PathFiles
from tests.acting import Acting, call, reading

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.files.file_replay.output_folder import RebuiltFolder

NAMES = (
    "plain.py",
    "with space.txt",
    " leading",
    "trailing ",
    "dir with space/b c.md",
    "café.py",
    "cafe\u0301.py",
    "日本/語.txt",
    'quo"te',
    "back\\slash",
    "tab\there",
    "new\nline",
    "-dash",
    "a b/-x",
    "emoji 👩‍👩‍👧",
    "plus+minus",
    "b/a/b",
    "#hash",
    "%41",
)
TEXTS = (
    "",
    "\n",
    "one line without end",
    "one\ntwo\nthree\n",
    "one\r\ntwo\r\n",
    "one\r\ntwo\nthree",
    "\ufeffbom\n",
    "trailing  \n\t\n",
    "-- a\n++ b\n@@ -1 +1 @@\ndiff --git a/x b/x\n",
    "\\ No newline at end of file\n",
    "form\ffeed\vand\x1c\x85\u2028lines\n",
    "\n\n\n",
    "👩‍👩‍👧 é\n",
)


def written(file: Acting, name: str, text: str) -> str:
    call_id = f"c{file.path.stat().st_size}"
    file.said(call("write", call_id, path=name, content=text))
    return file.answered(call_id, "write")


def ran(file: Acting, script: str) -> str:
    call_id = f"c{file.path.stat().st_size}"
    file.said(call("bash", call_id, command=script))
    return file.answered(call_id, "bash", "(no output)")


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


def lying(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_bytes().decode()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def some_text(rng: random.Random) -> str:
    return "".join(rng.choice(TEXTS) for _ in range(rng.choice((1, 1, 2, 12))))


def quoted(name: str) -> str:
    return "'" + name.replace("'", "'\\''") + "'"


@pytest.mark.parametrize("seed", range(25))
def test_git_applies_whatever_is_known(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    names = rng.sample(NAMES, 9)
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    before: dict[str, str] = {}
    for name in names[:5]:
        before[name] = some_text(rng)
        written(file, name, before[name])
    for name in names[5:]:
        # Known not to be there.
        ran(file, f"rm -f -- {quoted(name)}")
    fork = str(file.leaf)
    after = dict(before)
    for _ in range(rng.randint(1, 8)):
        name, other = rng.sample(names, 2)
        draw = rng.random()
        if draw < 0.5:
            after[name] = some_text(rng)
            written(file, name, after[name])
        elif draw < 0.65 and name in after:
            lines = after[name].split("\n")
            at = rng.randrange(len(lines))
            after[name] = "\n".join((*lines[:at], "changed here", *lines[at + rng.randint(0, 1) :]))
            written(file, name, after[name])
        elif draw < 0.8:
            ran(file, f"rm -f -- {quoted(name)}")
            after.pop(name, None)
        elif name in after and other not in after:
            ran(file, f"mv -- {quoted(name)} {quoted(other)}")
            after[other] = after.pop(name)
    with reading(file.path) as session:
        compared = sides(session, session.find(fork), session.leaf)
        patch = patch_of(compared, compared.b)
        stored = write_rebuilt(PathFiles(session, session.leaf).files(), tmp_path / "stored", session.cwd)
    assert patch.left_out == ()
    target = tmp_path / "target"
    target.mkdir()
    put(target, before)
    if patch.text:
        words = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
        done = subprocess.run(words, cwd=target, input=patch.text.encode(), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode() + patch.text
    assert lying(target) == after
    assert stored.left_out == ()
    assert lying(tmp_path / "stored") == after


def stored(file: Acting, folder: Path) -> RebuiltFolder:
    with reading(file.path) as session:
        return write_rebuilt(PathFiles(session, session.leaf).files(), folder, session.cwd)


def test_nothing_is_written_outside_and_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    names = (
        "../up.txt",
        "a/../../up.txt",
        "/etc/leafward-was-here",
        "~/home.txt",
        "C:\\windows.txt",
        "C:/windows.txt",
        "..\\up.txt",
        "a\\..\\..\\up.txt",
        "nul\0byte",
        "LONE",
        "x" * 300,
        "both",
        "both/below",
        "Case.txt",
        "case.txt",
        "ok/fine.txt",
        ".git/hooks/post-checkout",
        "sub/.GIT/config",
    )
    for name in names:
        written(file, name, f"{name!a}\n")
    file.path.write_bytes(file.path.read_bytes().replace(b'"LONE"', b'"lone\\ud800"'))
    folder = tmp_path / "deep" / "down" / "stored"
    made = stored(file, folder)
    told = {path for path, _ in made.left_out} | set(made.files)
    assert len(told) == len({*names}) - 2, "every file is written or told; twice two names are one file"
    assert set(lying(folder)) == set(made.files)
    assert {"ok/fine.txt", "Case.txt"} <= set(made.files)
    assert not any(".git" in name.casefold() for name in made.files)
    assert "both/below" in dict(made.left_out)
    assert all(folder in path.parents for path in (tmp_path / "deep").rglob("*") if path.is_file())
    assert not os.path.lexists("/etc/leafward-was-here")


def test_only_an_empty_folder_is_taken(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    written(file, "a.txt", "a\n")
    full = tmp_path / "full"
    full.mkdir()
    (full / ".hidden").write_text("")
    (tmp_path / "link").symlink_to(full)
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "deep")
    for name in ("full", "link", "file"):
        with pytest.raises(Refused, match="not empty"):
            stored(file, tmp_path / name)
    assert lying(full) == {".hidden": ""}
    assert stored(file, tmp_path / "dangling").files == ("a.txt",)
