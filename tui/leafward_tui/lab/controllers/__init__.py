"""The path and settings of the lab, cuts, pins and edits, the summary, the exam, and the acceptance of a draft."""
