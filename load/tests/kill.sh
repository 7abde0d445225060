#!/usr/bin/env bash
# Fifty kills of the one process and fifty of a game server with Redis, optimised, while 64 classes play: nothing that was
# acked as saved may be lost, doubled or wrong, every answer is settled, and at least thirty kills of each meet answers in flight.
# `./test --long kill`. A run on a machine that is busy with something else says so, and is not believed.
#
# BIN_DIR: where `load` and the servers are; built in release when not given. OUT: where the records are kept.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
if [[ -z ${BIN_DIR:-} ]]; then
    (cd "$root" && cargo build --release --locked -p homeroom -p game-server -p api -p load)
    BIN_DIR=${CARGO_TARGET_DIR:-$root/target}/release
fi
if [[ -z ${OUT:-} ]]; then
    OUT=$(mktemp -d)
    trap 'rm -rf "$OUT"' EXIT
fi
status=0

# kill_fifty NAME ARGUMENTS...: one run, its record under NAME.
kill_fifty() {
    local name=$1
    shift
    printf '\n--- %s ---\n' "$name"
    "$BIN_DIR/load" run kill --up --bin-dir "$BIN_DIR" --out "$OUT/$name" "$@" || status=1
    "$BIN_DIR/load" report "$OUT/$name" | grep -E '^\| (kills|answers in flight)' || true
}

kill_fifty embedded
kill_fifty redis --games 1 --apis 1 --store redis
exit "$status"
