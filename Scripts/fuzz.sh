#!/bin/sh
# Fuzzes what reads stored bytes, each fuzzer for so many seconds: fuzz.sh [SECONDS]
#
# Under libFuzzer, where the toolchain has it; else by seeds, with a limit on memory. What is found is printed with
# what repeats it: a file in .build-fuzz/found, or a `--case`. FUZZERS names fewer of them.
set -eu
cd "$(dirname "$0")/.."

seconds=${1:-60}
swift=${SWIFT:-swift}
folder=.build-fuzz

build() { "$swift" build --configuration release --scratch-path "$folder" --product GarageFuzz "$@"; }

# The linker by name, as gold fails on libFuzzer's library.
if build -Xswiftc -sanitize=fuzzer -Xswiftc -DLIBFUZZER -Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld; then
  has_libfuzzer=yes
else
  echo "fuzz: this toolchain has no libFuzzer; going by seeds" >&2
  has_libfuzzer=no
  folder=.build-fuzz-seeded
  build
fi
program=$(build --show-bin-path)/GarageFuzz

# The limit on all memory is wide: objects in a circle, which the fuzzers make on purpose, are never freed. What a
# stored length could ask for at once is what the other limit is about.
for fuzzer in ${FUZZERS:-records types stores care}; do
  echo "fuzz: $fuzzer for $seconds seconds" >&2
  if [ "$has_libfuzzer" = yes ]; then
    mkdir -p "$folder/corpus/$fuzzer" "$folder/found"
    "$program" "$fuzzer" "$folder/corpus/$fuzzer" "Tests/Corpus/$fuzzer" -max_total_time="$seconds" \
      -timeout=20 -rss_limit_mb=8192 -malloc_limit_mb=256 -artifact_prefix="$folder/found/$fuzzer-" \
      -print_final_stats=1 -verbosity=0
  else
    "$program" "$fuzzer" --seconds "$seconds" --corpus "Tests/Corpus/$fuzzer"
  fi
done
