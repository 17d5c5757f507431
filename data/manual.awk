# Makes the manual that is built into the program of the manual pages:
#     awk -f manual.awk tiro.7 tiro.1 tiro.ini.5 >manual.md
# A section of tiro.7, a command or option of tiro.1, and a key of tiro.ini.5 become one section each
# ("## Title"; of a page of reference "### Title"), which the offline provider quotes. Knows the requests of man(7) that these pages use.

function page(name) {
    return FILENAME ~ ("tiro\\." name "$")
}

# Escapes as characters; fonts as Markdown, but none in a block of code.
function plain(s, code) {
    gsub(/\\fB/, code ? "" : "\001", s)
    gsub(/\\fI/, code ? "" : "\002", s)
    while (match(s, /[\001\002][^\001\002\\]*(\\[^f][^\001\002\\]*)*\\fR/)) {
        mark = substr(s, RSTART, 1) == "\001" ? "`" : "*"
        s = substr(s, 1, RSTART - 1) mark substr(s, RSTART + 1, RLENGTH - 4) mark \
            substr(s, RSTART + RLENGTH)
    }
    gsub(/\\fR/, "", s)
    gsub(/\\-/, "-", s)
    gsub(/\\\(bu/, "-", s)
    gsub(/\\\(lq/, "“", s)
    gsub(/\\\(rq/, "”", s)
    gsub(/\\\(dq/, "\"", s)
    gsub(/\\\(pc/, "·", s)
    gsub(/\\\(->/, "→", s)
    gsub(/\\&/, "", s)
    gsub(/\\e/, "\\", s)
    return s
}

# The arguments of .BR and its like, each in its font; those of .B as one.
function arguments(request, s,    out, fonts, i, word, mark) {
    fonts = substr(request, 2)
    while (s != "") {
        sub(/^ +/, "", s)
        if (s ~ /^"/) {
            match(s, /^"[^"]*"?/)
            word = substr(s, 2, RLENGTH - (substr(s, RLENGTH, 1) == "\"" && RLENGTH > 1 ? 2 : 1))
        } else if (s != "") {
            match(s, /^[^ ]+/)
            word = substr(s, 1, RLENGTH)
        } else {
            break
        }
        s = substr(s, RLENGTH + 1)
        mark = tag ? "" : substr(fonts, length(fonts) > 1 ? i++ % 2 + 1 : 1, 1)
        mark = mark == "B" ? "`" : mark == "I" ? "*" : ""
        if (length(fonts) == 1 && out != "")
            word = " " word
        if (mark != "" && match(word, /[^ ]/) && length(fonts) > 1) {
            match(word, /[^ ].*[^ ]|[^ ]/)
            word = substr(word, 1, RSTART - 1) mark substr(word, RSTART, RLENGTH) mark substr(word, RSTART + RLENGTH)
        }
        out = out word
    }
    if (length(fonts) == 1 && !tag)
        out = (fonts == "B" ? "`" : "*") out (fonts == "B" ? "`" : "*")
    return out
}

# A section begins. Its title is printed before its first line, so that one without a text has none.
function begin(name) {
    title = name
    inside = 1
    blank = 0
}

# The words of a macro (.B and its like) and the text beside them are one line; an item begins one.
function line(s, macro, new) {
    if (!inside)
        return
    if (title != "")
        printf "%s\n%s %s\n\n", open ? "\n" : "", page("7") ? "##" : "###", title
    else if (open)
        printf "%s", blank ? "\n\n" : (macro || joins) && !new && !code ? " " : "\n"
    printf "%s", s
    open = 1
    joins = macro
    title = ""
    blank = 0
}

# The line behind .TP: a section of its own in the pages of reference, else an item of a list.
function entry(s,    name) {
    tag = 0
    if (page("7")) {
        item = "- " plain(s, 0) ": "
        return
    }
    name = s = plain(s, 1)
    if (page("1")) {
        sub(/ \[.*| [A-Z]+([|].*| .*)?$/, "", name)
        name = kind[heading] name
    } else {
        sub(/ \(.*/, "", name)
        name = section " " name
    }
    begin(name)
    line("`" s "`")
    blank = 1
}

BEGIN {
    kind["COMMANDS"] = kind["SESSIONS"] = kind["MEMORY"] = kind["LEARNED"] = "tiro "
    kind["GRAPH"] = kind["CORPORA"] = "tiro "
    kind["OPTIONS"] = "Option "
    kind["EXIT STATUS"] = "Exit status "
    kind["ENVIRONMENT"] = "Variable "
    kind["KEYS"] = "[section] key"
}
FNR == 1 { heading = "" }
/^\.S[HS]/ {
    inside = blank = code = tag = 0
    item = ""
    section = plain(substr($0, 5), 1)
    if (/^\.SH/)
        heading = section
    else if (page("7"))
        begin(section)
    next
}
!page("7") && !(heading in kind) { next }
/^\.nf/ { blank = code = 1; next }
/^\.fi/ { blank = 1; code = 0; next }
/^\.(PP|IP *$)/ { blank = 1; next }
/^\.TP/ { tag = 1; next }
/^\.IP/ { item = plain($2, 1) " "; next }
{
    text = $0
    macro = /^\.[BIR]+ /
    if (macro)
        text = arguments($1, substr($0, length($1) + 2))
    else if (/^\./)
        next
    if (tag) {
        entry(text)
        next
    }
    line(item plain(text, code), macro, item != "")
    item = ""
}
END { print "" }
