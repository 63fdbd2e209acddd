"""The rules by which secrets are recognised, one kind of place or form each."""
