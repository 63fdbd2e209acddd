"""Problems in the application's part of the settings: keymap and themes; the same ones that it reports at its start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.paths import config_dir
from leafward_tui.ui.appearance.palette import Palettes, unknown_theme, user_themes, weak_contrasts
from leafward_tui.ui.keys.key_overrides import Keymap

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from leafward.base.config import Config


def check(config: Config, folder: Path | None = None) -> Iterator[tuple[str, str]]:
    """A code and a sentence for every problem; `folder` holds the user's themes, by default the one beside `config.toml`.

    Codes are `keymap`, `theme`, and `theme-contrast` for a theme that is used as it is although some of it is hard to
    read.
    """
    folder = config_dir() / "themes" if folder is None else folder
    for text in Keymap.of(config.keymap).problems:
        yield "keymap", text
    themes, faults = user_themes(folder)
    for text in faults:
        yield "theme", text
    names = Palettes(themes)
    if config.theme is not None and config.theme not in names:
        yield "theme", unknown_theme(config.theme, names)
    for theme in themes:
        for text in weak_contrasts(theme):
            yield "theme-contrast", text
