#!/usr/bin/env bash
# 960 classes of 30 play at a lesson's pace on two game servers whose games are in Redis, and what Redis receives in a second is
# held to its bar. `./test --long store`; about 7 minutes and 28,800 sockets, so the generator is two processes.
#
# BIN_DIR: where `load` and the servers are; built in release when not given. CLASSES, SEGMENTS, CLIMB and HOLD (seconds) make
# it smaller or longer. OUT: where the records are kept.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
if [[ -z ${BIN_DIR:-} ]]; then
    (cd "$root" && cargo build --release --locked -p game-server -p api -p load)
    BIN_DIR=${CARGO_TARGET_DIR:-$root/target}/release
fi
classes=${CLASSES:-960} segments=${SEGMENTS:-2} climb=${CLIMB:-90} hold=${HOLD:-240}
work=$(mktemp -d)
out=${OUT:-$work}
servers=''
# shellcheck disable=SC2317,SC2329 # Called by the trap.
undo() {
    if [[ -n $servers ]]; then
        kill "$servers" 2>/dev/null || true
        wait "$servers" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap undo EXIT

"$BIN_DIR/load" up --games 2 --apis 1 --store redis >"$work/up.txt" 2>"$work/up.err" &
servers=$!
# addresses NAME: those that the first line tells, between commas.
addresses() { sed -n "1s/.*\"$1\":\[\([^]]*\)\].*/\1/p" "$work/up.txt" | tr -d '"'; }
for _ in {1..600}; do
    games=$(addresses games)
    [[ -n $games ]] && break
    sleep 0.1
done
if [[ -z $games ]]; then
    echo "The servers did not come up:"
    cat "$work/up.err"
    exit 69
fi

players=()
for segment in $(seq "$segments"); do
    # One of them is told where Redis is, so that asking is counted once.
    store=()
    if ((segment == 1)); then store=(--redis "$(addresses stores)"); fi
    "$BIN_DIR/load" run ramp --servers "$games" --api "$(addresses apis)" "${store[@]}" --classes "$classes" --stages 1 \
        --climb "$climb" --hold "$hold" --segment "$segment/$segments" --out "$out/$segment" \
        >"$work/$segment.txt" 2>"$work/$segment.err" &
    players+=($!)
done
status=0
for player in "${players[@]}"; do wait "$player" || status=1; done
if ((status != 0)); then tail -n 5 "$work"/*.err "$work"/[0-9]*.txt; fi
parts=()
for segment in $(seq "$segments"); do parts+=("$out/$segment"); done
"$BIN_DIR/load" merge "${parts[@]}" --out "$out" || status=1
exit "$status"
