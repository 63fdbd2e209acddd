"""Commands that may have changed any file without naming it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.files.opaque_calls import opaque_calls
from tests.acting import Acting, call, reading

if TYPE_CHECKING:
    from pathlib import Path


def opaque(tmp_path: Path, script: str, *harmless: tuple[str, ...]) -> list[str]:
    """The programs of the one command of a session that may have changed any file."""
    acting = Acting(tmp_path / "session.jsonl")
    acting.said(call("bash", "c1", command=script))
    acting.answered("c1", "bash")
    with reading(acting.path) as session:
        return [one.name for one in opaque_calls(session, range(len(session)), harmless)]


@pytest.mark.parametrize(
    ("script", "program"),
    [
        ("make", "make"),
        ("timeout 5 env A=1 make", "make"),
        ("sudo -u ada ./tidy.sh", "tidy.sh"),
        ("bash -c 'ls; ./tidy.sh'", "tidy.sh"),
        ('bash -c "rm $x"', "bash"),
        ("bash tidy.sh", "bash"),
        ("perl tidy.pl a", "perl"),
        ('rm "$x"', "rm"),
        ('cp -r src "$to"', "cp"),
        ("cp --parents a/b c", "cp"),
        ('> "$x"', "a redirection"),
        ("cd $X && rm a", "rm"),
        ("cd $X && git checkout .", "git"),
        ("for f in $(ls); do sed -i s/a/b/ $f; done", "sed"),
        ("while read f; do rm $f; done < list", "rm"),
        ("find . -name a -delete", "find"),
        ("find . -exec rm {} +", "find"),
        ("ls | xargs rm", "xargs"),
        ("ls | xargs -n 1 -I{} mv {} x", "xargs"),
        ("git submodule update", "git"),
        ("git -C sub bisect start", "git"),
        ("git co main", "git"),
        ("ln -sf a b", "ln"),
        ("awk '{print > \"out\"}' a", "awk"),
        ("curl -O http://x/a", "curl"),
        ("ssh host make", "ssh"),
        ('python3 -c \'open("a", "w")\'', "python3"),
        ("Get-ChildItem | ForEach-Object { Remove-Item $_ }", "Remove-Item"),
        ("Get-Content a > b", "a redirection"),
        ("$x = 1; .\\tidy.ps1", ".\\tidy.ps1"),
        ("echo " + "a" * 200_000, "a command"),
    ],
)
def test_what_may_have_changed_any_file(tmp_path: Path, script: str, program: str) -> None:
    assert opaque(tmp_path, script) == [program]


@pytest.mark.parametrize(
    "script",
    [
        "env A=1 timeout 5 rm a",
        "command -v make",
        "bash -c 'cd sub && rm a'",
        "sh <<'EOF'\nrm a\nEOF",
        "for f in a b; do mv $f x/$f; done",
        "for f in *.py; do sed -i s/a/b/ $f; done",
        "rm {a,b}.py; mv *.txt x/",
        "cd $X && cat a && git status",
        "make_it=1; echo $make_it > /dev/null",
        "find . -name a -exec grep -l b {} +",
        "ls | xargs -n 1 cat",
        "git -C sub -c user.name=x commit -m y",
        "curl -s http://x/a | jq .; curl -o a http://x/a",
        "install -m 644 a b; sort -o a a; awk '{print $1}' a",
        "Get-Content a | Select-String b",
    ],
)
def test_what_changes_no_file_or_says_which(tmp_path: Path, script: str) -> None:
    assert opaque(tmp_path, script) == []


def test_what_the_user_calls_harmless_is_left_out(tmp_path: Path) -> None:
    assert opaque(tmp_path, "cd x; uv run check", ("uv", "run")) == []
    assert opaque(tmp_path, "timeout 5 uv sync", ("uv", "run")) == ["uv"]
