#!/bin/sh
# Checks what a reader would otherwise have to: file lengths, words that have no place in a library, and
# the format that .swift-format describes, documented public declarations included.
set -eu
cd "$(dirname "$0")/.."

failures=0
fail() {
  echo "style: $*" >&2
  failures=$((failures + 1))
}

sources() { git ls-files --cached --others --exclude-standard -- "$@"; }

# Files that fit in a reader's head.
for file in $(sources 'Sources/*.swift' 'Sources/*.c' 'Sources/*.h' 'Tests/*.swift'); do
  [ -e "$file" ] || continue
  lines=$(wc -l <"$file")
  if [ "$lines" -gt 500 ]; then fail "$file has $lines lines, 500 are the limit"; fi
done

# A library returns errors; it neither prints nor ends the process. The demo is a program and may print.
for pattern in '\bprint(' '\btry!' '\bfatalError(' '\bTODO\b' '\bFIXME\b'; do
  found=$(sources 'Sources/*.swift' | grep -v '^Sources/GarageDemo/' | xargs grep -nE "$(
    printf '%s' "$pattern" | sed 's/(/\\(/')" /dev/null || true)
  if [ -n "$found" ]; then fail "not in library sources:
$found"; fi
done

# shellcheck disable=SC2046 # no file name here has a space
swift format lint --strict --parallel Package.swift $(sources 'Sources/*.swift' 'Tests/*.swift') ||
  fail "swift format has complaints; 'make format' settles most of them"

if [ "$failures" -gt 0 ]; then exit 1; fi
echo "style: no complaints"
