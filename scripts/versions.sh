# Sourced by scripts/test, which sets $root and has `say`. Other versions of tmux, to run the same tests on.
#
# Debian's packages of tmux and of all libraries behind it, unpacked under .tmux-versions/SUITE/ and started through
# their own loader: nothing is installed, no root is needed, and the machine's C library is left out of it. apt-get
# fetches and verifies them, with lists and folders of its own; so it takes a Debian or one of its kin.

# A suite of Debian, and the tmux it had when this was written. sid moves on: what runs is asked (tmux -V).
TMUX_SUITES='bookworm:3.3a trixie:3.5a sid:3.8'

tmux_version() { "$1" -V 2>/dev/null </dev/null; }

# apt_of FOLDER ARGUMENT...: apt-get that knows of this folder only.
apt_of() {
    its=$1
    shift
    apt-get -qq -o Dir::Etc::SourceList="$its/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State="$its" -o Dir::State::Lists="$its/lists" -o Dir::State::Status="$its/status" \
        -o Dir::Cache="$its" -o Dir::Cache::Archives="$its/archives" -o Debug::NoLocking=1 \
        -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=0 -o Acquire::Languages=none \
        -o Acquire::Retries=2 -o Acquire::http::Timeout=30 "$@" </dev/null
}

# get_tmux SUITE: $other_tmux runs the suite's version; otherwise 1, and $why_not says what is in the way.
get_tmux() {
    folder=$root/.tmux-versions/$1 other_tmux=$root/.tmux-versions/$1/tmux
    tmux_version "$other_tmux" >/dev/null && return 0
    for needed in apt-get dpkg-deb; do
        command -v "$needed" >/dev/null 2>&1 || { why_not="no $needed here"; return 1; }
    done
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -r "$keys" ] || { why_not="$keys is missing (the package debian-archive-keyring has it)"; return 1; }
    say "fetching the tmux of Debian $1 into .tmux-versions/$1"
    rm -rf "$folder" "$folder.part"
    mkdir -p "$folder.part/lists/partial" "$folder.part/archives/partial" "$folder.part/files"
    : >"$folder.part/status"
    echo "deb [signed-by=$keys] ${DEBIAN_MIRROR:-http://deb.debian.org/debian} $1 main" >"$folder.part/sources.list"
    apt_of "$folder.part" update >&2 || true  # hooks of the machine may fail without root; the next line tells
    apt_of "$folder.part" --yes --download-only install tmux >&2 || { why_not="its packages cannot be had"; return 1; }
    for package in "$folder.part"/archives/*.deb; do
        dpkg-deb -x "$package" "$folder.part/files" || { why_not="$package cannot be unpacked"; return 1; }
    done
    loader=$(find "$folder.part/files" -type f -name 'ld*.so.[0-9]*' | head -n 1)
    [ -n "$loader" ] || { why_not='its packages have no loader'; return 1; }
    kind=$(basename "$(dirname "$loader")")
    inside=$folder/files
    printf '#!/bin/sh\nexec "%s" --library-path "%s" "%s" "$@"\n' "$folder${loader#"$folder.part"}" \
        "$inside/lib/$kind:$inside/usr/lib/$kind" "$inside/usr/bin/tmux" >"$folder.part/tmux"
    chmod +x "$folder.part/tmux"
    rm -rf "$folder.part/lists" "$folder.part/archives" "$folder.part"/*pkgcache.bin \
        "$folder.part/files/usr/share"
    mv "$folder.part" "$folder"
    tmux_version "$other_tmux" >/dev/null && return 0
    why_not='what its packages hold does not run here'
    return 1
}
