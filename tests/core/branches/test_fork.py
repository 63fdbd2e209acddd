"""New sessions: where one may end, what pi's own copies hold, what other agents' sessions become in pi, and how they are written."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.conversation import Conversation
from leafward.agents.fork_draft import cut_at
from leafward.agents.registry import agent_named
from leafward.base.errors import Refused
from leafward.branches import fork as forking
from leafward.session.entries import Kind
from leafward.session.journal import operation_log, session_operations
from leafward.session.lines.line_decoding import decode_line
from tests.acting import Acting, call, reading
from tests.forks import context, digests, entries, made, sent, terms, told, writable_copy
from tests.pi_file import HEADER, PiFile, conversation
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from leafward.session.session import Session

SESSIONS = Path(__file__).parents[2] / "data" / "pi" / "sessions"
PI = agent_named("pi")
CLAUDE = agent_named("claude")


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def working(path: Path) -> Acting:
    """0 prompt, 1 two calls, 2 and 3 their results, 4 reply, 5 prompt, 6 reply."""
    file = Acting(path, {**HEADER, "cwd": str(path.parent)})
    file.user("look at both")
    file.said(call("read", "a", path="a.py"), call("edit", "b", path="b.py", oldText="1", newText="2"))
    file.answered("a", "read")
    file.answered("b", "edit")
    file.said("both are fine")
    file.user("and now?")
    file.said("nothing is left")
    return file


class TestCuts:
    @pytest.mark.parametrize(
        ("entry", "legal", "for_claude", "nearest"),
        [
            (0, False, False, 4),
            (1, False, False, 3),
            (2, False, False, 3),
            (3, True, False, 3),
            (4, True, True, 4),
            (5, True, True, 5),
            (6, True, True, 6),
        ],
    )
    def test_between_turns_and_behind_whole_sets_of_results(
        self, tmp_path: Path, entry: int, *, legal: bool, for_claude: bool, nearest: int
    ) -> None:
        with reading(working(tmp_path / "s.jsonl").path) as session:
            cuts = forking.cuts(session, entry)
            assert cuts["pi"].legal == cuts["codex"].legal == cuts["opencode"].legal == legal
            assert cuts["claude"].legal == for_claude
            if entry:
                assert cuts["pi"].nearest == nearest
            assert cuts["claude"].nearest == (entry if for_claude else 4)

    def test_at_a_prompt_it_ends_before_it(self, tmp_path: Path) -> None:
        with reading(working(tmp_path / "s.jsonl").path) as session:
            assert cut_at(session, session.find("#5"), PI.may_end)[:3] == (5, 4, 5)
            assert cut_at(session, session.find("#6"), PI.may_end)[:3] == (6, 6, -1)

    def test_a_refusal_says_why_and_where_instead(self, tmp_path: Path) -> None:
        with reading(working(tmp_path / "s.jsonl").path) as session:
            with pytest.raises(
                Refused, match="1 tool call has no result here; the nearest entry that works is 00000004"
            ):
                forking.fork(session, 2, PI, terms(tmp_path))
            with pytest.raises(Refused, match="nothing comes before it"):
                forking.fork(session, 0, PI, terms(tmp_path))

    def test_a_file_without_a_reply_has_no_legal_entry(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        file.user("hello?")
        with (
            reading(file.path) as session,
            pytest.raises(Refused, match="no entry near it works either"),
        ):
            forking.fork(session, 0, PI, terms(tmp_path))


class TestPi:
    @pytest.mark.parametrize("by_pi", [False, True])
    def test_what_was_done_to_the_origin_is_neither_in_the_log_nor_undone(
        self, tmp_path: Path, *, by_pi: bool
    ) -> None:
        source = working(tmp_path / "s.jsonl").path
        with reading(source) as session:
            session_operations.label(session, 4, "start here")
            session_operations.rename(session, "Cart work")
            session_operations.archive_session(session)
            session_operations.archive_session(session, archived=False)
            path = made(session, session.leaf, "pi", terms(tmp_path), tmp_path).draft.path
        if by_pi:
            # Its own command writes no mark of ours.
            header, *rest = path.read_bytes().splitlines(keepends=True)
            bare = {**json.loads(header), "timestamp": "2999-01-01T00:00:00.000Z"}
            assert bare.pop("leafward")
            path.write_bytes(json.dumps(bare).encode() + b"\n" + b"".join(rest))
        with reading(path) as copy:
            assert (copy.name, list(copy.labels.values())) == ("Cart work", ["start here"])
            assert operation_log.operations(copy) == []
            with pytest.raises(Refused, match="nothing to undo"):
                session_operations.undo(copy)
            if by_pi:
                return
            renamed = session_operations.rename(copy, "Another")
            assert [(one.op, one.before) for one in operation_log.operations(copy)] == [
                (renamed.op, "Cart work")
            ]
            session_operations.undo(copy)
            assert copy.name == "Cart work"
            with pytest.raises(Refused, match="nothing to undo"):
                session_operations.undo(copy)

    @pytest.mark.parametrize("name", sorted(path.stem for path in SESSIONS.glob("*.jsonl")))
    def test_at_every_entry_the_context_is_that_of_the_source(self, tmp_path: Path, name: str) -> None:
        source = tmp_path / f"{name}.jsonl"
        source.write_bytes((SESSIONS / source.name).read_bytes())
        before = digests(tmp_path)
        copied = 0
        with reading(source) as session:
            for entry in range(len(session)):
                if not cut_at(session, session.find(f"#{entry}"), PI.may_end).legal:
                    continue
                fork = made(session, entry, "pi", terms(tmp_path), tmp_path)
                tip = session.columns.parent[entry] if fork.cut.prompt >= 0 else entry
                with reading(fork.draft.path) as copy:
                    assert context(copy, copy.leaf) == context(session, tip)
                    assert not copy.columns.damage
                    assert copy.version == 3
                    assert copy.name == session.name
                    path = set(session.tree.path(tip))
                    kept = {
                        session.columns.id(one): text for one, text in session.labels.items() if one in path
                    }
                    assert {copy.columns.id(one): text for one, text in copy.labels.items()} == kept
                    if session.version == 3:
                        assert set(lines(fork.draft.path)[1 : fork.draft.kept + 1]) <= set(lines(source))
                fork.draft.path.unlink()
                copied += 1
        assert digests(tmp_path) == before
        assert copied > 3

    def test_the_header_names_the_source(self, tmp_path: Path) -> None:
        with reading(working(tmp_path / "s.jsonl").path) as session:
            fork = made(session, 5, "pi", terms(tmp_path))
            header = json.loads(lines(fork.draft.path)[0])
        assert header["parentSession"] == str(tmp_path / "s.jsonl")
        assert header["version"] == 3
        assert header["cwd"] == str(tmp_path)
        assert fork.draft.path.name == f"2026-11-22T09-30-00-000Z_{header['id']}.jsonl"
        assert fork.draft.resume.argv == ("pi", "--session", str(fork.draft.path))
        assert fork.prompt == "and now?"
        assert stat.S_IMODE(fork.draft.path.stat().st_mode) == 0o600

    def test_moves_of_the_leaf_are_left_out_and_nothing_hangs_on_them(self, tmp_path: Path) -> None:
        """A compaction that kept from a marker on keeps from the entry after it on."""
        file = working(tmp_path / "s.jsonl")
        with reading(file.path) as session:
            session_operations.move(session, 4)
            marker = session.columns.id(session.leaf)
        file.leaf = marker
        file.user("another way")
        file.said("done another way")
        file.entry("compaction", summary="it went well", firstKeptEntryId=marker, tokensBefore=100)
        file.user("go on")
        file.said("I went on")
        with reading(file.path) as session:
            fork = made(session, session.leaf, "pi", terms(tmp_path))
            with reading(fork.draft.path) as copy:
                assert Kind.CUSTOM not in copy.columns.kind
                assert [message for _, message in context(copy, copy.leaf)] == [
                    message for _, message in context(session, session.leaf)
                ]
        assert marker.encode() not in fork.draft.path.read_bytes()
        assert fork.draft.left == 1

    def test_a_label_taken_away_elsewhere_stays_away(self, tmp_path: Path) -> None:
        file = working(tmp_path / "s.jsonl")
        with reading(file.path) as session:
            session_operations.label(session, 4, "fine")
            file.leaf = session.columns.id(session.leaf)
        file.user("more")
        file.said("no more")
        with reading(file.path) as session:
            session_operations.label(session, 4, "")
            fork = made(session, session.place, "pi", terms(tmp_path))
            with reading(fork.draft.path) as copy:
                assert copy.labels == {}

    def test_an_orphan_becomes_a_root(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
        file.user("first", parent="ffffffff")
        file.reply("answer")
        with reading(file.path) as session:
            fork = made(session, 1, "pi", terms(tmp_path))
        with reading(fork.draft.path) as copy:
            assert not copy.columns.damage
            assert (copy.body(0) or {})["parentId"] is None

    def test_what_is_put_in_comes_last(self, tmp_path: Path) -> None:
        with reading(working(tmp_path / "s.jsonl").path) as session:
            fork = made(session, 5, "pi", terms(tmp_path, "Mind the pears."))
        with reading(fork.draft.path) as copy:
            role, message = context(copy, copy.leaf)[-1]
        assert (role, message["content"]) == ("custom", "Mind the pears.")

    def test_files_that_changed_later_are_named(self, tmp_path: Path) -> None:
        file = working(tmp_path / "s.jsonl")
        file.said(call("edit", "z", path="z.py", oldText="1", newText="2"))
        file.answered("z", "edit")
        file.said(call("bash", "m", command="mv y.py x/y.py"))
        file.answered("m", "bash")
        file.said("z is better now")
        with reading(file.path) as session:
            fork = forking.fork(session, 4, PI, terms(tmp_path))
        (said,) = [one.text for one in fork.remarks if one.code == "working-tree"]
        assert "x/y.py, y.py, z.py changed after it" in said
        assert "b.py" not in said


class TestWriting:
    def session(self, tmp_path: Path) -> Path:
        return working(tmp_path / "s.jsonl").path

    def test_an_agent_may_go_on_in_the_source(self, tmp_path: Path) -> None:
        path = self.session(tmp_path)
        with reading(path) as session:
            fork = forking.fork(session, 5, PI, terms(tmp_path))
            with path.open("ab") as file:
                file.write(b'{"type":"custom","id":"aaaaaaaa","parentId":null}\n')
            with pytest.raises(Refused, match="changed while it was read"):
                forking.store(session, fork.draft)
            made = forking.store(session, fork.draft, may_grow=True)
        with reading(made) as session:
            assert session.columns.index("aaaaaaaa") < 0

    def test_an_agent_may_be_amid_a_line(self, tmp_path: Path) -> None:
        path = self.session(tmp_path)
        with reading(path) as session:
            fork = forking.fork(session, 5, PI, terms(tmp_path))
            with path.open("ab") as file:
                file.write(b'{"type":"custom","id":"aaa')
            assert forking.store(session, fork.draft, may_grow=True).exists()

    def test_a_source_that_changed_is_refused_and_nothing_is_left(self, tmp_path: Path) -> None:
        path = self.session(tmp_path)
        with reading(path) as session:
            fork = forking.fork(session, 5, PI, terms(tmp_path))
            first, second, rest = path.read_bytes().split(b"\n", 2)
            path.write_bytes(b"\n".join([first, second.replace(b'{"', b'{ "', 1), rest]))
            with pytest.raises(Refused, match="changed while it was read"):
                forking.store(session, fork.draft, may_grow=True)
        assert os.listdir(tmp_path) == ["s.jsonl"]

    @pytest.mark.parametrize("replaced", [False, True])
    def test_a_source_that_was_rewritten_to_the_same_length_is_refused(
        self, tmp_path: Path, *, replaced: bool
    ) -> None:
        path = self.session(tmp_path)
        with reading(path) as session:
            fork = forking.fork(session, 5, PI, terms(tmp_path))
            text = path.read_bytes()
            other = text.replace(b"b.py", b"c.py")
            assert len(other) == len(text)
            assert other != text
            if replaced:
                path.unlink()
            path.write_bytes(other)
            with pytest.raises(Refused, match="changed while it was read"):
                forking.store(session, fork.draft, may_grow=True)
        assert os.listdir(tmp_path) == ["s.jsonl"]

    def test_a_folder_that_is_gone_is_refused_before_anything_is_written(self, tmp_path: Path) -> None:
        path = self.session(tmp_path)
        text = path.read_bytes().replace(json.dumps(str(tmp_path)).encode(), b'"/gone/orchard"')
        path.write_bytes(text)
        with reading(path) as session:
            fork = forking.fork(session, 5, PI, terms(tmp_path))
            assert fork.obstacle == "project folder not found: /gone/orchard"
            with pytest.raises(Refused, match="not found"):
                forking.store(session, fork.draft)
        assert os.listdir(tmp_path) == ["s.jsonl"]

    def test_a_name_that_is_taken_is_left_alone(self, tmp_path: Path) -> None:
        with reading(self.session(tmp_path)) as session:
            fork = forking.fork(session, 5, PI, terms(tmp_path))
            fork.draft.file.write_bytes(b"mine")
            with pytest.raises(Refused, match="exists already"):
                forking.store(session, fork.draft)
        assert fork.draft.file.read_bytes() == b"mine"
        assert sorted(os.listdir(tmp_path)) == sorted([fork.draft.file.name, "s.jsonl"])

    def test_a_content_that_fails_leaves_nothing(self, tmp_path: Path) -> None:
        import dataclasses

        def broken() -> list[bytes]:
            raise Refused("no more")

        with reading(self.session(tmp_path)) as session:
            fork = forking.fork(session, 5, PI, terms(tmp_path))
            with pytest.raises(Refused, match="no more"):
                forking.store(session, dataclasses.replace(fork.draft, content=broken))
        assert os.listdir(tmp_path) == ["s.jsonl"]


STORES = [
    ("codex", "codex/v0.80.0/.codex"),
    ("codex", "codex/v0.125.0/.codex"),
    ("codex", "codex/v0.169.0/.codex"),
    ("claude", "claude/v2.0.65/.claude"),
    ("claude", "claude/v2.1.330/.claude"),
    ("opencode", "opencode/v1.0.185/opencode"),
    ("opencode", "opencode/v1.18.33/opencode"),
]


class TestOtherAgents:
    @pytest.mark.parametrize(("agent", "store"), STORES)
    def test_pi_sends_what_the_model_had_seen(
        self, corpora: Path, tmp_path: Path, agent: str, store: str
    ) -> None:
        """Of every kept session, at places all over it: messages, compactions, prunes, in their order."""
        source = agent_named(agent)
        root = writable_copy(corpora / store, tmp_path / "store" / Path(store).name)
        before = digests(root)
        compared = 0
        for listing in list(source.discover((root,), lambda: False, [])):
            for name in listing.files:
                session = source.open(Path(listing.folder, name))
                try:
                    compared += self.adopted(session, tmp_path)
                finally:
                    session.close()
        assert digests(root) == before
        assert compared > (10 if THOROUGH else 5)

    def adopted(self, session: Session, home: Path) -> int:
        compared = 0
        for entry in entries(session, 10 if THOROUGH else 5):
            cut = cut_at(session, session.find(f"#{entry}"), PI.may_end)
            if not cut.legal or not session.columns.kind[entry]:
                continue
            fork = made(session, entry, "pi", terms(home), home)
            with reading(fork.draft.path) as copy:
                assert not copy.columns.damage
                assert sent(copy) == told(session, cut.tip(session))
                for index, kind in enumerate(copy.columns.kind):
                    message = (copy.body(index) or {}).get("message", {})
                    if kind == Kind.ASSISTANT:
                        assert {"input", "output", "cacheRead", "cacheWrite", "totalTokens"} <= set(
                            message["usage"]
                        )
                    assert decode_line(copy.raw(index)) is not None
            fork.draft.path.unlink()
            compared += 1
        return compared

    def test_every_call_has_its_result_and_an_id_that_every_provider_takes(self, tmp_path: Path) -> None:
        file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(tmp_path)})
        file.user("look")
        file.said(call("read", "call_1|fc_1", path="a"), call("read", "again", path="b"))
        file.answered("call_1|fc_1", "read")
        file.user("stop that")
        file.said(call("read", "again", path="c"))
        file.answered("again", "read")
        file.said("done")
        with reading(file.path) as session:
            past = Conversation(session, cut_at(session, session.leaf, CLAUDE.may_end))
            found = list(past.portable_messages())
        calls = [str(block["id"]) for one in found for block in one.content if block["type"] == "toolCall"]
        results = [one.call for one in found if one.role == "result"]
        assert len(set(calls)) == 3
        assert calls == results
        assert all("|" not in name for name in calls)
        assert past.invented == 1

    def test_instructions_of_another_agent_stay_behind_and_that_is_said(
        self, corpora: Path, tmp_path: Path
    ) -> None:
        codex = agent_named("codex")
        root = corpora / "codex" / "v0.169.0" / ".codex"
        listing = next(iter(codex.discover((root,), lambda: False, [])))
        session = codex.open(Path(listing.folder, min(listing.files)))
        try:
            fork = forking.fork(session, session.place, PI, terms(tmp_path))
            text = b"".join(fork.draft.content())
        finally:
            session.close()
        assert b"<environment_context>" not in text
        assert "instructions-left" in {one.code for one in fork.remarks}


def test_a_fork_of_a_fork_is_the_same_again(tmp_path: Path) -> None:
    file = conversation(tmp_path / "s.jsonl", 5)
    with reading(file.path) as session:
        first = made(session, 8, "pi", terms(tmp_path), tmp_path)
    with reading(first.draft.path) as session:
        second = made(session, 8 - 2, "pi", terms(tmp_path), tmp_path)
        assert lines(second.draft.path)[1:] == lines(first.draft.path)[1 : 6 + 1]
        header = json.loads(lines(second.draft.path)[0])
    assert header["parentSession"] == str(first.draft.path)
