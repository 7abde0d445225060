#!/usr/bin/env bash
# The API, optimised, with a PostgreSQL of the run's own:
#
#   api.sh overload   up to ten times as much as it can do; then the same with admission switched off, which must fail
#   api.sh dashboard  200 teachers with 25 quizzes and 70 to 190 games each look at their pages
#   api.sh nine       240 classes begin within a minute from 12 addresses, 50 teachers start behind one, one starts 30 games
#   api.sh e2e        40 small classes from the first click to the history of another API
#   api.sh storage    the database server is killed five times and stands still three times, under load
#
# `./test --long` takes the same names.
#
# BIN_DIR: where `load` and the servers are; built in release when not given. OUT: where the records are kept.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
if [[ -z ${BIN_DIR:-} ]]; then
    (cd "$root" && cargo build --release --locked -p game-server -p api -p load)
    BIN_DIR=${CARGO_TARGET_DIR:-$root/target}/release
fi
if [[ -z ${OUT:-} ]]; then
    OUT=$(mktemp -d)
    trap 'rm -rf "$OUT"' EXIT
fi

run() { "$BIN_DIR/load" run "$@" --up --bin-dir "$BIN_DIR" --out "$OUT/$name"; }

name=${1:-}
case $name in
overload)
    run overload
    name=no-admission
    echo "The same without admission, which has to fail:"
    status=0
    run overload --no-admission || status=$?
    if ((status != 1)); then
        echo "Without admission it ended with $status instead of failing: the check proves nothing." >&2
        exit 1
    fi
    ;;
dashboard | nine | e2e | storage) run "$name" ;;
*)
    sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 64
    ;;
esac
