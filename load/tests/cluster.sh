#!/usr/bin/env bash
# Two game servers, two APIs, two proxies and a Redis, optimised, while 60 classes of 30 play, and something befalls them:
#
#   cluster.sh takeover     a game server is killed and not started again before everybody is back, fifty times
#   cluster.sh zombie       a game server is stopped for 10 s and continued, ten times
#   cluster.sh cut          the network of a game server drops every packet, ten times (needs root and iproute2)
#   cluster.sh rolling      every process but Redis is restarted by SIGTERM, one after the other, five times
#   cluster.sh scale        a third game server comes and goes, three times
#   cluster.sh round-robin  nothing keeps a class together: connections go to the two game servers in turn
#
# `./test --long` takes the same names. No answer may be lost, doubled, wrong or left unsettled; times are judged by the bars. A run on a
# machine that is busy with something else says so, and is not believed.
#
# BIN_DIR: where `load` and the servers are; built in release when not given. OUT: where the records are kept.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
if [[ -z ${BIN_DIR:-} ]]; then
    (cd "$root" && cargo build --release --locked -p game-server -p api -p ingress-proxy -p load)
    BIN_DIR=${CARGO_TARGET_DIR:-$root/target}/release
fi
if [[ -z ${OUT:-} ]]; then
    OUT=$(mktemp -d)
    trap 'rm -rf "$OUT"' EXIT
fi

run() { "$BIN_DIR/load" run "$@" --up --bin-dir "$BIN_DIR" --games 2 --apis 2 --store redis --out "$OUT/$name"; }

name=${1:-}
case $name in
takeover) run kill --no-restart --proxies 2 --classes 60 ;;
zombie) run kill --freeze --proxies 2 --classes 60 ;;
cut) run kill --cut --proxies 2 --classes 60 ;;
rolling) run rolling --proxies 2 ;;
scale) run scale --proxies 2 ;;
round-robin) run ramp --round-robin --short --classes 60 ;;
*)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 64
    ;;
esac
