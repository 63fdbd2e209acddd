"""The headless command line: one verb, one document. Without a verb it opens the application that the caller passed.

`declarations` has the verbs, `options` their options as values, `output` what several of them write. Each verb has a module of its
own here, which is loaded when the verb runs: `--help` and `--version` must answer before anything heavy is loaded.
"""
