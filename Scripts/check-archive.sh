#!/bin/sh
# Parks the package database of the whole Debian archive, as apt knows it, with a release build of the demo,
# on every driver, and compares each count with an independent one. Does nothing where apt knows no archive.
#
# GARAGE_DEMO  where the demo is, if it was built in release mode already; else this builds it
set -eu
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM

if command -v apt-cache >/dev/null 2>&1; then apt-cache dumpavail >"$folder/archive" || true; fi
packages=$(grep -c '^Package:' "$folder/archive" 2>/dev/null || true)
if [ "${packages:-0}" -lt 10000 ]; then
  echo "check-archive: skipped, apt knows of no archive here (${packages:-0} packages; try 'apt-get update')"
  exit 0
fi

if [ -z "${GARAGE_DEMO:-}" ]; then
  swift build --configuration release --product garage-demo
  GARAGE_DEMO="$(swift build --configuration release --show-bin-path)/garage-demo"
fi
GARAGE_ARCHIVE="$folder/archive"
export GARAGE_DEMO GARAGE_ARCHIVE
swift test --disable-xctest --filter countsInTheArchive
