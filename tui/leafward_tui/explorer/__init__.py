"""The explorer: a session as a tree, the content of its entries, and the effect of a move of the leaf.

`screen` composes and routes, `display` is the view of its controllers, `assembly` makes these, `state` is what they share. A sheet that
one capability needs is beside them (`restore_sheet`, `heal_sheet`, `project_folder_sheet`, `summary_sheets`); `lost_facts` counts in a job.
"""
