"""The files that a session read and changed, and their contents as its calls left them.

`tool_calls` tells which files a call names: by its arguments, a patch (`patch_format`) or the words of a command (`shell`,
`printed_files`). `working_set` adds up what a path read and changed; `edits` and `line_diff` say how. `file_replay` carries the
requests of the calls out (`file_request`) and so rebuilds contents, `line_origins` follows each line through them, `bisection`
tries a command on them, and `restoration` writes them into the project.
"""
