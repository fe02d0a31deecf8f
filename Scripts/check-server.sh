#!/bin/bash
# Tries the example server's interface with curl, on every store: what it answers, that what it acknowledged is there when
# it was killed and started again, and that posts that come together are all kept.
set -euo pipefail
cd "$(dirname "$0")/.."
port=${PORT:-18081}
# One that was built already may be named.
server=${SERVER:-}
if [ -z "$server" ]; then
  swift build --package-path Benchmarks/Server --configuration release --product NotesServer >&2
  server=$(swift build --package-path Benchmarks/Server --configuration release --show-bin-path)/NotesServer
fi
folder=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; rm -rf "$folder"' EXIT
url=http://127.0.0.1:$port/notes
checks=0

start() { # store
  "$server" --store "$1" --folder "$folder/$1" --port "$port" &
  pid=$!
  for _ in $(seq 100); do
    curl -s -o /dev/null "$url" && return
    sleep 0.1
  done
  echo "server: it does not answer on $1" >&2
  exit 1
}
stop() { # signal
  kill "-$1" "$pid"
  wait "$pid" 2>/dev/null || true
  pid=
}
expect() { # what, expected status, expected body or *, arguments of curl
  local what=$1 status=$2 body=$3 found
  shift 3
  found=$(curl -s -o "$folder/body" -w '%{http_code}' -H 'Content-Type: application/json' "$@")
  checks=$((checks + 1))
  # Keys of a JSON object stand in any order.
  if [ "$found" != "$status" ] || { [ "$body" != '*' ] &&
    ! python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1])) != json.loads(sys.argv[2]))' "$folder/body" "$body"; }
  then
    echo "server: $what: $found $(cat "$folder/body"), and not $status $body" >&2
    exit 1
  fi
}
count() { curl -s "$url" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))'; }

for store in memory sqlite lmdb grdb; do
  start "$store"
  expect 'no notes' 200 '[]' "$url"
  expect 'no note' 404 '*' "$url/7"
  expect 'a new note' 201 '{"id": 7, "text": "milk"}' -X POST -d '{"id": 7, "text": "milk"}' "$url"
  expect 'the note' 200 '{"id": 7, "text": "milk"}' "$url/7"
  expect 'another note' 200 '{"id": 8, "text": "Brot 🥖"}' -X PUT -d '{"id": 0, "text": "Brot 🥖"}' "$url/8"
  expect 'a note again' 201 '{"id": 7, "text": "tea"}' -X POST -d '{"id": 7, "text": "tea"}' "$url"
  expect 'all notes' 200 '[{"id": 7, "text": "tea"}, {"id": 8, "text": "Brot 🥖"}]' "$url"
  expect 'deleting' 204 '*' -X DELETE "$url/8"
  expect 'deleting what is gone' 404 '*' -X DELETE "$url/8"
  expect 'no number' 400 '*' "$url/x"
  expect 'no JSON' 400 '*' -X POST -d '{' "$url"
  expect 'no note in it' 400 '*' -X POST -d '{}' "$url"
  expect 'no such place' 404 '*' "http://127.0.0.1:$port/nothing"
  # Many at the same time.
  seq 1000 1199 | xargs -P 16 -I{} curl -s -o /dev/null -w '%{http_code}\n' -X POST \
    -H 'Content-Type: application/json' -d '{"id": {}, "text": "one of many"}' "$url" | sort | uniq -c >"$folder/many"
  [ "$(awk '{ print $1, $2 }' "$folder/many")" = "200 201" ] || { cat "$folder/many" >&2; exit 1; }
  [ "$(count)" = 201 ] || { echo "server: $(count) notes on $store, and not 201" >&2; exit 1; }
  checks=$((checks + 2))
  stop KILL
  if [ "$store" != memory ]; then
    start "$store"
    [ "$(count)" = 201 ] || { echo "server: $(count) notes on $store after it was killed, and not 201" >&2; exit 1; }
    expect 'the note, later' 200 '{"id": 7, "text": "tea"}' "$url/7"
    checks=$((checks + 1))
    stop TERM
  fi
done
echo "server: $checks checks passed"
