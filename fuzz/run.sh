#!/usr/bin/env bash
# Builds the fuzz targets with coverage, on the toolchain that builds the product, and runs each.
#
#   fuzz/run.sh [SECONDS] [TARGET...]    120 s each, all of them
#
# What a target finds lies in artifacts/TARGET/; `fuzz/run.sh FILE TARGET` tries such a file once.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"

seconds=${1:-120}
if (($# > 0)); then shift; fi
targets=("$@")
if ((${#targets[@]} == 0)); then targets=(key headers request frame socket); fi

if ! command -v c++ >/dev/null; then
    echo "libFuzzer is C++ and there is no compiler for it: on Debian \`apt-get install g++\`." >&2
    exit 69
fi

# What is read here must be what the product is built from.
for package in httparse hyper http protocol serde_json tungstenite; do
    version() { grep -A1 "^name = \"$package\"$" "$1" | sed -n 's/^version = //p'; }
    if [[ $(version Cargo.lock) != $(version ../Cargo.lock) ]]; then
        echo "fuzz/Cargo.lock has another $package than Cargo.lock: copy Cargo.lock to fuzz/ and run \`cargo update -w\` there." >&2
        exit 1
    fi
done

# As cargo-fuzz sets them, without a sanitizer, which only nightly compilers have. With --target they are for the targets alone and
# not for build scripts.
triple=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0"
cargo build --release --locked --target "$triple"

status=0
for target in "${targets[@]}"; do
    program=target/$triple/release/$target
    mkdir -p "corpus/$target" "artifacts/$target"
    options=(-artifact_prefix="artifacts/$target/" -timeout=10 -rss_limit_mb=2048 -max_len=4096)
    if [[ -f dictionaries/$target ]]; then options+=(-dict="dictionaries/$target"); fi
    if [[ -f $seconds ]]; then
        "$program" "${options[@]}" "$seconds" || status=1
        continue
    fi
    echo "=== $target, $seconds s ==="
    # New inputs go to the first folder; the seeds stay as they are.
    "$program" "${options[@]}" -max_total_time="$seconds" -use_value_profile=1 -verbosity=0 -print_funcs=0 \
        -print_final_stats=1 "corpus/$target" "seeds/$target" || status=1
    # How much of the code all inputs together reach: branches, and the features that libFuzzer counts beside them.
    "$program" -runs=0 -print_funcs=0 "corpus/$target" "seeds/$target" 2>&1 |
        sed -n "s/.*INITED *\(cov: [0-9]* ft: [0-9]*\).*/$target: \1/p" || status=1
done
exit "$status"
