# shellcheck shell=bash
# What suites share that start servers and have several generators play on them, since a generator has one descriptor a player: the servers,
# their addresses, the players in segments, and one verdict over all of them. Sourced, with `set -euo pipefail` in force.
#
# BIN_DIR: where `load` and the servers are; built in release when not given. OUT: where the records are kept.

repository=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../.." && pwd)
work=$(mktemp -d)
out=${OUT:-$work}
# What has to be ended, whatever happens: `load up`, which ends its servers, and the generators.
servers='' players=()

# shellcheck disable=SC2317,SC2329 # Called by the trap.
undo() {
    local process
    for process in "${players[@]}" $servers; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap undo EXIT

# programs PACKAGE...: builds what is run, unless BIN_DIR says where it is.
programs() {
    if [[ -n ${BIN_DIR:-} ]]; then return; fi
    (cd "$repository" && cargo build --release --locked "${@/#/--package=}")
    BIN_DIR=${CARGO_TARGET_DIR:-$repository/target}/release
}

# bring_up ARGUMENTS...: servers, and ends the suite when they do not come up.
bring_up() {
    "$BIN_DIR/load" up "$@" >"$work/up.txt" 2>"$work/up.err" &
    servers=$!
    # Their addresses are in the first line, which is written when all of them are ready.
    local tenths
    for ((tenths = 0; tenths < 600; tenths++)); do
        if [[ -n $(head -n 1 "$work/up.txt") ]]; then return; fi
        kill -0 "$servers" 2>/dev/null || break
        sleep 0.1
    done
    echo "The servers did not come up:"
    cat "$work/up.err"
    exit 69
}

# addresses NAME: those of one kind of server, between commas.
addresses() { sed -n "1s/.*\"$1\":\[\([^]]*\)\].*/\1/p" "$work/up.txt" | tr -d '"'; }

# told NAME: a single word that `load up` tells.
told() { sed -n "1s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$work/up.txt"; }

# play_segments COUNT FIRST... -- ARGUMENTS...: `load run ARGUMENTS` as COUNT generators at once, and the verdict over all of them. The first
# one gets FIRST too: whom to ask for figures of servers, so that asking is counted once. Fails when one of them, or the whole, does.
play_segments() {
    local count=$1 first=() extra segment player parts=() status=0
    shift
    while [[ $1 != -- ]]; do
        first+=("$1")
        shift
    done
    shift
    for ((segment = 1; segment <= count; segment++)); do
        extra=()
        if ((segment == 1)); then extra=("${first[@]}"); fi
        parts+=("$out/$segment")
        "$BIN_DIR/load" run "$@" "${extra[@]}" --segment "$segment/$count" --out "$out/$segment" \
            >"$work/$segment.txt" 2>"$work/$segment.err" &
        players+=($!)
    done
    for player in "${players[@]}"; do wait "$player" || status=1; done
    players=()
    if ((status != 0)); then tail -n 5 "$work"/[0-9]*.err "$work"/[0-9]*.txt; fi
    "$BIN_DIR/load" merge "${parts[@]}" --out "$out" || status=1
    return "$status"
}
