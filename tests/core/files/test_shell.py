"""Shell scripts as what they do to files."""

from __future__ import annotations

import pytest

from leafward.files.file_operation import FileOperation
from leafward.files.file_request import Proof
from leafward.files.shell.effects import LONGEST, effects


def told(script: str, folder: str = "") -> list[tuple[str, str, str | None]]:
    """Without the sweeps, of which `test_bulk_effects` tells."""
    named = (
        one
        for one in effects(script, folder)
        if one.operation not in (FileOperation.SWEEP, FileOperation.STAGE)
    )
    return [(one.operation.value, one.path, one.to) for one in named]


@pytest.mark.parametrize(
    ("script", "does"),
    [
        ("gh api x | jq --arg author me 'map(.a // .b)'", []),
        ("jq --arg a 1 --argjson b 2 '.c' data.json", [("read", "data.json", None)]),
        ("cat a.py", [("read", "a.py", None)]),
        ("cat a b | sort > c", [("read", "a", None), ("read", "b", None), ("write", "c", None)]),
        ("head -n 5 a.py; tail -20 b.py", [("read", "a.py", None), ("read", "b.py", None)]),
        ("cd src && sed -n '1,9p' x.py", [("read", "src/x.py", None)]),
        ("cd src\ncat x\ncd ..\ncat y", [("read", "src/x", None), ("read", "./y", None)]),
        ("(cd src; cat x); cat y", [("read", "src/x", None), ("read", "y", None)]),
        ("cd $HOME && cat x", []),
        ("sed -i 's/a/b/' x.py y.py", [("change", "x.py", None), ("change", "y.py", None)]),
        ("sed -i '' 's/a/b/' x.py", [("change", "x.py", None)]),
        ("sed -i -e 's/a/b/' -e 's/c/d/' x.py", [("change", "x.py", None)]),
        ("sed -ie s/a/b/ x.py", [("change", "x.py", None)]),
        ("sed -nE '/a/p' x.py", [("read", "x.py", None)]),
        ("perl -pi -e 's/x/y/' k.pl", [("change", "k.pl", None)]),
        ("perl -0777 -pi -e 's/x/y/' k.pl", [("change", "k.pl", None)]),
        ("perl -0pe 's/x/y/' k.pl", [("read", "k.pl", None)]),
        ("perl -Mwarnings -ne 'print' k.pl", [("read", "k.pl", None)]),
        ("perl tidy.pl k.pl", []),
        ("awk -i inplace '{print}' k", [("change", "k", None)]),
        ("awk -f x.awk -F: k", [("read", "k", None)]),
        ("sort -uo k k", [("read", "k", None), ("write", "k", None)]),
        ("curl -sSLo k http://x/y; wget -O l http://x/y", [("write", "k", None), ("write", "l", None)]),
        ("curl -s http://x/y", []),
        ("jq . k | sponge k", [("read", "k", None), ("write", "k", None)]),
        ("rm -rf a b/c", [("delete", "a", None), ("delete", "b/c", None)]),
        ("mv a b", [("move", "a", "b")]),
        ("mv a b dir/", [("move", "a", "dir/a"), ("move", "b", "dir/b")]),
        ("cp a sub/", [("copy", "a", "sub/a")]),
        ("mv -t sub a b", [("move", "a", "sub/a"), ("move", "b", "sub/b")]),
        ("cp --target-directory=sub a", [("copy", "a", "sub/a")]),
        ("mv -n a b", [("change", "a", None), ("change", "b", None)]),
        ("cp -u a b", [("change", "b", None)]),
        ("mv *.txt sub/", [("change", "*.txt", None), ("change", "sub/*.txt", None)]),
        ("cp *.txt sub/", [("change", "sub/*.txt", None)]),
        ("mv a{,.old}", [("move", "a", "a.old")]),
        ("rm {a,b}.{c,d}", [("delete", f"{one}.{two}", None) for one in "ab" for two in "cd"]),
        ("install -m 644 a b", [("copy", "a", "b")]),
        ("install -Dm 644 a b; install -vt sub c", [("copy", "a", "b"), ("copy", "c", "sub/c")]),
        ("install -d a b", []),
        ("bash -lc 'cd sub && rm a'", [("delete", "sub/a", None)]),
        ("bash -euo pipefail -c 'rm a'", [("delete", "a", None)]),
        ("sh <<'EOF'\nrm a\nEOF", [("delete", "a", None)]),
        ('bash -c "rm $x"', []),
        ("bash tidy.sh -c x", []),
        ("env -u X A=1 timeout -k 1 5 nice -n 3 rm a", [("delete", "a", None)]),
        ("sudo -u ada rm a", [("delete", "a", None)]),
        ("env -C sub rm a; command -v rm", []),
        ("ssh host 'rm a'; ssh host rm b; docker exec it rm c; kubectl exec pod -- rm d", []),
        ("ssh host cat a > b", [("write", "b", None)]),
        ("pushd x && rm a; popd; rm b", [("delete", "x/a", None), ("delete", "b", None)]),
        ("popd; rm b", []),
        ("git mv a b && git rm c", [("move", "a", "b"), ("delete", "c", None)]),
        ("git -C /w -c core.pager=cat rm -q c d", [("delete", "/w/c", None), ("delete", "/w/d", None)]),
        ("git -C lib mv a b", [("move", "lib/a", "lib/b")]),
        ("git -C $at rm c", []),
        ("git checkout -- a.py", [("change", "a.py", None)]),
        ("git checkout main", []),
        ("git restore a.py", [("change", "a.py", None)]),
        ("npm test 2>&1 | tee -a out.log", [("append", "out.log", None)]),
        ("make 2> errors > out", [("write", "errors", None), ("write", "out", None)]),
        ("make > /dev/null 2>&1", []),
        ("touch a b", [("append", "a", None), ("append", "b", None)]),
        ("touch -c a", []),
        ("wc -l < list", [("read", "list", None)]),
        ("FOO=1 sudo cat a", [("read", "a", None)]),
        ("if true; then cat a; fi", [("read", "a", None)]),
        ("for f in *.py; do cat $f; done", []),
        ("for f in a b; do cat $f; done", [("read", "a", None), ("read", "b", None)]),
        ("for f in a b; do mv $f old/${f}.txt; done", [("move", one, f"old/{one}.txt") for one in "ab"]),
        (
            "for f in a b; do for g in c; do cp $f $g/; done; done",
            [("copy", one, f"c/{one}") for one in "ab"],
        ),
        ("for f in $(ls); do rm $f; done; while read x; do rm $x; done; rm c", [("delete", "c", None)]),
        ("for d in a b; do cd $d; rm x; done", []),
        ("for f in a; do mv $f ${f%.x}; done", []),
        ("cat *.py $x `ls` 'a b' c\\ d", [("read", "a b", None), ("read", "c d", None)]),
        ("echo 'cat a' # rm b", []),
        ("echo 'never closed", []),
        ('cat "$(ls | head', []),
        ("", []),
    ],
)
def test_what_a_script_does(script: str, does: list[tuple[str, str, str | None]]) -> None:
    assert told(script) == does


@pytest.mark.parametrize(
    ("script", "effect", "text"),
    [
        ("cat > a <<'EOF'\nhi $x\nEOF", FileOperation.WRITE, "hi $x\n"),
        ("cat <<EOF > a\nplain\nEOF", FileOperation.WRITE, "plain\n"),
        ("cat > a <<EOF\nhi $x\nEOF", FileOperation.WRITE, None),
        ("cat > a <<-'EOF'\n\tin\n\tEOF\ntrue", FileOperation.WRITE, "in\n"),
        ("cat >> a <<'EOF'\none\ntwo\nEOF\n", FileOperation.APPEND, "one\ntwo\n"),
        ("tee a <<'EOF'\nx\nEOF", FileOperation.WRITE, "x\n"),
        ("echo one two > a", FileOperation.WRITE, "one two\n"),
        ("echo -n one >> a", FileOperation.APPEND, "one"),
        ("echo 'a\\nb' > a", FileOperation.WRITE, None),
        ("echo $x > a", FileOperation.WRITE, None),
        ("printf plain > a", FileOperation.WRITE, "plain"),
        ("printf '%s' x > a", FileOperation.WRITE, None),
        ("> a", FileOperation.WRITE, ""),
        ("touch a", FileOperation.APPEND, ""),
        ("ls > a", FileOperation.WRITE, None),
        ("echo x | cat > a", FileOperation.WRITE, None),
    ],
)
def test_what_is_written_is_known_where_the_words_say_it(
    script: str, effect: FileOperation, text: str | None
) -> None:
    (one,) = effects(script)
    assert (one.operation, one.path, one.text) == (effect, "a", text)


def test_a_folder_that_is_named_stands_before_relative_paths_only() -> None:
    assert told("cat a /etc/b ~/c", "/work") == [
        ("read", "/work/a", None),
        ("read", "/etc/b", None),
        ("read", "~/c", None),
    ]


INLINE = (
    "python3 - <<'EOF'\nfrom pathlib import Path\nPath('a.py').write_text('x')\nEOF",
    "python3 - <<'EOF'\np = 'a.py'\ns = open(p).read()\nopen(p, 'w').write(s)\nEOF",
    "python3 <<'EOF'\nfor p in ['a.py']:\n    open(p, mode='r+').write('x')\nEOF",
    "python -c \"import os; os.remove('a.py')\"",
    'node -e \'fs.writeFileSync("a.py", "x")\'',
    'ruby -e \'File.write("a.py", "x")\'',
)


@pytest.mark.parametrize("script", INLINE)
def test_what_a_program_in_a_command_may_change_is_named_and_not_certain(script: str) -> None:
    (one,) = effects(script)
    assert (one.operation, one.path, one.proof) == (FileOperation.CHANGE, "a.py", Proof.NONE)


@pytest.mark.parametrize(
    "script",
    [
        "python3 -c \"print(open('a.py').read())\"",
        "python3 -c \"open('a' + x, 'w')\"",
        "python3 -c \"open(f'{x}.py', 'w')\"",
        "python3 -c \"import os; os.chdir('x'); open('a.py', 'w')\"",
        "python3 tidy.py <<'EOF'\nopen('a.py', 'w')\nEOF",
    ],
)
def test_a_program_in_a_command_names_nothing_that_it_does_not_say(script: str) -> None:
    assert told(script) == []


def test_work_is_bounded() -> None:
    assert effects("cat a;" * LONGEST) == []
    assert len(effects("cat a;" * (LONGEST // 6))) == LONGEST // 6
    for script in (
        "(" * 50_000 + "cat a",
        "$(" * 50_000,
        "cat " + "a" * 150_000,
        '"' * 99_999,
        "<<a " * 30_000,
        "for f in " + "a " * 40_000 + "; do " + "rm $f $f; " * 9_000 + "done",
        "for f in " + "a" * 90_000 + "; do rm " + "$f" * 40_000 + "; done",
        "rm " + "{a,b}" * 40_000,
        "rm {" + "a," * 60_000 + "}{b,c}",
        "bash -c bash\\ -c\\ " * 9_000,
        "python - <<'E'\n" + "open('" * 30_000 + "\nE",
        "python - <<'E'\n" + "for a in ['b'" + ",  'c'" * 20_000 + "\nE",
        "python - <<'E'\n" + "a = 'b'\n" * 9_000 + "open(a, 'w');" * 7_000 + "\nE",
    ):
        effects(script)


@pytest.mark.parametrize(
    ("script", "proofs"),
    [
        ("rm a", "EXIT"),
        ("rm a; rm b", "SILENCE EXIT"),
        ("rm a && rm b", "EXIT EXIT"),
        ("rm a && rm b; true", "SILENCE SILENCE"),
        ("test -f x && rm a; true", "NONE"),
        ("test -f x && rm a", "EXIT"),
        ("rm a || rm b", "SILENCE NONE"),
        ("rm a 2>/dev/null; rm b", "NONE EXIT"),
        ("if true; then rm a; fi; rm b", "NONE EXIT"),
        ("for x in 1 2; do rm a; done", "NONE"),
        ("case x in x) rm a;; esac; rm b", "NONE EXIT"),
        ("f() { rm a; }; rm b", "NONE EXIT"),
        ("function f { rm a; }; rm b", "EXIT"),
        ("test -f x || { rm a; rm b; }; rm c", "NONE NONE EXIT"),
        ("(cd x && rm a); rm b", "SILENCE EXIT"),
        ("exit 0; rm a", "NONE"),
        ("cd x || exit 1; rm a", "EXIT"),
        ("! rm a", "NONE"),
        ("rm a &", "LATER"),
        ("rm a | cat", "SILENCE"),
        ("set -euo pipefail\nrm a\nrm b", "EXIT EXIT"),
        ("rm a &&\n  rm b", "EXIT EXIT"),
        ("cat > a <<'X'\n1\nX\nnpm test", "SILENCE"),
    ],
)
def test_what_proves_that_a_command_was_done(script: str, proofs: str) -> None:
    assert [one.proof.name for one in effects(script)] == proofs.split()


def test_the_output_of_a_group_is_no_text_of_its_end() -> None:
    for script in ("{ echo a; echo b; } > f", "(echo a) > f", "if true; then echo a; fi > f"):
        assert effects(script)[-1].text is None, script
