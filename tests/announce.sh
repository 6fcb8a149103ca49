#!/bin/sh
# Before `make test`: how long it takes and what it cannot test on this machine. REQUIRE_KERNEL, REQUIRE_CHROMIUM and
# REQUIRE_VALGRIND make it an error that something is left out.
set -eu

missing=
# $1: what is left out, and what it needs; $2: not empty where that is an error.
left_out() {
	test -z "$2" || missing=yes
	printf 'left out: %s\n' "$1"
}
has() { command -v "$1" >/dev/null; }
KERNEL=${REQUIRE_KERNEL:-}

if test -d "${CARGO_TARGET_DIR:-target}/debug"; then
	time='about 20 minutes on two cores if little has changed'
else
	time='about 25 minutes on two cores the first time'
fi
echo "make test: $time; docs/checks.md has the steps"
if test -n "${HAS_SPACE:-}"; then
	left_out 'crates/linux (libbpf does not build in a folder whose path has a space; set CARGO_TARGET_DIR to another)' "$KERNEL"
elif test "${HAS_CLANG:-}" != yes; then
	left_out 'crates/linux (Debian, Ubuntu: apt install clang libelf-dev zlib1g-dev; Fedora: dnf install clang elfutils-libelf-devel zlib-devel)' "$KERNEL"
elif test "$(id -u)" != 0; then
	left_out 'tests on the kernel and the testbed (need root)' "$KERNEL"
elif ! test -e /sys/kernel/btf/vmlinux || test "$(cat /proc/sys/net/mptcp/enabled 2>/dev/null)" != 1; then
	left_out 'tests on the kernel and the testbed (need a kernel with BTF and MPTCP)' "$KERNEL"
elif ! test -e /proc/sys/net/mptcp/pm_type || ! test -e /dev/net/tun || ! has ip; then
	left_out "the testbed (needs MPTCP with a path manager in user space, /dev/net/tun and iproute2's ip)" "$KERNEL"
fi
has valgrind || left_out 'instructions per packet-hop (Debian, Ubuntu: apt install valgrind; Fedora: dnf install valgrind)' "${REQUIRE_VALGRIND:-}"
has chromium || has chromium-browser ||
	left_out "the report's page in a browser (Debian, Ubuntu: apt install chromium; Fedora: dnf install chromium)" "${REQUIRE_CHROMIUM:-}"
has tshark || left_out 'captures in tshark (Debian, Ubuntu: apt install tshark; Fedora: dnf install wireshark-cli)' ''
left_out 'Slurm (make test-slurm)' ''
test -z "$missing" || { echo 'a tool that is required is missing' >&2; exit 1; }
