# For the scripts beside it, which set $work (a directory) and $page (doc/protocols.md): compares
# $work/talk with the example between the marks of this name, but for ids, times and figures; with
# --write it writes it there.
#     record NAME "$@"
bare() {
    sed -e 's/[0-9a-f]\{8\}-[0-9a-f-]\{27\}/ID/g' -e 's/[0-9-]\{10\}T[0-9:.]*Z/TIME/g' \
        -e 's/"\(ms\|run_ms\|duration_ms\|[a-z_]*tokens\|estimate\|seq\|last_seq\)":[0-9]*/"\1":0/g' \
        -e 's/^id: [0-9]*/id: 0/' -e 's/?after=[0-9]*/?after=0/' -e 's/"version":"[^"]*"/"version":""/g' -e 's|/tmp/example[^"]*|DIR|g' "$1"
}

record() {
    sed -n "/^<!-- $1 -->\$/,/^<!-- end -->\$/p" "$page" | grep -v '^<!--\|^```' >"$work/page" || true
    if [ "${2:-}" != --write ]; then
        ! grep -q '"built_[a-z]*":false' "$work/talk" || exit 77
        bare "$work/page" >"$work/a"
        bare "$work/talk" >"$work/b"
        diff "$work/a" "$work/b" && return
        echo "doc/protocols.md: the example is not what the program says; run doc/example-$1.sh --write" >&2
        exit 1
    fi
    awk -v name="$1" -v talk="$work/talk" '
        $0 == "<!-- " name " -->" { print; print "```"; while ((getline line < talk) > 0) print line; print "```"; skip = 1 }
        /^<!-- end -->$/ { skip = 0 }
        !skip' "$page" >"$work/new"
    cat "$work/new" >"$page"
}
