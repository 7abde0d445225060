#!/usr/bin/env bash
# 960 classes of 30 play at a lesson's pace on two game servers whose games are in Redis, and what Redis receives in a second is
# held to its bar. `./test --long store`; about 7 minutes and 28,800 sockets, so the generator is two processes.
#
# CLASSES, SEGMENTS, CLIMB and HOLD (seconds) make it smaller or longer: `CLASSES=20 CLIMB=32 HOLD=25` takes 70 seconds, and shows that it ends; the
# bar is for many classes, since leases cost the same for few. BIN_DIR and OUT: see support/segments.sh.
set -euo pipefail
# shellcheck source=support/segments.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/support/segments.sh"

programs game-server api load
bring_up --games 2 --apis 1 --store redis
play_segments "${SEGMENTS:-2}" --redis "$(addresses stores)" -- ramp --servers "$(addresses games)" --api "$(addresses apis)" \
    --classes "${CLASSES:-960}" --stages 1 --climb "${CLIMB:-90}" --hold "${HOLD:-240}"
