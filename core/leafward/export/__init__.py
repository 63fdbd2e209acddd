"""Sessions for other eyes: documents, the checks of `doctor`, the bundled demo.

Public: `session_export` (Markdown, a page, JSON), `comparison`, `audit`, `clean_copy`, `doctor`, `demo`.
"""

from __future__ import annotations
