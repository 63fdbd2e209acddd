"""The headless command line: one verb, one document. Without a verb it opens the application that the caller passed.

`declarations` has the verbs, `options` their options as values, `output` what several of them write. Each verb has a module of its
own in `verbs`, which is loaded when the verb runs: `--help` and `--version` must answer before anything heavy is loaded. Small verbs
that do the same kind of thing share one (`label`, `name`, `archive` in `label`; `undo`, `redo`, `log` in `operations`; `show` is in
`tree`, `why` in `blame`, `uninstall` in `install`). `start`, `streams`, `main`, `host` and `application` start the command. The other
modules are what several verbs do alike: no verb knows another. `aftermath_totals` is a part of `ls`.
"""
