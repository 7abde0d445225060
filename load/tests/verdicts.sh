#!/usr/bin/env bash
# Spoils the generator in three ways, for real, and demands that each run says INVALID and names what was done to it; and
# that the same run without any of it is believed. `./test --long verdicts`; needs root for the CPU limit and for a network
# of its own, whose port range is nobody else's.
#
# BIN_DIR: where `load` and `homeroom` are; built in release when not given.
set -euo pipefail

self=$(readlink -f "${BASH_SOURCE[0]}")
root=$(cd "$(dirname "$self")/../.." && pwd)
if [[ -z ${BIN_DIR:-} ]]; then
    (cd "$root" && cargo build --release --locked -p homeroom -p load)
    BIN_DIR=${CARGO_TARGET_DIR:-$root/target}/release
fi
if [[ ${1:-} != inside ]]; then
    BIN_DIR=$BIN_DIR exec unshare --net "$self" inside
fi
ip link set lo up
load=$BIN_DIR/load
work=$(mktemp -d)
failed=0
# What has to be undone at the end, whatever happens.
spinner='' group='' servers=''
# shellcheck disable=SC2317,SC2329 # Called by the trap.
undo() {
    if [[ -n $spinner ]]; then kill "$spinner" 2>/dev/null || true; fi
    if [[ -n $group ]]; then rmdir "$group" 2>/dev/null || true; fi
    if [[ -n $servers ]]; then
        kill "$servers" 2>/dev/null || true
        wait "$servers" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap undo EXIT

# One server for all runs, out of reach of what is done to the generators.
"$load" up --bin "$BIN_DIR/homeroom" >"$work/up.txt" 2>"$work/up.err" &
servers=$!
for _ in {1..600}; do
    target=$(sed -n '1s/.*"apis":\["\([^"]*\)".*/\1/p' "$work/up.txt")
    [[ -n $target ]] && break
    sleep 0.1
done
if [[ -z $target ]]; then
    echo "The server did not come up:"
    cat "$work/up.err"
    exit 69
fi

# play NAME COMMAND...: runs COMMAND with the arguments of a short run against the servers of the suite.
play() {
    local name=$1
    shift
    local status=0
    "$@" run bigroom --target "$target" --sizes 30 --questions 5 --fast --out "$work/$name" \
        >"$work/$name.txt" 2>"$work/$name.err" || status=$?
    echo "$status" >"$work/$name.status"
}

verdict() { sed -n 's/^verdict: //p' "$work/$1.txt"; }

# expect NAME WORDS: the run was INVALID, ended with 1 and named WORDS.
expect() {
    local status
    status=$(<"$work/$1.status")
    if [[ $(verdict "$1") == INVALID && $status == 1 ]] && grep -q "^  INVALID: .*$2" "$work/$1.txt"; then
        echo "ok: $1 is INVALID: $(grep -m 1 "^  INVALID: .*$2" "$work/$1.txt" | cut -d: -f2-)"
    else
        echo "FAILED: $1 should be INVALID for '$2', with exit code 1, and was '$(verdict "$1")' with $status:"
        cat "$work/$1.txt" "$work/$1.err"
        failed=1
    fi
}

# A thread that does nothing but run, on the one core that the generator may use.
spin() {
    taskset -c 0 bash -c 'while :; do :; done' &
    spinner=$!
    play spinner taskset -c 0 "$load"
    kill "$spinner"
    wait "$spinner" 2>/dev/null || true
    spinner=''
    expect spinner 'programs that are no part of this run'
}

# A twentieth of a core at most, by a control group of the generator's own.
limit() {
    if [[ -f /sys/fs/cgroup/cgroup.controllers ]]; then
        echo +cpu >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null || true
        group=/sys/fs/cgroup/homeroom-load-verdicts
        mkdir "$group"
        echo "5000 100000" >"$group/cpu.max"
    else
        group=/sys/fs/cgroup/cpu/homeroom-load-verdicts
        mkdir "$group"
        echo 5000 >"$group/cpu.cfs_quota_us"
    fi
    # shellcheck disable=SC2016 # Expanded by the inner shell.
    play limit bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$load"
    # The kernel lets a group go a moment after its last process.
    local left=50
    until rmdir "$group" || ((left-- == 0)); do sleep 0.1; done 2>/dev/null
    group=''
    expect limit 'CPU limit'
}

# Twenty source ports for thirty players, in the network that the suite has for itself.
ports() {
    local range=/proc/sys/net/ipv4/ip_local_port_range before
    before=$(<"$range")
    echo "40000 40019" >"$range"
    play ports "$load"
    echo "$before" >"$range"
    expect ports 'source port'
}

# The unspoilt run; a machine that is busy with something else gets a few chances.
quiet() {
    local try
    for try in 1 2 3 4 5; do
        play quiet "$load"
        case $(verdict quiet) in
        VALID | DEGRADED)
            echo "ok: the unspoilt run is $(verdict quiet), at try $try"
            return
            ;;
        esac
        sleep $((try * 5))
    done
    echo "FAILED: an unspoilt run should be believed; this machine may be busy with something else:"
    cat "$work/quiet.txt" "$work/quiet.err"
    failed=1
}

spin
limit
ports
quiet
exit "$failed"
