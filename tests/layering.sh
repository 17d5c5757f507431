#!/bin/sh
# The direction of the layers (HACKING.md), by includes and by symbols: an arrow that runs back, a
# library outside its room, an engine that prints or a name that two objects define (the archives of
# src/ and ui/ are linked one after the other: which one is meant would be chance) fails. SOURCE_DIR and BUILD_DIR may be given;
# without objects in BUILD_DIR only the includes are looked at.
set -eu
cd "${SOURCE_DIR:-$(dirname "$0")/..}"
build=${BUILD_DIR:-build}
faults=$(mktemp)
trap 'rm -f "$faults"' EXIT

# layer: what it may see
LAYERS='
base:     base
config:   base config
chat:     base config chat
store:    base config chat store
provider: base config chat provider
index:    base config chat store provider index
memory:   base config chat store provider index memory
compact:  base config chat store provider compact
rpc:      base rpc
mcp:      base config chat provider rpc mcp
knowledge: base config chat store provider index memory compact mcp knowledge
import:   base config chat store index memory knowledge import
space:    base config chat store memory knowledge space
agent:    base config chat store provider index memory compact rpc mcp knowledge agent
session:  base config chat store provider index memory compact rpc mcp knowledge import space agent session
serve:    base config chat session rpc serve
ui/term:       base config ui/term
ui/text:       base ui/term ui/text
ui/transcript: base chat ui/term ui/text ui/transcript
ui/view:       base config chat session ui/term ui/text ui/transcript ui/view
ui/app:        base config chat session ui/term ui/text ui/transcript ui/view ui/app
cli:      base config chat session serve ui/term ui/text ui/app cli
'

# header: the only files that may include it (both extended regular expressions)
ROOMS='
curses[.]h|ncurses|term[.]h>        ^ui/term/term(_[a-z]+)?[.][ch]$
sqlite3[.]h                        ^src/(store|index|memory|knowledge|import|space)/
libstemmer                         ^src/store/language
hnswlib                            ^src/index/hnsw
pcre2                              ^src/agent/pattern[.]c$
cJSON                             ^src/base/json[.]c$
curl/                             ^src/provider/http[.]c$
<(seccomp|linux/(seccomp|capability))[.]h   ^src/base/sandbox[.]c$
libxml/                           ^src/knowledge/markup[.]c$
<archive                          ^src/knowledge/package[.]c$
<yaml[.]h                          ^src/import/aichat[.]c$
microhttpd[.]h>                   ^src/serve/libmicrohttpd[.]h$
serve/libmicrohttpd[.]h           ^src/serve/(libmicrohttpd|http_server)[.]c$
sodium[.]h                         ^src/space/keys[.]c$
libpq-fe[.]h                      ^src/space/postgresql_link[.]c$
md4c                              ^ui/text/
<ini[.]h                           ^src/config/
utf8proc                          ^src/(base/utf8|store/(language|tokenizer))[.]c$
libintl[.]h                        ^src/(base/i18n[.]h|cli/main[.]c)$
base/i18n[.]h                      ^(ui|src/(chat|session|cli|serve))/
'

# symbol: the only objects that may use it
SYMBOLS='
^(printf|puts|putchar|vprintf|perror|stdout|stderr|__printf_chk|__vprintf_chk)$  ^(src/(base/err|cli/.*)|ui/term/term(_[a-z]+)?)[.]o$
^d?c?n?gettext$                                                                ^(src/(cli|serve)|ui)/
^(initscr|newterm|wrefresh|doupdate)$                                           ^ui/term/term(_[a-z]+)?[.]o$
^sqlite3_                                                                       ^src/(store|index|memory|knowledge|import|space)/
^sb_stemmer                                                                     ^src/store/language
^pcre2_                                                                         ^src/agent/pattern[.]o$
^cJSON_                                                                         ^src/base/json[.]o$
^curl_                                                                          ^src/provider/http[.]o$
^(xml|html)[A-Z]                                                                ^src/knowledge/markup[.]o$
^seccomp_                                                                       ^src/base/sandbox[.]o$
^archive_                                                                       ^src/knowledge/package[.]o$
^(crypto|sodium|randombytes)_                                                    ^src/space/keys[.]o$
^MHD_                                                                           ^src/serve/libmicrohttpd[.]o$
^PQ                                                                             ^src/space/postgresql_link[.]o$
'

sources=$(find src ui -name '*.[ch]' | sort)

# FILE LINE HEADER of every include
includes() {
    # shellcheck disable=SC2086
    awk '/^[ \t]*#[ \t]*include[ \t]*["<]/ {
        header = $0; sub(/^[ \t]*#[ \t]*include[ \t]*/, "", header); sub(/[ \t].*/, "", header)
        print FILENAME, FNR, header }' $sources
}

includes | awk -v layers="$LAYERS" -v rooms="$ROOMS" '
BEGIN {
    n = split(layers, line, "\n")
    for (i = 1; i <= n; i++) {
        if (split(line[i], part, ":") < 2) continue
        m = split(part[2], word, " ")
        known[part[1]] = 1
        for (j = 1; j <= m; j++) may[part[1], word[j]] = 1
    }
    n = split(rooms, line, "\n")
    for (i = 1; i <= n; i++)
        if (split(line[i], part, " ") == 2) room[part[1]] = part[2]
}
function layer(path) { sub(/^src\//, "", path); sub(/\/[^\/]*$/, "", path); return path }
{
    from = layer($1)
    if (!(from in known)) print $1 ": layer \"" from "\" is not in the table of tests/layering.sh"
    if ($3 ~ /^"/) {
        header = $3; gsub(/"/, "", header); to = layer(header)
        if (header !~ /\//) print $1 ":" $2 ": " $3 " is written without its layer"
        else if (!((from, to) in may)) print $1 ":" $2 ": " from " must not see " to " (" $3 ")"
    }
    for (r in room)
        if ($3 ~ r && $1 !~ room[r]) print $1 ":" $2 ": " $3 " belongs in " room[r] " alone"
}' >>"$faults"

# Tables that one room alone may name: memory is reached through its table of functions.
# shellcheck disable=SC2086
grep -nE '^([^"]*"[^"]*")*[^"]*"[^"]*memory_(entry|session|flag|words|model|vector|floats|version)' $sources |
    grep -E '^src/(store|index|session)/' | grep -v '#include' |
    sed 's/\(:[0-9]*\):.*/\1: names a table of memory, which belongs in src\/memory alone/' >>"$faults" || true

# Modules of ui/ know one another in one direction: X.c, X.h and X_private.h are one module.
includes | awk '
function module(path) { gsub(/"/, "", path); sub(/[.][ch]$/, "", path); sub(/_private$/, "", path); return path }
$1 ~ /^ui\// && $3 ~ /^"ui\// && module($1) != module($3) { from[++n] = module($1); to[n] = module($3) }
END {
    do { # who knows nobody, or is known by nobody, is in no cycle
        removed = 0
        split("", knows); split("", known)
        for (i = 1; i <= n; i++)
            if (!gone[i]) { knows[from[i]] = 1; known[to[i]] = 1 }
        for (i = 1; i <= n; i++)
            if (!gone[i] && (!(to[i] in knows) || !(from[i] in known))) removed = gone[i] = 1
    } while (removed)
    for (i = 1; i <= n; i++)
        if (!gone[i]) print from[i] ": is in a cycle of includes, by " to[i]
}' >>"$faults"

# Those of sources that are gone or moved may still lie in a build directory.
objects=$(cd "$build" 2>/dev/null && find src ui -name '*.o' 2>/dev/null | sort) || objects=
objects=$(for o in $objects; do [ ! -e "${o%.o}.c" ] && [ ! -e "${o%.o}.cc" ] || echo "$o"; done)
if [ -n "$objects" ] && command -v nm >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    (cd "$build" && nm -A -g $objects) | awk -v layers="$LAYERS" -v symbols="$SYMBOLS" '
    BEGIN {
        n = split(layers, line, "\n")
        for (i = 1; i <= n; i++) {
            if (split(line[i], part, ":") < 2) continue
            m = split(part[2], word, " ")
            for (j = 1; j <= m; j++) may[part[1], word[j]] = 1
        }
        n = split(symbols, line, "\n")
        for (i = 1; i <= n; i++)
            if (split(line[i], part, " ") == 2) user[part[1]] = part[2]
    }
    function layer(path) { sub(/^src\//, "", path); sub(/\/[^\/]*$/, "", path); return path }
    {
        object = $1; sub(/:.*/, "", object)
        symbol = $NF; sub(/@.*/, "", symbol)
        if ($(NF - 1) == "U") { used[++uses] = symbol; by[uses] = object }
        else if (symbol in home && $(NF - 1) ~ /^[BCDRT]$/) print object ": " symbol " is also in " home[symbol]
        else home[symbol] = object
    }
    END {
        for (i = 1; i <= uses; i++) {
            from = layer(by[i])
            if (used[i] in home && !((from, layer(home[used[i]])) in may))
                print by[i] ": uses " used[i] "() of " home[used[i]]
            for (s in user)
                if (used[i] ~ s && by[i] !~ user[s]) print by[i] ": must not use " used[i]
        }
    }' >>"$faults"
else
    echo "layering: no objects in $build; looked at the includes alone"
fi

if [ -s "$faults" ]; then
    sort -u "$faults"
    echo "layering: $(sort -u "$faults" | wc -l) faults"
    exit 1
fi
echo "layering: $(echo "$sources" | wc -l) files, $(echo "$objects" | wc -w) objects: every arrow runs forward"
