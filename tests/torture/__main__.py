"""`make torture`: every fault at every call of every scene, and damaged files; counts, and what did not hold.

`python -m tests.torture [SEED [LIMIT [SECONDS]]]`. Ends with 1 where something did not hold.
"""

from __future__ import annotations

import json
import sys
import time

from tests.torture.process import Unavailable, torture

LIMIT = 10_000
SECONDS = 900.0


def run() -> int:
    """Runs it and prints what came of it; the exit code."""
    given = sys.argv[1:]
    seed = int(given[0]) if given else int(time.time())
    limit = int(given[1]) if len(given) > 1 else LIMIT
    seconds = float(given[2]) if len(given) > 2 else SECONDS
    begun = time.monotonic()
    print(f"seed {seed}, at most {limit:,} injections and {limit // 4:,} mutations, {seconds:.0f} s")
    try:
        found = torture(seed, limit, seconds)
    except Unavailable as error:
        print(f"skipped: {error}")
        return 0
    took = time.monotonic() - begun
    print(f"{found['injections']:,} injections and {found['mutations']:,} mutations in {took:.0f} s")
    print(f"{found['scenes']} scenes with {found['points']:,} calls of the system that change something")
    for name in ("by_fault", "by_call", "by_end"):
        counts = ", ".join(f"{key} {count:,}" for key, count in sorted(found[name].items()))
        print(f"{name.replace('_', ' ')}: {counts}")
    for failure in found["failures"]:
        print(json.dumps(failure))
    print(f"{found['failed']:,} did not hold" if found["failed"] else "everything held")
    return int(bool(found["failed"]))


if __name__ == "__main__":
    sys.exit(run())
