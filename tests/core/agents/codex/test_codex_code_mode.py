"""Codex's code mode (0.157): a script calls the tools. One written-out call is read as that call, records tell what others ran."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.codex.entries.code_mode import single_call
from leafward.files.working_set import working_set
from leafward.session.entries import Kind
from tests.codex_rollout import Rollout
from tests.core.agents.codex.test_codex_blocks import at_once, decoded
from tests.foreign_sessions import problems

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

PATCH = "*** Begin Patch\n*** Update File: pears.md\n@@\n-one\n+two\n*** End Patch"
DONE, FAILED = (
    "Script completed\nWall time 2.1 seconds\nOutput:\n",
    "Script failed\nWall time 0.0 seconds\nOutput:\n",
)


@pytest.mark.parametrize(
    ("script", "call"),
    [
        (
            'const r = await tools.exec_command({"cmd":"git add -- \\"a b.md\\"; make","workdir":"C:\\\\orchard"});\ntext(r.output);\n',
            ("exec_command", {"cmd": 'git add -- "a b.md"; make', "workdir": "C:\\orchard"}),
        ),
        (
            "text(await tools.exec_command({cmd: 'ls -l', max_output_tokens: 2000, tty: false,}))",
            ("exec_command", {"cmd": "ls -l", "max_output_tokens": 2000, "tty": False}),
        ),
        (
            f"const patch = {json.dumps(PATCH)};\nconst r = await tools.apply_patch(patch);\ntext(r);",
            ("apply_patch", {"input": PATCH}),
        ),
        (f"await tools.apply_patch(String.raw`{PATCH}`)", ("apply_patch", {"input": PATCH})),
        (
            f"await tools.apply_patch({json.dumps(PATCH.splitlines())}.join('\\n'))",
            ("apply_patch", {"input": PATCH}),
        ),
        (
            "const cmd = 'make' + ' test'; // all\nawait tools.exec_command({cmd /* it */})",
            ("exec_command", {"cmd": "make test"}),
        ),
        (
            r"await tools.exec_command({cmd: `cat \u00e4\x41\u{1F350}\ud83c\udf50\ud83c \`x\``})",
            ("exec_command", {"cmd": "cat äA🍐🍐� `x`"}),
        ),
        (
            "await tools.update_plan({plan: [{step: 'pick', status: 'pending'}], note: null})",
            ("update_plan", {"plan": [{"step": "pick", "status": "pending"}], "note": None}),
        ),
        ("text(await tools.list_agents())", ("list_agents", {})),
        # Several calls, or one that is made over and over.
        ("await Promise.all([tools.exec_command({cmd: 'a'}), tools.exec_command({cmd: 'b'})])", None),
        ("for (const f of ['a', 'b']) { await tools.exec_command({cmd: 'ls'}) }", None),
        # Arguments that are only known when it runs.
        ("await tools.exec_command({cmd: `cat ${file}`})", None),
        ("await tools.exec_command({cmd: names.join(' ')})", None),
        ("await tools.exec_command(given)", None),
        ("const a = b; const b = a; await tools.exec_command({cmd: a})", None),
        # Names that stand for sums of names: a billion values.
        (
            "".join(f"const {one} = {'+'.join([below] * 300)};" for one, below in pairwise("abcde"))
            + "const e = ''; await tools.exec_command({cmd: a})",
            None,
        ),
        # What is broken.
        ("await tools.exec_command({cmd: 'a'", None),
        ("await tools.exec_command({cmd: 'a", None),
        ("tools.exec_command(", None),
        ("await tools.exec_command(" + "[" * 5000, None),
        ("text('nothing')", None),
        (None, None),
    ],
)
def test_a_script_with_one_written_out_call_is_that_call(script: object, call: object) -> None:
    assert single_call(script) == call


def ran(rollout: Rollout, script: str, output: object, *items: dict[str, Any], call: str = "call_1") -> None:
    """A script, what it ran, and its output."""
    rollout.item("custom_tool_call", status="completed", call_id=call, name="exec", input=script)
    rollout.line("token_usage_record", usage={"input_tokens": 90, "output_tokens": 10, "total_tokens": 100})
    for item in items:
        rollout.event("item_completed", item=item)
    rollout.item("custom_tool_call_output", call_id=call, output=output)


def printed(head: str, text: str) -> list[dict[str, str]]:
    return [{"type": "input_text", "text": head}, {"type": "input_text", "text": text}]


def command(number: int, words: str, code: int = 0) -> dict[str, Any]:
    status = "failed" if code else "completed"
    folder = "file:///home/ada/orchard"
    return {
        "type": "CommandExecution",
        "id": f"exec-{number}",
        "command": ["bash", "-lc", words],
        "cwd": folder,
        "status": status,
        "exit_code": code,
    }


def change(number: int, **changes: dict[str, Any]) -> dict[str, Any]:
    named = {path.replace("_", "."): how for path, how in changes.items()}
    return {"type": "FileChange", "id": f"exec-{number}", "changes": named, "status": "completed"}


def messages(session: Session, kind: Kind) -> list[dict[str, Any]]:
    found = [session.body(index) or {} for index, one in enumerate(session.columns.kind) if one == kind]
    return [body["message"] for body in found]


def script_of(words: str) -> str:
    return f"const r = await tools.exec_command({json.dumps({'cmd': words})});\ntext(r.output);"


def test_the_end_of_a_command_is_told_by_the_record_before_the_output(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, first=0, cli_version="0.157.1")
    rollout.prompt("commit the pears")
    ran(
        rollout,
        script_of("git commit -m x"),
        printed(DONE, "fatal: Permission denied"),
        command(1, "git commit -m x", 1),
    )
    ran(rollout, script_of("git status"), printed(DONE, "clean"), command(2, "git status"), call="call_2")
    session = rollout.opened()
    first, second = messages(session, Kind.TOOL_RESULT)
    assert (first["toolName"], first["isError"], first["exitCode"]) == ("exec_command", True, 1)
    assert (second["toolName"], second["isError"], second["exitCode"]) == ("exec_command", False, 0)
    (call,) = [
        block for block in messages(session, Kind.ASSISTANT)[0]["content"] if block["type"] == "toolCall"
    ]
    assert (call["name"], call["arguments"]) == ("exec_command", {"cmd": "git commit -m x"})
    assert not problems(session)


@pytest.mark.parametrize(
    ("result", "code"),
    [
        ({"chunk_id": "a", "exit_code": 2, "output": ""}, 2),
        ({"chunk_id": "a", "exit_code": 0, "output": ""}, 0),
        ({"chunk_id": "a", "session_id": 17880, "output": ""}, None),
    ],
)
def test_a_result_that_a_script_prints_as_it_is_tells_the_exit_code(
    tmp_path: Path, result: dict[str, Any], code: int | None
) -> None:
    rollout = Rollout(tmp_path, first=0, cli_version="0.154.0")
    rollout.prompt("run the pears")
    ran(rollout, "text(await tools.exec_command({cmd: 'make'}));", printed(DONE, json.dumps(result)))
    (told,) = messages(rollout.opened(), Kind.TOOL_RESULT)
    assert (told["isError"], told.get("exitCode")) == (bool(code), code)


def test_a_script_that_failed_and_a_patch_are_what_they_are_without_code_mode(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, first=0, cli_version="0.157.1")
    rollout.prompt("change the pears")
    script = f"const patch = {json.dumps(PATCH)};\ntext(await tools.apply_patch(patch));"
    ran(
        rollout,
        script.replace("pears", "plums"),
        printed(FAILED, "Script error:\napply_patch verification failed"),
    )
    done = change(
        2, pears_md={"type": "update", "unified_diff": "@@ -1 +1 @@\n-one\n+two\n", "move_path": None}
    )
    ran(rollout, script, printed(DONE, "{}"), done, call="call_2")
    session = rollout.opened()
    assert [one["isError"] for one in messages(session, Kind.TOOL_RESULT)] == [True, False]
    assert [file.path for file in working_set(session).modified] == ["pears.md"]


def test_what_a_script_with_several_calls_ran_is_in_the_records(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, first=0, cli_version="0.157.1")
    rollout.prompt("change the pears, then test")
    script = (
        "for (const one of patches) await tools.apply_patch(one); await tools.exec_command({cmd: check});"
    )
    items = [
        change(
            1, pears_md={"type": "update", "unified_diff": "@@ -1 +1 @@\n-one\n+two\n", "move_path": None}
        ),
        change(2, plums_md={"type": "add", "content": "three\n"}, old_md={"type": "delete", "content": "x"}),
        command(3, "cat figs.md"),
        command(4, "make test", 2),
    ]
    ran(rollout, script, printed(DONE, "1 failed"), *items)
    session = rollout.opened()
    (result,) = messages(session, Kind.TOOL_RESULT)
    assert (result["toolName"], result["isError"]) == ("exec", False)
    assert [call["name"] for call in result["nestedCalls"]["calls"]] == ["apply_patch"] * 2 + [
        "exec_command"
    ] * 2
    files = working_set(session)
    assert [file.path for file in files.modified] == ["old.md", "pears.md", "plums.md"]
    assert [file.path for file in files.read] == ["figs.md"]


def test_legacy_files_tell_the_patches_that_a_script_applied(tmp_path: Path) -> None:
    """They have no record of its commands (0.15x, real)."""
    rollout = Rollout(tmp_path)
    rollout.prompt("write the pears down")
    call = {
        "call_id": "call_1",
        "name": "exec",
        "input": "for (const one of patches) await tools.apply_patch(one);",
    }
    rollout.item("custom_tool_call", **call)
    changes = {"/home/ada/orchard/pears.md": {"type": "add", "content": "one\n"}}
    rollout.event("patch_apply_end", call_id="exec-1", success=True, status="completed", changes=changes)
    rollout.item("custom_tool_call_output", call_id="call_1", output=printed(DONE, "{}"))
    session = rollout.opened()
    (result,) = messages(session, Kind.TOOL_RESULT)
    assert [(one["id"], one["name"]) for one in result["nestedCalls"]["calls"]] == [("exec-1", "apply_patch")]
    assert [file.path for file in working_set(session).modified] == ["pears.md"]


def test_what_ended_while_a_script_was_waited_for_is_told_at_the_wait(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, first=0, cli_version="0.157.1")
    rollout.prompt("run the long tests")
    ran(rollout, script_of("make long"), "Script running with cell ID 5\nWall time 31.0 seconds\nOutput:\n")
    rollout.item("function_call", name="wait", arguments='{"cell_id":"5"}', call_id="call_2")
    rollout.event("item_completed", item=command(1, "make long", 2))
    rollout.item("function_call_output", call_id="call_2", output=printed(DONE, "2 failed"))
    first, second = messages(rollout.opened(), Kind.TOOL_RESULT)
    assert (first["isError"], second["isError"], second["exitCode"]) == (False, True, 2)


def test_blocks_of_lines_tell_what_decoding_each_of_them_says(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path, first=0, cli_version="0.157.1")
    for number in range(6):
        rollout.prompt(f"commit the pears {number}")
        items = [command(10 * number + one, f"make {one}", one) for one in range(number % 3)]
        ran(rollout, script_of("make"), printed(DONE, "done"), *items, call=f"call_{number}")
        rollout.reply("Done.")
    data = rollout.path.read_bytes()
    assert at_once(data) == at_once(data, 500) == decoded(data)
