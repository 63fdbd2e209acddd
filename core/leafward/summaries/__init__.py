"""Facts in what was said and done, summaries of a span, and which facts of the span a summary holds.

Public: `facts`, `summarizers`, `survival`.
"""

from __future__ import annotations
