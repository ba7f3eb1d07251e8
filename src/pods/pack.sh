#!/bin/sh
# The answer names the kind of the source. GNU tar exits with 1 when a file changed while it was
# read, and says so on stderr; for other tars that code is a failure. An unreadable file does not
# lose the rest, if tar can continue.

path=$1
fail() { echo "$2" >&2; exit "$1"; }
command -v tar >/dev/null || fail 69 'the container has no tar, which copying needs'
[ -e "$path" ] || fail 66 "'$path' not found in the container"
case $(tar --version 2>/dev/null) in
*GNU*) gnu=yes format='--format=pax --ignore-failed-read' ;;
*bsdtar*) gnu="" format=--format=pax ;;
*) gnu="" format="" ;;
esac
if [ -d "$path" ]; then
	echo folder
	# shellcheck disable=SC2086
	tar -c $format -f - -C "$path" .
elif [ -f "$path" ]; then
	echo file
	# shellcheck disable=SC2086
	tar -c -h $format -f - -C "$(dirname "$path")" "./$(basename "$path")"
else
	fail 69 "'$path' is not a file or directory"
fi
code=$?
[ "$gnu$code" = yes1 ] && code=0
exit $code
