"""Numbers of more digits than Python converts, wherever a text of a session holds one that is read as a number."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.pi_file import PiFile

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

LONG = "7" * 5_000
SUPERSCRIPT = "²³"

OUTPUTS = [
    "Command exited with code {}",
    "Process exited with code {}",
    "Exit code: {}",
    "      {} src/a.py\n      3 total",
    "     {}\tline\n     2\tline",
    "{}: line",
    "@@ -{0},3 +{0},3 @@\n a\n-b\n+c",
    "+{} line",
    "[Showing lines 1-{0} of {0}. Use offset={0} to continue.]",
    "\n\n[{} more lines in file. Use offset=3 to continue.]",
    "{} passed, {} failed in {}s",
    "src/a.py:{}:{}: error: E{}",
    'File "a.py", line {}',
    "took {}ms, {} MB, ${}",
]
COMMANDS = [
    "head -n {} a.py",
    "sed -n '{},{}p' a.py",
    "tail -n +{} a.py",
    "cat a.py {}>b",
    "wc -l a.py",
    "printf '\\x{}' {}",
]
VERBS = ("tree", "context", "files", "doctor", "show", "survival", "log", "ls", "export", "inject")


@pytest.mark.parametrize("digits", [LONG, SUPERSCRIPT, "-" + LONG], ids=lambda one: one[:6])
def test_no_number_in_a_text_ends_a_verb(run: Run, tmp_path: Path, digits: str) -> None:
    file = PiFile(tmp_path / "session.jsonl")
    file.user(f"Read line {digits} of a.py, {digits} times")
    for number, output in enumerate([*OUTPUTS, *COMMANDS]):
        text = output.replace("{0}", digits).replace("{}", digits)
        is_command = output in COMMANDS
        name = "bash" if is_command or number % 2 else "read"
        call = {
            "type": "toolCall",
            "id": f"c{number}",
            "name": name,
            "arguments": {"command": text}
            if name == "bash"
            else {"path": "a.py", "offset": 3, "limit": digits},
        }
        file.entry("message", message={"role": "assistant", "content": [call], "timestamp": 2})
        result = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": name, "timestamp": 3}
        file.entry(
            "message",
            message={**result, "content": [{"type": "text", "text": text}], "isError": number % 3 == 0},
        )
    file.reply(f"{digits} passed. I changed {digits} files in {digits}s.")
    for verb in VERBS:
        found = run(verb, str(file.path))
        assert "unforeseen" not in found.err, (verb, found.err)
    for arguments in (
        ("compact", "--dry-run"),
        ("export", "--format", "html"),
        ("show", "#" + digits),
        ("select", f"tokens>{digits}"),
        ("plan",),
        ("plan", "--keep-recent", "5"),
    ):
        found = run(arguments[0], str(file.path), *arguments[1:])
        assert "unforeseen" not in found.err, (arguments, found.err)


@pytest.mark.parametrize("value", [LONG, "1e999", "-" + LONG, LONG + ".5"], ids=lambda one: one[:6])
@pytest.mark.parametrize(
    "key", ["version", "totalTokens", "input", "timestamp", "durationMs", "total", "offset"]
)
def test_no_number_in_a_field_ends_a_verb(run: Run, tmp_path: Path, key: str, value: str) -> None:
    file = PiFile(tmp_path / "session.jsonl")
    file.user("hi")
    file.reply("so")
    file.user("more")
    lines = file.path.read_text("utf-8").splitlines()
    changed = []
    for line in lines:
        body = json.loads(line)
        _put(body, key)
        changed.append(json.dumps(body, separators=(",", ":")).replace('"@"', value))
    assert value in "".join(changed)
    file.path.write_text("\n".join(changed) + "\n", "utf-8")
    wanted = 3
    for verb in VERBS:
        found = run(verb, str(file.path))
        assert "unforeseen" not in found.err, (verb, found.err)
    document = run("tree", str(file.path), "--json").document
    assert len(document["entries"]) == wanted
    assert all(entry["parent"] is not None for entry in document["entries"][1:])


def _put(body: dict[str, object], key: str) -> None:
    """Puts a mark under a key everywhere where an object might have it, the outermost but for a version."""
    if key == "version":
        if body.get("type") == "session":
            body[key] = "@"
        return
    message = body.get("message")
    if isinstance(message, dict):
        message[key] = "@"
        usage = message.get("usage")
        if isinstance(usage, dict):
            usage[key] = "@"
            if isinstance(usage.get("cost"), dict):
                usage["cost"][key] = "@"
