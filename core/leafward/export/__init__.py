"""Sessions for other eyes: documents, clean copies, the bundled demo.

Public: `documents` of a session (Markdown, a page, JSON) or a comparison, `audit`, `clean_copy`, `demo`.
"""
