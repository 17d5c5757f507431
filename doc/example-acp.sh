#!/bin/sh
# A session of an editor with `tiro serve --acp`, as it really goes: what is sent (→) and what comes
# (←). Compares it with doc/protocols.md, but for ids, times and figures; with --write it writes it
# there, between its marks.
set -eu
. "$(dirname "$0")/record.sh"
mkdir "$work/project"
printf 'Ada was here.\n' >"$work/project/notes.txt"
connect "$work/project" serve --acp

# But for what comes in its own time.
is_shown() {
    case $1 in *'"config_option_update"'* | *'"usage_update"'* | *'"session_info_update"'*) return 1 ;; esac
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
hang_up
grep -q '"loadSession":true' "$work/talk" || exit 77 # built without a store
record acp "$@"
