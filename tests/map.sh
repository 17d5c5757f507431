#!/bin/sh
# HACKING.md has a section for each folder with source files, and names no file that is gone.
set -eu
cd "${SOURCE_DIR:-$(dirname "$0")/..}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find src ui -name '*.[ch]' | sed 's/\/[^/]*$//' | sort -u >"$work/folders"
sed -n 's/^### \(\(src\|ui\)\/[a-z]*\)$/\1/p' HACKING.md | sort -u >"$work/sections"
if ! diff "$work/sections" "$work/folders"; then
    echo "map: sections of HACKING.md (<) and folders (>) differ"
    exit 1
fi
find src ui -name '*.[ch]' | sed 's/\.[ch]$//' | sort -u >"$work/files"
awk '/^### / { folder = $2 ~ /^(src|ui)\// ? $2 : "" }
     /^- `/ && folder != "" { name = $2; gsub(/`/, "", name); print folder "/" name }' HACKING.md |
    sort -u | comm -23 - "$work/files" >"$work/gone"
if [ -s "$work/gone" ]; then
    sed 's/^/map: HACKING.md names a file that is gone: /' "$work/gone"
    exit 1
fi
echo "map: $(wc -l <"$work/folders") folders have their section"
