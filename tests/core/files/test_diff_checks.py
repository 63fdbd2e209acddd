"""The checks that a command runs: tests, types, style or the build."""

from __future__ import annotations

import pytest

from leafward.files.checks import Check, check_of
from tests.core.linear_time import in_linear_time


@pytest.mark.parametrize(
    ("command", "check"),
    [
        ("npm test", Check.TEST),
        ("bun run typecheck", Check.TYPES),
        ("npm run t:unit", Check.TEST),
        ("cd x && npm run test:unit -- -t foo", Check.TEST),
        ("python -m pytest -q", Check.TEST),
        ("timeout 60 cargo test", Check.TEST),
        ("npx tsc --noEmit", Check.TYPES),
        ("npm run check", Check.TYPES),
        ("make", Check.BUILD),
        ("npm run build && npm test", Check.TEST),
        ("ruff check .", Check.LINT),
        ("mise run test:ci 2>&1 | tail", Check.TEST),
        ("mise run fmt && mise run lint", Check.LINT),
        ("mise run fmt", None),
        ("rake test", Check.TEST),
        ("cat pytest.ini", None),
        ("echo make", None),
        ("git commit -m 'npm test'", None),
        ("ls tests", None),
        ("python3 check.py", Check.TEST),
        ("cd app && python3 -u scripts/check.py --all", Check.TEST),
        ("./check.sh 2>&1 | tail -5", Check.TEST),
        ("bash scripts/run-tests.sh", Check.TEST),
        ("python3 test_cart.py", Check.TEST),
        ("node tools/verify.mjs", Check.TEST),
        ("uv run lint.py", Check.LINT),
        ("node build.js", Check.BUILD),
        ("ruby spec/cart_spec.rb", Check.TEST),
        ("python3 tools/cart_check.py", Check.TEST),
        ("node cart.test.mjs", Check.TEST),
        ("./validate.sh", Check.TEST),
        ("just verify", Check.TEST),
        ("make test-unit", Check.TEST),
        ("node scripts/lint-all.mjs", Check.LINT),
        ("python3 spec_generator.py", None),
        ("./checkout.sh", None),
        ("python3 validated_orders.py", None),
        ("python3 latest.py", None),
        ("python3 -c 'import check'", None),
        ("python3 main.py check.py", None),
        ("cat check.py", None),
        ("test -f a && cat a", None),
        ("python3 build_index.py", None),
        ("ls src/test", None),
        ("mise run test:e2e e2e/core/test_options", Check.TEST),
        ("bundle exec rspec", Check.TEST),
        ("vendor/bin/phpunit", Check.TEST),
        ("php artisan test", Check.TEST),
        ("./mvnw -q test", Check.TEST),
        ("make -j4 build", Check.BUILD),
        ("vim ./check.py", None),
        ("cat > README.md <<'EOF'\nRun them with `python3 -m unittest`.\nnpm test\nEOF", None),
        ("apply_patch <<'P'\n+pytest\nP\nls && make", Check.BUILD),
        ('git commit -m "Fixes; npm test"', None),
        ("echo 'first (pytest -q)' >> notes", None),
        ("cat <<EOF && pytest -q 'a b'\ndon't\nEOF", Check.TEST),
        ('cd "my app" && npm test', Check.TEST),
        ("bash -lc 'cd app && pytest -q'", Check.TEST),
        ("sh <<'EOF'\npytest\nEOF", Check.TEST),
        ('echo "$(pytest -q)"', Check.TEST),
        ("npm test -- 'unfinished", Check.TEST),
    ],
)
def test_what_a_command_checks(command: str, check: Check | None) -> None:
    assert check_of(command) is check


@pytest.mark.parametrize(
    "command", ["npm " + "-w run " * 18 + "!", "\n" * 2_000, "sh " + "a_" * 900, "sh " + "a." * 900 + "/!"]
)
def test_a_command_of_the_same_signs_again_and_again_takes_no_long_time(command: str) -> None:
    with in_linear_time(5):
        for _ in range(20):
            assert check_of(command) is None
