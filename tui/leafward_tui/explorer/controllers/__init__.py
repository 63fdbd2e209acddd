"""The keys of the explorer, by capability.

`session_loader` owns the session, which `followed_file` lets grow, `navigation` the cursor; `modes` says which keys count, and `write` alone changes the session.
"""
