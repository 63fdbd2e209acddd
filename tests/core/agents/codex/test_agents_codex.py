"""Threads of Codex in small: one tree, read once, with its contexts, costs and models."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.codex.entries.items import typed_in
from leafward.agents.codex.rollout import Rollout as Source
from leafward.agents.recognition import recognised
from leafward.base.config import Config
from leafward.base.errors import NotASession, Refused
from leafward.catalogue.listing import Catalogue
from leafward.context.model_context import context_at
from leafward.context.recorded_usage import usage_total
from leafward.session.entries import DAMAGE_CODE, Kind
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import prompt_text
from tests.codex_rollout import CODEX, DATA, THREADS, Rollout, opened, thread_in
from tests.core.catalogued import cards_in, listed
from tests.foreign_sessions import said
from tests.sources import foreign

if TYPE_CHECKING:
    from leafward.session.session import Session


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A copy of the small store: paginated threads, reverted twice, forked, archived, spawned."""
    return Path(shutil.copytree(DATA / "0.169", tmp_path / ".codex"))


def one(home: Path, part: str) -> Session:
    return opened(thread_in(home, part))


def test_a_thread_that_was_reverted_is_one_tree(home: Path) -> None:
    session = one(home, "cb54")
    assert len(list(session.tree.leaves())) == 3
    assert len(foreign(session).transcript.files) == 3
    texts = [text for role, text in said(session) if role == "user"]
    assert texts == ["Explain what src/calc.py does", "Try the iterative approach to factorial"]
    prompts = [index for index, kind in enumerate(session.columns.kind) if kind == Kind.USER]
    bodies = {str(session.body(index)["message"]["content"][0]["text"]): index for index in prompts}  # type: ignore[index]
    abandoned = bodies["Run a command that fails, then read a missing file"]
    assert not session.tree.is_ancestor(abandoned, session.leaf)
    assert session.tree.is_ancestor(bodies["Write a README"], abandoned)


def test_every_segment_opens_the_whole_thread(home: Path) -> None:
    found = list(home.rglob("*cb54*.jsonl"))
    assert len(found) == 3
    sessions = [opened(path) for path in found]
    assert len({bytes(session.columns.ids) for session in sessions}) == 1
    assert len({session.leaf for session in sessions}) == 1


def test_entries_have_the_same_ids_in_a_fork_and_in_what_it_is_based_on(home: Path) -> None:
    fork, source = one(home, "cda2"), one(home, "cb54")
    inherited = [fork.columns.id(index) for index in range(fork.inherited)]
    assert len(inherited) == 22
    assert all(source.columns.index(name) >= 0 for name in inherited)
    assert fork.header["relation"] == "fork"
    assert fork.header["parentSession"] == str(source.path)


def test_based_history_is_not_counted_twice(home: Path) -> None:
    fork, source = one(home, "cda2"), one(home, "cb54")
    whole = usage_total(fork, range(len(fork)))
    own = usage_total(fork, range(fork.inherited, len(fork)))
    assert 0 < own.total < whole.total
    assert (
        whole.total - own.total
        == usage_total(
            source, [source.columns.index(fork.columns.id(i)) for i in range(fork.inherited)]
        ).total
    )


def test_a_spawned_thread_names_its_parent(home: Path, tmp_path: Path) -> None:
    cards = {card.id.split("-")[1]: card for card in cards_in(home, tmp_path / "i")}
    assert set(cards) == {"039f", "044d", "c1f8", "c70c", "c8b4", "c8e0", "cb54", "cda2"}
    assert (cards["c8e0"].relation, cards["c8e0"].parent) == ("subagent", cards["c8b4"].path)
    assert cards["c70c"].archived
    assert not cards["c1f8"].archived
    assert cards["cda2"].title == "What is left to do?"
    assert cards["039f"].title == "Describe the attached image"
    assert cards["cb54"].title == "Twice reverted"


def test_the_first_look_says_what_the_whole_reading_says(home: Path, tmp_path: Path) -> None:
    from leafward.catalogue.cards.quick_card import peek
    from leafward.catalogue.roots import listings

    full = {card.path: card for card in cards_in(home, tmp_path / "i")}
    found = listings(Config(), [home], {}, lambda _: False, lambda: False, [])
    peeked = [peek(listing.candidate(name)) for listing in found for name in listing.files]
    assert {card.path for card in peeked} == set(full)
    for card in peeked:
        known = full[card.path]
        assert card.partial
        assert (card.id, card.agent, card.name, card.project, card.created, card.relation, card.archived) == (
            known.id, known.agent, known.name, known.project, known.created, known.relation, known.archived
        )  # fmt: skip


def test_the_same_is_found_by_root_by_folder_and_by_file(home: Path, tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "CODEX_HOME": str(home)}
    by_root = {
        os.path.join(listing.folder, name)
        for listing in CODEX.discover(CODEX.roots(Config(), env), lambda: False, [])
        for name in listing.files
    }
    assert by_root == {card.path for card in cards_in(home, tmp_path / "i")}
    day = home / "sessions" / "2026" / "11" / "21"
    assert {card.path for card in cards_in(day, tmp_path / "j")} == {
        path for path in by_root if str(day) in path
    }
    assert CODEX.roots(Config(), {"HOME": "/home/ada"}) == (Path("/home/ada/.codex"),)
    assert CODEX.roots(Config(roots={"codex": ("~/x",)}), {"HOME": "/home/ada"}) == (Path("/home/ada/x"),)


def test_a_session_that_grows_is_read_again_and_another_segment_makes_it_another(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("one", "first")
    catalogue = Catalogue(Config(roots={"pi": (), "codex": (str(tmp_path),)}), index_path=tmp_path / "i")
    catalogue.refresh()
    [card] = catalogue.cards()
    assert (card.messages, catalogue.work.read_whole) == (2, 1)
    catalogue.refresh()
    assert catalogue.work.read_whole == 0
    rollout.turn("two", "second")
    catalogue.refresh()
    assert catalogue.cards()[0].messages == 4


def test_following_takes_in_what_was_appended(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("one", "first")
    session = rollout.opened()
    known = bytes(session.columns.ids)
    assert session.refresh() is None
    rollout.turn("two", "second")
    growth = session.refresh()
    assert growth is not None
    assert (growth.added, growth.replaced) == (2, False)
    assert bytes(session.columns.ids).startswith(known)
    assert said(session)[-1] == ("assistant", "second")


def test_only_what_was_appended_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rollout = Rollout(tmp_path)
    for number in range(300):
        rollout.turn(f"prompt {number}", "reply " * 50)
    session = rollout.opened()
    read: list[int] = []
    at = Source.at

    def counted(self: Source, offset: int, size: int) -> bytes:
        data = at(self, offset, size)
        read.append(len(data))
        return data

    monkeypatch.setattr(Source, "at", counted)
    before = rollout.size
    rollout.turn("two", "second")
    growth = session.refresh()
    assert growth is not None
    assert (growth.added, growth.replaced) == (2, False)
    assert sum(read) <= rollout.size - before + 2
    monkeypatch.undo()
    fresh = rollout.opened()
    assert fresh.columns == session.columns
    assert said(fresh) == said(session)


def test_the_context_of_a_compaction_with_its_history_written_down(home: Path) -> None:
    roles = [role for role, _ in said(one(home, "c1f8"))]
    assert roles == ["user", "user", "custom", "custom", "user", "compactionSummary", "user", "assistant"]
    roles = [role for role, _ in said(one(home, "044d"))]
    assert roles == [
        "custom", "custom", "user", "compactionSummary", "user", "assistant", "toolResult", "assistant", "user", "assistant"
    ]  # fmt: skip
    first = context_at(one(home, "c1f8")).messages[0]
    assert first.role == "system"


def test_the_context_of_old_compactions() -> None:
    old = opened(next((DATA / "0.80").rglob("*9f21*")))
    found = said(old)
    assert [role for role, _ in found][:5] == ["custom", "custom", "user", "compactionSummary", "user"]
    assert found[2] == ("user", "Fill the context")
    assert found[3][1].startswith("Another language model started")
    middle = opened(next((DATA / "0.125").rglob("*a550*")))
    found = said(middle)
    assert [role for role, _ in found][:5] == ["user", "compactionSummary", "custom", "custom", "user"]
    assert [text for role, text in found if role == "user"] == [
        "Fill the context",
        "Keep going after the fill",
        "What is left to do?",
    ]


def test_a_compaction_says_how_large_the_context_was(home: Path) -> None:
    session = one(home, "044d")
    compaction = session.columns.kind.index(Kind.COMPACTION)
    counted = [
        usage["totalTokens"]
        for index in range(compaction)
        if (usage := ((session.body(index) or {}).get("message") or {}).get("usage")) is not None
    ]
    assert session.entry(compaction).body["tokensBefore"] in counted


def test_what_was_injected_is_told_by_its_name(home: Path) -> None:
    session = one(home, "c1f8")
    added = [
        headline(session, index) for index, kind in enumerate(session.columns.kind) if kind == Kind.INJECTED
    ]
    assert {line.word for line in added} == {"added"}
    assert any(line.text.startswith("AGENTS.md instructions for /") for line in added)
    assert any(line.text.startswith("skills: ") for line in added)
    old = opened(next((DATA / "0.80").rglob("*9f21*")))
    index = old.columns.kind.index(Kind.INJECTED, old.columns.kind.index(Kind.INJECTED) + 1)
    assert headline(old, index).text.startswith("environment: /")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("environments.environment_context", "environment"),
        ("generic.turn_aborted", "turn interrupted"),
        ("multi_agent.subagent_notification", "news of a sub-agent"),
    ],
)
def test_what_codex_adds_is_told_without_the_part_of_it_that_adds_it(
    tmp_path: Path, kind: str, words: str
) -> None:
    rollout = Rollout(tmp_path)
    text = [{"type": "input_text", "text": "it is so"}]
    passed = {"content_item_kinds": [kind]}
    rollout.item("message", role="user", content=text, internal_chat_message_metadata_passthrough=passed)
    session = opened(rollout.path)
    index = session.columns.kind.index(Kind.INJECTED)
    assert headline(session, index).text == f"{words}: it is so"


def test_records_that_are_no_messages_are_told_in_plain_words(home: Path) -> None:
    session = one(home, "c1f8")
    notes = {
        headline(session, index).text
        for index, kind in enumerate(session.columns.kind)
        if kind == Kind.CUSTOM
    }
    assert {"turn started", "turn finished"} <= notes
    assert not [text for text in notes if "codex." in text or "_" in text]


def test_before_a_compaction_everything_is_there(home: Path) -> None:
    session = one(home, "044d")
    compaction = session.columns.kind.index(Kind.COMPACTION)
    literal = session.columns.parent[compaction]
    before = said(session, session.columns.parent[session.columns.parent[literal]])
    assert "compactionSummary" not in {role for role, _ in before}
    assert ("user", "Fill the context") in before


def test_what_a_reply_cost_stands_on_it_once(home: Path) -> None:
    session = one(home, "044d")
    usage = usage_total(session, range(len(session)))
    # thread_token_usage of the last record.
    assert usage.total == 157_044
    old = opened(next((DATA / "0.80").rglob("*9f21*")))
    # The last total_token_usage of the thread.
    assert usage_total(old, range(len(old))).total == 162_477


def test_user_text_that_is_stored_twice_is_one_entry_and_injected_text_is_none_of_the_users(
    home: Path,
) -> None:
    session = one(home, "cb54")
    bodies = [session.body(index) or {} for index in range(len(session))]
    injected = [body for body in bodies if body.get("injected")]
    assert [body["customType"] for body in injected] == [
        "codex.host_skills.instructions",
        "codex.agents_md.instructions",
    ]
    old = opened(next((DATA / "0.80").rglob("*9ef8*")))
    assert Kind.USER not in old.columns.kind


def test_the_model_and_its_settings_are_changes(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.line("turn_context", model="alpha", effort="low")
    rollout.turn("one", "first")
    rollout.line("turn_context", model="alpha", effort="low")
    rollout.turn("two", "second")
    rollout.line("turn_context", model="beta", effort="high")
    rollout.turn("three", "third")
    session = rollout.opened()
    kinds = session.columns.kind
    assert (kinds.count(Kind.MODEL_CHANGE), kinds.count(Kind.THINKING_CHANGE)) == (2, 2)
    found = context_at(session)
    assert (found.provider, found.model, found.thinking) == ("openai", "beta", "high")
    replies = [index for index, kind in enumerate(kinds) if kind == Kind.ASSISTANT]
    assert [(session.body(index) or {})["message"]["model"] for index in replies] == [
        "alpha",
        "alpha",
        "beta",
    ]


def test_resuming_is_codexs_own_command(home: Path, tmp_path: Path) -> None:
    session = one(home, "cb54")
    resume = CODEX.resume(session, {"LEAFWARD_HOME": "x"})
    assert resume.argv == (
        "codex",
        "resume",
        "-C",
        "/tmp/demo-project",
        "01a1fff1-cb54-7b32-a82f-5044e1f57a15",
    )
    assert resume.cwd == "/tmp/demo-project"
    assert resume.env_remove == ("LEAFWARD_HOME",)
    nowhere = Rollout(tmp_path / "x", cwd=None).opened()
    with pytest.raises(Refused, match="does not say which folder"):
        CODEX.resume(nowhere, {})


def test_what_is_recognised() -> None:
    assert recognised(b'{"timestamp":"t","type":"session_meta","payload":{}}\n') is CODEX
    assert recognised(b'{"timestamp":"t","ordinal":7,"type":"session_meta","payload":{"a":1') is CODEX
    assert recognised(b'{"type":"event_msg","timestamp":1.0,"payload":{}}\n') is CODEX
    assert recognised(b'{"payload":{"cwd":"/tmp"},"timestamp":"t","type":"session_meta"}\n') is CODEX
    assert (
        recognised(b'{"timestamp": "t", "ordinal": 0, "type": "session_meta", "payload": {"id": "T"}}\n')
        is CODEX
    )
    assert recognised(b'{"ordinal":0,"payload":{"id":"T"},"timestamp":"t","type":"compacted"}\n') is CODEX
    assert recognised(b'{"payload":{},"type":["session_meta"]}\n') is None
    bare = b'"id":"01a1ffe0-0000-7000-8000-000000000001","timestamp":"t"'
    assert recognised(b'{"git":null,' + bare + b"}\n") is CODEX
    assert recognised(b"{" + bare.replace(b'":"', b'": "') + b', "instructions": null}\n') is CODEX
    assert recognised(b'{"git":null,"id":"7","timestamp":"t"}\n') is None
    assert recognised(b'{"type":"user","message":{}}\n') is None
    with pytest.raises(NotASession, match="cannot read"):
        CODEX.open(Path("/nowhere/rollout.jsonl"))


def test_logs_beside_rollouts_are_no_sessions(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, folder="")
    rollout.prompt("Compare")
    for name in ("session_index.jsonl", "history.jsonl"):
        (tmp_path / name).write_text(f'{{"id":"{rollout.thread}","thread_name":"Pears"}}\n')
    assert [card.path for card in listed(tmp_path).cards()] == [str(rollout.path)]


def test_damage_codes_have_a_word_each() -> None:
    assert len(set(DAMAGE_CODE.values())) == len(DAMAGE_CODE)
    assert THREADS[0] != THREADS[1]


@pytest.mark.parametrize(
    ("head", "typed"),
    [
        (
            "# Files mentioned by the user:\n\n## pears.docx: C:\\orchard\\pears.docx\n\n## My request:\nCount the pears\n",
            "Count the pears",
        ),
        (
            '# Files pasted by the user:\n\n## "You count…": /tmp/pasted.txt\n\n## My request:\n',
            '"You count…"',
        ),
        (
            "# Files mentioned by the user:\n\n## Fix the race.txt: C:\\orchard\\pasted-text.txt\n\nRead that.\n\n## My request for Codex:",
            "Fix the race.txt",
        ),
        ("# Plan:\n\n## My request:\nCount the pears", None),
        ("Read this.\n\n# Files mentioned by the user:\n\n## My request:\nCount the pears", None),
    ],
)
def test_the_typed_part_stands_behind_the_files_that_were_attached(head: str, typed: str | None) -> None:
    assert typed_in(head) == typed


def test_of_what_an_editor_put_together_the_typed_part_is_the_prompt(tmp_path: Path) -> None:
    """The whole message is what the model saw; titles, rows and what is offered again are what somebody typed."""
    rollout = Rollout(tmp_path)
    asked = "# Context from my IDE setup:\n\n## Active file: pears.ts\n\n## My request for Codex:\nCount the pears\n"
    rollout.turn(asked, "Seven.")
    rollout.turn("He wrote ## My request for Codex: in the middle", "Fine.")
    (card,) = cards_in(tmp_path, tmp_path / "index")
    assert (card.title, card.prompt) == ("Count the pears", "Count the pears")
    session = rollout.opened()
    first, second = (index for index, kind in enumerate(session.columns.kind) if kind == Kind.USER)
    assert headline(session, first).text == "Count the pears"
    assert said(session)[0] == ("user", asked)
    assert prompt_text(session.body(first) or {}) == "Count the pears"
    assert headline(session, second).text == "He wrote ## My request for Codex: in the middle"
    (listing,) = CODEX.discover((tmp_path,), lambda: False, [])
    glimpse = CODEX.peek(listing.candidate(rollout.path.name))
    assert glimpse is not None
    assert glimpse.prompt == "Count the pears"


def test_a_prompt_behind_long_instructions_is_seen_at_first_sight(tmp_path: Path) -> None:
    """Codex 0.14x puts some eighty thousand bytes ahead of it: a description, rules, the project's instructions."""
    rollout = Rollout(tmp_path)
    rollout.said("x" * 60_000, "developer")
    rollout.said(f"# AGENTS.md instructions for /o\n\n<INSTRUCTIONS>{'Be kind. ' * 2_000}</INSTRUCTIONS>")
    rollout.said("Count the pears")
    (listing,) = CODEX.discover((tmp_path,), lambda: False, [])
    look = CODEX.peek(listing.candidate(rollout.path.name))
    assert look is not None
    assert look.prompt == "Count the pears"


def test_a_prompt_without_an_event_is_seen_at_first_sight(tmp_path: Path) -> None:
    """As the desktop application writes it (0.147)."""
    rollout = Rollout(tmp_path)
    rollout.said("# AGENTS.md instructions for /o\n\n<INSTRUCTIONS>Be kind.</INSTRUCTIONS>")
    rollout.said("Count the pears")
    rollout.said("Seven.", "assistant")
    (listing,) = CODEX.discover((tmp_path,), lambda: False, [])
    look = CODEX.peek(listing.candidate(rollout.path.name))
    assert look is not None
    assert look.prompt == "Count the pears"


def test_a_sub_agent_behind_a_long_inherited_conversation_has_the_name_of_its_task_at_first_sight(
    tmp_path: Path,
) -> None:
    rollout = Rollout(
        tmp_path,
        first=0,
        source={"subagent": {"thread_spawn": {"parent_thread_id": THREADS[1], "agent_path": "/lead/pears"}}},
        agent_path="/lead/pears",
        subagent_history_start_ordinal=9,
    )
    rollout.said("inherited " * 6000)
    (listing,) = CODEX.discover((tmp_path,), lambda: False, [])
    glimpse = CODEX.peek(listing.candidate(rollout.path.name))
    assert glimpse is not None
    assert (glimpse.prompt, glimpse.relation) == ("pears", "subagent")
