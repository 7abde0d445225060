# shellcheck shell=bash
# What ./run and ./test share: finding the tools they need, installing them where that is allowed, and building the
# front end when its sources are newer. Sourced, with $root set to the repository.

target=${CARGO_TARGET_DIR:-$root/target}
tools=$target/tools
export PATH=$tools/bin:$PATH

# The lowest Node.js on which the front end is built and tested.
node_min=20

say() { printf '%s\n' "$*" >&2; }

# Every missing thing gets one line; missing_is_fatal ends the script after all of them are known.
missing=()
missing_is_fatal() {
    if ((${#missing[@]} == 0)); then return 0; fi
    say "Homeroom needs something that is not here:"
    local line
    for line in "${missing[@]}"; do say "  * $line"; done
    exit 69
}

have() { command -v "$1" >/dev/null 2>&1; }

# Debian keeps the server's programs off the path.
have_postgres() { compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }

# at_least HAVE WANT: whether version HAVE is WANT or newer.
at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }

can_apt() { [[ $(id -u) == 0 ]] && have apt-get; }

apt_lists_fresh=
# apt_install PACKAGE...: as root on Debian; otherwise fails, and the caller says what is missing.
apt_install() {
    can_apt || return 1
    say "Installing $* with apt-get ..."
    export DEBIAN_FRONTEND=noninteractive
    if [[ -z $apt_lists_fresh ]]; then
        apt-get update -qq </dev/null >&2 || return 1
        apt_lists_fresh=1
    fi
    apt-get install -y -qq --no-install-recommends "$@" </dev/null >&2
}

need_rust() {
    local want found
    want=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")
    if ! have cargo; then
        missing+=("cargo, the Rust tool chain, $want or newer: see https://rustup.rs")
        return
    fi
    found=$(cd "$root" && rustc --version | cut -d ' ' -f 2)
    at_least "$found" "$want" || missing+=("Rust $want or newer (found $found): run \`rustup update stable\`")
    # SQLite and ring are C.
    have cc || apt_install gcc libc6-dev || missing+=("a C compiler: on Debian \`apt-get install gcc libc6-dev\`")
}

need_node() {
    local found
    have node || apt_install nodejs npm || true
    have npm || apt_install npm || true
    if ! have node || ! have npm; then
        missing+=("Node.js $node_min or newer with npm: on Debian \`apt-get install nodejs npm\`, or see https://nodejs.org")
        return
    fi
    found=$(node --version)
    at_least "${found#v}" "$node_min" || missing+=("Node.js $node_min or newer (found $found): see https://nodejs.org")
}

# npm_install FOLDER: npm ci, unless node_modules is what the lock file says already.
npm_install() {
    local installed=$1/node_modules/.package-lock.json
    if [[ -f $installed && ! $1/package-lock.json -nt $installed ]]; then return 0; fi
    say "Installing npm packages in ${1#"$root"/} ..."
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --prefix "$1" --no-audit --no-fund --loglevel=error </dev/null
}

web_stamp=$target/web-built

# Whether web/dist is older than what it is made from. Folders count too, so a deleted file is noticed.
web_is_stale() {
    # The folder alone proves nothing: cargo makes an empty one.
    [[ -f $root/web/dist/student.html && -f $web_stamp ]] || return 0
    local newer
    newer=$(find "$root/web" \( -name node_modules -o -path "$root/web/dist" -o -path "$root/web/e2e" -o -path "$root/web/test" \) \
        -prune -o -path "$root/web" -o -newer "$web_stamp" -print -quit)
    [[ -n $newer ]]
}

web_build() {
    npm_install "$root/web" || return
    mkdir -p "$target"
    # Stamped with the start: a file saved while the build runs is newer.
    touch "$web_stamp.new"
    npm --prefix "$root/web" run --silent build </dev/null || return
    mv "$web_stamp.new" "$web_stamp"
}
