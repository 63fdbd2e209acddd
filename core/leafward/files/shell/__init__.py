"""Effects of shell scripts on files, as far as their words tell them.

`effects` is the entrance, `powershell` that of the other shell. `lexer` splits a script into commands, `exit_evidence` says which of them ran,
`script_walk` in which folder; `wrappers` finds the program that does the work. What that does to files say `programs` (its operands are
files), `inline_programs` (its text names them), `formatters` and `bulk_effects` (any file below a folder). `moves`, `permissions` and
`writes` ask for one kind of effect.
"""
