"""The blame of a file: its reading in a job, and the keys of its lines."""
