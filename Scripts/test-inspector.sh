#!/bin/bash
# Builds the command with the inspector, and tries it over HTTP and in Chromium. Installs what is missing for that: Debian's
# chromium, and Python's websockets and axe-core in a folder of their own.
#
#   test-inspector.sh [--pictures Docs]    also makes the pictures that the documentation shows
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=.build-inspector
if ! command -v chromium >/dev/null; then
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium fonts-dejavu-core >/dev/null
fi
if [ ! -x "$scratch/python/bin/python3" ]; then
  python3 -m venv "$scratch/python"
  "$scratch/python/bin/pip" --quiet --disable-pip-version-check install websockets
  # It carries axe-core; what it would be driven by is not needed.
  "$scratch/python/bin/pip" --quiet --disable-pip-version-check install --no-deps axe-playwright-python
fi
# Else the package manager would name the traits in another order at each build, and compile everything anew.
export SWIFT_DETERMINISTIC_HASHING=1
for product in garage InspectorFixture; do
  swift build --scratch-path "$scratch" --traits Inspector --product "$product" >&2
done
binaries=$(swift build --scratch-path "$scratch" --traits Inspector --show-bin-path)
unset SWIFT_DETERMINISTIC_HASHING
"$scratch/python/bin/python3" Scripts/check-inspector.py "$binaries/garage" "$binaries/InspectorFixture" "$@"
