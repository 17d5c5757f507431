#!/bin/sh
# po/: POTFILES.in names every file with text for the user, and every catalogue is complete.
set -eu
cd "${SOURCE_DIR:-$(dirname "$0")/..}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

grep -lE '\<(_|N_|ngettext)\(' src/chat/*.[ch] src/cli/*.[ch] src/config/*.[ch] src/serve/*.[ch] src/session/*.[ch] ui/*/*.[ch] |
    sort >"$work/with-text"
grep -v '^#' po/POTFILES.in | grep . | sort >"$work/listed"
if ! diff "$work/listed" "$work/with-text" >"$work/diff"; then
    echo "po/POTFILES.in (<) differs from the files with text (>):"
    cat "$work/diff"
    status=1
fi

if ! command -v xgettext >/dev/null 2>&1; then
    echo "catalogues: no xgettext here; the catalogues were not looked at"
    exit "$status"
fi
# shellcheck disable=SC2046
xgettext --keyword=_ --keyword=N_ --keyword=ngettext:1,2 --from-code=UTF-8 \
    -o "$work/tiro.pot" $(cat "$work/listed")
for language in $(grep -v '^#' po/LINGUAS); do
    msgmerge --quiet --no-fuzzy-matching -o "$work/merged.po" "po/$language.po" "$work/tiro.pot"
    msgfmt --check --statistics -o /dev/null "$work/merged.po" 2>"$work/figures" || status=1
    if grep -qE 'untranslated|fuzzy' "$work/figures"; then
        status=1
        msgattrib --untranslated --no-obsolete "$work/merged.po" | grep -A1 '^#:\|^msgid' | head -n 60
    fi
    echo "catalogues: $language: $(cat "$work/figures")"
done
exit "$status"
