"""pi, Codex, Claude Code and opencode: how each keeps its sessions. The rooms above ask here and know no agent by name.

Each has a package: where its sessions are, how they are read, resumed, forked and converted. `registry` has the agents by name,
`recognition` tells whose a file is, `base` has the protocol of an agent, `hooks` the one of its hooks, `storage` how files of any
agent are read, `conversation` what a conversion is made from, `fork_draft` a fork before it is written.
"""
