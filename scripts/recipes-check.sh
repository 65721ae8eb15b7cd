#!/bin/bash
# Reads the recipes in contrib/ with the languages they are written in: syntax only. What is not installed is skipped.
# A part of cross-check.sh.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
failed=0

# name, tool, command
check() {
	if ! command -v "$2" >/dev/null; then
		echo "recipes-check: skipped $1: there is no $2"
	elif "${@:3}" >/dev/null; then
		echo "recipes-check: $1: its syntax is right"
	else
		echo "recipes-check: $1: failed"
		failed=1
	fi
}

# The words of MacPorts do nothing here.
read_portfile() {
	tclsh <(echo 'proc unknown args {}; proc description args { set ::description $args }
		source contrib/macports/Portfile')
}

# The rules of the ports collection are empty here.
read_port() {
	local rules
	rules=$(mktemp -d)
	printf 'all:\n\t@test -n "${PORTNAME}" -a -n "${DISTVERSION}"\n' > "$rules/bsd.port.mk"
	bmake -m "$rules" -m /usr/share/mk -f contrib/freebsd/Makefile all
	local code=$?
	rm -r "$rules"
	return $code
}

check contrib/brew/iosonde.rb ruby ruby -c contrib/brew/iosonde.rb
check contrib/macports/Portfile tclsh read_portfile
check contrib/freebsd/Makefile bmake read_port
exit $failed
