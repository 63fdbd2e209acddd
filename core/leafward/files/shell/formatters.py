"""Formatters: programs that rewrite files without telling how, those among their operands or all below a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late, one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.files.shell.lexer import ShellWord

_CHECKS = frozenset(
    {"--check", "--check-only", "--diff", "--dry-run", "--lint", "--list-different", "--verify"}
)
"""Options with which a formatter only tells what it would do."""
_ALWAYS = frozenset(
    [
        "black",
        "isort",
        "rustfmt",
        "stylua",
        "pyupgrade",
        "buildifier",
        "swiftformat",
        "ormolu",
        "lint-staged",
        "nixpkgs-fmt",
        "alejandra",
    ]
)
"""Programs that write unless they are told to check."""
_WRITE, _FIX, _IN_PLACE = ("--write", "-w"), ("--fix",), ("-i", "--in-place")
_ASKED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("prettier", "gofmt", "goimports", "gofumpt", "shfmt"), _WRITE),
    **dict.fromkeys(("eslint", "stylelint", "oxlint", "xo", "standard", "tslint", "markdownlint", "markdownlint-cli2"), _FIX),
    **dict.fromkeys(("clang-format", "autopep8", "yapf", "autoflake", "docformatter"), _IN_PLACE),
    "rubocop": ("-a", "-A", "-x", "--autocorrect", "--autocorrect-all", "--auto-correct", "--auto-correct-all"),
    "ktlint": ("-F", "--format"),
    "djlint": ("--reformat",),
}  # fmt: skip
"""Programs that write where one of these options is given."""
_VERBS: dict[tuple[str, str], tuple[str, ...]] = {
    **dict.fromkeys(
        (("ruff", "format"), ("cargo", "fmt"), ("cargo", "fix"), ("go", "fmt"), ("deno", "fmt"), ("dart", "format"),
         ("terraform", "fmt"), ("mix", "format"), ("dotnet", "format"), ("zig", "fmt"), ("dprint", "fmt"), ("taplo", "fmt"),
         ("taplo", "format"), ("php-cs-fixer", "fix"), ("pre-commit", "run")), ()),
    **dict.fromkeys((("ruff", "check"), ("cargo", "clippy")), _FIX),
    **dict.fromkeys((("biome", "format"), ("biome", "check"), ("biome", "lint")), ("--write", "--fix", "--apply")),
    ("dart", "fix"): ("--apply",),
    ("swift", "format"): _IN_PLACE,
    ("buf", "format"): _WRITE,
}  # fmt: skip
"""Commands of larger programs that write, those with options where one of them is given."""
_RUNNERS = {
    **dict.fromkeys(("npx", "bunx", "uvx", "pnpx"), ""),
    **dict.fromkeys(("uv", "poetry", "pdm", "hatch", "pipx", "rye"), "run"),
    **dict.fromkeys(("python", "python3"), "-m"),
    "bundle": "exec",
}
"""Programs that run another one, and the word in between."""
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_TASKS = frozenset({"make", "just", "task", "rake"})
_NAMED_SO = late(r"(?:[\w.]*[:_-])?(?:format|fmt|prettier|fix|lint-fix|autofix)(?:[:_-](?!check)\w+)*")
"""Names of scripts and targets that format."""
_FLAGS = frozenset(
    {
        "-q",
        "--quiet",
        "-v",
        "--verbose",
        "-s",
        "-l",
        "-y",
        "--yes",
        "--cache",
        "--unsafe-fixes",
        "--ignore-unknown",
        "--all",
        "-a",
    }
)
"""Options without a value."""
_SIGNS = late(
    one_of(
        ("fmt", "format", "black", "isort", "prettier", "stylua", "pyupgrade", "buildifier", "ormolu", "lint-staged", "alejandra",
         "goimports", "gofumpt", "autopep8", "yapf", "autoflake", "rubocop", "ktlint", "biome", "pre-commit", "dart")
    )
)  # fmt: skip
"""Texts of which every script has one in which a formatter runs, unless it fixes."""
_FIXES = late(r"(?<![A-Za-z])(?:auto)?fix(?![A-Za-z])")


def may_format(script: str) -> bool:
    """Whether a formatter may run in a script; most are told apart without parsing them."""
    return _SIGNS.search(script) is not None or ("fix" in script and _FIXES.search(script) is not None)


def formatted(program: str, words: Sequence[ShellWord]) -> list[ShellWord | None] | None:
    """The files and folders that a command formats; None among them for all below its folder, and None where it formats nothing."""
    program, words = _run(program, words)
    texts = [word.text for word in words]
    if program in _TASKS or program in _MANAGERS:
        scripts = [text for text in texts if not text.startswith("-") and text not in ("run", "exec")]
        return [None] if any(_NAMED_SO.fullmatch(one) for one in scripts) else None
    asked = () if program in _ALWAYS else _ASKED.get(program)
    if asked is None and texts:
        asked, words = _VERBS.get((program, texts[0])), words[1:]
    options = {text.partition("=")[0] for text in texts}
    if asked is None or options & _CHECKS or (asked and not options & {*asked}):
        return None
    return _places(words, asked)


def _run(program: str, words: Sequence[ShellWord]) -> tuple[str, Sequence[ShellWord]]:
    """The program that does the work, and the words behind it: `npx prettier`, `uv run ruff`, `python -m black`."""
    between = _RUNNERS.get(program)
    if between is not None or program in _MANAGERS:
        rest = list(words)
        while rest and (rest[0].text in (between, "exec", "dlx", "x", "run", "--") or rest[0].text in _FLAGS):
            rest.pop(0)
        name = rest[0].text.rpartition("/")[2].partition("@")[0] if rest else ""
        if name in _ALWAYS or name in _ASKED or any(name == one for one, _ in _VERBS):
            return name, rest[1:]
    return program, words


def _places(words: Sequence[ShellWord], asked: Sequence[str]) -> list[ShellWord | None]:
    """The operands; with None where none is certainly one, as the value of an option may look like one."""
    found: list[ShellWord | None] = []
    certain, valued = False, False
    for word in words:
        text = word.text
        if text.startswith("-"):
            valued = "=" not in text and text not in _FLAGS and text not in asked and text != "--"
            continue
        plain = word.plain and not word.glob and "..." not in text
        found.append(word if plain else None)
        certain, valued = certain or not valued, False
    return found if certain else [*found, None]
