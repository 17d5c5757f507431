#!/bin/sh
# What an agent says to `tiro serve --mcp` (→) and what comes (←), as it really goes, in both eras of
# the protocol. Compares it with doc/protocols.md, but for ids, times and figures; with --write it
# writes it there, between its marks. TIRO names the program, SOURCE_DIR the source tree.
set -eu
root=${SOURCE_DIR:-$(dirname "$0")/..}
page=$root/doc/protocols.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$root/doc/record.sh"
mkdir "$work/home"
mkfifo "$work/in" "$work/out"
(cd "$work/home" && HOME=$work/home LC_ALL=C.UTF-8 exec env -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u XDG_STATE_HOME \
    -u ANTHROPIC_API_KEY -u OPENAI_API_KEY -u OPENAI_BASE_URL \
    "${TIRO:?}" serve --mcp --allow run --provider offline) <"$work/in" >"$work/out" &
exec 3>"$work/in" 4<"$work/out"

id=0
# Sends a request, and shows all that comes until its answer, which stays in $answer.
ask() {
    id=$((id + 1))
    request="{\"jsonrpc\":\"2.0\",\"id\":$id,\"method\":\"$1\"${2:+,\"params\":$2}}"
    printf '%s\n' "$request" >&3
    printf '→ %s\n' "$request"
    while IFS= read -r answer <&4; do
        printf '← %s\n' "$answer"
        case $answer in *"\"id\":$id,"*) return ;; esac
    done
    return 1
}

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
    call tiro_session_read '{"session":"nowhere"}'
    ask resources/read "{\"uri\":\"tiro://session/$session\"}"
    ask server/discover "{$modern}"
    ask resources/read "{\"uri\":\"tiro://session/nowhere\",$modern}"
}

# Lists and long texts are shown by their beginning.
talk | sed -e 's/\("tools":\[{"name":"[^"]*"\).*/\1,…},…]}}/' \
    -e 's/\("text":"[#{]\([^"\\]\|\\.\)\{8\}\)\([^"\\]\|\\.\)*/\1…/g' \
    -e 's/\("\(text\|snippet\|instructions\)":"[^"]\{60\}\)[^"]*/\1…/g' \
    -e "s|$work|/tmp/example|g" >"$work/talk"
exec 3>&- 4<&-
wait
grep -q '"tools":\[{"name":"tiro_memory_search"' "$work/talk" || exit 77 # built without memory
record mcp "$@"
