"""`bisect`: what it says, what it writes, and that the project stays as it is."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from shlex import quote
from typing import TYPE_CHECKING, Any

import pytest

from leafward.cli.main import main
from leafward.session.session import Session
from tests.folder_contents import contents
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

CHECK = ("sh", "-c", "echo checking; ! grep -q broken a.py")


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """Five turns that write a.py; the third breaks it. What was before lies in `base`."""
    bench = Workbench(tmp_path / "s.jsonl", tmp_path / "work", 1)
    shutil.copytree(tmp_path / "work", tmp_path / "base")
    for number, text in enumerate(("one", "two", "broken", "broken more", "broken still")):
        bench.file.user(f"change {number}")
        bench.write("a.py", f"{text}\n")
        bench.file.said("done")
    return bench


def said(bench: Workbench, capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    base = str(bench.folder.parent / "base")
    asked = ["bisect", str(bench.file.path), "--base", base, "--json", *words, "--", *CHECK]
    assert main(asked) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_turn_is_named_and_the_project_stays(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    before, session = contents(bench.folder), bench.file.path.read_bytes()
    found = said(bench, capsys, "--good", "#0", "--bad", "leaf")
    assert found["first_bad"]["headline"] == "change 2"
    assert found["first_bad"]["files"] == ["a.py"]
    assert [one["entry"] for one in found["candidates"]] == [found["first_bad"]["entry"]]
    assert {one["outcome"] for one in found["steps"]} == {"good", "bad"}
    assert all("checking" in one["output"] for one in found["steps"])
    assert contents(bench.folder) == before
    assert bench.file.path.read_bytes() == session


def test_turns_that_cannot_be_told_are_listed_with_the_reason(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.file.user("something else")
    bench.run("touch x; python3 -c pass")
    bench.file.said("done")
    bench.file.user("mended")
    bench.write("a.py", "fine\n")
    bench.file.user("and broken")
    bench.run("python3 -c \"open('a.py', 'w').write('broken')\"")
    bench.file.said("done")
    bench.file.user("seen")
    bench.read("a.py")
    bench.file.said("it is broken")
    good = next(
        line["id"]
        for line in map(json.loads, bench.file.path.read_text().splitlines())
        if "mended" in str(line.get("message", {}).get("content"))
    )
    bench.file.user("wait")
    bench.file.said("waiting")
    found = said(bench, capsys, "--good", good, "--bad", "leaf", code=1)
    assert found["first_bad"] is None
    assert "and broken" in [one["headline"] for one in found["candidates"]]
    doubts = [doubt["reason"] for step in found["steps"] for doubt in step["doubts"]]
    assert any("python3" in why for why in doubts)


def test_the_leaf_is_named_by_its_entry_of_the_conversation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = shop(tmp_path)
    last = bench.file.leaf
    bench.file.entry("custom", customType="ext.state", data={})
    assert (
        main(["bisect", str(bench.file.path), "--good", "#5", "--bad", "leaf", "--", "sh", "check.sh"]) == 1
    )
    assert f"turn 5 ({last})" in capsys.readouterr().out


def test_an_end_that_is_not_what_it_is_said_to_be_is_refused(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    base = str(bench.folder.parent / "base")
    asked = ["bisect", str(bench.file.path), "--base", base, "--good", "#0", "--bad", "#8", "--", *CHECK]
    assert main(asked) == 1
    assert "the command passes" in capsys.readouterr().err


def test_the_turn_is_labelled_where_that_is_asked_for(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    found = said(bench, capsys, "--good", "#0", "--bad", "leaf", "--label", "first bad")
    assert found["labelled"] == found["first_bad"]["prompt"]
    session = Session.open(bench.file.path)
    assert session.labels[session.find(found["labelled"])] == "first bad"
    session.close()
    assert main(["undo", str(bench.file.path)]) == 0


def test_where_no_label_can_be_written_nothing_is_run(
    bench: Workbench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.file.path.chmod(0o400)
    ran = bench.folder.parent / "ran"
    base = ("--base", str(bench.folder.parent / "base"), "--good", "#0", "--bad", "leaf", "--label", "x")
    assert main(["bisect", str(bench.file.path), *base, "--", "touch", str(ran)]) == 1
    assert "its permissions make it read-only" in capsys.readouterr().err
    assert not ran.exists()


@pytest.mark.parametrize("as_json", [False, True])
def test_the_result_stands_where_the_agent_went_on_meanwhile(
    bench: Workbench, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    path = bench.file.path
    goes_on = f"echo '{{}}' >> {quote(str(path))}; ! grep -q broken a.py"
    base = ("--base", str(bench.folder.parent / "base"), "--good", "#0", "--bad", "leaf", "--label", "x")
    more = ("--json",) if as_json else ()
    assert main(["bisect", str(path), *base, *more, "--", "sh", "-c", goes_on]) == 1
    out, err = capsys.readouterr()
    said = "the turn is not labelled: "
    if as_json:
        found = json.loads(out)
        assert (found["first_bad"]["headline"], found["labelled"]) == ("change 2", None)
        (remark,) = found["diagnostics"]
        assert remark["text"].startswith(said)
    else:
        assert "change 2" in out
        assert said in err


@pytest.mark.parametrize(
    ("words", "said"), [("it's", "no closing quotation"), (" ", "needs the name of a program")]
)
def test_harmless_words_that_cannot_be_read_are_a_wrong_use(
    bench: Workbench, capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    ends = ("--good", "#0", "--bad", "leaf")
    assert main(["bisect", str(bench.file.path), *ends, "--harmless", words, "--", "true"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(("year", "base"), [(2020, "over git "), (2040, "over the project as it is now")])
def test_the_last_commit_before_the_session_is_the_base_where_none_is_named(
    bench: Workbench, capsys: pytest.CaptureFixture[str], year: int, base: str
) -> None:
    (bench.folder / "a.py").write_text("begin\n" if year == 2020 else "broken still\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    when = {**os.environ, "GIT_COMMITTER_DATE": f"{year}-01-01T00:00:00Z"}
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "x")):
        subprocess.run(["git", *words], cwd=bench.folder, check=True, env=when)
    before = {path: path.stat().st_mtime_ns for path in (bench.folder / ".git").rglob("*")}
    assert main(["bisect", str(bench.file.path), "--good", "#0", "--bad", "leaf", "--", *CHECK]) == 0
    out = capsys.readouterr().out
    assert base in out
    assert "change 2" in out
    assert {path: path.stat().st_mtime_ns for path in (bench.folder / ".git").rglob("*")} == before


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--good", "leaf", "--bad", "#0", "--", "true"), "before the good one"),
        (("--good", "#0", "--bad", "leaf", "--base", "no-such", "--", "true"), "no commit 'no-such'"),
        (("--good", "#0", "--bad", "leaf", "--", "no-such-program"), "cannot be run"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    bench: Workbench, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], why: str
) -> None:
    assert main(["bisect", str(bench.file.path), *words]) == 1
    assert why in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("base", [(), ("--base", "v1.2")])
def test_where_the_project_folder_is_gone_a_base_is_asked_for(
    bench: Workbench, capsys: pytest.CaptureFixture[str], base: tuple[str, ...]
) -> None:
    shutil.rmtree(bench.folder)
    assert main(["bisect", str(bench.file.path), "--good", "#0", "--bad", "leaf", *base, "--", "true"]) == 1
    assert capsys.readouterr().err.endswith(f"{bench.folder}; name a folder with --base\n")


def test_ctrl_c_ends_it_and_leaves_nothing(bench: Workbench, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    script = f"""import os, signal, sys, threading, time
from leafward.cli.main import main
def later():
    while not os.path.exists({str(tmp_path / "began")!r}): time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=later).start()
sys.exit(main(["bisect", {str(bench.file.path)!r}, "--base", {str(tmp_path / "base")!r}, "--good", "#0", "--bad", "leaf",
    "--", "sh", "-c", 'touch "$0"; sleep 60', {str(tmp_path / "began")!r}]))
"""
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={"TMPDIR": str(tmp_path / "tmp"), "PATH": "/usr/bin:/bin", "LEAFWARD_HOME": str(tmp_path / "h")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode != 0
    assert "Traceback" not in ran.stderr
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("seconds", ["nan", "0", "-1", "soon"])
def test_a_time_limit_is_a_number_above_zero(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bisect", "x", "--good", "#0", "--timeout", seconds, "--", "true"]) == 2
    assert "--timeout" in capsys.readouterr().err


def shop(tmp_path: Path) -> Workbench:
    """Five turns that make all of a project; the third breaks total.py. Another program runs in between."""
    bench = Workbench(tmp_path / "s.jsonl", tmp_path / "shop", 2)
    shutil.rmtree(bench.folder)
    bench.folder.mkdir()
    bench.file.user("begin the shop")
    bench.write("total.py", "a * b\n")
    bench.write("check.sh", "grep -q '[*]' total.py\n")
    bench.file.user(f"describe it {'at length ' * 9}")
    bench.write("README", "a shop\n")
    bench.run("python3 -c pass")
    bench.file.user("tidy it")
    bench.edit("total.py", "a * b", "a + b")
    bench.file.user("in a package")
    bench.run("mkdir shop && touch shop/__init__.py && mv README shop/README")
    bench.file.said("done")
    return bench


def test_what_the_session_made_itself_is_no_reason_to_give_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over the project as it is now nothing tells what lay there before; that is assumed where it is asked for, or said."""
    bench = shop(tmp_path)
    asked = ["bisect", str(bench.file.path), "--good", "#5", "--bad", "leaf"]
    check = ["--", "sh", "check.sh"]
    assert main([*asked, *check]) == 1
    out = capsys.readouterr().out
    assert "4 versions, none could be rebuilt" in out
    assert [line.split('"')[1] for line in out.splitlines() if line.startswith("  turn ")] == [
        "begin the shop",
        f"describe it {'at length ' * 6}at…",
        "tidy it",
        "in a package",
    ]
    assert "README: whether it was there before the session made it is not known" in out
    assert "add --base for the files from before the session" in out
    assert main([*asked, "--likely", *check]) == 0
    out = capsys.readouterr().out
    assert '"tidy it" is the first after which `sh check.sh` fails' in out
    assert (
        "assumed to be new in this session: README, check.sh, shop/README, shop/__init__.py, total.py" in out
    )
    assert main([*asked, "--base", "", "--likely", "--json", *check]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["first_bad"]["headline"] == "tidy it"
    assert found["assumed_absent"] == []


def test_only_what_was_run_counts_as_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = shop(tmp_path)
    bench.file.user("seen")
    bench.read("total.py")
    asked = ["bisect", str(bench.file.path), "--good", "#6", "--bad", "leaf", "--base", ""]
    assert main([*asked, "--", "sh", "check.sh"]) == 1
    out = capsys.readouterr().out
    assert "4 turns, 1 of 5 versions tried in 1 run, 4 could not be rebuilt, over an empty folder" in out
