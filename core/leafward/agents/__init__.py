"""pi, Codex, Claude Code and opencode: how each keeps its sessions. The rooms above ask here and know no agent by name.

`registry` has the agents by name, `recognition` tells whose a file is, `base` has the protocol of an agent, `hooks` the one of its
hooks, `storage` how files of any agent are read, `conversation` what a conversion is made from, `fork_draft` a fork before it is written.

Each agent has a package, with one name for one thing: `agent` is the agent itself; `store` the places of its sessions, `preview` a first
look at one, `transcript` its reader (`entries` makes the entries), `tools` the tools that touch files; `fork` copies its own
lines to a new session, `conversion` writes another agent's session in its format; `hooks` are programs that it runs around a
compaction, `hindrance` says what keeps it from that, `auto_compaction` when it compacts by itself; `lineage` finds copies.
"""
