#!/bin/sh
# Installs what the build needs beyond Swift, git and make: SQLite and LMDB with their headers, and
# pkg-config, which tells SwiftPM where they are. Does nothing where all of it is there already.
#
# Uses apt-get or brew. Asks nothing: not root means `sudo -n`, and where that is refused the command to
# run by hand is printed.
set -eu

say() { echo "install-engines: $*" >&2; }

# Whether a library can be built against: known to pkg-config, or its header in a usual place.
has_library() { # pkg-config name, header
  if command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$1"; then return 0; fi
  for folder in /usr/include /usr/local/include /opt/homebrew/include; do
    if [ -e "$folder/$2" ]; then return 0; fi
  done
  # Apple's SDK brings SQLite.
  if command -v xcrun >/dev/null 2>&1; then
    [ -e "$(xcrun --show-sdk-path 2>/dev/null)/usr/include/$2" ] && return 0
  fi
  return 1
}

# Sets `missing` to the names that the package manager at hand uses: one per missing thing.
find_missing() { # name of SQLite's package, LMDB's, pkg-config's
  missing=""
  has_library sqlite3 sqlite3.h || missing="$missing $1"
  has_library lmdb lmdb.h || missing="$missing $2"
  command -v pkg-config >/dev/null 2>&1 || missing="$missing $3"
}

# Runs a command as root, or says how to.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    say "this needs root, and sudo does not work without a password here. Run this, then make again:"
    say "  sudo apt-get install -y$missing"
    exit 1
  fi
}

install_with_apt() {
  say "installing$missing with apt-get"
  # Package lists may be absent or old on a fresh machine. A failure here is not the end: the lists that
  # are there may do.
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q update ||
    say "apt-get update failed; trying with the package lists that are here"
  # shellcheck disable=SC2086 # one word per package
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q install \
    --yes --no-install-recommends $missing
}

install_with_brew() {
  say "installing$missing with brew"
  # shellcheck disable=SC2086
  HOMEBREW_NO_AUTO_UPDATE=1 NONINTERACTIVE=1 brew install $missing
}

if ! command -v swift >/dev/null 2>&1; then
  say "there is no swift in PATH. Install Swift 6.2 or later from https://swift.org/install and try again."
  exit 1
fi

find_missing libsqlite3-dev liblmdb-dev pkg-config
[ -n "$missing" ] || exit 0

if command -v apt-get >/dev/null 2>&1; then
  install_with_apt
elif command -v brew >/dev/null 2>&1; then
  find_missing sqlite lmdb pkgconf
  install_with_brew
elif [ "$missing" = " pkg-config" ]; then
  exit 0 # SwiftPM warns that it is missing, and finds headers in the usual places without it
else
  say "there is neither apt-get nor brew here. Install these by other means, then make again:"
  say "  SQLite 3 with sqlite3.h, LMDB with lmdb.h, and pkg-config (Debian calls them$missing)"
  exit 1
fi

find_missing libsqlite3-dev liblmdb-dev pkg-config
if [ -n "$missing" ]; then
  say "still not found after the installation:$missing. Check that their headers are in place."
  exit 1
fi
