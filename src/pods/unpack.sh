#!/bin/sh
# -o: files belong to the user that unpacks them. An end of input does not prove that the stream is
# complete: it also happens when the connection is lost.
#
# An existing directory gets entries, and its attributes stay: it may be root's, or a volume, and
# so may its parent. So the stage is in that directory then, and the entries are moved in batches,
# because one program for each of thousands takes long.

place=$1 name=$2 kind=$3
fail() { echo "$2" >&2; exit "$1"; }
command -v tar >/dev/null || fail 69 'the container has no tar, which copying needs'
case $place in /*) ;; *) place=./$place ;; esac
if [ -d "$place" ]; then
	[ -z "$name" ] || place=${place%/}/$name
elif [ "$kind" = file ]; then
	case $place in */) fail 66 "directory '$place' not found in the container" ;; esac
fi
folder=$(dirname "$place")
[ ! -d "$place" ] || folder=$place
[ -d "$folder" ] || fail 66 "directory '$folder' not found in the container"
if [ "$kind" = file ]; then
	[ ! -d "$place" ] || fail 73 "'$place' is a directory in the container"
elif [ -e "$place" ]; then
	[ -d "$place" ] || fail 73 "'$place' already exists and is not a directory"
fi
stage=$(mktemp -d "$folder/.muster-cp-XXXXXX" 2>/dev/null) ||
	fail 1 "cannot write into directory '$folder' in the container"
trap 'exit 1' HUP INT TERM
trap 'rm -rf "$stage"' EXIT
case $(tar --version 2>/dev/null) in
*GNU*|*bsdtar*) echo pax ;;
*) echo gnu ;;
esac
tar -x -p -o -f - -C "$stage" || exit 1
[ -e "$stage/whole" ] || fail 1 'the copy was cut off'
merge() (
	from=$1 to=$2
	set --
	for each in "$from"/* "$from"/.[!.]* "$from"/..?*; do
		[ -e "$each" ] || [ -L "$each" ] || continue
		if [ -d "$each" ] && [ ! -L "$each" ] && [ -d "$to/${each##*/}" ]; then
			merge "$each" "$to/${each##*/}" || exit
			continue
		fi
		set -- "$@" "$each"
		[ $# -lt 100 ] || { mv -f "$@" "$to/" && set -- || exit; }
	done
	[ $# = 0 ] || mv -f "$@" "$to/"
)
if [ -d "$place" ]; then
	merge "$stage/content" "$place"
else
	mv -f "$stage/content" "$place"
fi
