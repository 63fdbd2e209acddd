"""Widgets, keys, words and values that any feature uses and that know no feature, and the services that a feature asks for.

`appearance`, `keys`, `text` and `words` are values. Widgets stand on them in this order: `panes`, `bars`, `sheets`, `screens`; every
screen and sheet is a `routed_screen`. `services` is the application as features see it; `jobs` runs work beside the screen, `delay`
waits for a rest. Screens talk by `messages`, `screen_results` and an `open_target`. `row_keys` are the keys of any rows, `agent_run`
hands the terminal to an agent, `saved_files` writes what the user asks for, `survival_cache` counts lost facts once for all screens.
"""
