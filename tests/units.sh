#!/bin/sh
# The units of systemd say what systemd understands, and name a program that is there. TIRO names it.
set -eu
command -v systemd-analyze >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for service in tiro tiro-import; do
    sed "s|@[b]indir@/tiro|${TIRO:?}|" "${SOURCE_DIR:?}/data/systemd/$service.service.in" \
        >"$work/$service.service"
done
cp "$SOURCE_DIR/data/systemd/tiro.socket" "$work"
chmod 700 "$work"
HOME=$work XDG_RUNTIME_DIR=$work systemd-analyze --user --man=no verify \
    "$work/tiro.service" "$work/tiro-import.service" "$work/tiro.socket" >"$work/said" 2>&1 || status=$?
# It also tells what it passes over, with status 0.
[ ! -s "$work/said" ] && exit "${status:-0}"
cat "$work/said" >&2
exit 1
