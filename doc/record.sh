# For the scripts beside it, which source it: a place of their own ($work), a client on standard
# input and output, and the comparison of what was said ($work/talk) with the example in
# doc/protocols.md. TIRO names the program, SOURCE_DIR the source tree.
root=${SOURCE_DIR:-$(dirname "$0")/..}
page=$root/doc/protocols.md
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/home"

# tiro DIRECTORY ARGUMENT... &: the shell becomes tiro, which works there, and knows neither keys nor
# configuration of whoever runs this.
tiro() {
    cd "$1"
    shift
    HOME=$work/home LC_ALL=C.UTF-8 exec env -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u XDG_STATE_HOME \
        -u ANTHROPIC_API_KEY -u OPENAI_API_KEY -u OPENAI_BASE_URL "${TIRO:?}" "$@" --provider offline
}

# connect DIRECTORY ARGUMENT...: to a tiro that speaks on its standard input and output, until
# hang_up.
connect() {
    mkfifo "$work/in" "$work/out"
    tiro "$@" <"$work/in" >"$work/out" &
    exec 3>"$work/in" 4<"$work/out"
    id=0
}

hang_up() {
    exec 3>&- 4<&-
    wait
}

# Whether a line is shown; a script may have another one.
is_shown() {
    :
}

# Shows all that comes until a line with this, which stays in $answer.
hear() {
    while IFS= read -r answer <&4; do
        is_shown "$answer" || continue
        printf '← %s\n' "$answer"
        case $answer in *"$1"*) return ;; esac
    done
    return 1
}

# ask METHOD [PARAMETERS]: sends a request, and hears its answer.
ask() {
    id=$((id + 1))
    request="{\"jsonrpc\":\"2.0\",\"id\":$id,\"method\":\"$1\"${2:+,\"params\":$2}}"
    printf '%s\n' "$request" >&3
    printf '→ %s\n' "$request"
    hear "\"id\":$id,"
}

# Without ids, times and figures.
bare() {
    sed -e 's/[0-9a-f]\{8\}-[0-9a-f-]\{27\}/ID/g' -e 's/[0-9-]\{10\}T[0-9:.]*Z/TIME/g' \
        -e 's/"\(ms\|run_ms\|duration_ms\|[a-z_]*tokens\|estimate\|seq\|last_seq\)":[0-9]*/"\1":0/g' \
        -e 's/^id: [0-9]*/id: 0/' -e 's/?after=[0-9]*/?after=0/' -e 's/"version":"[^"]*"/"version":""/g' -e 's|/tmp/example[^"]*|DIR|g' "$1"
}

# record NAME [--write]: compares $work/talk with the example between the marks of this name, or
# writes it there.
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
