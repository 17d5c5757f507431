#!/bin/sh
# The manual pages are sound, and name every variable of the environment that the program reads; README.md
# is short.
set -eu
cd "${SOURCE_DIR:-$(dirname "$0")/..}"
status=0

if command -v groff >/dev/null 2>&1; then
    for page in data/man/*.[1-9]; do
        complaints=$(groff -man -Tutf8 -ww -z -rCHECKSTYLE=3 "$page" 2>&1)
        [ -z "$complaints" ] || { echo "$complaints"; status=1; }
    done
else
    echo "manual: no groff here; how the pages look was not checked"
fi

read_variables() {
    {
        grep -rhoE 'getenv\("[A-Z_]+"' src ui
        grep -hoE '\{"[A-Z_]+", "' ui/app/clipboard.c src/base/paths.c
        grep -rhE 'variables?(_signs)?(\[\])? = (\{|")' src ui
    } | grep -oE '"[A-Z][A-Z_]+"' | tr -d '"' | sort -u
}

variables=$(read_variables)
for sign in HOME TERM EDITOR LANG TMPDIR XDG_DATA_HOME OPENAI_API_KEY; do
    echo "$variables" | grep -qx "$sign" || { echo "manual: the search for variables misses $sign"; status=1; }
done
told=$(sed -n '/^\.SH ENVIRONMENT/,/^\.SH FILES/p' data/man/tiro.1 | grep -oE '[A-Z][A-Z_]{2,}' |
    grep -vxE 'ENVIRONMENT|FILES|SECTION|TIRO_|TIRO_UI_THEME|_|KEY|UTF' | sort -u)
for name in $variables; do
    echo "$told" | grep -qx "$name" || { echo "manual: tiro(1) does not tell of $name"; status=1; }
done
for name in $told; do
    { case $name in NO_COLOR | LANGUAGE) true ;; *) false ;; esac || echo "$variables" | grep -qx "$name"; } ||
        { echo "manual: nothing reads $name"; status=1; }
done
# README.md is for the first look: its beginning says what tiro is for, tiro(7) has the rest.
[ "$(wc -l <README.md)" -le 130 ] || { echo "manual: README.md has more than 130 lines"; status=1; }
for word in memory undo citation; do
    head -n 30 README.md | grep -qi "$word" ||
        { echo "manual: the first 30 lines of README.md do not say $word"; status=1; }
done
echo "manual: $(echo "$variables" | wc -l) variables"
exit "$status"
