"""The X-ray: its reading in a job, the keys of its lines, the search, lost facts to pin, and two summaries compared."""
