#!/bin/sh
# A conversation over `tiro serve --http` with curl, as it really goes. Compares it with
# doc/protocols.md, but for ids, times and figures; with --write it writes it there, between its
# marks.
set -eu
command -v curl >/dev/null || exit 77
. "$(dirname "$0")/record.sh"
tiro "$work/home" serve --http 127.0.0.1:0 2>"$work/err" &
server=$!

# Until it says this; at most ten seconds.
wait_for() {
    tries=0
    until grep -q "$1" "$2"; do
        kill -0 "$server" 2>/dev/null || exit 77 # built without HTTP
        tries=$((tries + 1))
        [ "$tries" -lt 500 ] || exit 1
        sleep 0.02
    done
}
wait_for 'http:' "$work/err"
url=$(sed -n 's/.*\(http:[^ ]*\).*/\1/p' "$work/err")
umask 077
printf 'Authorization: Bearer %s\n' "$(cat "$work/home/.local/state/tiro/http-token")" >"$work/token"

# Shows the command, and what it gives, which stays in $answer.
ask() {
    printf '$ curl -s -H @token %s\n' "$*"
    eval "answer=\$(curl -s -H @$work/token $(printf '%s' "$*" | sed "s|localhost:8476|${url#http://}|g"))"
    printf '%s\n' "$answer"
}

json="-H 'Content-Type: application/json'"
talk() {
    ask localhost:8476/capabilities
    ask "localhost:8476/sessions $json -d '{}'"
    session=$(printf '%s' "$answer" | sed 's/{"id":"\([^"]*\)".*/\1/')
    : >"$work/events"
    curl -sN -H "@$work/token" "$url/sessions/$session/events" >>"$work/events" &
    events=$!
    wait_for session_loaded "$work/events"
    ask "localhost:8476/sessions/$session/messages $json -d '{\"prompt\":\"hello\"}'"
    wait_for '"running":false' "$work/events"
    kill "$events"
    printf '$ curl -sN -H @token %s    # … since before that message\n' "localhost:8476/sessions/$session/events"
    awk -v RS= '/text_delta/ && ++pieces > 2 { if (pieces == 3) print "…\n"; next } { print $0 "\n" }' "$work/events"
    last=$(sed -n 's/^id: //p' "$work/events" | tail -n 1)
    ask "'localhost:8476/sessions/$session/history?after=$((last - 1))'"
    ask "-X POST localhost:8476/sessions/$session/interrupt"
    ask "'localhost:8476/sessions?limit=all'"
    ask "localhost:8476/rpc $json -d '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/rename\",\"params\":{\"session_id\":\"last\",\"title\":\"A talk\"}}'"
    ask "-X DELETE localhost:8476/sessions/last"
}

# Long texts are shown by their beginning.
talk | sed -e 's/\("\(content\|result\|text\|last_line\)":"[^"]\{60\}\)[^"]*/\1…/g' -e "s|$work|/tmp/example|g" >"$work/talk"
record http "$@"
