#!/bin/sh
# A session of a client of `tiro serve --stdio`, as it really goes: what is sent (→) and what comes
# (←). Compares it with doc/protocols.md, but for ids, times and figures; with --write it writes it
# there, between its marks. TIRO names the program, SOURCE_DIR the source tree.
set -eu
page=${SOURCE_DIR:-$(dirname "$0")/..}/doc/protocols.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home"
mkfifo "$work/in" "$work/out"
(cd "$work/home" && HOME=$work/home LC_ALL=C.UTF-8 exec env -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u XDG_STATE_HOME \
    -u ANTHROPIC_API_KEY -u OPENAI_API_KEY -u OPENAI_BASE_URL "${TIRO:?}" serve --stdio --provider offline) \
    <"$work/in" >"$work/out" &
exec 3>"$work/in" 4<"$work/out"

id=0
# Shows all that comes until a line with this, which stays in $answer.
hear() {
    while IFS= read -r answer <&4; do
        printf '← %s\n' "$answer"
        case $answer in *"$1"*) return ;; esac
    done
    return 1
}

# Sends a request, and hears its answer.
ask() {
    id=$((id + 1))
    request="{\"jsonrpc\":\"2.0\",\"id\":$id,\"method\":\"$1\"${2:+,\"params\":$2}}"
    printf '%s\n' "$request" >&3
    printf '→ %s\n' "$request"
    hear "\"id\":$id,"
}

talk() {
    ask initialize '{"client_info":{"name":"example","version":"1"}}'
    ask session/create '{}'
    session=$(printf '%s' "$answer" | sed 's/.*"result":{"id":"\([^"]*\)".*/\1/')
    ask turn/start "{\"session\":\"$session\",\"text\":\"hello\"}"
    hear '"running":false'
    ask session/list '{"limit":1}'
    ask turn/interrupt "{\"session\":\"$session\"}"
    ask session/list '{"limit":"all"}'
}

# Lists, long texts and the pieces of the answer are shown by their beginning.
talk | awk '/"text_delta"/ && ++pieces > 2 { if (pieces == 3) print "← …"; next } { print }' | sed -e 's/\("methods":\["[^"]*","[^"]*","[^"]*"\),[^]]*/\1,…/' \
    -e 's/\("\(content\|result\|text\|last_line\)":"[^"]\{60\}\)[^"]*/\1…/g' -e "s|$work|/tmp/example|g" >"$work/talk"
exec 3>&- 4<&-
wait

bare() {
    sed -e 's/[0-9a-f]\{8\}-[0-9a-f-]\{27\}/ID/g' -e 's/[0-9-]\{10\}T[0-9:.]*Z/TIME/g' \
        -e 's/"\(ms\|run_ms\|duration_ms\|[a-z_]*tokens\|estimate\|seq\|last_seq\)":[0-9]*/"\1":0/g' \
        -e 's/"version":"[^"]*"/"version":""/g' -e 's|/tmp/example[^"]*|DIR|g' "$1"
}

sed -n '/^<!-- jsonrpc -->$/,/^<!-- end -->$/p' "$page" | grep '^[→←]' >"$work/page" || true
if [ "${1:-}" != --write ]; then
    ! grep -q '"built_[a-z]*":false' "$work/talk" || exit 77
    bare "$work/page" >"$work/a"
    bare "$work/talk" >"$work/b"
    diff "$work/a" "$work/b" || {
        echo "doc/protocols.md: the example is not what the program says; run doc/example-jsonrpc.sh --write" >&2
        exit 1
    }
    exit
fi
awk -v talk="$work/talk" '
    /^<!-- jsonrpc -->$/ { print; print "```"; while ((getline line < talk) > 0) print line; print "```"; skip = 1 }
    /^<!-- end -->$/ { skip = 0 }
    !skip' "$page" >"$work/new"
cat "$work/new" >"$page"
