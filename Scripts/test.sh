#!/bin/bash
# Runs every test that was built, and says at the end again what failed: the rest of the log is long.
# Arguments go to 'swift test', such as --filter.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
"${SWIFT:-swift}" test --skip-build --disable-xctest "$@" 2>&1 | tee "$log" || status=$?
if [ "$status" -ne 0 ]; then
  echo "What failed:"
  # An expectation's lines below its first begin with an arrow.
  grep -aE -A 3 "✘|error:|Fatal error|Crash" "$log" | grep -avE "started\.$|passed after" | cut -c 1-500 | tail -n 60
fi
exit "$status"
