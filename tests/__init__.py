"""Tests: `core`, `tui` and `cli` over small data in `data`; `oracle` talks to the real agents, `torture` makes system calls fail, `bench` measures.

Modules without `test_` make what tests read, here what several folders need:

- sessions, line by line: `pi_file`, `claude_transcript`, `claude_places`, `codex_rollout`, `codex_turns`, `opencode_store`, `opencode_newer`,
  `opencode_reverts`; `compacted_session` has a compaction, `broken_shapes` what providers refuse, `trees` any tree at random;
- stores of all agents: `foreign_stores`, opened and closed by `foreign_sessions`; `sources` has the source of an open one;
- agents that really change files: `workbench` (recorded as pi does), `colleagues` (as the others do), `acting`;
- forks: `forks`, `claude_forks`, `opencode_forks`; searches: `searched`;
- models: `model_endpoint` answers on loopback, `model_requests` asks it;
- secrets: `planted`; rules of a user: `rule_pairs`;
- folders and disks: `workspaces`, `folder_contents`, `untouched`, `disks`;
- the same counted another way: `corpus_counts`, `corpus_files`, `reference_projection`, `call_hunks`;
- the checkout itself: `surroundings`, `architecture`.
"""
