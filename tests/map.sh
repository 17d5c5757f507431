#!/bin/sh
# HACKING.md has a line for every source file, and none for a file that is gone.
set -eu
cd "${SOURCE_DIR:-$(dirname "$0")/..}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find src ui -name '*.[ch]' | sed 's/\.[ch]$//' | sort -u >"$work/files"
awk '/^### / { folder = $2 ~ /^(src|ui)\// ? $2 : "" }
     /^- `/ && folder != "" { name = $2; gsub(/`/, "", name); print folder "/" name }' HACKING.md |
    sort >"$work/lines"
if ! diff "$work/lines" "$work/files"; then
    echo "map: lines of HACKING.md (<) and files (>) differ"
    exit 1
fi
echo "map: $(wc -l <"$work/files") files have their line"
