#!/bin/bash
# Runs every test that was built, and says at the end again what failed: the rest of the log is long.
#
# With arguments, such as --filter, it passes them to 'swift test'. Without, it runs the tests in several processes on Linux:
# tests that wait for a child process or a disk keep a thread of their process's few.
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
status=0
if [ $# -gt 0 ] || [ "$(uname)" != Linux ]; then
  "$swift" test --skip-build --disable-xctest "$@" 2>&1 | tee "$logs/all" || status=$?
else
  bundle=("$("$swift" build --show-bin-path)"/*.xctest)
  pids=()
  run() { # run NAME OPTIONS…
    "${bundle[0]}" --testing-library swift-testing "${@:2}" >"$logs/$1" 2>&1 &
    pids+=($!)
  }
  run storage-1 --filter '^GarageStorageTests\.[A-L]'
  run storage-2 --filter '^GarageStorageTests\.' --skip '^GarageStorageTests\.[A-L]'
  run conformance --filter '^GarageConformanceTests\.'
  # Those of PostgreSQL, where they were built, are run by test-postgres.sh.
  run others --skip '^Garage(Storage|Conformance|Postgres)Tests\.'
  for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
  cat "$logs"/*
fi
if [ "$status" -ne 0 ]; then
  echo "What failed:"
  # An expectation's lines below its first begin with an arrow.
  grep -aE -A 3 "✘|error:|Fatal error|rogram crashed" "$logs"/* | grep -avE "started\.$|passed after" | cut -c 1-500 |
    tail -n 60
fi
grep -ahE "Test run with" "$logs"/* || true
exit "$status"
