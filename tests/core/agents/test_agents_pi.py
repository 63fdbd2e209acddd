from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from leafward.agents.base import Trouble
from leafward.agents.recognition import agent_of, recognised
from leafward.agents.registry import agent_named, all_agents, native, unknown_roots
from leafward.base.config import Config
from leafward.base.errors import NotFound, Refused
from tests.core.catalogued import listed
from tests.core.listed_sessions import Draft
from tests.surroundings import as_any_user

if TYPE_CHECKING:
    from pathlib import Path

PI = agent_named("pi")
HOME = os.path.abspath("/home/ada")


def roots(env: dict[str, str], **given: str) -> list[str]:
    config = Config(roots={"pi": tuple(given.values())}) if given else Config()
    return [str(root) for root in PI.roots(config, {"HOME": HOME, **env})]


def test_the_registry_knows_agents_by_name_only() -> None:
    assert native() is PI
    assert next(iter(all_agents())) is PI
    assert {agent.name for agent in all_agents()} >= {"pi", "codex"}
    with pytest.raises(NotFound, match="no agent 'pj'; known: pi"):
        agent_named("pj")


def test_a_root_of_an_agent_that_does_not_exist_is_named() -> None:
    assert not unknown_roots(Config(roots={"pi": ()}))
    assert unknown_roots(Config(roots={"piu": ()})) == ["roots.piu: no such agent (did you mean 'pi'?)"]


def test_the_session_folder_is_looked_for_in_pis_own_order(tmp_path: Path) -> None:
    agent_dir = tmp_path / "agent"
    agent_dir.mkdir()
    assert roots({}) == [os.path.join(HOME, ".pi", "agent", "sessions")]
    env = {"PI_CODING_AGENT_DIR": str(agent_dir)}
    assert roots(env) == [str(agent_dir / "sessions")]
    (agent_dir / "settings.json").write_text(json.dumps({"sessionDir": "~/flat"}))
    assert roots(env) == [os.path.join(HOME, "flat")]
    env["PI_CODING_AGENT_SESSION_DIR"] = str(tmp_path / "given")
    assert roots(env) == [str(tmp_path / "given")]
    assert roots(env, first="~/a", second=str(tmp_path)) == [os.path.join(HOME, "a"), str(tmp_path)]


@pytest.mark.parametrize(
    "settings",
    [
        *("{", "[]", '{"sessionDir": 3}', '{"sessionDir": ""}', "[" * 100_000),
        *(r'{"sessionDir": "a\u0000b"}', r'{"sessionDir": "\ud800"}'),
    ],
)
def test_settings_that_cannot_be_used_are_as_if_they_were_not_there(tmp_path: Path, settings: str) -> None:
    (tmp_path / "settings.json").write_text(settings)
    assert roots({"PI_CODING_AGENT_DIR": str(tmp_path)}) == [str(tmp_path / "sessions")]


def found(*places: Path) -> tuple[set[str], list[Trouble]]:
    trouble: list[Trouble] = []
    listings = list(PI.discover(places, lambda: False, trouble))
    folders = [listing.folder for listing in listings]
    assert len(folders) == len(set(folders))
    return {os.path.join(listing.folder, name) for listing in listings for name in listing.files}, trouble


def test_a_store_is_one_folder_for_each_cwd_or_flat_and_goes_no_deeper(tmp_path: Path) -> None:
    wanted = {tmp_path / "flat.jsonl", tmp_path / "--home-ada--" / "a.jsonl"}
    for path in [*wanted, tmp_path / "--home-ada--" / "deeper" / "b.jsonl", tmp_path / "notes.txt"]:
        Draft().write(path)
    (tmp_path / "--home-ada--" / "folder.jsonl").mkdir()
    assert found(tmp_path, tmp_path) == ({str(path) for path in wanted}, [])


def test_a_store_that_is_not_there_is_empty_and_one_that_is_no_folder_is_trouble(tmp_path: Path) -> None:
    assert found(tmp_path / "none") == (set(), [])
    file = Draft().write(tmp_path / "a.jsonl")
    assert found(file) == (set(), [Trouble(str(file), "Not a directory")])


@as_any_user
def test_a_folder_that_cannot_be_listed_is_trouble_and_the_others_are_listed(tmp_path: Path) -> None:
    kept = Draft().write(tmp_path / "open" / "a.jsonl")
    closed = Draft().write(tmp_path / "closed" / "a.jsonl").parent
    closed.chmod(0)
    try:
        assert found(tmp_path) == ({str(kept)}, [Trouble(str(closed), "Permission denied")])
    finally:
        closed.chmod(0o700)


def test_a_dangling_link_is_told_of_and_a_pipe_is_not_a_session(tmp_path: Path) -> None:
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.jsonl")
    [listing] = PI.discover((tmp_path,), lambda: False, [])
    assert listing.files == {"gone.jsonl": [-1, 0]}


def test_stopping_ends_the_search(tmp_path: Path) -> None:
    Draft().write(tmp_path / "a" / "a.jsonl")
    assert not list(PI.discover((tmp_path,), lambda: True, []))


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        (Draft().text(), True),
        (b"\xef\xbb\xbf" + Draft().text(), True),
        (b"\r\n\n" + Draft().text(), True),
        (Draft(cwd="/" + "x" * 6000).text()[:4096], True),
        (b'{"id": "s", "type": "session"}', True),
        (b'{"type":"session","version":3}\n', False),
        (b'{"type":"message"}\n' + Draft().text(), False),
        (b'{"type":"sessions","payload":{}}\n', False),
        (b"not json\n", False),
        (b"", False),
        (b"\x00" * 4096, False),
    ],
)
def test_a_session_is_recognised_by_its_first_line(head: bytes, is_one: bool) -> None:
    assert recognised(head) is (PI if is_one else None)


@pytest.mark.parametrize(
    ("agent", "row"),
    [
        (
            "claude",
            {
                "parentUuid": "a",
                "isSidechain": False,
                "sessionId": "s",
                "message": {"role": "assistant", "content": [{"type": "text", "text": "pear " * 2000}]},
                "type": "assistant",
                "uuid": "b",
            },
        ),
        (
            "codex",
            {
                "payload": {"base_instructions": {"text": "pear " * 2000}, "id": "t", "cwd": "/"},
                "timestamp": "2026-11-26T10:00:00.000Z",
                "type": "session_meta",
            },
        ),
    ],
)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_a_first_row_that_says_what_it_is_at_its_end_is_recognised(
    agent: str, row: dict[str, object], separators: tuple[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "copy.jsonl"
    file.write_text(json.dumps(row, separators=separators) + "\n")
    assert agent_of(file).name == agent
    assert [card.agent for card in listed(file).cards()] == [agent]


def test_a_file_nobody_recognises_is_opened_as_native(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"?")
    assert agent_of(file) is PI
    assert agent_of(tmp_path) is PI
    os.mkfifo(tmp_path / "pipe")
    assert agent_of(tmp_path / "pipe") is PI


def test_resume_names_the_path_and_the_folder_and_keeps_our_variables_back(tmp_path: Path) -> None:
    draft = Draft(cwd=str(tmp_path))
    draft.user("hello")
    path = draft.write(tmp_path / "a.jsonl")
    env = {"LEAFWARD_HOME": "/x", "TIKTOKEN_CACHE_DIR": "/v/litellm/tokenizers", "PATH": "/bin"}
    session = PI.open(path)
    resume = PI.resume(session, env)
    session.close()
    assert resume.argv == ("pi", "--session", str(path))
    assert resume.cwd == str(tmp_path)
    assert resume.environment(env) == {"PATH": "/bin", "PWD": str(tmp_path)}


@pytest.mark.parametrize(
    ("cwd", "reason"),
    [
        ("/no/such/folder", "project folder not found: /no/such/folder"),
        ("", "does not say which folder"),
    ],
)
def test_resume_where_the_folder_is_gone_is_refused(tmp_path: Path, cwd: str, reason: str) -> None:
    draft = Draft(cwd=cwd)
    draft.user("hello")
    session = PI.open(draft.write(tmp_path / "a.jsonl"))
    with pytest.raises(Refused, match=reason):
        PI.resume(session, {}).ready()
    session.close()
