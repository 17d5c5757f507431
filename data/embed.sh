#!/bin/sh
# Writes C source that holds files: embed.sh SOURCE-DIRECTORY data/FILE... >embedded.c
# A file that the build has made is taken before one of SOURCE-DIRECTORY.
# The names in the table are paths within data/ (src/base/paths.h).
set -eu
dir=$1
shift

echo '/* Made by data/embed.sh. */'
echo '#include "base/paths.h"'
echo

i=0
for file; do
    path=$file
    [ -r "$path" ] || path=$dir/$file
    [ -r "$path" ] || { echo "embed.sh: $path cannot be read" >&2; exit 1; }
    echo "static const unsigned char file_$i[] = {"
    od -An -v -tx1 <"$path" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
    echo '0x00};'
    i=$((i + 1))
done

echo
echo 'const struct embedded embedded_files[] = {'
i=0
for file; do
    echo "    {\"${file#data/}\", (const char *)file_$i, sizeof file_$i - 1},"
    i=$((i + 1))
done
echo '    {NULL, NULL, 0},'
echo '};'
