"""The scripts that `install` writes for pi and opencode, run in Node: what they ask Leafward for, and where its text goes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from leafward.cli.hook_log import failures
from leafward.cli.main import main
from tests.oracle.resume import find_node

if TYPE_CHECKING:
    from pathlib import Path

_PI = """
const on = {}, sent = [];
extension({ on: (name, run) => { on[name] = run; }, sendMessage: (one) => sent.push(one) });
const ctx = { sessionManager: { getSessionFile: () => "/x.jsonl", getLeafId: () => "a" } };
for (let round = 0; round < 2; round++) {
  await on.session_before_compact({ preparation: { firstKeptEntryId: "a", tokensBefore: 1 } }, ctx);
  await on.session_compact();
}
const messages = sent.map((one) => ({ role: "custom", ...one }));
const kept = (await on.context({ messages })).messages.map((one) => one.content);
// Then Leafward compacts with the text in its summary, and keeps the message of before; behind it pi compacts once more.
const summary = { role: "compactionSummary", summary: `Summary.\\n\\n${sent[0].content}`, timestamp: 2 };
const at = (one, timestamp) => ({ ...one, timestamp });
const beside = [1, 3].map((time) => {
  const event = { messages: [summary, at(messages[0], time), { role: "user", content: "Go on." }] };
  return (on.context(event) ?? event).messages.map((one) => one.role);
});
// A model that copies what it was given into its own summary, in its own layout, before pi adds the newest text.
const copied = `Summary.\\n\\n  ${sent[0].content.replace("src/a.py", "src/old.py")}\\n\\nAnd more.`;
const copy = { role: "compactionSummary", summary: copied, timestamp: 2 };
const branch = { role: "branchSummary", summary: copied, timestamp: 1 };
const last = at(messages[1], 2);
const once = on.context({ messages: [copy, branch, last] }).messages.map((one) => one.summary ?? one.content);
const alone = on.context({ messages: [copy] }) ?? null;
console.log(JSON.stringify([sent.map((one) => one.content), kept, beside, once, alone]));
process.exit(0);
"""

_OPENCODE = """
const client = { session: { message: async () => ({ data: { info: { summary: true } } }) } };
const on = await LeafwardContext({ client });
let told = "Summary.", texts = [];
// As a model may copy it, with white space at the ends of its lines.
const copied = (text) => text.replace("<leafward-context>\\n", " <leafward-context> \\n");
for (let round = 0; round < 2; round++) {
  await on["experimental.session.compacting"]({ sessionID: "s" });
  const output = { text: copied(told) };
  await on["experimental.text.complete"]({ sessionID: "s", messageID: "m" }, output);
  texts.push(told = output.text);
  const later = { text: "Reply." };
  await on["experimental.text.complete"]({ sessionID: "s", messageID: "n" }, later);
  texts.push(later.text);
}
// Two servers compacted the session at once: opencode sends both summaries.
const said = (summary, text) => ({ info: { summary }, parts: [{ type: "step-start" }, { type: "text", text }] });
const messages = [said({ diffs: [] }, told), said(true, told), said(true, told), said(undefined, told), said(true, "Short.")];
await on["experimental.chat.messages.transform"]({}, { messages });
console.log(JSON.stringify([texts, messages.map((one) => one.parts[1].text)]));
process.exit(0);
"""


def ran(agent: str, script: str, home: Path, text: bytes = b"", command: list[str] | None = None) -> Any:
    """What a script prints that uses the installed file of an agent, where Leafward prints a text, or another command runs."""
    node = find_node()
    if node is None:
        pytest.skip("no Node")
    assert main(["install", agent]) == 0
    (file,) = home.rglob(f"*/{'extensions' if agent == 'pi' else 'plugin'}/leafward-context.js")
    printed = home / "printed"
    printed.write_bytes(text)
    source = file.read_text()
    ours = next(line for line in source.splitlines() if line.startswith("const command = "))
    other = json.dumps(command or [shutil.which("cat"), str(printed)])
    source = source.replace(ours, f"const command = {other};")
    runs = home / "runs.mjs"
    runs.write_text(source.replace("export default function (pi)", "function extension(pi)") + script)
    return json.loads(subprocess.run([node, runs], capture_output=True, check=True, env=os.environ).stdout)


_PI_STARTS = """
const on = {};
extension({ on: (name, run) => { on[name] = run; } });
const session = (leaf) => ({ sessionManager: { getSessionFile: () => "/x.jsonl", getLeafId: () => leaf } });
on.session_start({ reason: "new" }, session(null));
on.session_start({ reason: "startup" }, session("a"));
console.log("true");
"""


def test_pi_asks_for_a_session_with_entries_to_be_read_and_does_not_wait(home: Path) -> None:
    asked = home / "asked"
    assert ran("pi", _PI_STARTS, home, command=["/bin/sh", "-c", f"cat >> '{asked}'"]) is True
    assert json.loads(asked.read_text()) == {"session": "/x.jsonl", "wanted": "resumed"}


@pytest.mark.parametrize(
    ("command", "why"),
    [("exit 3", "/bin/sh ended with 3"), ("kill -9 $$", "/bin/sh was ended by SIGKILL"), (None, "ENOENT")],
)
@pytest.mark.parametrize("agent", ["pi", "opencode"])
def test_a_script_tells_how_its_command_failed(agent: str, command: str | None, why: str, home: Path) -> None:
    waits = 'console.log(JSON.stringify(await textOf("/x.jsonl")));\nprocess.exit(0);'
    argv = ["/nowhere"] if command is None else ["/bin/sh", "-c", f"cat > '{home / 'heard'}'; {command}"]
    assert ran(agent, waits, home, command=argv) == ""
    (failure,) = failures()
    assert why in failure
    assert f" {agent}: " in failure


_OPENCODE_STARTS = """
const on = await LeafwardContext({ client: {} });
await on.event({ event: { type: "session.created", properties: { info: { id: "new" } } } });
for (const sessionID of ["new", "old", "old"]) await on["chat.message"]({ sessionID }, {});
console.log("true");
"""


def test_opencode_asks_once_for_a_session_that_did_not_begin_here(home: Path) -> None:
    asked = home / "asked"
    assert ran("opencode", _OPENCODE_STARTS, home, command=["/bin/sh", "-c", f"cat >> '{asked}'"]) is True
    assert json.loads(asked.read_text()) == {"session": "old", "wanted": "resumed"}


TEXT = "<leafward-context>\nÄ 樹 \\n `x` $& $1\n\n- src/a.py \t…\n</leafward-context>"


def test_nothing_but_the_text_is_sent_whatever_else_is_printed(home: Path) -> None:
    greeted = ran("pi", _PI, home, f"Welcome!\n{TEXT}\nBye.\n".encode())
    assert greeted == ran("pi", _PI, home, TEXT.encode())
    texts, _ = ran("opencode", _OPENCODE, home, f"Welcome!\n{TEXT}\nBye.\n".encode())
    assert texts[0] == f"Summary.\n\n{TEXT}"
    assert failures() == []


def test_a_command_that_prints_no_text_is_told(home: Path) -> None:
    texts, _ = ran("opencode", _OPENCODE, home, b"Welcome!\n")
    assert texts[0] == "Summary."
    assert "opencode: no text in what it printed: Welcome!" in failures()[0]


def test_pi_sends_the_text_as_it_is_and_the_newest_one_only(home: Path) -> None:
    sent, kept, beside, once, alone = ran("pi", _PI, home, TEXT.encode())
    assert sent == [TEXT, TEXT]
    assert kept == [TEXT]
    assert beside == [["compactionSummary", "user"], ["compactionSummary", "custom", "user"]]
    assert once == ["Summary.\n\nAnd more."] * 2 + [TEXT]
    assert alone is None, "a copy that nothing follows stays"


def test_opencode_has_the_text_as_it_is_behind_each_summary_once(home: Path) -> None:
    told = f"Summary.\n\n{TEXT}"
    texts, sent = ran("opencode", _OPENCODE, home, TEXT.encode())
    assert texts == [told, "Reply."] * 2
    assert sent == [told, "Summary.", told, told, "Short."]
