# The line as far as the cursor, into `line_words` without their quotes. `quote` is the quote that is
# still open, `kept` how many characters of the last word readline keeps and does not replace.
_tiro_split() {
    local line=$1 c word='' begun='' opened=0 i
    line_words=() quote='' kept=0
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        if [[ $quote == \' ]]; then
            if [[ $c == \' ]]; then quote=''; else word+=$c; fi
        elif [[ $c == \\ ]]; then
            i=$((i + 1))
            c=${line:i:1}
            [[ $quote && $c != [\$\`\"\\] ]] && word+=\\
            word+=$c begun=yes
        elif [[ $quote ]]; then
            if [[ $c == \" ]]; then quote=''; else word+=$c; fi
        elif [[ $c == [\'\"] ]]; then
            quote=$c begun=yes opened=${#word}
        elif [[ $c == [[:blank:]] ]]; then
            [[ $begun ]] && line_words+=("$word")
            word='' begun='' kept=0
        elif [[ $c == [\;\|\&] || $c == $'\n' ]]; then
            line_words=() word='' begun='' kept=0
        else
            word+=$c begun=yes
            [[ ${COMP_WORDBREAKS-} == *"$c"* ]] && kept=${#word}
        fi
    done
    [[ $quote ]] && kept=$opened
    line_words+=("$word")
    while [[ ${#line_words[@]} -gt 1 && ${line_words[0]} == [A-Za-z_]*=* ]]; do
        line_words=("${line_words[@]:1}")
    done
}

# Offers the whole word $1 if it begins with what stands there: the part that readline replaces,
# quoted as the user began.
_tiro_offer() {
    local word=$1
    [[ $word == "$cur"* ]] || return 0
    word=${word:kept}
    case $quote in
    \")
        word=${word//\\/\\\\}
        word=${word//\"/\\\"}
        word=${word//\$/\\\$}
        word=${word//\`/\\\`}
        ;;
    \')
        local escaped="'\\''"
        word=${word//\'/$escaped}
        ;;
    *) [[ $word ]] && printf -v word %q "$word" ;;
    esac
    COMPREPLY+=("$word")
}

# Every session by what names it: its title, or the end of its id where the title is another's too or
# means something else.
_tiro_sessions() {
    local prefix=$1 line name id
    while IFS= read -r line; do
        name=${line#*$'\t'} id=${line%%$'\t'*}
        _tiro_offer "$prefix$name"
        [[ $cur != "$prefix" && $name != "$id" ]] && _tiro_offer "$prefix$id"
    done < <(command tiro sessions list --names 2>/dev/null | awk '
        { tab = index($0, "\t"); id[NR] = substr($0, 1, tab - 1); title[NR] = substr($0, tab + 1)
          count[tolower(title[NR])]++ }
        END { for (i = 1; i <= NR; i++) {
            good = title[i] != "" && count[tolower(title[i])] == 1 && title[i] !~ /^[-~]|^last$/
            print id[i] "\t" (good ? title[i] : id[i]) } }')
}

_tiro_paths() {
    local prefix=$1 path
    # readline quotes names of files by itself
    compopt -o filenames 2>/dev/null
    while IFS= read -r path; do
        path=$prefix$path
        COMPREPLY+=("${path:kept}")
    done < <(compgen "$2" -- "${cur#"$prefix"}")
}

_tiro_profiles() {
    local prefix=$1 path
    for path in "${XDG_CONFIG_HOME:-$HOME/.config}"/tiro/profiles/*.ini; do
        path=${path##*/}
        [[ $path != '*.ini' ]] && _tiro_offer "$prefix${path%.ini}"
    done
}

_tiro_commands() {
    local verbs options words first word
    _tiro_place "${given[*]}"
    for word in "${verbs[@]}"; do _tiro_offer "$word"; done
}

# $1 stands before what is offered in the same word: "--provider="; the rest is a row's.
_tiro_values() {
    local prefix=$1 offer=$2 word
    shift 2
    case $offer in
    files) _tiro_paths "$prefix" -f ;;
    directories) _tiro_paths "$prefix" -d ;;
    sessions) _tiro_sessions "$prefix" ;;
    profiles) _tiro_profiles "$prefix" ;;
    commands) _tiro_commands ;;
    choices) for word; do _tiro_offer "$prefix$word"; done ;;
    esac
}

# The row of the option $1, as `row`.
_tiro_option() {
    local text
    for text in "${options[@]}"; do
        read -ra row <<<"$text"
        [[ $1 == "${row[0]}" || $1 == "${row[1]}" && $1 != - ]] && return
    done
    row=()
    return 1
}

# Goes over the words before the last: `row` is the option that awaits a value, `given` are words.
_tiro_read() {
    local word
    row=() given=() only_words=''
    for word in "${line_words[@]:at:last - at}"; do
        if [[ ${row[2]-} == value || ${row[2]-} == maybe && $word != -* ]]; then
            row=()
        elif [[ $only_words || $word != -?* ]]; then
            row=() given+=("$word")
        elif [[ $word == -- ]]; then
            row=() only_words=yes
        else
            _tiro_option "$word"
        fi
    done
}

_tiro() {
    local line_words quote kept place='' at=1 last cur
    local verbs options words first row given only_words word
    COMPREPLY=()
    if [[ ${COMP_LINE-} ]]; then
        _tiro_split "${COMP_LINE:0:COMP_POINT}"
    else
        _tiro_split "${COMP_WORDS[*]:0:COMP_CWORD + 1}"
    fi
    last=$((${#line_words[@]} - 1))
    cur=${line_words[last]}

    _tiro_place ''
    while ((at < last)) && [[ " ${verbs[*]} " == *" ${line_words[at]} "* ]]; do
        place+=${place:+ }${line_words[at]}
        at=$((at + 1))
        _tiro_place "$place"
    done
    _tiro_read

    if [[ ${row[2]-} == value || ${row[2]-} == maybe && $cur != -* ]]; then
        _tiro_values '' "${row[@]:3}"
    elif [[ ! $only_words && $cur == --*=* ]]; then
        _tiro_option "${cur%%=*}" && _tiro_values "${cur%%=*}=" "${row[@]:3}"
    elif [[ ! $only_words && $cur == -* ]]; then
        for word in "${options[@]}"; do _tiro_offer "${word%% *}"; done
    elif ((at == last && ${#verbs[@]} > 0)); then
        for word in "${verbs[@]}"; do _tiro_offer "$word"; done
    elif [[ ! $first || ${#given[@]} -eq 0 ]]; then
        # shellcheck disable=SC2086
        _tiro_values '' $words
    fi
}

complete -F _tiro tiro
