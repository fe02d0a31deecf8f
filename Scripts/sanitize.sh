#!/bin/sh
# Runs the tests under a sanitizer: sanitize.sh address|thread [swift test's options]
#
# Without options, those that a sanitizer can tell something about: not the ones that measure memory or stacks, fill
# disks, kill processes or take minutes as they are.
set -eu
cd "$(dirname "$0")/.."

kind=${1:?address or thread}
shift
swift=${SWIFT:-swift}

# Coders are pooled and never freed, and Swift's own type metadata is not either: leaks say nothing.
ASAN_OPTIONS="suppressions=$PWD/Scripts/address-suppressions.txt:detect_leaks=0:detect_stack_use_after_return=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
TSAN_OPTIONS="suppressions=$PWD/Scripts/thread-suppressions.txt:halt_on_error=1${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
export ASAN_OPTIONS TSAN_OPTIONS

if [ $# -eq 0 ]; then
  set -- --filter 'GarageCodingTests|GarageStorageTests|GarageMemoryTests|GarageSQLiteTests|GarageLMDBTests' \
    --skip 'SeveralProcesses|SharingTests|GarageS.*RoomTests|PythonReader|FuzzCorpus|LongChain|FailureLeak|Memory.*Flat|Full|Depth'
fi
folder=.build-$kind
"$swift" build --build-tests --sanitize "$kind" --scratch-path "$folder"
if [ "$kind" = thread ] && [ "$(uname)" = Linux ]; then
  "${CC:-clang}" -O1 -shared -fPIC -o "$folder/thread-runtime.so" Scripts/thread-runtime.c
  Scripts/check-races.sh "$folder/thread-runtime.so"
  LD_PRELOAD=$PWD/$folder/thread-runtime.so${LD_PRELOAD:+:$LD_PRELOAD}
  export LD_PRELOAD
fi
exec "$swift" test --skip-build --disable-xctest --sanitize "$kind" --scratch-path "$folder" "$@"
