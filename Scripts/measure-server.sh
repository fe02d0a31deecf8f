#!/bin/bash
# Measures the example server under wrk, on a garage and on GRDB, in turn: gets of one note and durable posts, from 64
# connections. SECONDS_EACH says how long each lasts, ROUNDS how often all take turns.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v wrk >/dev/null || { echo "wrk is missing: apt-get install wrk" >&2; exit 1; }
seconds=${SECONDS_EACH:-5}
rounds=${ROUNDS:-3}
port=${PORT:-18080}
# One that was built already may be named.
server=${SERVER:-}
if [ -z "$server" ]; then
  swift build --package-path Benchmarks/Server --configuration release --product NotesServer >&2
  server=$(swift build --package-path Benchmarks/Server --configuration release --show-bin-path)/NotesServer
fi
folder=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$folder"' EXIT

rate() { # url, further arguments of wrk
  wrk -t 2 -c 64 -d "${seconds}s" "${@:2}" "$1" >"$folder/wrk.txt"
  grep -q "Non-2xx" "$folder/wrk.txt" && { cat "$folder/wrk.txt" >&2; exit 1; }
  awk '/Requests\/sec/ { print $2 }' "$folder/wrk.txt"
}

printf '%-6s %-8s %14s %14s\n' round store gets/s posts/s
for round in $(seq "$rounds"); do
  for store in sqlite lmdb memory grdb; do
    "$server" --store "$store" --folder "$folder/$store-$round" --port "$port" &
    pid=$!
    for _ in $(seq 100); do curl -s -o /dev/null "http://127.0.0.1:$port/notes" && break; sleep 0.1; done
    curl -s -o /dev/null -X POST -H 'Content-Type: application/json' -d '{"id": 1, "text": "a note of some thirty characters"}' \
      "http://127.0.0.1:$port/notes"
    gets=$(rate "http://127.0.0.1:$port/notes/1")
    posts=$(rate "http://127.0.0.1:$port/notes" -s Benchmarks/Server/wrk/post.lua)
    printf '%-6s %-8s %14s %14s\n' "$round" "$store" "$gets" "$posts"
    kill "$pid"; wait "$pid" 2>/dev/null || true
    pid=
  done
done
