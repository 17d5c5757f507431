#!/bin/sh
# A session of an editor with `tiro serve --acp`, as it really goes: what is sent (→) and what comes
# (←). Compares it with doc/protocols.md, but for ids, times and figures; with --write it writes it
# there, between its marks. TIRO names the program, SOURCE_DIR the source tree.
set -eu
page=${SOURCE_DIR:-$(dirname "$0")/..}/doc/protocols.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/project"
printf 'Ada was here.\n' >"$work/project/notes.txt"
mkfifo "$work/in" "$work/out"
(cd "$work/project" && HOME=$work/home LC_ALL=C.UTF-8 exec env -u XDG_CONFIG_HOME -u XDG_DATA_HOME -u XDG_STATE_HOME \
    -u ANTHROPIC_API_KEY -u OPENAI_API_KEY -u OPENAI_BASE_URL "${TIRO:?}" serve --acp --provider offline) \
    <"$work/in" >"$work/out" &
exec 3>"$work/in" 4<"$work/out"

id=0
# Sends a request, and shows all that comes until its answer, which stays in $answer, but for what
# comes in its own time.
ask() {
    id=$((id + 1))
    request="{\"jsonrpc\":\"2.0\",\"id\":$id,\"method\":\"$1\",\"params\":$2}"
    printf '%s\n' "$request" >&3
    printf '→ %s\n' "$request"
    while IFS= read -r answer <&4; do
        case $answer in
        *'"config_option_update"'* | *'"usage_update"'* | *'"session_info_update"'*) continue ;;
        esac
        printf '← %s\n' "$answer"
        case $answer in *"\"id\":$id,"*) return ;; esac
    done
    return 1
}

prompt() {
    ask session/prompt "{\"sessionId\":\"$session\",\"prompt\":[{\"type\":\"text\",\"text\":\"$1\"}]}"
}

talk() {
    ask initialize '{"protocolVersion":1,"clientCapabilities":{}}'
    ask session/new "{\"cwd\":\"$work/project\",\"mcpServers\":[]}"
    session=$(printf '%s' "$answer" | sed 's/.*"sessionId":"\([^"]*\)".*/\1/')
    prompt 'What is in notes.txt?'
    prompt '/rename What Ada wrote'
    ask session/list "{\"cwd\":\"$work/project\"}"
}

# Lists and the pieces of the answer are shown by their beginning.
talk | awk '/"agent_message_chunk"/ && ++pieces > 2 { if (pieces == 3) print "← …"; next } { print }' |
    sed -e 's/\("\(configOptions\|availableModes\|availableCommands\)":\[{[^}]*}\).*]/\1,…]/' \
        -e "s|$work/project|/home/ada/project|g" >"$work/talk"
exec 3>&- 4<&-
wait

bare() {
    sed -e 's/[0-9a-f]\{8\}-[0-9a-f-]\{27\}/ID/g' -e 's/[0-9-]\{10\}T[0-9:.]*Z/TIME/g' \
        -e 's/"version":"[^"]*"/"version":""/g' "$1"
}

sed -n '/^<!-- acp -->$/,/^<!-- end -->$/p' "$page" | grep '^[→←]' >"$work/page" || true
if [ "${1:-}" != --write ]; then
    grep -q '"loadSession":true' "$work/talk" || exit 77
    bare "$work/page" >"$work/a"
    bare "$work/talk" >"$work/b"
    diff "$work/a" "$work/b" || {
        echo "doc/protocols.md: the example is not what the program says; run doc/example-acp.sh --write" >&2
        exit 1
    }
    exit
fi
awk -v talk="$work/talk" '
    /^<!-- acp -->$/ { print; print "```"; while ((getline line < talk) > 0) print line; print "```"; skip = 1 }
    /^<!-- end -->$/ { skip = 0 }
    !skip' "$page" >"$work/new"
cat "$work/new" >"$page"
