#!/bin/sh
# Tries whether ThreadSanitizer finds races that are there, and none where there is none, with thread-runtime.c beside it:
# check-races.sh LIBRARY
set -eu
cd "$(dirname "$0")/.."
library=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${SWIFTC:-swiftc}" -swift-version 6 -sanitize=thread -Onone -parse-as-library Scripts/thread-races.swift -o "$folder/races"

is_found() { # name
  # A race need not show each time.
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    LD_PRELOAD=$library TSAN_OPTIONS=halt_on_error=1 "$folder/races" "$1" >"$folder/said" 2>&1 && continue
    grep -q 'WARNING: ThreadSanitizer:.*race' "$folder/said" && return 0
  done
  return 1
}

for race in property property-held array tree tree-in-place continuation; do
  is_found "$race" || { echo "races: $race is not found" >&2; exit 1; }
done
for none in no-array no-tree no-tree-freed no-tall-tree no-buffer no-continuation; do
  if is_found "$none"; then
    cat "$folder/said" >&2
    echo "races: $none is none" >&2
    exit 1
  fi
done
echo "races: 6 found, and none of the 6 that are none"
