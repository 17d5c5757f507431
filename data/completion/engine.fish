# The words before the cursor that name commands.
function __tiro_place
    set -l words (commandline -opc)
    set -e words[1]
    set -l place
    for word in $words
        contains -- $word (__tiro_verbs $place)
        or break
        set -a place $word
    end
    set -q place[1]
    and printf "%s\n" $place
end

function __tiro_at
    set -l place (__tiro_place)
    test "$place" = "$argv"
end

# Nothing stands behind the commands.
function __tiro_next
    set -l place (__tiro_place)
    set -l words (commandline -opc)
    test (count $words) -eq (math 1 + (count $place))
end

# Nothing but options stands behind the commands.
function __tiro_first
    set -l place (__tiro_place)
    set -l words (commandline -opc)
    for word in $words[(math 2 + (count $place))..-1]
        string match -q -- '-*' $word
        or return 1
    end
    return 0
end

function __tiro_after
    set -l words (commandline -opc)
    contains -- $words[-1] $argv
end

function __tiro_commands
    set -l words (commandline -opc)
    __tiro_verbs $words[3..-1]
end

function __tiro_profiles
    set -l home ~/.config
    set -q XDG_CONFIG_HOME
    and set home $XDG_CONFIG_HOME
    for path in $home/tiro/profiles/*.ini
        string replace -r '.*/(.*)\.ini$' '$1' -- $path
    end
end

# Every session by what names it: its title, or the end of its id where the title is another's too or
# means something else; beside it the other.
function __tiro_sessions
    command tiro sessions list --names 2>/dev/null | awk '
        { tab = index($0, "\t"); id[NR] = substr($0, 1, tab - 1); title[NR] = substr($0, tab + 1)
          count[tolower(title[NR])]++ }
        END { for (i = 1; i <= NR; i++) {
            good = title[i] != "" && count[tolower(title[i])] == 1 && title[i] !~ /^[-~]|^last$/
            print good ? title[i] "\t" id[i] : id[i] "\t" title[i] } }'
    string length -q -- (commandline -ct)
    and command tiro sessions list --names 2>/dev/null
end

complete -c tiro -f
