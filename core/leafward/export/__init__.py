"""Sessions for other eyes: documents, the checks of `doctor`, hooks put into agents, the bundled demo.

Public: `session_export` (Markdown, a page, JSON), `comparison`, `audit`, `clean_copy`, `doctor`, `installation`, `demo`.
"""
