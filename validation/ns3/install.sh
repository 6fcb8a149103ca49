#!/bin/sh
# Installs what the ns-3 side needs from Debian, when it is missing.
set -eu

packages="g++ make libns3-dev"

missing=""
for package in $packages; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    if [ "$status" != "install ok installed" ]; then
        missing="$missing $package"
    fi
done
missing=${missing# }
if [ -z "$missing" ]; then
    echo "Everything is installed: $packages"
    exit 0
fi

give_up() {
    echo "Missing: $missing" >&2
    echo "$1" >&2
    exit 1
}

if ! command -v apt-get >/dev/null; then
    give_up "There is no apt-get here: install ns-3 3.37 with its headers, g++ and make yourself."
fi
if [ "$(id -u)" -ne 0 ]; then
    give_up "Installing needs root: run 'apt-get install $missing' as root, or this script."
fi

echo "Installing: $missing"
apt-get update || give_up "apt-get update failed."
# shellcheck disable=SC2086  # one word a package
DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing ||
    give_up "apt-get could not install these packages."
