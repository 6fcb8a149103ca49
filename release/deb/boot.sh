#!/bin/sh
# Boots one of Debian's kernels with dist/pathweave-linux_*.deb installed and pathweave@xmp enabled, in qemu without acceleration,
# and tries there what boot-checks.sh tries. As root, with debootstrap, qemu-system-x86 and e2fsprogs. Debian is fetched from where
# apt is set up to fetch it. The last line is the result.
#
#     release/deb/boot.sh bookworm              Debian 12's own kernel, on which the unit has to stay inactive
#     release/deb/boot.sh bookworm-backports    one that is new enough; also trixie, trixie-backports and sid
#
# LOGS=FOLDER, from the root of the sources, is where what was printed stays, by default target/boots. SECONDS_EACH is how long the boot may take (1800).
set -eu
cd "$(dirname "$0")/../.."
[ $# = 1 ] || { echo "usage: boot.sh bookworm|bookworm-backports|trixie|trixie-backports|sid" >&2; exit 2; }
kernel=$1
release=${kernel%-backports}
for tool in debootstrap qemu-system-x86_64 mke2fs; do
    command -v $tool >/dev/null || { echo "missing: $tool (apt install debootstrap qemu-system-x86 e2fsprogs)" >&2; exit 1; }
done
package=$(ls "$PWD"/dist/pathweave-linux_*_amd64.deb 2>/dev/null) || {
    echo "missing: dist/pathweave-linux_*_amd64.deb (make deb)" >&2
    exit 1
}
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep '/debian/*$' | head -n 1)
[ -n "$mirror" ] || { echo "apt is not set up to fetch Debian" >&2; exit 1; }
seconds=${SECONDS_EACH:-1800}
logs=${LOGS:-target/boots}
mkdir -p "$logs"
log=$logs/$kernel
folder=$(mktemp -d)
root=$folder/root
machine=
doing=
show=
clean() {
    status=$?
    [ -z "$machine" ] || kill "$machine" 2>/dev/null || true
    umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$folder"
    if [ "$status" != 0 ] && [ -n "$doing" ]; then
        tail -n 40 "$show" | tr -d '\r' | sed 's/^/    /' >&2
        echo "$kernel: FAILED $doing (all of it is in $log.*)"
    fi
}
trap clean EXIT
trap 'exit 130' INT TERM
inside() { DEBIAN_FRONTEND=noninteractive LC_ALL=C chroot "$root" "$@"; }

doing="while its system was installed"
show=$log.install
{
    debootstrap --variant=minbase --include=systemd-sysv,iproute2,python3-minimal "$release" "$root" "$mirror"
    mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
    # The first file system has what leads to the disk and no more: unpacking it takes the processor that qemu plays a while.
    mkdir -p "$root/etc/initramfs-tools/conf.d"
    printf 'virtio_pci\nvirtio_blk\next4\n' >"$root/etc/initramfs-tools/modules"
    echo 'MODULES=list' >"$root/etc/initramfs-tools/conf.d/small"
    # It is thrown away: nothing has to survive a loss of power.
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe"
    [ "$release" = "$kernel" ] || echo "deb $mirror $kernel main" >"$root/etc/apt/sources.list.d/backports.list"
    # A mirror may lag behind, and what it has is signed all the same.
    inside apt-get -o Acquire::Check-Valid-Until=false update -qq
    # What the kernel depends on comes from the release itself: only the kernel is the backported one.
    inside apt-get install -qq -y --no-install-recommends initramfs-tools zstd
    inside apt-get install -qq -y --no-install-recommends -t "$kernel" linux-image-amd64
    cp "$package" "$root/root/pathweave.deb"
    inside apt-get install -qq -y --no-install-recommends /root/pathweave.deb
    # This is what docs/administrators.md tells the administrator to do.
    inside systemctl enable -q pathweave@xmp
    install -D -m 644 -t "$root/etc/sysctl.d" release/deb/90-pathweave.conf
    # What is tried once it has booted; then it switches itself off.
    cp release/deb/boot-checks.sh release/deb/boot-traffic.py "$root/root/"
    cat >"$root/etc/systemd/system/checks.service" <<END
[Unit]
After=multi-user.target
[Service]
Type=oneshot
TimeoutStartSec=infinity
ExecStart=/bin/sh /root/boot-checks.sh
ExecStopPost=/bin/systemctl --no-block poweroff
[Install]
WantedBy=multi-user.target
END
    inside systemctl enable -q checks.service
    umount "$root/proc"
    echo '/dev/vda / ext4 rw 0 1' >"$root/etc/fstab"
    mke2fs -q -t ext4 -d "$root" "$folder/disk" 4G
    vmlinuz=$(ls "$root"/boot/vmlinuz-*)
    cp "$vmlinuz" "$folder/vmlinuz"
    cp "$root/boot/initrd.img-${vmlinuz##*/vmlinuz-}" "$folder/initrd"
} >"$show" 2>&1

doing="to switch itself off within $seconds s"
show=$log.console
began=$(date +%s)
: >"$log.checks"
timeout "$seconds" qemu-system-x86_64 -cpu max -smp 1 -m 2048 -nodefaults -no-reboot -display none \
    -kernel "$folder/vmlinuz" -initrd "$folder/initrd" \
    -append "root=/dev/vda rw console=ttyS0 panic=-1 systemd.show_status=0" \
    -drive "file=$folder/disk,format=raw,if=virtio,cache=unsafe" \
    -serial "file:$log.console" -serial "file:$log.checks" &
machine=$!
wait "$machine"
machine=

doing="in its checks"
show=$log.checks
result=$(tr -d '\r' <"$log.checks" | sed -n 's/^result: //p')
case $result in passed*) ;; *) exit 1 ;; esac
echo "$kernel: $result, in $(($(date +%s) - began)) s"
