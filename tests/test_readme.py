"""The claims of the README and the documents. `python -m tests.test_readme` writes the generated parts."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))
PAGES = ("README.md", "AGENTS.md", "CHANGELOG.md", *DOCS)

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
TEST = re.compile(r"`(test_\w+)`")
ABSOLUTE = re.compile(r"(?<![\w~.])/(?:home|root|tmp|usr|opt|work|Users|private|var)\b[^\s`)]*|[A-Z]:\\")

KEY_SIGNS = {"up": "↑", "down": "↓", "left": "←", "right": "→", "pageup": "page up", "pagedown": "page down"}

HELP_WIDTH = 100
"""Columns the help is laid out in."""


# --- what is generated ------------------------------------------------------------------------------------------------


def keys_table() -> str:
    """Every intent, in the order of the help."""
    from leafward_tui.ui.keys.intents import EVERYWHERE, GROUPS, INTENTS, SCREENS
    from leafward_tui.ui.keys.key_overrides import key_label
    from leafward_tui.ui.keys.key_reasons import SCREEN_TITLES

    lines = ["| key | does | on | name |", "|---|---|---|---|"]
    for group in GROUPS:
        lines.append(f"| **{group}** | | | |")
        for entry in INTENTS:
            if entry.group != group:
                continue
            keys = " ".join(f"`{KEY_SIGNS.get(key) or key_label(key)}`" for key in entry.default_keys)
            everywhere = set(EVERYWHERE) <= set(entry.screens)
            places = [SCREEN_TITLES.get(name, name) for name in SCREENS if name in entry.screens]
            where = "everywhere" if everywhere else ", ".join(places)
            lines.append(f"| {keys} | {entry.title} | {where} | `{entry.id}` |")
    return "\n".join(lines)


def help_block() -> str:
    """The help of the command and of each verb, each in a fence under its name."""
    import click

    from leafward.cli.declarations.verbs import leafward

    settings = {**leafward.context_settings, "terminal_width": HELP_WIDTH}
    top = click.Context(leafward, info_name="leafward", **settings)
    blocks = [f"```text\n{leafward.get_help(top).strip()}\n```"]
    for name in leafward.list_commands(top):
        command = leafward.commands[name]
        context = click.Context(command, info_name=name, parent=top, terminal_width=HELP_WIDTH)
        blocks.append(f"### `leafward {name}`\n\n```text\n{command.get_help(context).strip()}\n```")
    return "\n\n".join(blocks)


def need_table() -> str:
    """Facts that summaries hold, measured on the sessions of the corpora."""
    from tests.bench.need import table

    return table()


def exam_table() -> str:
    """Exam questions that the context answers after the compactions of the corpora."""
    from tests.bench.exam import table

    return table()


def query_table() -> str:
    """Terms of a search; the first column says whether the catalogue's filter knows them too."""
    from leafward.query.vocabulary import TERMS, TEXT_TERMS

    lines = [
        "| in a search | finds | also in the filter |",
        "|---|---|---|",
        "| `word` | the word, also as part of others; of several words all | yes |",
        '| `"a phrase"` | the words as they stand, over line ends too | yes |',
        "| `/pattern/` | a regular expression of Python's, case ignored | |",
    ]
    lines += [f"| `{name}:` | {what} | yes |" for name, what in TERMS.items()]
    lines += [f"| `{name}:` | {what} | |" for name, what in TEXT_TERMS.items()]
    lines += [
        "| `&` `\\|` `-` `!` `( )` | both, either, without, not: beside terms, functions and texts in quotes | yes |",
        "| `prompts()` | the functions and comparisons of `leafward select` | |",
    ]
    return "\n".join(lines)


def onset_table() -> str:
    """When each agent compacts by itself."""
    from leafward.agents.registry import agent_named, agent_names, auto_compaction_of

    lines = ["| agent | compacts by itself | known from | changed by |", "|---|---|---|---|"]
    for name in agent_names():
        rule = auto_compaction_of(name)
        lines.append(f"| {agent_named(name).title} | {rule.rule} | {rule.source} | {rule.changed_by} |")
    return "\n".join(lines)


GENERATED: dict[str, tuple[str, Callable[[], str]]] = {
    "keys": ("docs/keys.md", keys_table),
    "help": ("docs/cli.md", help_block),
    "onset": ("docs/summaries.md", onset_table),
    "query": ("docs/tour.md", query_table),
}
"""The generated parts: the page of each, and what makes it."""

MEASURED: dict[str, tuple[str, Callable[[], str]]] = {
    "exam": ("docs/summaries-measured.md", exam_table),
    "need": ("docs/summaries-measured.md", need_table),
}
"""The same on every machine, but only where the corpora are."""

LONGEST_README = 250
"""Lines: a visitor decides in a minute."""


def block(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name} -->\n)(.*?)(\n?<!-- /{name} -->)", re.DOTALL)


@pytest.mark.parametrize("name", GENERATED)
def test_generated_parts_are_up_to_date(name: str) -> None:
    assert_up_to_date(name, *GENERATED[name])


def test_what_was_measured_is_up_to_date(corpora: Path) -> None:
    # One test: both tables are of the same summaries, which are made once in a process.
    for name, measured in MEASURED.items():
        assert_up_to_date(name, *measured)


def assert_up_to_date(name: str, page: str, make: Callable[[], str]) -> None:
    found = block(name).search(text_of(page))
    assert found, f"no <!-- {name} --> … <!-- /{name} --> in {page}"
    assert found[2].strip() == make(), f"{name} is out of date: python -m tests.test_readme writes it"


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


# --- commands, links, pictures ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def readme() -> str:
    return text_of("README.md")


@pytest.fixture(params=PAGES)
def name_of_page(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def page(name_of_page: str) -> str:
    return text_of(name_of_page)


def test_the_readme_is_short(readme: str) -> None:
    assert len(readme.splitlines()) <= LONGEST_README


def test_the_readme_adds_up_what_was_measured_of_summaries(readme: str) -> None:
    text = (ROOT / "docs" / "summaries-measured.md").read_text(encoding="utf-8")
    table = text.partition("<!-- need -->")[2].partition("others, without")[0]
    ours, best = (
        [tuple(map(int, row)) for row in re.findall(rf"\| {name} \| (\d+) of (\d+) \|", table)]
        for name in (r"\*\*extractive\*\*", "best possible")
    )
    held, needed = map(sum, zip(*ours, strict=True))
    assert f"holds {held} of the {needed} facts" in readme
    assert f"best possible is {sum(held for held, _ in best)}." in readme
    factors = re.findall(
        r"extractive holds (\d\.\d+) times .* \(95 % interval over compactions: (.*) to (.*)\)", text
    )
    assert all(factor in readme and f"{low} to {high}" in readme for factor, low, high in factors)
    assert len(factors) == 2


AS_MUCH_AS_A_MODEL, AS_MUCH_AS_THE_END, FILES_SEEN = 1.5, 1.3, 0.99


def test_what_was_measured_of_summaries_is_above_the_bars() -> None:
    # Where the corpora are, `test_what_was_measured_is_up_to_date` holds these figures against the code.
    text = text_of("docs/summaries-measured.md").partition("<!-- need -->")[2].partition("<!-- /need -->")[0]
    over_model, over_end = map(float, re.findall(r"extractive holds (\d+\.\d+) times as much", text))
    assert over_model >= AS_MUCH_AS_A_MODEL
    assert over_end >= AS_MUCH_AS_THE_END
    ((of, seen),) = re.findall(r"Of (\d+) files .*?, (\d+) with the injected context", text)
    assert int(seen) >= FILES_SEEN * int(of)


def test_the_two_commands_come_first(readme: str) -> None:
    commands = [line for _, body in FENCE.findall(readme) for line in body.splitlines()]
    assert commands[:2] == ["make demo", "make test"]


def test_commands_of_make_exist(page: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = re.findall(r"^make (\w+)", "\n".join(body for _, body in FENCE.findall(page)), re.MULTILINE)
    assert set(named) <= targets


def anchors(text: str) -> set[str]:
    """Headings as a forge links to them."""
    found = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def local_links(text: str) -> Iterator[str]:
    for match in LINK.finditer(FENCE.sub("", text)):
        target = match[1] or match[2]
        if not target.startswith(("https://", "http://")):
            yield target


def test_local_links_and_pictures_exist(page: str, name_of_page: str) -> None:
    folder = (ROOT / name_of_page).parent
    for target in local_links(page):
        path, _, anchor = target.partition("#")
        assert not path or (folder / path).exists(), target
        if anchor:
            there = (folder / path).read_text(encoding="utf-8") if path else page
            assert anchor in anchors(there), target


def test_every_document_is_linked_from_the_readme(readme: str) -> None:
    assert set(DOCS) <= set(local_links(readme))


def test_every_picture_is_made_by_the_one_command_and_shown(readme: str) -> None:
    from screenshots.__main__ import SHOTS

    pages = [readme, *map(text_of, DOCS)]
    shown = {
        target.removeprefix("../")
        for page in pages
        for target in local_links(page)
        if target.endswith(".svg")
    }
    assert shown == {f"screenshots/{shot.name}.svg" for shot in SHOTS}
    assert shown == {path.relative_to(ROOT).as_posix() for path in (ROOT / "screenshots").glob("*.svg")}


@pytest.mark.parametrize("path", sorted((ROOT / "screenshots").glob("*.svg")), ids=lambda path: path.stem)
def test_a_picture_is_small_and_loads_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) < 120_000
    assert re.findall(r"https?://[^\s\"']+", text) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"url\(|@import|@font-face|<script|<image|<foreignObject", text)


def test_no_path_of_a_machine(page: str) -> None:
    assert ABSOLUTE.findall(page) == []


def test_tests_that_are_named_exist(page: str, name_of_page: str) -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    there = set(re.findall(r"def (test_\w+)\(", tests))
    assert set(TEST.findall(page)) - there == set()
    folder = (ROOT / name_of_page).parent
    for name, path in re.findall(r"\[`(test_\w+)`\]\(([^)#]+)\)", page):
        assert f"def {name}(" in (folder / path).read_text(encoding="utf-8"), (name, path)


FOREIGN = {"on_x", "run_", "gitattributes"}
"""Names of other programs' things, and of files without a stem, that no code of ours says."""


@pytest.mark.parametrize("name_of_page", ["AGENTS.md", "docs/traps.md", "docs/invariants.md"])
def test_names_of_the_code_exist(page: str, code_words: set[str]) -> None:
    named = {
        word for text in re.findall(r"`([^`\n]+)`", page) for word in re.findall(r"[A-Za-z_]\w{2,}", text)
    }
    assert named - code_words - FOREIGN == set()


@pytest.mark.parametrize("name_of_page", ["AGENTS.md", "docs/traps.md", "docs/invariants.md"])
def test_modules_that_are_named_exist(page: str) -> None:
    """As `room/module`, `room/module.py` or `room/module.name`, from any folder on."""
    named = re.findall(r"`([a-z_]+(?:/[a-z_]+)+)(?:\.\w+)?`", page)
    folders = ("core", "tui", "themes", "tests", "docs")
    places = [path for name in folders for path in (ROOT / name).rglob("*")]
    there = "\n".join(f"/{path.relative_to(ROOT).with_suffix('').as_posix()}" for path in places)
    assert [name for name in named if not re.search(rf"/{name}$", there, re.MULTILINE)] == []


@pytest.fixture(scope="module")
def code_words() -> set[str]:
    """The words of all code, tests and files of the repository, and the names of the files."""
    folders = ("core", "tui", "themes", "tests", "screenshots")
    paths = [path for name in folders for path in (ROOT / name).rglob("*.py")]
    paths += [ROOT / "pyproject.toml", ROOT / "Makefile"]
    texts = [f"{path.relative_to(ROOT)} {path.read_text(encoding='utf-8')}" for path in paths]
    return set(re.findall(r"\w+", "\n".join(texts)))


# --- configuration and JSON -------------------------------------------------------------------------------------------


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table that begins with this row of headings."""
    _, _, rest = text.partition(f"\n{heading}\n")
    assert rest, heading
    lines = rest.split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]


def test_configuration_is_described_whole() -> None:
    from leafward.base.config import Config, known_keys

    table = {
        key.strip("`"): default
        for key, default, _ in rows(text_of("docs/configuration.md"), "| key | default | what |")
    }
    assert sorted(table) == known_keys()
    for key, default in table.items():
        value = None if key.endswith(".*") else getattr(Config(), key.replace(".", "_").replace("-", "_"))
        said = tomllib.loads(f"x = {default.strip('`')}")["x"] if default else None
        said = tuple(said) if isinstance(said, list) else said
        assert said == value, key


def test_the_example_configuration_is_sound() -> None:
    from leafward.base.config import parse
    from leafward_tui.ui.appearance.palette import TOKENS, built_in_names
    from leafward_tui.ui.keys.key_overrides import Keymap

    configuration, summaries = text_of("docs/configuration.md"), text_of("docs/summaries.md")
    examples = [body for language, body in FENCE.findall(summaries + configuration) if language == "toml"]
    of_config = [body for body in examples if "[[anchors]]" not in body]
    parsed = [parse(body, Path("config.toml")) for body in of_config]
    assert [problems for _, problems in parsed] == [[], []]
    config = parsed[1][0]
    assert Keymap.of(config.keymap).problems == ()
    assert config.theme in built_in_names()
    assert len(built_in_names()) == 15
    assert "fifteen themes" in text_of("docs/tour.md")
    assert len(TOKENS) == 14
    assert "fourteen colours" in configuration


def test_the_example_governance_is_read_whole(tmp_path: Path) -> None:
    from leafward.compaction.injection.builders.stores import OWN, read_own
    from leafward.compaction.injection.builders.workspace import Workspace

    (example,) = (body for _, body in FENCE.findall(text_of("docs/summaries.md")) if "[[anchors]]" in body)
    path = tmp_path / OWN
    path.parent.mkdir()
    path.write_text(example, encoding="utf-8")
    diagnostics: list[Any] = []
    store = read_own(Workspace(tmp_path), diagnostics)
    assert diagnostics == []
    assert store is not None
    assert len(store.anchors) == len(store.actions) == 1
    told = {text for text, _ in store.values.values()}
    assert {"0.5 release", "none", "concise"} <= told


def main() -> None:
    """Writes the generated parts anew, the measured ones where the corpora are."""
    from tests.surroundings import CORPORA

    for name, (page, make) in (GENERATED | (MEASURED if CORPORA.is_dir() else {})).items():
        text = text_of(page)
        found = block(name).search(text)
        assert found
        text = f"{text[: found.start()]}{found[1]}\n{make()}\n\n<!-- /{name} -->{text[found.end() :]}"
        (ROOT / page).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
