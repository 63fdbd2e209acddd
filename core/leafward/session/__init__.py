"""One session as a value: columns and tree of its entries, its file, its sidecar, and the one road for all writing.

Public: `session`, `source`, `native_file`, `watched_file`, `entries`, `tree`, `columns`, `scan`, `entry_decoding`, `messages`, `tokens`, `entry_headline`, `session_title`, `foreign`, `sidecar`,
`prefetch`, `file_stamps`, `injected_block`, `journal`.
"""

from __future__ import annotations
