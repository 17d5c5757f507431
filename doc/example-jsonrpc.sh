#!/bin/sh
# A session of a client of `tiro serve --stdio`, as it really goes: what is sent (→) and what comes
# (←). Compares it with doc/protocols.md, but for ids, times and figures; with --write it writes it
# there, between its marks. TIRO names the program, SOURCE_DIR the source tree.
set -eu
root=${SOURCE_DIR:-$(dirname "$0")/..}
page=$root/doc/protocols.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$root/doc/record.sh"
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

record jsonrpc "$@"
