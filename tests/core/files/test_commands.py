from __future__ import annotations

import pytest

from leafward.files.patch_format import parsed_patch, patches_in
from leafward.files.printed_files import files_read
from leafward.files.tool_calls import NATIVE_TOOLS, FileAction, ToolTable, file_calls
from leafward.session.command_text import script_of, shown_command
from leafward.session.entries import ToolCall
from tests.call_hunks import call_hunks

SHELL = ToolTable(
    {"view": FileAction.READ},
    frozenset({"run"}),
    command=("cmd",),
    folder=("workdir",),
    patches={"patch": ("input",)},
)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("cat a.txt", ["a.txt"]),
        ("cat -n 'a b.txt' c", ["a b.txt", "c"]),
        ("/bin/cat -- -odd", ["-odd"]),
        ("head -n 20 a.txt", ["a.txt"]),
        ("head -20 a.txt", ["a.txt"]),
        ("tail -c 5 a.txt", ["a.txt"]),
        ("tail +5 a.txt", ["a.txt"]),
        ("nl -ba a.txt", ["a.txt"]),
        ("nl -b a a.txt", ["a.txt"]),
        ("sed -n '1,200p' src/a.py", ["src/a.py"]),
        ("sed -n -e 1p -e 5p a.txt", ["a.txt"]),
        (["bash", "-lc", "cat a.txt"], ["a.txt"]),
        (["cat", "a.txt"], ["a.txt"]),
        ("sed 's/a/b/' a.txt", []),
        ("sed -n -i 1p a.txt", []),
        ("cat", []),
        ("cat -", []),
        ("cat a.txt | wc", []),
        ("cat a.txt && rm a.txt", []),
        ("cat > a.txt", []),
        ("cat <<'X'\nX", []),
        ("cat $HOME/a", []),
        ("cat *.txt", []),
        ("cat 'unclosed", []),
        ("cat " + "a" * 5000, []),
        ("rg x a.txt", []),
        ("", []),
        (None, []),
        ([1, 2], []),
    ],
)
def test_a_lone_look_at_a_file_is_a_read(command: object, files: list[str]) -> None:
    assert files_read(command) == files


def test_a_command_is_shown_as_it_would_be_typed() -> None:
    assert shown_command(["bash", "-lc", "echo 'a b'"]) == "echo 'a b'"
    assert shown_command(["git", "commit", "-m", "a b"]) == "git commit -m 'a b'"
    assert script_of(["python3", "-c", "print()"]) is None


PATCH = """*** Begin Patch
*** Add File: new.txt
+one
+two
*** Update File: old.txt
*** Move to: moved.txt
@@ def f():
 same
-gone
+come
@@
-x
+y
*** Delete File: dead.txt
*** End Patch
"""


def test_a_patch_is_what_it_does_to_each_file() -> None:
    added, updated, deleted = parsed_patch(PATCH)
    assert (added.path, added.verb, added.content) == ("new.txt", "add", "one\ntwo\n")
    assert (updated.path, updated.moved_to) == ("old.txt", "moved.txt")
    assert updated.replaced == [("same\ngone", "same\ncome"), ("x", "y")]
    assert (deleted.path, deleted.verb) == ("dead.txt", "delete")
    assert parsed_patch("no patch") == []
    assert [one.path for one in parsed_patch(PATCH.replace("\n", "\r\n"))] == [
        "new.txt",
        "old.txt",
        "dead.txt",
    ]
    [torn] = parsed_patch("*** Begin Patch\n*** Add File: a\n+x")
    assert torn.content == "x\n"


def test_a_patch_is_found_in_all_three_places() -> None:
    heredoc = f"cd sub && apply_patch <<'EOF'\n{PATCH}EOF\n"
    for call in (
        ToolCall("1", "patch", {"input": PATCH}),
        ToolCall("1", "run", {"cmd": heredoc}),
        ToolCall("1", "run", {"cmd": ["bash", "-lc", heredoc]}),
        ToolCall("1", "run", {"cmd": ["apply_patch", PATCH]}),
    ):
        made = file_calls(call, SHELL)
        assert [(one.path, one.action) for one in made] == [
            ("new.txt", FileAction.WRITE),
            ("old.txt", FileAction.EDIT),
            ("moved.txt", FileAction.EDIT),
            ("dead.txt", FileAction.EDIT),
        ]
        shown = [(line.sign, line.text) for hunk in call_hunks(call, table=SHELL) for line in hunk.lines]
        assert shown == [
            ("+", "one"), ("+", "two"), (" ", "same"), ("-", "gone"), ("+", "come"), ("-", "x"), ("+", "y")
        ]  # fmt: skip
    assert not list(patches_in(f"echo '{PATCH}'"))


def test_paths_are_those_of_the_folder_a_command_ran_in() -> None:
    call = ToolCall("1", "run", {"cmd": "cat a.txt", "workdir": "/w/sub"})
    assert [(one.path, one.action) for one in file_calls(call, SHELL)] == [("/w/sub/a.txt", FileAction.READ)]


def test_native_commands_are_not_looked_into() -> None:
    assert file_calls(ToolCall("1", "bash", {"command": "cat a.txt"}), NATIVE_TOOLS) == []
    [one] = file_calls(ToolCall("1", "read", {"path": "a.txt"}), NATIVE_TOOLS)
    assert (one.path, one.action) == ("a.txt", FileAction.READ)
