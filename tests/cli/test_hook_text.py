"""What a hook gives to an agent is what `inject` prints, byte for byte, and once, however often the agent compacts."""

from __future__ import annotations

import io
import json
import os
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.base.paths import config_dir, data_dir, hook_log
from leafward.cli.hook_log import failures, log_failure
from leafward.cli.main import main
from leafward.cli.verbs import hook as hook_module
from leafward.compaction.injection.findings import kept_findings
from tests.bench.generate import write_session
from tests.claude_transcript import IDS, Transcript
from tests.codex_rollout import Rollout
from tests.opencode_store import Conversation, Database, write_tree

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = "ghp_" + "a1B2" * 9
PROMPT = f"Port src/parser.py, the token is {TOKEN}. Never push to main, and keep src/lexer.py as it is."
SETTINGS = ["", "[injection]\nbudget = 600\n", '[injection]\noff = ["workingset.mentioned", "gov"]\n']


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "data"))
    for name in ("CLAUDE_CONFIG_DIR", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME", "CODEX_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def told(agent: str, event: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(event).encode())))
    assert main(["hook", agent]) == 0


def a_session(agent: str, home: Path) -> tuple[str, str, Callable[[], object]]:
    """A session as the agent names it to a hook, as a user names it, and what lets it go on."""
    if agent == "claude":
        talk = Transcript(home / ".claude")
        talk.turn("Look at src/lexer.py", "Seen.")
        return str(talk.path), str(talk.path), lambda: talk.prompt(PROMPT)
    if agent == "codex":
        rollout = Rollout(home / ".codex")
        rollout.turn("Look at src/lexer.py", "Seen.")
        return str(rollout.path), str(rollout.path), lambda: rollout.prompt(PROMPT)
    if agent == "opencode":
        base, conversation = Database(home / "data" / "opencode"), Conversation(directory="/home/ada/orchard")

        def turn() -> None:
            conversation.ask(PROMPT)
            base.write(conversation)

        conversation.turn("Look at src/lexer.py")
        base.write(conversation)
        return conversation.id, str(base.path / conversation.id), turn
    path = home / "one.jsonl"
    write_session(path, 60)
    last = json.loads(path.read_bytes().splitlines()[-1])
    said = {"role": "user", "content": [{"type": "text", "text": PROMPT}]}
    line = {**last, "type": "message", "id": "aaaa0001", "parentId": last["id"], "message": said}

    def goes_on() -> None:
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")

    return str(path), str(path), goes_on


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("agent", ["pi", "opencode", "claude", "codex"])
def test_the_text_is_what_inject_prints_at_each_of_two_compactions(
    agent: str,
    settings: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    config_dir().mkdir(parents=True, exist_ok=True)
    (config_dir() / "config.toml").write_text(settings)
    session, selector, goes_on = a_session(agent, home)
    # What else would run beside the agent runs here.
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **_: main(argv[4:]))
    texts = []
    for _ in range(2):
        assert main(["inject", selector]) == 0
        printed = capfdbinary.readouterr().out
        if agent in ("pi", "opencode"):
            told(agent, {"session": session}, monkeypatch)
            given = capfdbinary.readouterr().out
        else:
            told(agent, {"hook_event_name": "PreCompact", "transcript_path": session}, monkeypatch)
            assert capfdbinary.readouterr().out == b""
            behind = {"hook_event_name": "SessionStart", "source": "compact", "transcript_path": session}
            told(agent, behind, monkeypatch)
            answer = json.loads(capfdbinary.readouterr().out)["hookSpecificOutput"]
            assert answer["hookEventName"] == "SessionStart"
            given = answer["additionalContext"].encode()
            # Once: nothing is left for a second start.
            told(agent, behind, monkeypatch)
            assert capfdbinary.readouterr().out == b""
        assert given == printed
        assert TOKEN.encode() not in given
        texts.append(given.decode())
        goes_on()
    if "600" not in settings:
        # The request is quoted until it is answered.
        assert "Port src/parser.py, the token is [" in texts[1]
    assert all(text.count("</leafward-context>") == 1 for text in texts)
    if "600" in settings:
        assert max(map(len, texts)) <= 600
    elif settings:
        assert "Mentioned" not in texts[0]


@pytest.mark.parametrize("agent", ["pi", "opencode", "claude", "codex"])
def test_an_installed_agent_is_told_that_its_summary_needs_no_copy_of_the_text(
    agent: str, home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    session, selector, _ = a_session(agent, home)
    words = "It is added again after each compaction: leave all of it out of the summary.\n"
    assert main(["inject", selector]) == 0
    text = capfdbinary.readouterr().out.decode()
    assert words not in text
    # Installed in another agent, it is not added behind the compactions of this one.
    assert main(["install", "claude" if agent != "claude" else "codex"]) == 0
    assert main(["install", agent, "--dry-run"]) == 0
    capfdbinary.readouterr()
    assert main(["inject", selector]) == 0
    assert capfdbinary.readouterr().out.decode() == text
    assert main(["install", agent]) == 0
    capfdbinary.readouterr()
    for budget in ((), ("--budget", "400")):
        assert main(["inject", selector, *budget]) == 0
        printed = capfdbinary.readouterr().out.decode()
        assert printed.split("\n", 2)[1].endswith(words.strip())
        assert not budget or len(printed) <= 400
        if not budget:
            assert printed == text.replace("folder.\n", f"folder. {words}", 1)
            monkeypatch.setattr(subprocess, "Popen", lambda argv, **_: main(argv[4:]))
            assert _given(agent, session, monkeypatch, capfdbinary) == printed
    assert not failures()


def test_inject_prints_what_claude_code_gets_of_a_text_that_it_would_cut(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    config_dir().mkdir(parents=True, exist_ok=True)
    (config_dir() / "config.toml").write_text("[injection]\nbudget = 40000\n")
    anchors = (
        f'[[anchors]]\ncontent = "{chr(0x1F333) * 450} {number}"\npriority = "high"\n' for number in range(90)
    )
    data_dir().mkdir(parents=True, exist_ok=True)
    (data_dir() / "governance.toml").write_text("\n".join(anchors))
    session, selector, _ = a_session("claude", home)
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **_: main(argv[4:]))
    lengths, text = list[int](), ""
    for installed in (False, True):
        assert not installed or main(["install", "claude"]) == 0
        capfdbinary.readouterr()
        assert main(["inject", selector]) == 0
        printed = capfdbinary.readouterr()
        text = printed.out.decode()
        lengths.append(len(text.encode("utf-16-le")) // 2)
        assert (b"shortened: Claude Code passes on no more" in printed.err) == installed
        assert main(["inject", selector, "--json"]) == 0
        assert json.loads(capfdbinary.readouterr().out)["text"] == text
    assert lengths[0] > 10_000
    assert 9_000 < lengths[1] < 10_000
    assert _given("claude", session, monkeypatch, capfdbinary) == text


@pytest.mark.parametrize("agent", ["opencode", "claude", "codex"])
@pytest.mark.parametrize("operation", ["move", "compact"])
def test_what_leafward_alone_did_in_a_session_is_not_told_to_its_agent(
    agent: str,
    operation: str,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """The agent goes on at its own leaf, wherever a preview has it."""
    session, selector, goes_on = a_session(agent, home)
    goes_on()
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **_: main(argv[4:]))
    assert main(["inject", selector]) == 0
    printed = capfdbinary.readouterr().out.decode()
    assert "Port src/parser.py" in printed
    assert main(["tree", selector, "--json"]) == 0
    first = next(one["id"] for one in json.loads(capfdbinary.readouterr().out)["entries"] if one["tokens"])
    options = ["--larger", "--accept-loss", "--keep-recent", "1"] if operation == "compact" else [first]
    assert main([operation, selector, *options]) == 0
    capfdbinary.readouterr()
    assert main(["inject", selector]) == 0
    previewed = capfdbinary.readouterr()
    assert previewed.out.decode() != printed
    own = previewed.err.decode().partition("--at ")[2].split()[0]
    assert main(["inject", selector, "--at", own]) == 0
    assert capfdbinary.readouterr().out.decode() == printed
    assert _given(agent, session, monkeypatch, capfdbinary) == printed
    assert not failures()


@pytest.mark.parametrize("nested", [False, True])
def test_opencode_before_its_database_gets_the_text_of_its_files(
    nested: bool, home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """To 1.1 a session is a tree of JSON files; the plugin knows it by its id alone."""
    talk = Conversation(directory="/home/ada/orchard")
    talk.turn("Look at src/lexer.py")
    talk.ask(PROMPT)
    path = write_tree(home / "data" / "opencode", talk, nested=nested)
    assert main(["inject", str(path)]) == 0
    printed = capfdbinary.readouterr().out.decode()
    assert "Port src/parser.py" in printed
    assert _given("opencode", talk.id, monkeypatch, capfdbinary) == printed
    assert not failures()


def _given(
    agent: str, session: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> str:
    """What a hook gives to the agent at a compaction."""
    if agent in ("pi", "opencode"):
        told(agent, {"session": session}, monkeypatch)
        return capfdbinary.readouterr().out.decode()
    for event in ("PreCompact", "SessionStart"):
        told(agent, _spoken(event, session, "one"), monkeypatch)
    answer = json.loads(capfdbinary.readouterr().out)["hookSpecificOutput"]["additionalContext"]
    assert isinstance(answer, str)
    return answer


def _spoken(event: str, session: str, prompt: str) -> dict[str, str]:
    """What Claude Code 2.1.332 tells a hook; it names the prompt within which it compacts."""
    told = {"hook_event_name": event, "transcript_path": session, "prompt_id": prompt}
    return told if event == "PreCompact" else {**told, "source": "compact"}


def test_two_processes_that_compact_one_session_at_once_get_a_text_each(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    session, selector, goes_on = a_session("claude", home)
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **_: main(argv[4:]))
    printed = {}
    for prompt in ("one", "two"):
        assert main(["inject", selector]) == 0
        printed[prompt] = capfdbinary.readouterr().out.decode()
        told("claude", _spoken("PreCompact", session, prompt), monkeypatch)
        goes_on()
    assert printed["one"] != printed["two"]
    for prompt in ("two", "one"):
        told("claude", _spoken("SessionStart", session, prompt), monkeypatch)
        answer = json.loads(capfdbinary.readouterr().out)["hookSpecificOutput"]
        assert answer["additionalContext"] == printed[prompt]
    assert not failures()
    assert not list((hook_log().parent / "hooks").iterdir())
    told("claude", _spoken("SessionStart", session, "one"), monkeypatch)
    assert capfdbinary.readouterr().out == b""
    assert "Leafward did not see it begin, or another claude took the text" in failures()[-1]


def test_the_text_of_a_cancelled_compaction_is_removed_after_an_hour(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, _, _ = a_session("claude", home)
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **_: main(argv[4:]))
    texts = hook_log().parent / "hooks"
    for prompt in ("one", "two"):
        told("claude", _spoken("PreCompact", session, prompt), monkeypatch)
    kept = sorted(texts.iterdir())
    assert len(kept) == 2
    hour_ago = time.time() - 3601
    os.utime(kept[0], (hour_ago, hour_ago))
    told("claude", _spoken("PreCompact", session, "three"), monkeypatch)
    assert kept[0] not in list(texts.iterdir())
    assert kept[1] in list(texts.iterdir())
    assert len(list(texts.iterdir())) == 2


def test_hooks_that_fail_at_once_are_all_told_of() -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: log_failure("claude", f"number {number}"), range(40)))
    assert sorted(int(line.rpartition(" ")[2]) for line in failures()) == list(range(40))
    long = "x" * 3000
    for number in range(40):
        log_failure("pi", f"{long} {number}")
    kept = failures()
    assert kept[-1].endswith(" 39")
    assert len("".join(kept)) < 70_000
    assert stat.S_IMODE(hook_log().stat().st_mode) == 0o600


def test_the_time_of_a_failure_has_its_zone(in_zone: Callable[[str], None]) -> None:
    in_zone("Asia/Tokyo")
    log_failure("pi", "too late")
    assert failures()[0].endswith(" +0900 pi: too late")


@pytest.mark.parametrize("agent", ["claude", "codex", "pi", "opencode"])
def test_a_resumed_session_is_read_beside_the_agent_before_its_first_compaction(
    agent: str, home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The agent is told nothing, and does not wait for it."""
    monkeypatch.setattr(kept_findings, "_SMALLEST", 0)
    monkeypatch.setattr(kept_findings, "_STEP", 0)
    session, path, _ = a_session(agent, home)
    started: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **_: started.append(argv))
    event = {"hook_event_name": "SessionStart", "transcript_path": session}
    if agent in ("pi", "opencode"):
        told(agent, {"session": session, "wanted": "resumed"}, monkeypatch)
    else:
        told(agent, {**event, "source": "startup"}, monkeypatch)
        assert not started
        told(agent, {**event, "source": "resume"}, monkeypatch)
    assert kept_findings.load(Path(path)) is None
    polite: list[int] = []
    monkeypatch.setattr(os, "nice", polite.append)
    assert main(started[0][4:]) == 0
    assert polite
    assert kept_findings.load(Path(path)) is not None
    assert capfdbinary.readouterr().out == b""
    assert not failures()
    if agent == "opencode":
        return
    # No compaction began: none is answered.
    told(agent, {**event, "source": "compact"}, monkeypatch)
    assert capfdbinary.readouterr().out == b""


@pytest.mark.parametrize("agent", ["pi", "codex"])
def test_a_session_is_read_once_at_a_time_for_compactions_that_come_one_behind_another(
    agent: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would read all of a long session, beside the others; the next one goes on behind what the first one kept."""
    session, _, _ = a_session(agent, home)
    began = threading.Event()

    def text(*_given: object) -> str:
        began.set()
        return ""

    monkeypatch.setattr(hook_module, "_text", text)
    event = {"session": session}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(event).encode())))
    given = (agent, session, 1) if agent == "codex" else (agent,)
    other = threading.Thread(target=hook_module.hook, args=given)
    with hook_module._alone(session):
        other.start()
        assert not began.wait(0.5)
        # What is read for a session that is taken up again has low priority: it waits for nobody, and nobody for it.
        monkeypatch.setattr(os, "nice", lambda _by: 0)
        hook_module.hook("codex", session)
        assert began.is_set()
        began.clear()
    other.join()
    assert began.is_set()


def test_a_sub_agent_of_claude_code_takes_no_text_from_its_session(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Its compaction names the session's file, and the prompt at which the session may be compacted as well."""
    session, _, goes_on = a_session("claude", home)
    started: list[list[str]] = []

    def beside(argv: list[str], **_: object) -> None:
        started.append(argv)
        main(argv[4:])

    monkeypatch.setattr(subprocess, "Popen", beside)
    event = {"hook_event_name": "PreCompact", "transcript_path": session, "prompt_id": "p1"}
    told("claude", event, monkeypatch)
    goes_on()
    told("claude", {**event, "agent_id": "a1", "agent_type": "general-purpose"}, monkeypatch)
    assert len(started) == 1
    behind = {**event, "hook_event_name": "SessionStart", "source": "compact"}
    told("claude", behind, monkeypatch)
    given = json.loads(capfdbinary.readouterr().out)["hookSpecificOutput"]["additionalContext"]
    assert "Port src/parser.py" not in given


def test_nothing_is_made_for_a_sub_agent_of_codex(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It compacts a thread of its own, and Codex asks for no text behind that."""
    session, _, _ = a_session("codex", home)
    started: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **_: started.append(argv))
    event = {"hook_event_name": "PreCompact", "transcript_path": session, "turn_id": "t1"}
    told("codex", {**event, "agent_id": "a1", "agent_type": "default"}, monkeypatch)
    assert not started
    told("codex", event, monkeypatch)
    assert len(started) == 1


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_fork_is_read_beside_the_agent_once_it_has_a_file(
    agent: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Claude Code writes the file of a fork with its first prompt, Codex before it says that the fork begins."""
    session, _, _ = a_session(agent, home)
    started: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **_: started.append(argv))
    event = {"hook_event_name": "SessionStart", "source": "fork"}
    told(agent, {**event, "transcript_path": f"{session}.missing"}, monkeypatch)
    assert not started
    assert not failures()
    told(agent, {**event, "transcript_path": session}, monkeypatch)
    assert [argv[5:] for argv in started] == [[agent, "--prepare", session]]
    assert main(["install", agent]) == 0
    (file,) = (path for path in home.rglob("*.json") if "leafward hook" in path.read_text())
    ((group,),) = (json.loads(file.read_text())["hooks"]["SessionStart"],)
    assert "fork" in group["matcher"].split("|")


def test_the_file_of_a_fork_is_waited_for_where_its_first_act_is_a_compaction(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Claude Code 2.1.332 writes it while the hooks run: first what is no message, then the copied rows in pieces, then what follows."""
    source, fork = Transcript(home / ".claude"), Transcript(home / ".claude", IDS[1])
    for number in range(4):
        source.prompt(f"Look at the file {number}.")
        source.call("Read", f"c{number}", file_path=f"/home/ada/orchard/src/file{number}.py")
        source.result(f"c{number}")
        source.reply("Seen.")
    rows = source.path.read_bytes().splitlines(keepends=True)
    fork.raw(b'{"type":"mode","mode":"normal","sessionId":"x"}\n')
    threads: list[threading.Thread] = []

    def beside(argv: list[str], **_: object) -> None:
        threads.append(threading.Thread(target=main, args=(argv[4:],)))
        threads[-1].start()

    monkeypatch.setattr(subprocess, "Popen", beside)
    told("claude", _spoken("PreCompact", str(fork.path), "one"), monkeypatch)
    time.sleep(0.2)
    for piece in (rows[:3], rows[3:]):
        fork.raw(b"".join(piece))
        time.sleep(0.05)
    # What follows the compaction is no part of it.
    fork.tip, fork.defaults = (
        source.tip,
        {"timestamp": (datetime.now(UTC) + timedelta(seconds=5)).isoformat()},
    )
    fork.prompt("Look at src/later.py")
    threads[0].join()
    assert not failures()
    told("claude", _spoken("SessionStart", str(fork.path), "one"), monkeypatch)
    given = json.loads(capfdbinary.readouterr().out)["hookSpecificOutput"]["additionalContext"]
    assert main(["inject", str(source.path)]) == 0
    assert given.encode() == capfdbinary.readouterr().out
    assert "src/file3.py" in given
