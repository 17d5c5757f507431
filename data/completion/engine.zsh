# Every session by what names it: its title, or the end of its id where the title is another's too or
# means something else. No title may come near (( )), which would run what stands in it.
_tiro_sessions() {
    local -a names ids shown
    local line result=1
    for line in ${(f)"$(command tiro sessions list --names 2>/dev/null | awk '
        { tab = index($0, "\t"); id[NR] = substr($0, 1, tab - 1); title[NR] = substr($0, tab + 1)
          count[tolower(title[NR])]++ }
        END { for (i = 1; i <= NR; i++) {
            good = title[i] != "" && count[tolower(title[i])] == 1 && title[i] !~ /^[-~]|^last$/
            print (good ? "+" : "-") id[i] "\t" title[i] } }')"}; do
        ids+=("${${line%%$'\t'*}#?}")
        shown+=("$ids[-1]  ${line#*$'\t'}")
        if [[ $line == +* ]]; then names+=("${line#*$'\t'}"); else names+=("$ids[-1]"); fi
    done
    local given=$PREFIX
    compadd -V sessions -l -d shown -a names && result=0
    [[ -n $given ]] && compadd -V ids -l -d shown -a ids && result=0
    return result
}

_tiro_profiles() {
    local -a names
    names=(${XDG_CONFIG_HOME:-$HOME/.config}/tiro/profiles/*.ini(N:t:r))
    compadd -a names
}

_tiro_commands() {
    local -a verbs specs
    _tiro_place "${(j: :)words[2,CURRENT-1]}"
    (( $#verbs )) && _describe -t commands command verbs
}

_tiro() {
    local curcontext=$curcontext place=
    local -a verbs specs names
    _tiro_place ''
    names=(${verbs%%:*})
    while (( CURRENT > 2 && ${names[(Ie)$words[2]]} )); do
        place+=${place:+ }$words[2]
        shift words
        (( CURRENT-- ))
        _tiro_place $place
        names=(${verbs%%:*})
    done
    if (( CURRENT == 2 && $#verbs )) && [[ $words[2] != -* ]]; then
        _describe -t commands command verbs
    else
        _arguments -S : $specs
    fi
}

# As a file of $fpath it is the function itself; elsewhere it says what it is for.
if [[ ${funcstack[1]-} == _tiro ]]; then
    _tiro "$@"
elif (( $+functions[compdef] )); then
    compdef _tiro tiro
fi
