#!/bin/sh
# What an agent says to `tiro serve --mcp` (→) and what comes (←), as it really goes, in both eras of
# the protocol. Compares it with doc/protocols.md, but for ids, times and figures; with --write it
# writes it there, between its marks.
set -eu
. "$(dirname "$0")/record.sh"
connect "$work/home" serve --mcp --allow run

call() {
    ask tools/call "{\"name\":\"$1\",\"arguments\":$2${3:+,$3}}"
}

modern='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
talk() {
    ask initialize '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1"}}'
    printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/initialized"}' | tee /dev/fd/3 | sed 's/^/→ /'
    ask tools/list
    call tiro_run '{"prompt":"hello"}' '"_meta":{"progressToken":1}'
    session=$(printf '%s' "$answer" | sed 's/.*"structuredContent":{"session_id":"\([^"]*\)".*/\1/')
    call tiro_sessions_search '{"query":"hello","limit":1}'
    call tiro_session_read '{"session_id":"nowhere"}'
    ask resources/read "{\"uri\":\"tiro://session/$session\"}"
    ask server/discover "{$modern}"
    ask resources/read "{\"uri\":\"tiro://session/nowhere\",$modern}"
}

# Lists and long texts are shown by their beginning.
talk | sed -e 's/\("tools":\[{"name":"[^"]*"\).*/\1,…},…]}}/' \
    -e 's/\("text":"[#{]\([^"\\]\|\\.\)\{8\}\)\([^"\\]\|\\.\)*/\1…/g' \
    -e 's/\("\(text\|snippet\|instructions\)":"[^"]\{60\}\)[^"]*/\1…/g' \
    -e "s|$work|/tmp/example|g" >"$work/talk"
hang_up
grep -q '"tools":\[{"name":"tiro_memory_search"' "$work/talk" || exit 77 # built without memory
record mcp "$@"
