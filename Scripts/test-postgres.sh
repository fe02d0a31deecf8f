#!/bin/bash
# Runs the tests of GaragePostgres, and the garage's own that run on every driver, on PostgreSQL servers, which it starts
# for that: in folders of their own, on free ports of loopback, as an ordinary user, and takes down in the end. What it runs
# it prints. It ends within a bounded time, whatever hangs.
#
#     test-postgres.sh                               everything
#     test-postgres.sh --without-trials              all but the trials in which servers are killed, filled up or cut off
#     test-postgres.sh --quick                       what takes up to four minutes on two cores, behind the build
#     test-postgres.sh --install                     nothing: it installs the server and libpq, where they are missing
#     test-postgres.sh [argument of swift test …]    what these name
#
# A quick run has the checks of the conformance suite over the driver as it is by default, the driver's own tests but for those
# that start and end servers of their own, and of the garage's tests those that are named below.
#
# GARAGE_TEST_PG_SCRATCH  where it builds, .build-postgres unless told. GARAGE_TEST_POSTGRES=1 make test builds the same in .build.
# GARAGE_TEST_PG_URL      another server to run them on; then none is started. Tables gt_… are made there and dropped.
# GARAGE_TEST_PG_BIN      where initdb and pg_ctl are, if they are not found.
# GARAGE_TEST_PG_MINUTES  how long the tests may take, 20 unless told, 8 in a quick run; then they are killed, which is a
#                         failure.
# GARAGE_TEST_PG_CUTS     how many connections are cut at commits, for each way of writing.
# GARAGE_LONG_TESTS=1     the garage's tests on every stack, a thousand cuts, twenty nodes that die: about an hour, which
#                         GARAGE_TEST_PG_MINUTES has to allow.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "test-postgres: $*" >&2; }

swift=${SWIFT:-swift}
server=$PWD/Scripts/postgres-server.sh
quick=""
trials=1
if [ "${1:-}" = --quick ]; then
  quick=1
  shift
  export GARAGE_TEST_PG_QUICK=1
elif [ "${1:-}" = --without-trials ]; then
  trials=""
  shift
fi
limit=${GARAGE_TEST_PG_MINUTES:-${quick:+8}}
limit=${limit:-20}m

# Of the driver's, what starts and ends servers of its own: it waits for them most of the time.
server_trials="ServerTroubleTests|HostileServerTests|FailoverTests"
own_servers="$server_trials|DemoOnPostgresTests"

# The identifier of a test ends with the file that it is in.
in_files() { printf '^GarageStorageTests\\..*/(%s)\\.swift:' "$(echo "$@" | tr ' ' '|')"; }

# Of the garage's tests, in quick runs: what goes another way where each call is a trip and writes run beside each other.
quick_tests=$(in_files AcknowledgedTests AsyncVerbTests GroupCommitTests ObjectPageTests WaitingWriteTests VerifyTests \
  MigrationTests IndexTests UniqueIndexTests MappedNilTests ListenerTests NewsTests QueryTests PageReadingTests PagingTests \
  DeleteRuleTests SyncFindingTests SyncIndexTests SyncStatusTests DeferredReadTests SavingTests SavingTogetherTests \
  SeveralProcessesTests TransactionTests UnsavedChangesTests KeyHookTests KeyRaceTests KeyTests ClosingTests DeletingTests \
  OpeningTests ParkingTests RetrievingTests)
# What has to do with files alone, or with no driver.
tests_without_server=$(in_files CareKillTests ForeignEntryTests SalvageTests StoreMarkTests 'VerifyTests\+Body' FailureLeakTests \
  FuzzCorpusTests OutOfRoomTests FormatPageTests LongChainTests IndexBatchTests OrderedBytesTests AnnouncedChangeTests \
  StateNameTests PowerLossTests ErrorTextTests RecordBatchTests)

install_missing() {
  command -v apt-get >/dev/null 2>&1 || return 0
  if pkg-config --exists libpq && "$server" binaries >/dev/null 2>&1; then return 0; fi
  local as_root=(); [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  say "apt-get install postgresql libpq-dev"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q update || true
  # Without the cluster that Debian would start by itself.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q install --yes \
    postgresql libpq-dev
}

others_server=${GARAGE_TEST_PG_URL:-}
folders=()
logs=$(mktemp -d)
pids=()
take_down() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for folder in "${folders[@]}"; do "$server" stop "$folder" immediate >/dev/null 2>&1 || true; done
  if [ -n "$others_server" ]; then drop_tables; fi
  rm -rf "${folders[@]}" "$logs"
}
trap take_down EXIT
trap 'exit 1' INT TERM

# On somebody else's server: what the tests have made there.
drop_tables() {
  command -v psql >/dev/null 2>&1 && [ -n "${GARAGE_TEST_PG_URL:-}" ] || return 0
  say "dropping the tables gt_… "
  psql "$GARAGE_TEST_PG_URL" -qAt -c "SELECT format('DROP TABLE %s CASCADE;', oid::regclass) FROM pg_class \
    WHERE relkind = 'r' AND relname LIKE 'gt\_%'" -c "SELECT format('DROP FUNCTION %s CASCADE;', oid::regprocedure) \
    FROM pg_proc WHERE proname LIKE 'gt\_%'" | psql "$GARAGE_TEST_PG_URL" -q >/dev/null || true
}

# Where servers keep their data: thousands of stores are a hundred thousand files, which take less in memory, where there is room.
find_room() {
  local free
  free=$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1) || true
  if [ -w /dev/shm ] && [ "${free:-0}" -gt 10000000 ]; then echo /dev/shm; else echo "${TMPDIR:-/tmp}"; fi
}

# Each process of tests has a server of its own: on one for all a write that takes long is refused for what strangers do, since a
# server that has to remember too many transactions for it takes some together.
start_server() {
  if [ -n "$others_server" ]; then return; fi
  local folder port
  folder=$(mktemp -d "$(find_room)/garage-postgres-XXXXXX")
  folders+=("$folder")
  port=$("$server" port)
  # More connections than usual: the suite nests reads 64 deep, on two threads. And without waiting for the disk: on this
  # server processes are killed, but neither the server nor the machine.
  # shellcheck disable=SC2086 # one word per setting
  "$server" start "$folder" "$port" max_connections=800 fsync=off max_locks_per_transaction=256 shared_buffers=32MB \
    synchronous_commit=off full_page_writes=off wal_level=minimal max_wal_senders=0 autovacuum=off max_wal_size=512MB \
    ${GARAGE_TEST_PG_SETTINGS:-}
  export GARAGE_TEST_PG_URL="postgresql://garage@127.0.0.1:$port/postgres"
}

install_missing
if [ "${1:-}" = --install ]; then exit 0; fi
# For the tests that start servers of their own.
if "$server" binaries >/dev/null 2>&1; then export GARAGE_TEST_PG_SCRIPT=$server; fi
export GARAGE_TEST_POSTGRES=1
build=("$swift" build --scratch-path "${GARAGE_TEST_PG_SCRATCH:-.build-postgres}" --build-tests)
say "${build[*]}"
"${build[@]}"
bundle=("$("${build[@]}" --show-bin-path)"/*.xctest)
if [ -n "$others_server" ]; then say "on the server that GARAGE_TEST_PG_URL names"; fi

status=0
if [ $# -gt 0 ] || [ "$(uname)" != Linux ]; then
  start_server
  timeout --kill-after=30 "$limit" "$swift" test --scratch-path "${GARAGE_TEST_PG_SCRATCH:-.build-postgres}" \
    --skip-build --disable-xctest "$@" || status=$?
  exit "$status"
fi

# Several processes at a time: a test that waits for the server keeps a thread of its process's few.
run() { # run NAME OPTIONS…
  start_server
  say "${bundle[0]##*/} ${*:2}"
  timeout --kill-after=30 "$limit" "${bundle[0]}" --testing-library swift-testing "${@:2}" >"$logs/$1" 2>&1 &
  pids+=($!)
}
if [ -n "$quick" ]; then
  run garage --filter "$quick_tests"
  run conformance --filter '^GaragePostgresTests\..*ConformanceTests'
  run driver --filter '^GaragePostgresTests\.' --skip "ConformanceTests|$own_servers"
else
  run garage-1 --filter '^GarageStorageTests\.[A-L]' --skip "$tests_without_server"
  run garage-2 --filter '^GarageStorageTests\.[M-Z]' --skip "$tests_without_server"
  run conformance-1 --filter '^GaragePostgresTests\.(Heavy)?PostgresConformanceTests'
  run conformance-2 --filter '^GaragePostgresTests\.OneWriterConformanceTests'
  run conformance-3 --filter '^GaragePostgresTests\.FaultyPostgresConformanceTests'
  run conformance-4 --filter '^GaragePostgresTests\.SealedPostgresConformanceTests'
  run driver --filter '^GaragePostgresTests\.' --skip "ConformanceTests|$own_servers"
  run demo --filter '^GaragePostgresTests\.DemoOnPostgresTests'
  if [ -n "$trials" ]; then run trials --filter "^GaragePostgresTests\.($server_trials)"; fi
fi
for pid in "${pids[@]}"; do
  code=0
  wait "$pid" || code=$?
  if [ "$code" -ne 0 ]; then status=$code; fi
done
pids=()
cat "$logs"/*
if [ "$status" -ne 0 ]; then
  [ "$status" -ne 124 ] && [ "$status" -ne 137 ] || echo "The tests did not end within $limit, and were killed."
  echo "What failed:"
  grep -aE -A 3 "✘|error:|Fatal error|rogram crashed" "$logs"/* | grep -avE "started\.$|passed after" | cut -c 1-500 |
    tail -n 60
fi
grep -ahE "Test run with" "$logs"/* || true
exit "$status"
