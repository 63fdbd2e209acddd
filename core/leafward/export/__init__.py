"""Sessions for other eyes: documents, the checks of `doctor`, hooks put into agents, the bundled demo.

Public: `documents` of a session (Markdown, a page, JSON) or a comparison, `audit`, `clean_copy`, `doctor`, `installation`, `demo`.
"""
