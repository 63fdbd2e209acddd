"""What a session read and changed, and the contents that its calls left.

Public: `working_set`, `file_names`, `reads`, `tool_calls`, `edits`, `commands`, `call_lines`, `shell`, `file_replay`, `restoration`,
`line_origins`, `checks`.
"""

from __future__ import annotations
