#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 ringfence maintainers
#
# deps.sh GROUP...: install the Debian packages that are missing, by apt-get.
#
# Groups: build (what make all and make demo need), check (and the tests), lint,
# valgrind, model, matrix, sim, sqlsmith, fuzz, drills, coverage, bench, deb.
# Silent and quick when nothing is missing.  What it leaves alone is told in
# docs/building.md: no PostgreSQL cluster is created, no service started.
set -eu

PG_MAJOR=${PG_MAJOR:-15}

packages() {
    case $1 in
    build)
        echo gcc libc6-dev make pkg-config perl libhiredis-dev libpq-dev \
            libssl-dev libcurl4-openssl-dev libjansson-dev libevent-dev \
            libzookeeper-mt-dev \
            redis-server "postgresql-$PG_MAJOR" "postgresql-server-dev-$PG_MAJOR"
        ;;
    check)
        packages build
        echo g++ libcmocka-dev libuv1-dev openssl jq groff-base pgbouncer etcd-server curl \
            default-jre-headless libzookeeper-java abigail-tools \
            "postgresql-$PG_MAJOR-pgtap" python3-redis python3-psycopg2
        # Node's own packages of it know nothing of Debian's.
        command -v npm >/dev/null || echo nodejs npm
        ;;
    lint) echo git clang clang-format cppcheck shellcheck ;;
    valgrind) echo valgrind libc6-dbg ;;
    model) echo gcc libc6-dev spin ;;
    fuzz) echo clang libclang-rt-14-dev ;;
    sqlsmith) echo sqlsmith ;;
    coverage) echo lcov ;;
    abi) echo abigail-tools binutils ;;
    bench) echo gnuplot-nox python3-redis python3-hiredis ;;
    matrix) echo debootstrap ;;
    drills)
        packages check
        echo strace
        ;;
    deb) echo build-essential debhelper dpkg-dev git ;;
    sim) echo libluajit-5.1-dev ;;
    *)
        echo "deps: unknown group $1" >&2
        exit 2
        ;;
    esac
}

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# ---- As root: install, and undo what would outlast the installation --------

# Debian's policy-rc.d answers 101 where no service is to be started, and
# createcluster.d is read when postgresql decides about a "main" cluster.
# Both are here for the time of the installation, unless somebody else's are.
policy=/usr/sbin/policy-rc.d
cluster=/etc/postgresql-common/createcluster.d/ringfence.conf
made=

restore() {
    for file in $made; do
        rm -f "$file"
    done
    rmdir /etc/postgresql-common/createcluster.d 2>/dev/null || true
    rm -f "$log"
}

hold_services() {
    if [ ! -e $policy ]; then
        made="$made $policy"
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod 755 $policy
    fi
    mkdir -p "${cluster%/*}"
    made="$made $cluster"
    echo "create_main_cluster = false" >$cluster
}

# What the service of a package is called.
service_of() {
    case $1 in
    etcd-server) echo etcd ;;
    *) echo "$1" ;;
    esac
}

install_packages() {
    log=$(mktemp)
    new_services=
    for service in redis-server pgbouncer etcd-server; do
        is_installed $service || new_services="$new_services $service"
    done
    trap restore EXIT
    trap 'exit 130' INT TERM HUP
    hold_services
    export DEBIAN_FRONTEND=noninteractive
    # Lists may be old or absent.  A source that can't be reached is no reason
    # to stop: the installation decides.
    apt-get -q update >"$log" 2>&1 || true
    if ! apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 \
        -o Dpkg::Use-Pty=0 install "$@" >>"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        echo "deps: apt-get could not install: $*" >&2
        exit 1
    fi
    # Not started now, and not at the next boot either.
    for service in $new_services; do
        ! is_installed "$service" ||
            update-rc.d "$(service_of "$service")" disable >/dev/null 2>&1 || true
    done
}

if [ "${1:-}" = --install ]; then
    shift
    install_packages "$@"
    exit 0
fi

# ---- As anybody: find out what is missing ------------------------------------

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    [ -z "${V:-}" ] || echo "deps: no apt-get here; see docs/building.md"
    exit 0
fi

missing=
for group in "$@"; do
    for package in $(packages "$group"); do
        is_installed "$package" || missing="$missing $package"
    done
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    if ! command -v sudo >/dev/null; then
        echo "deps: packages are missing, and there is no sudo; as root, run:" >&2
        echo "  apt-get install$missing" >&2
        exit 1
    fi
fi
echo "Debian packages that are missing and are now installed with apt-get,"
echo "which takes a minute or two:"
echo " $missing"
# shellcheck disable=SC2086
$as_root sh "$0" --install $missing
