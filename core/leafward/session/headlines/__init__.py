"""An entry, a session or an item of an agent's task list in one line of words."""
