#!/bin/bash
# Runs the tests of GaragePostgres on a PostgreSQL server, which it starts for that: in a folder of its own, on a free
# port of loopback, as an ordinary user, and takes down in the end. What it runs it prints.
#
#     test-postgres.sh [argument of swift test …]
#
# GARAGE_TEST_PG_URL    another server to run them on; then none is started. Tables gt_… are made there and dropped.
# GARAGE_TEST_PG_BIN    where initdb and pg_ctl are, if they are not found.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "test-postgres: $*" >&2; }

# Where initdb is: Debian keeps it out of the path.
find_binaries() {
  if [ -n "${GARAGE_TEST_PG_BIN:-}" ]; then echo "$GARAGE_TEST_PG_BIN"; return; fi
  if command -v initdb >/dev/null 2>&1; then dirname "$(command -v initdb)"; return; fi
  local folder
  for folder in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -Vr) /opt/homebrew/bin; do
    if [ -x "$folder/initdb" ]; then echo "$folder"; return; fi
  done
}

install_missing() {
  command -v apt-get >/dev/null 2>&1 || return 0
  if pkg-config --exists libpq && [ -n "$(find_binaries)" ]; then return 0; fi
  local as_root=(); [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  say "apt-get install postgresql libpq-dev"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q update || true
  # Without the cluster that Debian would start by itself.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install --yes postgresql libpq-dev
}

# A server refuses to run as root.
user=postgres
as_user() { if [ "$(id -u)" -eq 0 ]; then runuser -u "$user" -- "$@"; else "$@"; fi }

folder=""
restart=""
take_down() {
  if [ -z "$folder" ]; then drop_tables; return 0; fi
  as_user "$binaries/pg_ctl" -D "$folder/data" -m immediate -w stop >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap take_down EXIT

# On somebody else's server: what the tests have made there.
drop_tables() {
  command -v psql >/dev/null 2>&1 || return 0
  say "dropping the tables gt_… "
  psql "$GARAGE_TEST_PG_URL" -qAt -c "SELECT format('DROP TABLE %s CASCADE;', oid::regclass) FROM pg_class \
    WHERE relkind = 'r' AND relname LIKE 'gt\_%'" -c "SELECT format('DROP FUNCTION %s CASCADE;', oid::regprocedure) \
    FROM pg_proc WHERE proname LIKE 'gt\_%'" | psql "$GARAGE_TEST_PG_URL" -q >/dev/null || true
}

start_server() {
  binaries=$(find_binaries)
  if [ -z "$binaries" ]; then
    say "there is no initdb. Install PostgreSQL's server, or set GARAGE_TEST_PG_BIN or GARAGE_TEST_PG_URL."
    exit 1
  fi
  folder=$(mktemp -d "${TMPDIR:-/tmp}/garage-postgres-XXXXXX")
  if [ "$(id -u)" -eq 0 ]; then chown "$user" "$folder"; fi
  local port
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  say "$binaries/initdb -D $folder/data"
  as_user "$binaries/initdb" -D "$folder/data" -U garage --auth=trust --encoding=UTF8 --locale=C \
    --no-instructions >/dev/null
  # More connections than usual: the suite nests reads 64 deep, on two threads. And without fsync: it kills processes and
  # the server, not the machine.
  local settings="-c port=$port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$folder \
-c max_connections=300 -c fsync=off ${GARAGE_TEST_PG_SETTINGS:-}"
  say "$binaries/pg_ctl -D $folder/data -o '$settings' start"
  as_user "$binaries/pg_ctl" -D "$folder/data" -l "$folder/log" -w -o "$settings" start >/dev/null || {
    cat "$folder/log" >&2
    exit 1
  }
  export GARAGE_TEST_PG_URL="postgresql://garage@127.0.0.1:$port/postgres"
  # As a crash and what follows it.
  local prefix=""; if [ "$(id -u)" -eq 0 ]; then prefix="runuser -u $user -- "; fi
  restart="$prefix'$binaries/pg_ctl' -D '$folder/data' -l '$folder/log' -m immediate -w restart"
}

install_missing
if [ -n "${GARAGE_TEST_PG_URL:-}" ]; then say "on the server that GARAGE_TEST_PG_URL names"; else start_server; fi

run_tests() {
  say "swift test --package-path Tests/PostgresTests $*"
  "${SWIFT:-swift}" test --package-path Tests/PostgresTests --scratch-path .build-postgres --disable-xctest "$@"
}

run_tests "$@"
# By itself, since everything else would miss the server meanwhile; and only one of the tests' own is restarted.
if [ -n "$restart" ] && [ $# -eq 0 ]; then
  GARAGE_TEST_PG_RESTART=$restart run_tests --skip-build --filter aRestartedServerIsUsedAgain
fi
