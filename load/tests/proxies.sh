#!/usr/bin/env bash
# 20,010 players through proxies and two game servers on a Redis: every figure that must be 0 is 0, and each game server has its share of the
# games.
#
#   proxies.sh plain | tls
#
# A proxy has two descriptors a player, and a small machine gives a process 20,000: two proxies would be full at 10,000 players less their
# listeners each, so there are four; and two generators, since one has a descriptor a player.
#
# `./test --long ramp-plain` and `./test --long ramp-tls` are these. CLASSES, PROXIES, SEGMENTS, CLIMB and HOLD (seconds) make it smaller or
# longer: `CLASSES=20 CLIMB=32 HOLD=25` takes 70 seconds. BIN_DIR and OUT: see support/segments.sh.
set -euo pipefail

case ${1:-} in
plain) tls=() ;;
tls) tls=(--tls) ;;
*)
    echo "Give plain or tls." >&2
    exit 64
    ;;
esac
# shellcheck source=support/segments.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/support/segments.sh"

programs game-server api ingress-proxy load
bring_up --games 2 --apis 1 --proxies "${PROXIES:-4}" --store redis "${tls[@]}"
ca=()
if ((${#tls[@]} > 0)); then ca=(--ca "$(told ca)"); fi
play_segments "${SEGMENTS:-2}" --redis "$(addresses stores)" --admin "$(addresses game_admins)" -- ramp --target "$(addresses proxies)" \
    "${ca[@]}" --classes "${CLASSES:-667}" --stages 1 --climb "${CLIMB:-120}" --hold "${HOLD:-120}"
