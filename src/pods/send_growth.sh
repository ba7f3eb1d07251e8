#!/bin/sh
# Each round begins with a list of the local files, "./PATH//SIZE", since no path contains two
# slashes, and a "." after them. A file may become shorter, or be deleted, while its bytes are
# sent: zeros replace the missing bytes, because their number was announced, and the next round
# sees that the file is shorter. A file whose name has a line feed looks like two missing files.

path=$1
nl='
'
size_of() { stat -c %s "$1" 2>/dev/null || wc -c <"$1"; }
send() {
	printf '%s %s %s\n' "$2" "$3" "$1"
	[ "$3" -gt 0 ] || return 0
	{ tail -c "+$(($2 + 1))" "$1"; cat /dev/zero; } 2>/dev/null | head -c "$3"
}
look_at() {
	size=$(size_of "$1" 2>/dev/null) || return 0
	had=new
	case $known in *"$nl$1//"*)
		had=${known#*"$nl$1//"}
		had=${had%%"$nl"*}
	esac
	[ "$had" = "$size" ] && return
	[ "$had" = new ] || [ "$had" -gt "$size" ] && had=0
	send "$1" "$had" "$((size - had))"
}
look() {
	cd "$path" 2>/dev/null || return
	find . -type f \( -name '*tfevents*' -o -path '*/plugins/*' \) 2>/dev/null |
	while IFS= read -r file; do
		[ -f "$file" ] && look_at "$file"
	done
	echo .
}
echo ready
while :; do
	known=$nl line=
	while IFS= read -r line && [ "$line" != . ]; do
		known=$known$line$nl
	done
	[ "$line" = . ] || exit 0
	(look) || echo missing
done
