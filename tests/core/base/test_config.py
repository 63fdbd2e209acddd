from __future__ import annotations

from pathlib import Path

import pytest

from leafward.base.config import Config, config_path, known_keys, load, parse, unfit_url

FILE = Path("config.toml")


def test_a_missing_file_is_all_defaults_and_no_problem(tmp_path: Path) -> None:
    assert load(tmp_path / "none.toml") == (Config(), [])
    assert load() == (Config(), [])


def test_the_users_file_lies_in_our_folder(isolated_environment: Path) -> None:
    assert config_path() == isolated_environment / "leafward" / "config" / "config.toml"
    config_path().parent.mkdir(parents=True)
    config_path().write_text('theme = "clearing"\n', encoding="utf-8")
    assert load()[0].theme == "clearing"


def test_every_key_is_read() -> None:
    config, problems = parse(
        """
        model = "anthropic/claude-sonnet-4-5"
        window = 128000
        keep-recent = 10000
        reserve = 8000
        strategy = "codex"
        theme = "frost"
        ascii = true
        density = "comfortable"
        follow-interval = 0.5
        exclude = ["~/private", "!~/private/open"]
        [windows]
        "claude-sonnet-4-5" = 1000000
        [base-urls]
        ollama_chat = "http://127.0.0.1:11434"
        [keys]
        "openai/local" = "LOCAL_KEY"
        [restore]
        keep-days = 30
        keep-mb = 64
        [summaries]
        timeout = 30
        deadline = 300
        attempts = 2
        parallel = 1
        [keymap]
        "explorer.move" = "enter"
        "explorer.undo" = ["u", "ctrl+z"]
        "explorer.fold" = []
        [roots]
        pi = ["~/sessions", "/var/sessions"]
        [extra-roots]
        pi = "/mnt/sessions"
        [injection]
        budget = 4000
        order = "alpha"
        off = ["rules"]
        """,
        FILE,
    )
    assert not problems
    assert config.window_of("anthropic/claude-sonnet-4-5") == 1_000_000
    assert config.window_of("gpt-5") == 128_000
    assert config.window_of(None) == 128_000
    assert config.keymap == {
        "explorer.move": ("enter",),
        "explorer.undo": ("u", "ctrl+z"),
        "explorer.fold": (),
    }
    assert config.base_urls == {"ollama_chat": "http://127.0.0.1:11434"}
    assert config.keys == {"openai/local": "LOCAL_KEY"}
    assert (config.summaries_timeout, config.summaries_deadline) == (30, 300)
    assert (config.summaries_attempts, config.summaries_parallel) == (2, 1)
    assert (config.restore_keep_days, config.restore_keep_mb) == (30, 64)
    assert config.roots == {"pi": ("~/sessions", "/var/sessions")}
    assert (config.injection_budget, config.injection_order) == (4000, "alpha")
    assert (config.follow_interval, config.ascii, config.density) == (0.5, True, "comfortable")
    changed = [
        name for name, one, default in zip(Config._fields, config, Config(), strict=True) if one != default
    ]
    assert changed == list(Config._fields), "a field this file does not set"


@pytest.mark.parametrize(
    ("source", "named", "suggested"),
    [
        ("keep-recnt = 1", "keep-recnt", "keep-recent"),
        ("windw = 1", "windw", "window"),
        ("[injection]\nbudgte = 1", "injection.budgte", "injection.budget"),
        ("budget = 1", "budget", "injection.budget"),
        ("[key-maps]\nx = 'y'", "key-maps", "keymap"),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_known_one(source: str, named: str, suggested: str) -> None:
    config, [problem] = parse(source, FILE)
    assert config == Config()
    assert (problem.code, problem.key) == ("unknown-key", named)
    assert f"{named!r} (did you mean {suggested!r}?)" in problem.text
    assert str(problem).startswith("config.toml: ")


def test_a_key_like_no_other_is_named_without_a_guess() -> None:
    _, [problem] = parse("zzzz = 1", FILE)
    assert "did you mean" not in problem.text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('window = "big"', "window must be a whole number of at least 1; the default (200000) is used"),
        ("window = true", "window must be a whole number of at least 1; the default (200000) is used"),
        ("window = 0", "window must be a whole number of at least 1; the default (200000) is used"),
        ("reserve = 1.5", "reserve must be a whole number of at least 0; the default (16384) is used"),
        ("strategy = 'pie'", "strategy must be one of own, pi, codex, opencode; the default ('own') is used"),
        ("ascii = 'yes'", "ascii must be true, false or \"auto\"; the default ('auto') is used"),
        ("exclude = [1]", "exclude must be a text or a list of texts; the default (none) is used"),
        ("model = ''", "model must be a text; the default (none) is used"),
        (
            "follow-interval = 0",
            "follow-interval must be a number of seconds from 0.02 to 60; the default (0.1) is used",
        ),
        ("injection = 3", "injection must be a table; it is ignored"),
        ("roots = 3", "roots must be a table; it is ignored"),
        ("[roots]\npi = 3", "roots.pi must be a text or a list of texts; it is ignored"),
        (
            '[roots]\npi = ["a\\u0000b"]',
            "roots.pi must be a text or a list of texts without NUL characters; it is ignored",
        ),
        (
            "[keys]\nopenai = 'sk-123'",
            "keys.openai must be the name of an environment variable; it is ignored",
        ),
        (
            "[summaries]\ntimeout = 0",
            "summaries.timeout must be a number of seconds from 1 to 3600; the default (120.0) is used",
        ),
        ("[windows]\ngpt = 'x'", "windows.gpt must be a whole number of at least 1; it is ignored"),
    ],
)
def test_a_value_of_the_wrong_type_is_explained_and_the_default_used(source: str, expected: str) -> None:
    config, [problem] = parse(source, FILE)
    assert problem.code == "bad-value"
    assert problem.text == expected
    assert config == Config()


def test_one_bad_key_leaves_the_others_alone() -> None:
    config, problems = parse("window = 'x'\nreserve = 5\nkeep_recent = 7\n[roots]\npi = 1\ncodex = 'a'", FILE)
    assert (config.window, config.reserve, config.keep_recent) == (200_000, 5, 7)
    assert config.roots == {"codex": ("a",)}
    assert [problem.key for problem in problems] == ["window", "roots.pi"]


def test_text_that_is_no_toml_is_a_problem_with_its_line() -> None:
    config, [problem] = parse("window = 1\ntheme = \n", FILE)
    assert config == Config()
    assert (problem.code, problem.line) == ("syntax", 2)
    assert "(at line" not in problem.text
    assert str(problem).startswith("config.toml:2: is not TOML: ")


def test_bytes_that_are_no_text_and_a_folder_are_problems(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"window = 1\ntheme = '\xff'\n")
    config, [problem] = load(file)
    assert (config, problem.code, problem.line) == (Config(), "syntax", 2)
    config, [problem] = load(tmp_path)
    assert (config, problem.code) == (Config(), "unreadable")


def test_a_file_that_nobody_wrote_by_hand_is_refused_at_once(tmp_path: Path) -> None:
    """The parser takes half a minute for a name of 100,000 parts."""
    file = tmp_path / "config.toml"
    file.write_text(f"[{'.'.join('a' * 100_000)}]", "utf-8")
    config, [problem] = load(file)
    assert (config, problem.code) == (Config(), "unreadable")


def test_a_byte_order_mark_is_no_problem(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"\xef\xbb\xbfwindow = 9\n")
    assert load(file) == (Config(window=9, window_set=True), [])


def test_the_list_of_keys_is_complete() -> None:
    fields = {name.replace("-", "_").replace(".", "_").removesuffix("_*") for name in known_keys()}
    assert fields == {*Config._fields} - {"window_set"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("'localhost:1'", "a URL that begins with http:// or https://"),
        ("7", "a URL that begins with http:// or https://"),
        ("'http://ada:word@localhost:1'", "a plain URL: it has a name or password"),
    ],
)
def test_an_address_that_is_none_is_not_replaced_by_the_providers_own(value: str, expected: str) -> None:
    config, problems = parse(f"[base-urls]\nollama = {value}", FILE)
    (problem,) = problems
    assert problem.text.startswith(f"base-urls.ollama must be {expected}")
    assert problem.text.endswith("nothing is sent to these models until it is")
    assert "word@" not in problem.text
    assert unfit_url(config.base_urls["ollama"]) is not None
