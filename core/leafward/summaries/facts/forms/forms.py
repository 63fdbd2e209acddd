"""Facts that are recognised by their form: URLs, paths, numbers with a unit, identifiers, commands.

All patterns have bounded repetitions, know only ASCII classes where a class decides, and test each character a bounded
number of times: texts of a session may be hostile.
"""

from __future__ import annotations

import posixpath
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator


_REMEMBERED = 1 << 15
_FEW = 1 << 12
"""The size of caches for paths and commands, which may be long: each is needed for its call, result and search."""
_WORD_LIMIT = 80
"""Characters of a word whose facts are cached: the same words recur all the time."""


class Form(NamedTuple):
    """A fact that a text holds by its form."""

    text: str
    """The text as written."""
    key: str
    """The canonical form: two with the same meaning have the same key."""
    start: int
    """The offset in characters."""


_URL = late(r"\b(?:https?|wss?|ftp|ssh|git|file)://[^\s<>\"'`\\)\]}|\x00-\x1f]{1,2000}")
_URL_TAIL = ".,;:!?*_"

_EXTENSIONS_WORDS = (
    "astro bash bat bib bin c cc cfg cjs clj cmake conf cpp cs css csv cts cxx dart db diff djvu "
    "dockerfile el elm env erl ex exs f90 fish fs fsx gif go gql gradle graphql h hbs hcl hh hpp hs htm "
    "html ini ipynb java jl jpeg jpg js json json5 jsonc jsonl jsx kt kts less lisp lock log lua m md mdx "
    "mjs mk ml mm mod mts nim nix patch pdf php pl plist png po proto ps1 py pyi pyx r rb rej rkt rs rst "
    "sass scala scm scss sh snap sol sql sqlite sum svelte svg swift tcl tex tf tfvars toml ts tsv tsx "
    "txt v vim vue wasm webp xcf xml yaml yml zig zip zsh"
)
EXTENSIONS = frozenset(_EXTENSIONS_WORDS.split())
"""Endings by which a word without a slash counts as a file."""

_BARE_NAMES = frozenset(
    {"Makefile", "Dockerfile", "Justfile", "Gemfile", "Rakefile", "LICENSE", "CODEOWNERS"}
)

_PATH = late(
    # After a brace a path continues that began before it: `{HOME}/a.md`, `src/{old => new}/a.md` of git.
    # Behind a star it is a pattern: `**/a.md`.
    r"(?<![A-Za-z0-9_/@.~$}*-])"
    # Plain words are skipped here, where that costs least.
    rf"(?=[\w.@+~:-]{{0,160}}[./\\]\\?[\w.@+~\[\]()$-]|(?:{'|'.join(sorted(_BARE_NAMES))})(?!\w))"
    r"(?:~/|\.{1,2}/|/|[A-Za-z]:(?:\\\\|[\\/]))?"
    # In JSON the backslashes of Windows stand twice.
    r"[A-Za-z0-9_.@+~-][\w.@+~-]{0,120}(?:(?:[/\\]|(?<=\w)\\\\)[\w.@+~\[\]()$-]{1,120}){0,40}/?"
)
_HOME = late(r"/(?:home|Users)/[^/]+(?=/|$)|/root(?=/|$)")
"""The user's home, as far as the path of a folder in it tells."""
_LINE_SUFFIX = late(r":\d{1,7}(?:[:-]\d{1,7})?$")
_ENDING = late(r"\.([A-Za-z][A-Za-z0-9]{0,9})$")
_GLUED = late(r"([\x00-\x7f]{1,200}\.([A-Za-z0-9]{1,9}))[^\x00-\x7f]")
"""A path with text of a script without spaces directly after it."""
_OF_PATHS = frozenset("_.@+~/\\:-")
"""Signs in paths."""
_QUOTES = frozenset("'\"`")
_SEVERAL = late(r"(?:(?<=\.ts)|(?<=\.js)|(?<=\.py)|(?<=\.md)|(?<=\.rs)|(?<=\.go)|(?<=\.tsx))/(?=[^/]*\.)")
"""A slash between two files that are named together (`a.ts/b.ts`)."""
_NO_FILES = frozenset(
    {
        "console.log",
        "process.env",
        "Node.js",
        "Next.js",
        "Nuxt.js",
        "Vue.js",
        "React.js",
        "Express.js",
        "Three.js",
    }
)
"""Words in the form of a file that are not one."""

_UNITS = {
    "%": "%",
    "percent": "%",
    **dict.fromkeys(("ms", "msec", "millisecond"), "ms"),
    **dict.fromkeys(("s", "sec", "second"), "s"),
    **dict.fromkeys(("min", "minute"), "min"),
    **dict.fromkeys(("h", "hr", "hour"), "h"),
    **dict.fromkeys(("day",), "day"),
    **dict.fromkeys(("b", "byte"), "byte"),
    **dict.fromkeys(("kb", "kib"), "kb"),
    **dict.fromkeys(("mb", "mib"), "mb"),
    **dict.fromkeys(("gb", "gib"), "gb"),
    **dict.fromkeys(("px", "pixel"), "px"),
    **dict.fromkeys(("x", "×", "time"), "x"),
    **dict.fromkeys(("char", "character"), "char"),
    **dict.fromkeys(("col", "column"), "column"),
    **dict.fromkeys(("行", "行代码", "lines", "loc"), "line"),
    **dict.fromkeys(("秒",), "s"),
    **dict.fromkeys(("分钟", "分"), "min"),
}
_PLAIN_UNITS_WORDS = (
    "line token test file error warning row entr(?:y|ie) item commit fail(?:ure|ing|ed)? pass(?:ed|ing)? "
    "skipped message turn package module request insertion deletion fps hz khz mhz ghz dpi rem em pt "
    "session step issue fix(?:es)?"
)
_PLAIN_UNITS = _PLAIN_UNITS_WORDS.split()
_NUMBER = late(
    r"(?<![A-Za-z0-9_.,#/:-])(?P<sign>[~≈<>≤≥$€£]?\s?)(?P<value>\d{1,15}(?:[,_]\d{3}){0,5}(?:\.\d{1,9})?)(?P<scale>[kM](?![A-Za-z]))?"
    r"(?P<gap>[\s-]?)"
    r"(?P<unit>%|percent|m?sec(?:ond)?s?|milliseconds?|ms|s|min(?:ute)?s?|h|hrs?|hours?|days?|[kKMG]i?[Bb]|bytes?|B|px|pixels?|×|x"
    r"|times|char(?:acter)?s?|col(?:umn)?s?|行代码|行|秒|分钟|分|个文件|"
    + "|".join(f"{unit}s?" for unit in _PLAIN_UNITS)
    + r")?"
    r"(?![A-Za-z0-9_/])"
)
_LABELLED = late(
    r"(?i)\b(?P<label>ports?|timeout|limit|version|max[a-z_]{0,20}|min[a-z_]{0,20}|[a-z]{2,20}(?:tokens|size|width|height|length|ms|seconds|bytes|count))"
    r"(?:\s{0,2}[=:]\s{0,2}|\s(?:is\s|of\s|to\s)?)(?P<value>\d{1,12}(?:[,_]\d{3}){0,4}(?:\.\d{1,6})?)(?![A-Za-z0-9_.]?[A-Za-z0-9_])"
)
_BEFORE_VALUE = late(r"(?i)[a-z_](?:\s{0,2}[=:]\s{0,2}|\s(?:is\s|of\s|to\s)?)\Z")
"""The last letter of a possible label, and the text between it and its value."""
_LONGEST_SIGN = 6
"""The most characters of that."""
_DIGITS = late(r"\d(?<![A-Za-z\d_.,#/-].)\d*")
"""Digits, but not those that belong to a word: they have no label and are no count."""
_ASCII_DIGITS = late(r"[0-9](?<![A-Za-z0-9_.,#/-].)[0-9]*")
"""The same in a text of ASCII, which it takes a fifth less time to look through."""
_LONGEST_LABEL = 40

_IDENTIFIER = late(
    r"(?<![A-Za-z0-9_])"
    # A plain word is not a name, and is ruled out here, where that costs least.
    r"(?![A-Za-z][a-z]{0,80}(?![A-Za-z0-9_$(.-]))(?:"
    r"(?P<flag>(?<![\w-])--[a-z][a-z0-9]{0,30}(?:-[a-z0-9]{1,30}){0,6}(?![\w-]))"
    r"|(?P<scoped>(?<![\w@/])@[a-z0-9][a-z0-9._-]{0,60}/[a-z0-9][a-z0-9._-]{0,60})"
    r"|(?P<issue>(?<![\w#&])#[0-9]{1,7}(?![\w]))"
    r"|(?P<commit>(?<![\w-])(?=[a-f]{0,40}[0-9])(?=[0-9]{0,40}[a-f])[0-9a-f]{7,40}(?![\w-]))"
    r"|(?P<kebab>(?<![\w.-])[A-Za-z][A-Za-z0-9.]{0,40}(?:-[A-Za-z0-9.]{1,40}){1,8}(?![\w-]))"
    r"|(?P<name>(?<!\$)(?=\$|[A-Za-z_][a-z]{0,80}[A-Z0-9_$(])[A-Za-z_$][A-Za-z0-9_$]{1,80}(?![A-Za-z0-9_$])(?P<call>\(\)|\()?)"
    r")"
)
_ESCAPES = frozenset("nrtbfv0")
"""Letters that make an escape with the backslash before them."""
_OF_WINDOWS = late(r"(?:^|[\s\"'`(=])(?:[A-Za-z]:|\.{1,2})\\|\\[ac-eg-mo-qswyzA-Z]\w\w")
"""The sign of a path of Windows: its beginning, or a folder behind a backslash that makes no escape."""
_HUMP = late(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_SNAKE = late(r"[A-Za-z0-9]_[A-Za-z0-9]")
_COMMON_WORDS = (
    "addEventListener removeEventListener AbortController AbortSignal charCodeAt clearInterval "
    "clearTimeout createElement endsWith findIndex forEach fromEntries getElementById hasOwnProperty "
    "indexOf isArray isNaN isinstance lastIndexOf localeCompare padEnd padStart parseFloat parseInt "
    "ReadonlyArray replaceAll ReturnType setInterval setTimeout startswith startsWith toBe toEqual "
    "toFixed toISOString toLocaleString toLowerCase toString toUpperCase trimEnd trimStart TypeError "
    "ValueError KeyError RuntimeError JavaScript TypeScript GitHub GitLab macOS iOS README OpenAI YouTube "
    "LaTeX WebSocket PowerShell JavaScripts GraphQL LinkedIn PostgreSQL MySQL SQLite NodeJS WordPress "
    "eBay iPhone iPad McDonald DevOps $PSScriptRoot $ErrorActionPreference $LASTEXITCODE"
)
_COMMON = frozenset(_COMMON_WORDS.split())

"""Products, and functions that every program of a language calls: not facts of one session."""

_COMMAND_HEADS_WORDS = (
    "apt apt-get awk bash biome brew bun bunx cabal cargo cat cd chmod cmake cp curl deno diff docker "
    "docker-compose dotnet du echo elixir eslint export fd ffmpeg find gem gh git go gradle grep head "
    "helm java jest jq just kill kubectl ls make mix mkdir mv mvn mypy node npm npx nvm php pip pip3 pipx "
    "pkill playwright pnpm poetry prettier psql pwd pytest python python3 pwsh rg rm rsync ruby ruff "
    "rustc rustup scp sed sh sqlite3 ssh swift sudo tail tar tee terraform tmux touch tox ts-node tsc "
    "tsgo tsx uv uvx vite vitest wc wget which xargs xcodebuild yarn zig zsh"
)
_COMMAND_HEADS = frozenset(_COMMAND_HEADS_WORDS.split())
_BACKTICKED = late(r"`([^`\n]{2,300})`")
_CHANGE_FOLDER = late(r"^\s*cd\s+[^;&|\n]{1,400}?\s*(?:&&|;)\s*")
_OUTPUT_CUT = late(r"\s*(?:2>&1|2>/dev/null|>/dev/null)?\s*\|\s*(?:head|tail|cat|less)\b[^|&;]{0,60}$")
_STDERR = late(r"\s+2>(?:&1|/dev/null)")


def urls(text: str) -> Iterator[Form]:
    """URLs, without the punctuation that ends the sentence."""
    if "://" not in text:
        return
    for match in _URL.finditer(text):
        found = match[0].rstrip(_URL_TAIL)
        if found.endswith("--"):
            # A dash of the sentence that was typed directly behind it.
            found = found.rstrip("-")
        yield Form(found, found.rstrip("/"), match.start())


@lru_cache(maxsize=_FEW)
def canonical_path(path: str, cwd: str) -> str:
    """A path in comparable form: `/` between its parts, relative to `cwd` where it lies inside, without a line number."""
    path = _LINE_SUFFIX.sub("", path.strip().removeprefix("@"))
    if "\\" in path:
        path = path.replace("\\", "/")
    path = posixpath.normpath(path) if path else "."
    if path.startswith("//"):
        path = path[1:]
    folder = posixpath.normpath(cwd.replace("\\", "/")) if cwd else ""
    if path.startswith("~/") and (home := _HOME.match(folder)) is not None:
        path_there = f"{home[0]}{path[1:]}"
        path = path_there if f"{path_there}/".startswith(f"{folder}/") else path
    if folder and path == folder:
        return "."
    if folder and folder != "/" and path.startswith(folder + "/"):
        return path[len(folder) + 1 :]
    return path


def paths(text: str, cwd: str = "") -> Iterator[Form]:
    """Paths in a text: with a known ending, or rooted (`/`, `./`, `~/`) with two parts or more."""
    if "." not in text and "/" not in text and "\\" not in text and "file" not in text:
        return iter(())
    return _by_word(text, cwd)


def _by_word(text: str, cwd: str) -> Iterator[Form]:
    words = text.split()
    found = {}
    for word in set(words):
        forms = paths_in(word, cwd) if len(word) <= _WORD_LIMIT else paths_in.__wrapped__(word, cwd)
        if forms:
            found[word] = forms
    at = 0
    for word in filter(found.__contains__, words):
        at = place_of(text, word, at)
        for form in found[word]:
            yield Form(form.text, form.key, at + form.start)
        at += len(word)


def place_of(text: str, word: str, at: int) -> int:
    """The offset of a word between white space, from a place on."""
    at = text.find(word, at)
    while (at and not text[at - 1].isspace()) or text[at + len(word) : at + len(word) + 1].strip():
        at = text.find(word, at + 1)
    return at


EVERYWHERE = frozenset({".", "/", ".."})
"""Folders that are named on the way to others: no facts."""


@lru_cache(maxsize=_REMEMBERED)
def paths_in(word: str, cwd: str) -> tuple[Form, ...]:
    """The paths in one word: they contain no white space."""
    if (
        "." not in word
        and "/" not in word
        and "\\" not in word
        and not any(map(word.__contains__, _BARE_NAMES))
    ):
        return ()
    forms = []
    # A Markdown link has two: its text, and its target.
    for match in _PATH.finditer(word.replace("](", "  ")):
        found = match[0].rstrip(".,;:!?-)")
        if "(" in found and ")" not in found:
            # A position in the file, as compilers write it: `a.ts(16,58)`.
            found = found.partition("(")[0]
        glued = _GLUED.match(found)
        if glued is not None and glued[2].lower() in EXTENSIONS:
            found = glued[1]
        if not _is_path(found):
            continue
        start = match.start()
        if start and (word[start - 1] == "\\" or word[start - 1] > "\x7f"):
            begun = _begun(word, start, start + len(found))
            if begun is None:
                continue
            start, found = start - len(begun), begun + found
        for part in _SEVERAL.split(found) if "/" in found else (found,):
            key = canonical_path(part, cwd)
            if key not in EVERYWHERE and _is_path(part):
                forms.append(Form(part, key, start))
            start += len(part) + 1
    return tuple(forms)


def _begun(word: str, start: int, end: int) -> str | None:
    """The folders in another script before a path that goes on behind them; None where nothing tells where they begin.

    Without blanks between its words a sentence may stand there as well, unless the path is quoted or the whole word.
    """
    last = word[start - 1]
    has_capitals = last.casefold() != last.upper()
    if last != "\\" and word[start] != "/" and not has_capitals:
        # The words of a sentence, and then a path.
        return ""
    begin = start
    while (
        begin and start - begin < _WORD_LIMIT and (word[begin - 1].isalnum() or word[begin - 1] in _OF_PATHS)
    ):
        begin -= 1
    lead = word[begin:start]
    if lead.isascii() or has_capitals:
        # A script with capitals has blanks between its words.
        return "" if lead.isascii() else lead
    before, behind = word[:begin][-1:], word[end:]
    is_whole = not before and not behind.strip(".,;:!?")
    return lead if is_whole or (before in _QUOTES and before == behind[:1]) else None


def _is_path(found: str) -> bool:
    # A device is not anybody's file, `...` replaces folders that are not named, and behind `$` is the rest of a name.
    if len(found) < 3 or found in _NO_FILES or found.startswith(("/dev/", ".../")) or "/.../" in found:
        return False
    if found.endswith("$"):
        return False
    name = found.rsplit("/", 1)[-1].rsplit("\\", 1)[-1]
    ending = _ENDING.search(name)
    if ending is not None and ending[1].lower() in EXTENSIONS:
        # `a.b` with one letter before and after is too short.
        return len(name) > len(ending[0]) and not (len(name) < 5 and name == found)
    if name in _BARE_NAMES and ("/" in found or name != "LICENSE"):
        return True
    if not found.startswith(("/", "./", "../", "~/")) and found[1:3] not in {":\\", ":/"}:
        return False
    parts = [part for part in found.replace("\\", "/").split("/") if part not in {"", ".", "..", "~"}]
    least = 1 if found.startswith(("./", "../", "~/")) else 2
    return len(parts) >= least and any(map(str.isalpha, found))


def canonical_number(value: str, scale: str | None, unit: str | None) -> str | None:
    """Value and unit in comparable form: `20k tokens` and `20,000 tokens` are the same. None without a unit."""
    if not unit:
        return None
    amount = float(value.replace(",", "").replace("_", ""))
    if scale:
        amount *= 1000 if scale == "k" else 1_000_000
    return f"{amount:g} {_unit(unit)}"


def _unit(written: str) -> str:
    lower = written.lower()
    for form in (lower, lower.removesuffix("s"), lower.removesuffix("es")):
        if form in _UNITS:
            return _UNITS[form]
    for ending, name in (("entr", "entry"), ("fail", "fail"), ("pass", "pass"), ("fix", "fix")):
        if lower.startswith(ending):
            return name
    return lower.removesuffix("s") or lower


def numbers(text: str) -> Iterator[Form]:
    """Numbers with a unit, a currency or a label (`port 8080`): the labelled ones first."""
    pattern = _ASCII_DIGITS if text.isascii() else _DIGITS
    digits = [match.start() for match in pattern.finditer(text)]
    labelled: set[int] = set()
    for match in _labels(text, digits):
        value = match["value"]
        labelled.add(match.start("value"))
        amount = float(value.replace(",", "").replace("_", ""))
        yield Form(match[0].strip(), f"{match['label'].lower()} {amount:.12g}", match.start())
    for match in _counts(text, digits):
        value, unit, sign = match["value"], match["unit"], match["sign"].strip()
        if sign in {"$", "€", "£"}:
            amount = float(value.replace(",", "").replace("_", ""))
            yield Form(match[0].strip(), f"{sign}{amount:.12g}{match['scale'] or ''}", match.start())
            continue
        if unit is None or (match["gap"] in {" ", "\n", "\t"} and unit in {"s", "h", "B", "x"}):
            continue
        if (
            match["gap"] == "\n"
            or (value == "1" and match["scale"] is None)
            or match.start("value") in labelled
        ):
            continue
        key = canonical_number(value, match["scale"], unit)
        if key is not None:
            yield Form(match[0].strip(), key, match.start("value"))


def _labels(text: str, digits: list[int]) -> Iterator[re.Match[str]]:
    """The matches of `_LABELLED` in a text whose runs of digits begin at some places."""
    last = 0
    for digit in digits:
        before = text[digit - 1 : digit]
        if not (before in "=:" or before.isspace()):
            continue
        hit = _BEFORE_VALUE.search(text, max(last, digit - _LONGEST_SIGN), digit)
        if hit is None:
            continue
        start = hit.start()
        while start > last and hit.start() - start < _LONGEST_LABEL and _is_word(text[start - 1]):
            start -= 1
        match = _LABELLED.match(text, start)
        if match is not None:
            last = match.end()
            yield match


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _counts(text: str, digits: list[int]) -> Iterator[re.Match[str]]:
    """The matches of `_NUMBER` in a text whose runs of digits begin at some places."""
    last = 0
    for digit in digits:
        if digit < last or text[digit - 1 : digit] == ":":
            continue
        # A sign and a space may stand before it.
        for start in range(max(last, digit - 2), digit + 1):
            match = _NUMBER.match(text, start)
            if match is not None:
                last = match.end()
                yield match
                break


@lru_cache(maxsize=_REMEMBERED)
def identifiers_in(word: str, calls: bool) -> tuple[Form, ...]:
    """The names in one word that prose does not have.

    camelCase, snake_case, `name()`, flags, packages, commits, `#123`, versioned names; they contain no white space.
    """
    if word.isalpha() and word[1:].islower():
        return ()
    return tuple(_identified(word, calls=calls))


def _identified(text: str, *, calls: bool) -> Iterator[Form]:
    for match in _IDENTIFIER.finditer(text):
        group = match.lastgroup
        if group == "call":
            group = "name"
        found = match[0]
        if group == "name":
            name = match["name"].partition("(")[0]
            at = match.start()
            if at and text[at - 1] == "\\" and name[0] in _ESCAPES and _OF_WINDOWS.search(text) is None:
                # The letter belongs to an escape such as a line break in a string: `\nFailed`.
                name, at = name[1:], at + 1
            bare = name.strip("_$")
            if len(bare) < 3 or name in _COMMON or text[at - 1 : at] == "-":
                # Behind a dash stands an option, such as `-rliE` or `--noEmit`, or the rest of a longer name.
                continue
            if not (
                _HUMP.search(bare)
                or _SNAKE.search(bare)
                or (calls and match["call"] == "()" and len(bare) >= 4)
            ):
                continue
            yield Form(name, name, at)
        elif group == "kebab":
            # A hyphen also joins words of prose; with a digit it is a name.
            if any(char.isdigit() for char in found) and any(char.isalpha() for char in found[:2]):
                name = found.rstrip(".")
                yield Form(name, name, match.start())
        elif group == "commit":
            yield Form(found, found[:7] if len(found) > 7 else found, match.start())
        else:
            yield Form(found, found, match.start())


@lru_cache(maxsize=_FEW)
def canonical_command(command: str) -> str:
    """A command in comparable form: on one line, without the `cd` before it and the cut of its output after it."""
    # A command that goes on in the next line.
    line = " ".join(command.replace("\\\n", " ").split())
    for _ in range(3):
        shorter = _CHANGE_FOLDER.sub("", line)
        if shorter == line:
            break
        line = shorter
    line = _OUTPUT_CUT.sub("", line)
    return _STDERR.sub("", line).strip()


def commands(text: str) -> Iterator[Form]:
    """Commands in prose: in backticks, beginning with a program that is usual in a shell."""
    if "`" not in text:
        return
    for match in _BACKTICKED.finditer(text):
        inside = match[1].strip().removeprefix("$ ")
        head, space, rest = inside.partition(" ")
        if space and head in _COMMAND_HEADS and rest.strip():
            yield Form(inside, canonical_command(inside), match.start(1))
