#!/usr/bin/env bash
# 20,010 players through proxies and two game servers on a Redis: every figure that must be 0 is 0, and each game server has its share of the
# games.
#
#   proxies.sh plain | tls
#
# A proxy has two descriptors a player, and a small machine gives a process 20,000: two proxies would be full at 10,000 players less their
# listeners each, so there are four; and two generators, since one has a descriptor a player.
#
# `./test --long ramp-plain` and `./test --long ramp-tls` are these. BIN_DIR: where `load` and the servers are; built in release when not
# given. OUT: where the records are kept.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
case ${1:-} in
plain) tls=() ;;
tls) tls=(--tls) ;;
*)
    echo "Give plain or tls." >&2
    exit 64
    ;;
esac
if [[ -z ${BIN_DIR:-} ]]; then
    (cd "$root" && cargo build --release --locked -p game-server -p api -p ingress-proxy -p load)
    BIN_DIR=${CARGO_TARGET_DIR:-$root/target}/release
fi
classes=${CLASSES:-667} proxies=${PROXIES:-4} segments=${SEGMENTS:-2} climb=${CLIMB:-120} hold=${HOLD:-120}
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

"$BIN_DIR/load" up --games 2 --apis 1 --proxies "$proxies" --store redis "${tls[@]}" >"$work/up.txt" 2>"$work/up.err" &
servers=$!
addresses() { sed -n "1s/.*\"$1\":\[\([^]]*\)\].*/\1/p" "$work/up.txt" | tr -d '"'; }
for _ in {1..600}; do
    doors=$(addresses proxies)
    [[ -n $doors ]] && break
    sleep 0.1
done
if [[ -z $doors ]]; then
    echo "The servers did not come up:"
    cat "$work/up.err"
    exit 69
fi
ca=()
if ((${#tls[@]} > 0)); then ca=(--ca "$(sed -n '1s/.*"ca":"\([^"]*\)".*/\1/p' "$work/up.txt")"); fi

players=()
for segment in $(seq "$segments"); do
    # One of them is told where Redis and the game servers' metrics are, so that asking is counted once.
    told=()
    if ((segment == 1)); then told=(--redis "$(addresses stores)" --admin "$(addresses game_admins)"); fi
    "$BIN_DIR/load" run ramp --target "$doors" "${ca[@]}" "${told[@]}" --classes "$classes" --stages 1 --climb "$climb" --hold "$hold" \
        --segment "$segment/$segments" --out "$out/$segment" >"$work/$segment.txt" 2>"$work/$segment.err" &
    players+=($!)
done
status=0
for player in "${players[@]}"; do wait "$player" || status=1; done
if ((status != 0)); then tail -n 5 "$work"/*.err "$work"/[0-9]*.txt; fi
parts=()
for segment in $(seq "$segments"); do parts+=("$out/$segment"); done
"$BIN_DIR/load" merge "${parts[@]}" --out "$out" || status=1
exit "$status"
