"""Documents of a session or a comparison: their content, and the forms in which it is written.

`session_export` and `comparison_document` are the entrances; `content` and `comparison` have what a document shows, safe and redacted, `lanes` a
session with its branches. `markdown` (made harmless by the `sanitizer`) and `web_page` (by `web_style`) are the forms.
"""
