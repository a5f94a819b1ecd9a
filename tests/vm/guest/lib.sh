# SPDX-License-Identifier: MIT
# For scenarios in bash: `. "$(dirname "$0")/lib.sh"` first. A command that fails fails the scenario.
set -euo pipefail

GUEST=$(cat /mnt/host/guest)

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

# equal GOT EXPECTED [WHAT]
equal() {
	[ "$1" = "$2" ] || fail "${3-}: expected '$2', got '$1'"
}

# contains TEXT PART
contains() {
	[[ $1 == *"$2"* ]] || fail "'$2' is not in: $1"
}

# wait_for SECONDS COMMAND...
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || fail "waited in vain for: $*"
		sleep 0.1
	done
}
