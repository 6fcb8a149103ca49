#!/bin/sh
# Installs dist/pathweave-linux_*.deb in fresh systems of Debian 12 and 13, tries it, and purges it: what is left must be what
# was there before. As root, with debootstrap. Debian is fetched from where apt is set up to fetch it. Nothing is loaded into the kernel.
#
#     release/deb/test.sh                both
#     release/deb/test.sh trixie         one
set -eu
cd "$(dirname "$0")/../.."
package=$(ls "$PWD"/dist/pathweave-linux_*_amd64.deb 2>/dev/null) || {
    echo "missing: dist/pathweave-linux_*_amd64.deb (make deb)" >&2
    exit 1
}
command -v debootstrap >/dev/null || { echo "missing: debootstrap (apt install debootstrap)" >&2; exit 1; }
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
[ -n "$mirror" ] || { echo "apt is not set up to fetch Debian" >&2; exit 1; }
folder=$(mktemp -d)
root=
clean() {
    if [ -n "$root" ]; then
        umount "$root/sys" "$root/proc" 2>/dev/null || true
    fi
    rm -rf --one-file-system "$folder"
}
trap clean EXIT
trap 'exit 130' INT TERM

inside() { DEBIAN_FRONTEND=noninteractive LC_ALL=C chroot "$root" "$@"; }
fail() { echo "$release: $*" >&2; exit 1; }
# Files of the system but for what dpkg, apt, systemd and logs write about themselves.
list() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log \
        -o -path './var/lib/dpkg/*-old' -o -path ./var/lib/dpkg/triggers -o -path ./var/lib/dpkg/lock-frontend -o -path ./tmp -o -path ./run/systemd \) -prune -o -print | sort)
}

for release in ${*:-bookworm trixie}; do
    root=$folder/$release
    debootstrap --variant=minbase --include=systemd,man-db "$release" "$root" "$mirror" >"$folder/log" 2>&1 || {
        tail -n 5 "$folder/log" >&2
        fail "debootstrap failed"
    }
    # Minimal images leave documentation out; a real host does not.
    rm -f "$root/etc/dpkg/dpkg.cfg.d/docker"
    mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
    mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys"
    # Libraries that it depends on stay after a purge, so they are there first.
    for name in libelf1t64 libelf1; do
        if inside apt-get install -qq -y --no-install-recommends "$name" >"$folder/log" 2>&1; then break; fi
    done
    list >"$folder/before"
    cp "$package" "$root/tmp/pathweave.deb"
    inside apt-get install -qq -y --no-install-recommends /tmp/pathweave.deb >"$folder/log" 2>&1 || {
        cat "$folder/log" >&2
        fail "apt does not install it"
    }
    inside pathweave-linux --version
    # What it says of this kernel is in its status, and so is neither right nor wrong here; that it judges all probes is.
    probes=$(inside pathweave-linux kernel check 2>&1 || true)
    echo "$probes" | grep -q 'verifier takes xmp' || fail "kernel check says: $probes"
    for page in pathweave-linux pathweave-linux-kernel-load pathweave-linux-metrics; do
        inside man -w "$page" >/dev/null || fail "no manual page $page"
    done
    said=$(inside systemd-analyze verify pathweave@xmp.service 2>&1) || fail "systemd-analyze: $said"
    case $said in *pathweave*) fail "systemd-analyze: $said" ;; esac
    # What an administrator adds goes with the purge.
    inside systemctl enable -q pathweave@xmp
    cp release/deb/pathweave-xmp "$root/etc/default/pathweave-xmp"
    inside apt-get purge -qq -y pathweave-linux >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "it cannot be purged"; }
    list >"$folder/after"
    diff "$folder/before" "$folder/after" >"$folder/left" || { cat "$folder/left" >&2; fail "the purge leaves this behind"; }
    umount "$root/sys" "$root/proc"
    rm -rf --one-file-system "$root"
    root=
    echo "$release: installed, tried and purged; nothing is left"
done
