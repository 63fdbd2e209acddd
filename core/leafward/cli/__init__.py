"""The headless command line: one verb, one document. Without a verb it opens the application that the caller passed.

`declarations` has the verbs, `options` their options as values, `output` what several of them write. Each verb has a module of its
own here, which is loaded when the verb runs: `--help` and `--version` must answer before anything heavy is loaded. Small verbs that
do the same kind of thing share one (`label`, `name`, `archive` in `label`; `undo`, `redo`, `log` in `operations`; `show` is in
`tree`, `why` in `blame`, `uninstall` in `install`). `start`, `streams`, `main`, `host` and `application` start the command;
`selection`, `queries`, `settings` and `model_request` are asked by several verbs; `forget`, `aftermath_totals` and
`governance_audit` are parts of `doctor`, `ls` and `survival`.
"""
