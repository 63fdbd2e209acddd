"""What sentences are for: demands, questions, answers to them, reports, decisions, steps; and which of a prompt's were typed."""
