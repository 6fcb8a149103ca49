#!/bin/sh
# Compiles pathweave-linux as a package has it: without symbols, and with the same bytes wherever the checkout and cargo's
# folders are. Prints the path of the binary.
set -eu
cd "$(dirname "$0")/../.."
command -v clang >/dev/null || {
    echo "missing: clang and the headers of libelf and zlib (apt install clang libelf-dev zlib1g-dev)" >&2
    exit 1
}
flags="--remap-path-prefix=$PWD/="
for crates in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*; do
    flags="$flags --remap-path-prefix=$crates/=crates/"
done
RUSTFLAGS="${RUSTFLAGS:-} $flags" CARGO_INCREMENTAL=0 \
    cargo build --locked --package pathweave-linux --profile dist --quiet >&2
echo "${CARGO_TARGET_DIR:-target}/dist/pathweave-linux"
