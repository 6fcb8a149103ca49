#!/bin/sh
# Installs ns-2 2.35 from Debian, when it is missing.
set -eu

if command -v ns >/dev/null; then
    echo "ns-2 is installed."
    exit 0
fi
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
    echo "Install ns-2 2.35 yourself: on Debian, 'apt-get install ns2' as root." >&2
    exit 1
fi
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ns2
