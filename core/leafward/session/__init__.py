"""One session as a value: columns and tree of its entries, the file behind it, what is kept beside it, and the one road by which anything is written.

Public: `session`, `source`, `native_file`, `watched_file`, `entries`, `tree`, `columns`, `scan`, `entry_decoding`, `messages`, `tokens`, `entry_headline`, `session_title`, `foreign`, `sidecar`,
`prefetch`, `file_stamps`, `injected_block`, `journal`.
"""

from __future__ import annotations
