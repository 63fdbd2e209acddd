"""One session as a value: columns and tree of its entries, its file, its sidecar, and the one road for all writing.

Public: `session`, `source`, `native_file`, `watched_file`, `entries`, `tree`, `tree_layout`, `density`, `columns`, `scan`,
`line_decoding`, `entry_decoding`, `messages`, `command_text`, `tokens`, `entry_headline`, `session_title`, `foreign`, `sidecar`,
`prefetch`, `file_stamps`, `injected_block`, `journal`.
"""
