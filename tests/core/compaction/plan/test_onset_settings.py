"""Settings of the agents' own compactions: read where they are plain, and shown with their file."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.model_window import context_window
from leafward.agents.recognition import agent_of
from leafward.base.config import Config
from leafward.compaction.plan.onset import Onset, onset
from leafward.context.model_context import context_at
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.opencode_store import Conversation, Database
from tests.pi_file import HEADER, PiFile
from tests.untouched import contents

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODEL = "claude-sonnet-4-5"
CONFIG = Config(windows={"scripted-1": 100_000, "gpt-5.5": 200_000, "glm-4": 200_000}, reserve=10_000)


def at_leaf(path: Path) -> Onset | None:
    """The onset at the leaf of the session at a path."""
    with closing(agent_of(path).open(path)) as session:
        context = context_at(session)
        return onset(context, context_window(session, context, CONFIG), CONFIG)


def pi(home: Path) -> Path:
    folder = home / "agent" / "sessions" / "--home-ada--"
    folder.mkdir(parents=True)
    file = PiFile(folder / "one.jsonl", {**HEADER, "cwd": str(home / "project")})
    file.user("Prune the pears.")
    file.reply("Pruned.")
    return file.path


def claude(home: Path) -> Path:
    file = Transcript(home)
    file.turn("Prune the pears.", "Pruned.")
    return file.path


def codex(home: Path, cwd: Path | None = None) -> Path:
    file = Rollout(home, cwd=str(cwd)) if cwd is not None else Rollout(home)
    file.line("turn_context", model="gpt-5.5")
    file.turn("Prune the pears.", "Pruned.")
    return file.path


def opencode(home: Path) -> Path:
    talk = Conversation()
    talk.turn("graft")
    return Database(home).write(talk)


def written(path: Path, said: dict[str, Any] | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(said if isinstance(said, str) else json.dumps(said))
    return path


def test_pi_keeps_free_what_its_settings_say(tmp_path: Path) -> None:
    session = pi(tmp_path)
    assert at_leaf(session) == Onset(90_000, about=False, inclusive=False)
    settings = written(tmp_path / "agent" / "settings.json", {"compaction": {"reserveTokens": 30_000}})
    assert at_leaf(session) == Onset(70_000, about=False, inclusive=False, source=str(settings))
    written(settings, {"compaction": {"enabled": False, "reserveTokens": 30_000}})
    found = at_leaf(session)
    assert found is not None
    assert found.off
    assert not found.reached(10**9)


@pytest.mark.parametrize(
    ("own", "project"),
    [
        ({"compaction": {"reserveTokens": "many"}}, None),
        ({"compaction": {"reserveTokens": -1}}, None),
        ({"compaction": [1]}, None),
        ("{ // a comment\n}", None),
        ("[" * 100_000, None),
        # pi asks first whether a project is trusted.
        ({"compaction": {"reserveTokens": 5}}, {"compaction": {"enabled": False}}),
    ],
)
def test_in_doubt_it_is_the_rule(
    own: dict[str, Any] | str, project: dict[str, Any] | None, tmp_path: Path
) -> None:
    session = pi(tmp_path)
    written(tmp_path / "agent" / "settings.json", own)
    if project is not None:
        written(tmp_path / "project" / ".pi" / "settings.json", project)
    assert at_leaf(session) == Onset(90_000, about=False, inclusive=False)


def test_the_limit_of_codex_only_lowers_it(tmp_path: Path) -> None:
    session = codex(tmp_path)
    assert at_leaf(session) == Onset(180_000, about=True, inclusive=True)
    settings = written(tmp_path / "config.toml", "model_auto_compact_token_limit = 50_000\n")
    assert at_leaf(session) == Onset(50_000, about=True, inclusive=True, source=str(settings))
    for text in (
        "model_auto_compact_token_limit = 190_000\n",
        'model_auto_compact_token_limit = 50_000\nmodel_auto_compact_token_limit_scope = "body_after_prefix"\n',
        "model_auto_compact_token_limit = 'few'\n",
        "this is no TOML",
    ):
        written(settings, text)
        assert at_leaf(session) == Onset(180_000, about=True, inclusive=True), text


@pytest.mark.parametrize(
    ("said", "size"),
    [
        # Of the 95 % that a session records, counted up (0.171).
        ("model_post_turn_compact_threshold_percent = 33\n", 62_700),
        ("model_post_turn_compact_threshold_percent = 0\n", None),
        ("model_post_turn_compact_threshold_percent = 100\n", None),
        ("model_post_turn_compact_threshold_percent = 50\nmodel_auto_compact_token_limit = 60_000\n", 60_000),
        ('model_auto_compact_token_limit = 50_000\nmodel_auto_compact_token_limit_scope = "total"\n', 50_000),
        # Tables of profiles have no such limit (0.125); 0.153 and later start with no `profile` at all.
        ('profile = "other"\nmodel_auto_compact_token_limit = 50_000\n[profiles.other]\n', 50_000),
        ('profile = "other"\n[profiles.other]\nmodel_auto_compact_token_limit = 50_000\n', None),
    ],
)
def test_codex_compacts_behind_a_turn_too(said: str, size: int | None, tmp_path: Path) -> None:
    session = codex(tmp_path)
    settings = written(tmp_path / "config.toml", said)
    expected = Onset(size or 180_000, about=True, inclusive=True, source=str(settings) if size else "")
    assert at_leaf(session) == expected


def test_a_share_of_a_recorded_window_is_taken_of_it_as_it_is(tmp_path: Path) -> None:
    file = Rollout(tmp_path)
    file.line("turn_context", model="another")
    file.turn("Prune the pears.", "Pruned.")
    file.line("event_msg", type="token_count", info={"model_context_window": 95_066})
    written(tmp_path / "config.toml", "model_post_turn_compact_threshold_percent = 33\n")
    found = at_leaf(file.path)
    assert found is not None
    assert found.tokens == 31_372


def test_a_trusted_project_of_codex_goes_first(tmp_path: Path) -> None:
    sub = tmp_path / "repo" / "sub"
    sub.mkdir(parents=True)
    session = codex(tmp_path, sub)
    own = "model_auto_compact_token_limit = 50_000\n"
    ours = written(tmp_path / "config.toml", own)
    above = written(sub.parent / ".codex" / "config.toml", "model_auto_compact_token_limit = 60_000\n")
    trust = f"[projects.{json.dumps(str(sub.parent))}]\ntrust_level = "

    def told() -> tuple[int, str] | None:
        found = at_leaf(session)
        return (found.tokens, found.source) if found is not None else None

    assert told() == (50_000, str(ours))
    written(ours, f'{own}{trust}"trusted"\n')
    # Without a repository what is trusted is the folder alone.
    assert told() == (50_000, str(ours))
    (sub.parent / ".git").mkdir()
    assert told() == (60_000, str(above))
    nearest = written(sub / ".codex" / "config.toml", "model_auto_compact_token_limit = 70_000\n")
    assert told() == (70_000, str(nearest))
    written(ours, f'{own}{trust}"untrusted"\n')
    assert told() == (50_000, str(ours))


@pytest.mark.parametrize(
    "said",
    [
        {"autoCompactEnabled": False},
        {"env": {"DISABLE_AUTO_COMPACT": "1"}},
        {"env": {"DISABLE_COMPACT": True}},
    ],
)
def test_claude_code_may_be_told_not_to(said: dict[str, Any], tmp_path: Path) -> None:
    session = claude(tmp_path)
    settings = written(tmp_path / "settings.json", said)
    before = contents(tmp_path)
    found = at_leaf(session)
    assert found is not None
    assert (found.off, found.source) == (True, str(settings))
    assert contents(tmp_path) == before
    written(settings, {"autoCompactEnabled": True, "env": {"DISABLE_COMPACT": "0"}})
    assert at_leaf(session) == Onset(167_000, about=True, inclusive=True)


@pytest.mark.parametrize("place", [".claude.json", "usual/.claude.json"])
def test_the_switch_of_claude_code_was_in_another_file_before(place: str, tmp_path: Path) -> None:
    home = tmp_path / place.removesuffix(".json") if "/" in place else tmp_path
    session = claude(home)
    older = written(tmp_path / place, {"autoCompactEnabled": False})
    found = at_leaf(session)
    assert found is not None
    assert (found.off, found.source) == (True, str(older))
    written(home / "settings.json", {"autoCompactEnabled": True})
    assert at_leaf(session) == Onset(167_000, about=True, inclusive=True)


@pytest.mark.parametrize(
    ("said", "size"),
    [
        # 2.1.332 compacts at 117,500 and not at 116,500.
        ({"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "150000"}}, 117_000),
        ({"autoCompactWindow": 150_000}, 117_000),
        ({"autoCompactWindow": 400_000}, None),
        ({"autoCompactWindow": 50_000}, None),
        ({"autoCompactWindow": "many", "env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "²"}}, None),
        ({"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "1" * 5000}}, None),
        # As the variable is read by 2.1.332: with a unit, and no smaller than it can be.
        ({"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": " 150K"}}, 117_000),
        ({"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "50000"}}, 67_000),
        ({"autoCompactWindow": 150_000, "env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "few"}}, 117_000),
        ({"autoCompactWindow": 150_000, "modelSettings": {MODEL: {"autoCompactWindow": 120_000}}}, 87_000),
        ({"autoCompactWindow": 150_000, "modelSettings": {MODEL: {"autoCompactWindow": "auto"}}}, None),
        (
            {"autoCompactWindow": 150_000, "modelSettings": {"another": {"autoCompactWindow": 120_000}}},
            117_000,
        ),
        ({"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}}, 90_000),
        ({"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "99.5"}}, None),
        ({"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "0"}}, None),
        ({"autoCompactWindow": 120_000, "env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50%"}}, 50_000),
    ],
)
def test_claude_code_may_be_told_a_window(said: dict[str, Any], size: int | None, tmp_path: Path) -> None:
    session = claude(tmp_path)
    settings = written(tmp_path / "settings.json", said)
    found = Onset(size or 167_000, about=True, inclusive=True, source=str(settings) if size else "")
    assert at_leaf(session) == found


def test_of_opencode_the_project_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    session = opencode(tmp_path / "data" / "opencode")
    own = written(tmp_path / "config" / "opencode" / "opencode.json", {"compaction": {"auto": False}})
    found = at_leaf(session)
    assert found is not None
    assert (found.off, found.source) == (True, str(own))
    monkeypatch.setenv("OPENCODE_CONFIG", str(tmp_path / "another.json"))
    assert at_leaf(session) == found
    written(tmp_path / "another.json", {"compaction": {"auto": True}})
    other = at_leaf(session)
    assert other is None or not other.off
    monkeypatch.setenv("OPENCODE_DISABLE_AUTOCOMPACT", "1")
    never = at_leaf(session)
    assert never is not None
    assert (never.off, never.source) == (True, "OPENCODE_DISABLE_AUTOCOMPACT")


def _models(**limit: int) -> dict[str, Any]:
    return {"provider": {"grove": {"models": {"pear-1": {"limit": limit}}}}}


def _plan_of(session: Path) -> tuple[int, str, int, str]:
    """Size and source of the onset, tokens and source of the window, where the user configured none."""
    config = Config()
    with closing(agent_of(session).open(session)) as found:
        context = context_at(found)
        assert (context.provider, context.model) in {("grove", "pear-1"), ("local", "scripted-1")}
        window = context_window(found, context, config)
        when = onset(context, window, config)
    assert when is not None
    return when.tokens, when.source, window.tokens, window.source.value


def test_of_opencode_limits_of_models_count_in_the_order_of_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    project = tmp_path / "repository" / "orchard"
    (project.parent / ".git").mkdir(parents=True)
    talk = Conversation(directory=str(project))
    talk.turn("graft")
    session = Database(tmp_path / "data" / "opencode").write(talk)
    own = tmp_path / "config" / "opencode" / "opencode.json"
    written(own, _models(context=100_000, output=8_000))
    assert _plan_of(session) == (92_000, str(own), 100_000, "agent's settings")
    beyond = written(tmp_path / "opencode.json", _models(context=1))
    assert _plan_of(session)[0] == 92_000, "nothing above the repository counts"
    beyond.unlink()
    above = '{"provider": {"grove": {"models": {"pear-1": {"limit": {"context": 60_000, // ours\n},},},},}, "a": "/*", /* */}'
    named = written(project.parent / "opencode.jsonc", above.replace("60_000", "60000"))
    assert _plan_of(session) == (52_000, str(named), 60_000, "agent's settings")
    near = written(project / "opencode.json", _models(context=50_000, output=50_000))
    assert _plan_of(session) == (18_000, str(near), 50_000, "agent's settings")
    inner = written(project / ".opencode" / "opencode.jsonc", _models(context=80_000, input=70_000))
    assert _plan_of(session) == (50_000, str(inner), 80_000, "agent's settings")
    written(own, {**_models(output=8_000), "compaction": {"reserved": 9_000}})
    assert _plan_of(session)[0] == 61_000
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps(_models(input=30_000)))
    assert _plan_of(session) == (21_000, str(inner), 80_000, "agent's settings")
    monkeypatch.setenv("OPENCODE_DISABLE_PROJECT_CONFIG", "true")
    monkeypatch.setenv("OPENCODE_CONFIG", str(near))
    monkeypatch.delenv("OPENCODE_CONFIG_CONTENT")
    assert _plan_of(session) == (18_000, str(near), 50_000, "agent's settings")
    # A window that the user configured here is shown; opencode goes by its own.
    with closing(agent_of(session).open(session)) as found:
        context = context_at(found)
        config = Config(windows={"pear-1": 70_000})
        window = context_window(found, context, config)
        assert window.tokens == 70_000
        when = onset(context, window, config)
    assert when is not None
    assert when.tokens == 18_000


def test_of_opencode_limits_of_its_own_list_count_where_no_settings_name_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("data", "config", "cache"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    talk = Conversation(directory=str(tmp_path / "orchard"))
    talk.turn("graft")
    session = Database(tmp_path / "data" / "opencode").write(talk)
    limits = {"context": 400_000, "input": 272_000, "output": 128_000}
    models = {"pear-1": {"limit": limits}, "scripted-1": {"limit": limits}}
    every = {name: {"models": models} for name in ("grove", "local")}
    listed = written(tmp_path / "cache" / "opencode" / "models.json", every)
    assert _plan_of(session) == (252_000, str(listed), 400_000, "agent's settings")
    own = written(tmp_path / "config" / "opencode" / "opencode.json", _models(context=90_000, input=80_000))
    assert _plan_of(session) == (60_000, str(own), 90_000, "agent's settings")
    written(own, {"compaction": {"reserved": 1_000}})
    assert _plan_of(session)[:2] == (271_000, str(listed))
    # It is fetched again now and then.
    del limits["input"]
    written(listed, every)
    assert _plan_of(session)[:2] == (368_000, str(listed))
    monkeypatch.setenv("OPENCODE_MODELS_PATH", str(written(tmp_path / "other.json", "[]")))
    found = at_leaf(session)
    assert found is None or not found.source


def test_of_pi_windows_of_models_are_read(tmp_path: Path) -> None:
    session = pi(tmp_path)
    models = tmp_path / "agent" / "models.json"

    def named(**provider: Any) -> tuple[int, str, int, str]:
        written(models, "// mine\n" + json.dumps({"providers": {"local": provider}}))
        return _plan_of(session)

    ours = {"id": "scripted-1", "contextWindow": 90_000}
    assert named(models=[{"id": "other"}, ours]) == (73_616, "", 90_000, "agent's settings")
    assert named(models=[{"id": "scripted-1"}])[2] == 128_000
    assert named(modelOverrides={"scripted-1": {"contextWindow": 50_000}})[2] == 50_000
    settings = written(
        tmp_path / "agent" / "settings.json",
        {
            "compaction": {
                "reserveTokens": 5_000,
                "modelOverrides": {"local/scripted-1": {"reserveTokens": 7_000}, "local/other": {}},
            }
        },
    )
    assert named(models=[ours]) == (83_000, str(settings), 90_000, "agent's settings")
    models.write_text("{")
    with closing(agent_of(session).open(session)) as found:
        assert context_window(found, context_at(found), Config()).source.value == "assumed"


@pytest.mark.parametrize("agent", [pi, claude, codex, opencode])
def test_a_copy_that_lies_elsewhere_has_no_settings(agent: Callable[[Path], Path], tmp_path: Path) -> None:
    session = agent(tmp_path / "store")
    if session.is_file():
        copy = tmp_path / session.name
        copy.write_bytes(session.read_bytes())
        written(tmp_path / "settings.json", {"autoCompactEnabled": False, "compaction": {"enabled": False}})
        found = at_leaf(copy)
        assert found is None or not found.source
