"""The search of all text: a run of it in a job, and the keys of its results."""
