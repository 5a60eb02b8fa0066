# Sourced by the scripts beside it, which set $root. Finds or fetches uv, a Python, the packages and tmux.
# POSIX sh. Only git and a Python >= 3.11 are taken for granted; not venv, pip or curl (Debian ships them apart).

# Containers often forbid Python to keep what it compiled. The tests start the command hundreds of times, and a start
# that compiles every module anew takes twice the processor time.
unset PYTHONDONTWRITEBYTECODE

say() { printf 'streamrelay: %s\n' "$*" >&2; }

# What is missing, and the one line that puts it there. 2: not set up.
missing() {
    say "$1 is needed. Type this, then start again:"
    printf '    %s\n' "$2" >&2
    exit 2
}

# Companies sign with certificates of their own, which the system knows and uv's built-in list doesn't.
# (uv before 0.9.28 calls it UV_NATIVE_TLS.)
: "${UV_SYSTEM_CERTS:=1}"
: "${UV_NATIVE_TLS:=$UV_SYSTEM_CERTS}"
export UV_SYSTEM_CERTS UV_NATIVE_TLS

# become_root: sets $as_root to what runs a command as root without a question; otherwise says no.
become_root() {
    if [ "$(id -u)" -eq 0 ]; then as_root=''
    elif sudo -n true >/dev/null 2>&1; then as_root='sudo -n'
    else return 1
    fi
}

# install_package DEBIAN-PACKAGE BREW-FORMULA: installs, where that needs no password; otherwise says no.
install_package() {
    if command -v apt-get >/dev/null 2>&1; then
        become_root || return 1
        as_root="$as_root env DEBIAN_FRONTEND=noninteractive"
        say "installing $1 (apt-get)"
        # The lists of a fresh machine may be missing or old.
        # shellcheck disable=SC2086  # several words
        { $as_root apt-get install -y -q "$1" || { $as_root apt-get update -q && $as_root apt-get install -y -q "$1"; }; } >&2 </dev/null
    elif [ -n "$2" ] && command -v brew >/dev/null 2>&1; then
        say "installing $2 (brew)"
        brew install "$2" >&2 </dev/null
    else
        return 1
    fi
}

# what_to_type DEBIAN-PACKAGE BREW-FORMULA
what_to_type() {
    if [ "$(uname -s)" = Darwin ]; then echo "brew install $2"; else echo "sudo apt-get install -y $1"; fi
}

# A pyenv shim is there for every version ever installed, and fails for those not chosen: a Python counts when it runs.
python_path() {
    "$1" -c 'import sys; sys.version_info >= (3, 11) or sys.exit(1); print(sys.executable)' 2>/dev/null </dev/null
}

# python_of MINOR: the path of a Python 3.MINOR that runs, also one pyenv has and has not chosen.
python_of() {
    for candidate in "python3.$1" "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/3."$1".*/bin/python3; do
        if python_path "$candidate"; then return 0; fi
    done
    return 1
}

find_python() {
    for candidate in python3 python3.13 python3.12 python3.11; do
        if python=$(python_path "$candidate"); then return 0; fi
    done
    for minor in 13 12 11; do
        if python=$(python_of "$minor"); then return 0; fi
    done
    python=''
}

# Built with the help of a profile, as distributions do and pyenv does not unless told: that is worth a fifth of the
# processor time and more (docs/decisions/0036). Debian's builds do not say so of themselves.
built_by_profile() {
    "$1" -c 'import sys, sysconfig
built = str(sysconfig.get_config_var("CONFIG_ARGS"))
sys.exit("--enable-optimizations" not in built and sys.base_prefix != "/usr")' 2>/dev/null </dev/null
}

# choose_python: $chosen is the first Python that was built by profile, in the order of names and of PATH, also behind
# pyenv's shims; where there is none, the one that find_python found.
choose_python() {
    for name in python3 python3.13 python3.12 python3.11; do
        rest=$PATH:
        while [ -n "$rest" ]; do
            candidate=${rest%%:*}/$name rest=${rest#*:}
            [ -x "$candidate" ] || continue
            chosen=$(python_path "$candidate") || continue
            if built_by_profile "$chosen"; then return 0; fi
        done
    done
    chosen=$python
}

fetch_uv() {
    [ -n "$python" ] || missing 'Python 3.11 or newer' "$(what_to_type python3 python)"
    say 'fetching uv into .uv/tool'
    rm -rf "$root/.uv/tool"
    pip=$root/.uv/tool/bin/python
    if ! "$python" -m venv "$root/.uv/tool" >/dev/null 2>&1; then
        rm -rf "$root/.uv/tool"
        if "$python" -m pip --version >/dev/null 2>&1; then
            pip=$python
        elif ! { install_package python3-venv '' && "$python" -m venv "$root/.uv/tool"; }; then
            rm -rf "$root/.uv/tool"
            missing 'uv, or a way to fetch it,' "$(what_to_type python3-venv uv)"
        fi
    fi
    # An older pip knows only the certificates it brings along: then the system's are named to it.
    for certificates in '' "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/ssl/cert.pem; do
        set -- --quiet --disable-pip-version-check --retries 1
        [ "$pip" != "$python" ] || set -- "$@" --target "$root/.uv/tool"
        [ -z "$certificates" ] || set -- "$@" --cert "$certificates"
        if "$pip" -m pip install "$@" uv >&2 </dev/null; then return 0; fi
    done
    rm -rf "$root/.uv/tool"
    say 'uv could not be fetched; https://docs.astral.sh/uv/ says how to install it by hand'
    exit 2
}

need_uv() {
    find_python
    for candidate in uv "$root/.uv/tool/bin/uv" "${HOME:-}/.local/bin/uv"; do
        if "$candidate" --version >/dev/null 2>&1 </dev/null; then uv=$candidate; return 0; fi
    done
    fetch_uv
    uv=$root/.uv/tool/bin/uv
}

# need_environment DIRECTORY PYTHON UV-SYNC-OPTION...: exactly what uv.lock says; downloads no Python if there is one.
need_environment() {
    directory=$1 with_python=$2
    shift 2
    if [ -n "$with_python" ]; then
        set -- "$@" --python "$with_python" --no-python-downloads
    fi
    [ -x "$directory/bin/python" ] || say "setting up ${directory#"$root/"}"
    VIRTUAL_ENV='' UV_PROJECT_ENVIRONMENT=$directory "$uv" sync --quiet --frozen --project "$root" "$@" </dev/null
}

# An environment that is there and runs keeps its Python.
need_main_environment() {
    need_uv
    chosen=$(python_path "$root/.venv/bin/python") || choose_python
    need_environment "$root/.venv" "$chosen" "$@"
}

need_tmux() {
    tmux=${STREAMRELAY_TMUX:-tmux}
    if "$tmux" -V >/dev/null 2>&1 </dev/null; then return 0; fi
    [ -z "${STREAMRELAY_TMUX:-}" ] || missing "STREAMRELAY_TMUX=$STREAMRELAY_TMUX cannot be run; tmux" 'unset STREAMRELAY_TMUX'
    if install_package tmux tmux && tmux -V >/dev/null 2>&1; then return 0; fi
    missing 'tmux' "$(what_to_type tmux tmux)"
}

# Full-screen programs that the tests record as they run, and an ssh server that they start for themselves alone. Without
# one its tests are skipped, and say so.
want_programs() {
    for wanted in vim:vim less:less htop:htop mc:midnight-commander top:; do
        program=${wanted%%:*}
        command -v "$program" >/dev/null 2>&1 && continue
        package=$program
        [ "$program" != top ] || package=procps
        if install_package "$package" "${wanted#*:}"; then continue; fi
        say "no $program here: its recording is not tested. To have it: $(what_to_type "$package" "${wanted#*:}")"
    done
    want_sshd
}

# What is wanted is the program. Debian's package would also start a server for everybody, now and at every boot: so the
# unit is masked before it is installed.
want_sshd() {
    PATH=$PATH:/usr/sbin:/usr/local/sbin command -v sshd >/dev/null 2>&1 || install_sshd
}

install_sshd() {
    unit=/etc/systemd/system/ssh.service
    if command -v apt-get >/dev/null 2>&1 && become_root; then
        # Where there is one already it is somebody's own, and stays.
        if $as_root mkdir -p "${unit%/*}" && $as_root ln -s /dev/null "$unit" 2>/dev/null; then
            say "no ssh server is started on this machine: systemctl unmask ssh makes one possible"
        fi
        if install_package openssh-server ''; then return 0; fi
    fi
    say "no sshd here: what runs over ssh is not tested. To have it: $(what_to_type openssh-server openssh)"
}

# The browser in which the tests of the web page run; $chromium names it, or is empty where none can be had.
want_browser() {
    for chromium in "${STREAMRELAY_CHROMIUM:-chromium}" chromium-browser google-chrome-stable google-chrome \
        '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'; do
        if "$chromium" --version >/dev/null 2>&1 </dev/null; then return 0; fi
    done
    chromium=chromium
    if install_package chromium '' && chromium --version >/dev/null 2>&1 </dev/null; then return 0; fi
    chromium=''
    say_no_browser
}

say_no_browser() {
    say 'no Chromium here: THE WEB PAGE IS NOT TESTED in a browser. Type this, then start again:'
    printf '    %s\n' "$(what_to_type chromium '--cask google-chrome')" >&2
}

# The Redis server for the tests of links between machines; $redis names it, or is empty where none can be had. Debian's
# redis-server starts a server of the system's, which nobody asked for: redis-tools has the same program as
# redis-check-rdb, and what it is called by is what it is (streamrelay/testing/redis.py).
want_redis() {
    if find_redis || { install_package redis-tools redis && find_redis; }; then return 0; fi
    redis=''
    say_no_redis
}

find_redis() {
    set -- redis-server redis-check-rdb
    [ -z "${STREAMRELAY_REDIS:-}" ] || set -- "$STREAMRELAY_REDIS"
    for redis in "$@"; do
        if command -v "$redis" >/dev/null 2>&1; then return 0; fi
    done
    return 1
}

say_no_redis() {
    say 'no redis-server here: LINKS BETWEEN MACHINES ARE NOT TESTED. Type this, then start again:'
    printf '    %s\n' "$(what_to_type redis-tools redis)" >&2
}
