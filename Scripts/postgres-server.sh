#!/bin/bash
# A PostgreSQL server in a folder of its own, on loopback, as an ordinary user: for tests, trials, and for what
# Docs/Scaling.md shows. What it runs it prints to standard error.
#
#     postgres-server.sh start FOLDER PORT [NAME=VALUE …]              make it where there is none, and start it
#     postgres-server.sh standby FOLDER PORT OF-PORT [NAME=VALUE …]    the same for one that follows another server
#     postgres-server.sh promote FOLDER                                have a standby write
#     postgres-server.sh stop FOLDER [fast|immediate]                  as asked, or as in a crash
#     postgres-server.sh kill FOLDER                                   kill -9 of all its processes
#     postgres-server.sh pause FOLDER, resume FOLDER                   as a machine that hangs, and goes on
#     postgres-server.sh sql PORT COMMAND                              run SQL as the role garage
#     postgres-server.sh port                                          print a port that is free
#     postgres-server.sh binaries                                      print where initdb is
#
# The role is garage, the database postgres, and nobody is asked for a password. As root it runs the server as the user
# postgres, because a server refuses to be root's. GARAGE_TEST_PG_BIN says where initdb is, if it is not found, and
# GARAGE_TEST_PG_WAL where the log of a new server is to be, if not with the rest.
set -euo pipefail

# A server goes on: it must not hold what its caller has open, or whoever reads that waits for it.
for descriptor in /proc/self/fd/*; do
  number=${descriptor##*/}
  if [ "$number" -gt 2 ] && [ "$number" -ne 255 ]; then eval "exec $number>&-"; fi
done

say() { echo "postgres-server: $*" >&2; }

# Debian keeps them out of the path.
find_binaries() {
  if [ -n "${GARAGE_TEST_PG_BIN:-}" ]; then echo "$GARAGE_TEST_PG_BIN"; return; fi
  local folder
  for folder in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -Vr) /opt/homebrew/bin; do
    if [ -x "$folder/initdb" ]; then echo "$folder"; return; fi
  done
  if command -v initdb >/dev/null 2>&1; then dirname "$(command -v initdb)"; fi
}

binaries=$(find_binaries)
as_user() { if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi }
run() {
  say "$*"
  (cd / && as_user "$@" </dev/null >/dev/null)
}

prepare_folder() {
  mkdir -p "$1"
  if [ "$(id -u)" -eq 0 ]; then chown postgres "$1"; fi
  chmod 700 "$1"
}

# start_server FOLDER PORT [NAME=VALUE …]
start_server() {
  local folder=$1 port=$2 options setting
  options="-c port=$port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$folder"
  for setting in "${@:3}"; do options="$options -c $setting"; done
  run "$binaries/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 -o "$options" start || {
    tail -n 20 "$folder/log" >&2
    exit 1
  }
}

# Who starts others first, then those.
processes_of() {
  local parent status line
  parent=$(head -n 1 "$1/data/postmaster.pid")
  echo "$parent"
  for status in /proc/[0-9]*/stat; do
    # Behind the name, which may have anything in it: state and parent.
    if read -r line <"$status" 2>/dev/null; then
      set -- ${line##*) }
      if [ "$2" = "$parent" ]; then status=${status#/proc/}; echo "${status%/stat}"; fi
    fi
  done 2>/dev/null
}

# Not where nobody has asked yet how it ended.
is_running() { [ -e "/proc/$1/status" ] && ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }

if [ -z "$binaries" ]; then
  say "there is no initdb. Install PostgreSQL's server, or set GARAGE_TEST_PG_BIN."
  exit 1
fi
case "${1:-}" in
  binaries) echo "$binaries" ;;
  port)
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
    ;;
  start)
    folder=$2
    prepare_folder "$folder"
    if [ ! -e "$folder/data/PG_VERSION" ]; then
      if [ -n "${GARAGE_TEST_PG_WAL:-}" ]; then prepare_folder "$GARAGE_TEST_PG_WAL"; fi
      run "$binaries/initdb" -D "$folder/data" -U garage --auth=trust --encoding=UTF8 --locale=C --no-sync \
        --no-instructions ${GARAGE_TEST_PG_WAL:+"--waldir=$GARAGE_TEST_PG_WAL"}
    fi
    start_server "$folder" "${@:3}"
    ;;
  standby)
    folder=$2
    prepare_folder "$folder"
    run "$binaries/pg_basebackup" -D "$folder/data" -R -X stream -c fast \
      -d "postgresql://garage@127.0.0.1:$4/postgres?application_name=$(basename "$folder")"
    start_server "$folder" "$3" "${@:5}"
    ;;
  promote) run "$binaries/pg_ctl" -D "$2/data" -w -t 60 promote ;;
  stop) run "$binaries/pg_ctl" -D "$2/data" -m "${3:-fast}" -w -t 60 stop ;;
  kill)
    processes=$(processes_of "$2")
    say "kill -9 $(echo $processes)"
    kill -9 $processes 2>/dev/null || true
    for process in $processes; do
      for _ in $(seq 100); do if is_running "$process"; then sleep 0.05; fi; done
    done
    # A server that starts would take a process for running whose end nobody has asked for yet.
    rm -f "$2/data/postmaster.pid" "$2"/.s.PGSQL.*
    ;;
  pause) kill -STOP $(processes_of "$2") ;;
  resume) kill -CONT $(processes_of "$2") ;;
  sql) "$binaries/psql" "postgresql://garage@127.0.0.1:$2/postgres" -q -X -At -v ON_ERROR_STOP=1 -c "$3" ;;
  *)
    sed -n '2,/^set /p' "$0" | sed -n 's/^# \{0,1\}//p' >&2
    exit 64
    ;;
esac
