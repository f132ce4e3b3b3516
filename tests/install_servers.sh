#!/usr/bin/env bash
# Installs the servers and the browser that tests start for themselves, on Debian and as root. Everywhere else it says
# which tests will be skipped. It never starts anything: the tests run their own instances, on free ports.
set -euo pipefail

missing=()
declare -A package=([systemd-analyze]=systemd) # the others are named as their binary is
for binary in chromium prometheus systemd-analyze; do
    command -v "$binary" >/dev/null || missing+=("${package[$binary]:-$binary}")
done
[ -e /usr/share/zoneinfo/Europe/Berlin ] || missing+=(tzdata) # systemd-analyze knows no zone without
[ ${#missing[@]} -gt 0 ] || exit 0

install="apt-get install --no-install-recommends ${missing[*]}"
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "missing: ${missing[*]}. Tests that need them are skipped (in CI they fail). On Debian, as root: $install" >&2
    exit 0
fi

# Debian starts a service once it is installed. Exit code 101 from policy-rc.d forbids that; a policy that stands stays.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # the words of $install are meant to be split
$install -y -qq -o Dpkg::Use-Pty=0 </dev/null >/dev/null
