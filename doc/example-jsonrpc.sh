#!/bin/sh
# A session of a client of `tiro serve --stdio`, as it really goes: what is sent (→) and what comes
# (←). Compares it with doc/protocols.md, but for ids, times and figures; with --write it writes it
# there, between its marks.
set -eu
. "$(dirname "$0")/record.sh"
connect "$work/home" serve --stdio

talk() {
    ask initialize '{"client_info":{"name":"example","version":"1"}}'
    ask session/create '{}'
    session=$(printf '%s' "$answer" | sed 's/.*"result":{"id":"\([^"]*\)".*/\1/')
    ask turn/start "{\"session_id\":\"$session\",\"prompt\":\"hello\"}"
    hear '"running":false'
    ask session/list '{"limit":1}'
    ask turn/interrupt "{\"session_id\":\"$session\"}"
    ask session/list '{"limit":"all"}'
}

# Lists, long texts and the pieces of the answer are shown by their beginning.
talk | awk '/"text_delta"/ && ++pieces > 2 { if (pieces == 3) print "← …"; next } { print }' | sed -e 's/\("methods":\["[^"]*","[^"]*","[^"]*"\),[^]]*/\1,…/' \
    -e 's/\("\(content\|result\|text\|last_line\)":"[^"]\{60\}\)[^"]*/\1…/g' -e "s|$work|/tmp/example|g" >"$work/talk"
hang_up
record jsonrpc "$@"
