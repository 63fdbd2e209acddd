"""The files that a session read and changed, and their contents as its calls left them.

Public: `working_set`, `file_names`, `reads`, `tool_calls`, `edits`, `commands`, `call_lines`, `shell`, `file_replay`, `restoration`,
`line_origins`, `line_diff`, `bisection`, `checks`.
"""
