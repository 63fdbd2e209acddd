"""The compaction lab: the effect of a compaction at some point, before and without compacting.

`screen` composes and routes, `display` is the view of its controllers, `assembly` makes these, `state` is what they share. `runs` is the
screen on which runs are compared, `run_pair` its controller; `draft_grade` grades an exam in a job.
"""
