/* Files that are text: their encoding, plain text, code, Markdown. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "knowledge/document_loaders.h"

#define REPLACEMENT 0xFFFDu

/* --- encodings -------------------------------------------------------------------------------- */

/* 0x80 to 0x9F of windows-1252, which otherwise is ISO 8859-1. */
static const uint16_t windows_1252[32] = {
    0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178};

static void add_point(struct buf *out, uint32_t cp)
{
    char bytes[4];
    buf_add(out, bytes, utf8_encode(cp, bytes));
}

static void decode_windows_1252(struct buf *out, const char *s, size_t len)
{
    for (size_t i = 0, plain = 0; i <= len; i++) {
        unsigned char c = i < len ? (unsigned char)s[i] : 0x80;
        if (c < 0x80)
            continue;
        buf_add(out, s + plain, i - plain);
        plain = i + 1;
        if (i < len)
            add_point(out, c < 0xA0 ? windows_1252[c - 0x80] : c);
    }
}

static uint32_t utf16_unit(const char *s, bool big)
{
    return big ? (uint32_t)(unsigned char)s[0] << 8 | (unsigned char)s[1]
               : (uint32_t)(unsigned char)s[1] << 8 | (unsigned char)s[0];
}

static void decode_utf16(struct buf *out, const char *s, size_t len, bool big)
{
    for (size_t i = 0; i + 1 < len; i += 2) {
        uint32_t cp = utf16_unit(s + i, big);
        if (cp - 0xD800 < 0x400 && i + 3 < len && utf16_unit(s + i + 2, big) - 0xDC00 < 0x400) {
            cp = 0x10000 + ((cp - 0xD800) << 10) + (utf16_unit(s + i + 2, big) - 0xDC00);
            i += 2;
        }
        add_point(out, cp);
    }
}

/* Whether the text is damaged UTF-8 rather than an encoding of one byte a character: it has at most
 * one fault for ten whole characters of several bytes. */
static bool is_broken_utf8(const char *s, size_t len)
{
    size_t faults = 0, wholes = 0;
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        size_t used = utf8_decode(s + i, len - i, &cp);
        faults += cp == REPLACEMENT && used == 1;
        wholes += used > 1;
        i += used;
    }
    return faults * 10 <= wholes;
}

/* Whether the text fits, where a unit of `unit` bytes becomes 3 bytes of UTF-8 at most. */
static bool has_room(struct loading *l, size_t unit)
{
    int64_t most = l->options->limits.text;
    size_t plain = 0;
    for (size_t i = 0; unit == 1 && i < l->source.len; i++)
        plain += (unsigned char)l->source.data[i] < 0x80;
    if ((int64_t)(plain + (l->source.len - plain) / unit * 3) <= most)
        return true;
    loading_fails(l, "has more than %lld MiB of text", (long long)(most >> 20));
    return false;
}

static bool begins(const struct buf *b, const char *mark)
{
    return b->len >= strlen(mark) && memcmp(b->data, mark, strlen(mark)) == 0;
}

/* Makes `out->text` from the source: UTF-8, UTF-16 with its mark, else one byte a character. */
static enum document_outcome decode(struct loading *l)
{
    struct loaded_document *d = l->out;
    const struct buf *s = &l->source;
    bool little = begins(s, "\xFF\xFE"), big = begins(s, "\xFE\xFF");
    if (little || big) {
        if (!has_room(l, 2))
            return DOCUMENT_FAILED;
        decode_utf16(&d->text, s->data + 2, s->len - 2, big);
        d->offsets = DOCUMENT_OFFSETS_UTF16;
        d->source_from = 2;
        return memchr(d->text.data, '\0', d->text.len) ? loading_skips(l, "a binary file")
                                                       : DOCUMENT_LOADED;
    }
    if (memchr(s->data, '\0', s->len))
        return loading_skips(l, "a binary file");
    if (utf8_valid(s->data, s->len) || is_broken_utf8(s->data, s->len)) {
        d->offsets = DOCUMENT_OFFSETS_BYTES;
        d->source_from = begins(s, "\xEF\xBB\xBF") ? 3 : 0;
        buf_consume(&l->source, (size_t)d->source_from);
        d->text = l->source;
        buf_init(&l->source, 0);
        return DOCUMENT_LOADED;
    }
    size_t controls = 0;
    for (size_t i = 0; i < s->len; i++)
        controls += (unsigned char)s->data[i] < 0x20 && !strchr("\t\n\v\f\r\033", s->data[i]);
    if (controls > s->len / 50)
        return loading_skips(l, "a binary file");
    if (!has_room(l, 1))
        return DOCUMENT_FAILED;
    bool is_locale = charset() == CHARSET_OTHER;
    d->offsets = is_locale ? DOCUMENT_OFFSETS_LINES : DOCUMENT_OFFSETS_POINTS;
    (is_locale ? charset_decode : decode_windows_1252)(&d->text, s->data, s->len);
    return DOCUMENT_LOADED;
}

/* --- plain text and code ---------------------------------------------------------------------- */

static enum document_outcome load_as(struct loading *l, enum document_part_kind kind)
{
    enum document_outcome outcome = decode(l);
    if (outcome == DOCUMENT_LOADED)
        loading_add_part(l, (struct document_part){.kind = kind}, 0, l->out->text.len);
    return outcome;
}

enum document_outcome load_plain_text(struct loading *l)
{
    return load_as(l, DOCUMENT_PROSE);
}

enum document_outcome load_code(struct loading *l)
{
    l->out->language = code_language_of(l->name);
    l->out->format = l->out->language->name;
    return load_as(l, DOCUMENT_CODE);
}

/* --- programming languages -------------------------------------------------------------------- */

static const struct code_language languages[] = {
    {"Ada", "ada adb ads", "--", "end"},
    {"Assembler", "asm s", "# ; //", ""},
    {"Awk", "awk", "#", "}"},
    {"C", "c h inc", "// /* *", "}"},
    {"C#", "cs", "// /* *", "}"},
    {"C++", "cc cpp cxx hh hpp hxx c++ ipp tpp ino", "// /* *", "}"},
    {"Clojure", "clj cljs cljc edn", ";", NULL},
    {"CMake", "cmake cmakelists.txt", "#", "end"},
    {"COBOL", "cob cbl", "*", "end"},
    {"CSS", "css less scss sass", "// /* *", "}"},
    {"D", "d", "// /* *", "}"},
    {"Dart", "dart", "// /* *", "}"},
    {"Dockerfile", "dockerfile containerfile", "#", ""},
    {"Elixir", "ex exs", "#", "end"},
    {"Erlang", "erl hrl", "%", NULL},
    {"F#", "fs fsi fsx", "//", NULL},
    {"Fortran", "f f77 f90 f95 f03 for", "! c", "end"},
    {"Go", "go", "// /* *", "}"},
    {"GraphQL", "graphql gql", "#", "}"},
    {"Groovy", "groovy gradle", "// /* *", "}"},
    {"Haskell", "hs lhs", "-- {-", NULL},
    {"HCL", "hcl tf tfvars", "# //", "}"},
    {"INI", "ini cfg conf properties service desktop", "# ;", ""},
    {"Java", "java", "// /* *", "}"},
    {"JavaScript", "js jsx mjs cjs", "// /* *", "}"},
    {"JSON", "json jsonl ndjson json5", "//", "} ]"},
    {"Julia", "jl", "#", "end"},
    {"Kotlin", "kt kts", "// /* *", "}"},
    {"Lisp", "lisp lsp cl el scm rkt", ";", NULL},
    {"Lua", "lua", "--", "end"},
    {"M4", "m4 ac", "dnl #", "])"},
    {"Makefile", "mk mak am makefile gnumakefile", "#", NULL},
    {"MATLAB", "matlab", "%", "end"},
    {"Nim", "nim nims", "#", NULL},
    {"Nix", "nix", "#", "}"},
    {"Objective-C", "mm", "// /* *", "} @end"},
    {"OCaml", "ml mli", "(*", NULL},
    {"Pascal", "pas pp dpr", "// { (*", "end"},
    {"Perl", "pl pm t", "#", "}"},
    {"PHP", "php", "// # /* *", "}"},
    {"PowerShell", "ps1 psm1", "#", "}"},
    {"Prolog", "pro", "%", NULL},
    {"Protocol Buffers", "proto", "// /* *", "}"},
    {"Python", "py pyi pyw pyx", "#", NULL},
    {"R", "r", "#", "}"},
    {"Ruby", "rb rake gemfile rakefile", "#", "end"},
    {"Rust", "rs", "// /* *", "}"},
    {"Scala", "scala sc", "// /* *", "}"},
    {"Shell", "sh bash zsh ksh fish", "#", "} fi done esac end"},
    {"SQL", "sql", "--", ""},
    {"Starlark", "bzl bazel", "#", NULL},
    {"Swift", "swift", "// /* *", "}"},
    {"Tcl", "tcl tk", "#", "}"},
    {"TOML", "toml", "#", ""},
    {"TypeScript", "ts tsx mts cts", "// /* *", "}"},
    {"Verilog", "v sv svh", "// /* *", "end"},
    {"VHDL", "vhd vhdl", "--", "end"},
    {"Vim script", "vim vimrc", "\"", "end"},
    {"Visual Basic", "vb bas vbs", "'", "end"},
    {"YAML", "yaml yml", "#", NULL},
    {"Zig", "zig", "//", "}"},
};

/* The length of the word of the list that begins the text; 0: none. With `whole` it is all of the
 * text. */
static size_t word_of(const char *list, const char *text, size_t len, bool whole)
{
    for (size_t n; *list; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (n <= len && (!whole || n == len) && strncasecmp(list, text, n) == 0)
            return n;
    }
    return 0;
}

bool code_is_word_of(const char *list, const char *word)
{
    return word_of(list, word, strlen(word), true) > 0;
}

const struct code_language *code_language_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *dot = strrchr(base, '.');
    const char *extension = dot && dot != base ? dot + 1 : NULL;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        const struct code_language *l = &languages[i];
        if (code_is_word_of(l->files, base) || (extension && code_is_word_of(l->files, extension)))
            return l;
    }
    return NULL;
}

size_t code_indentation(const char *line, size_t len)
{
    size_t i = 0;
    while (i < len && (line[i] == ' ' || line[i] == '\t'))
        i++;
    return i;
}

bool code_is_comment(const struct code_language *l, const char *line, size_t len)
{
    size_t indentation = code_indentation(line, len);
    return word_of(l->comments, line + indentation, len - indentation, false) > 0;
}

bool code_ends_block(const struct code_language *l, const char *line, size_t len, const char *next,
                     size_t next_len)
{
    size_t indentation = code_indentation(line, len);
    if (!l->block_ends)
        return code_indentation(next, next_len) < indentation;
    size_t n = word_of(l->block_ends, line + indentation, len - indentation, false);
    return n > 0 && (indentation + n == len || !isalnum((unsigned char)line[indentation + n]));
}

/* Words before a name that a line defines. */
static const char defining[] =
    "class def define defmacro defmodule defn defp defun fn fun func "
    "function impl interface macro module namespace object package proc "
    "procedure protocol record sub subroutine table trait type view";
/* Words before a type that a line defines or uses. */
static const char typing[] = "enum struct union";
/* Words of lines that define nothing. */
static const char calling[] =
    "await case catch do elif else elseif elsif for foreach if match new "
    "return switch throw unless until using while with yield";

struct code_word {
    const char *at;
    size_t len;
};

static bool is_name_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Returns the name that a line of code defines: it follows a defining word, or precedes the first
 * bracket, "= function (" or "= (x) =>". `at` is NULL: the line defines none. */
static struct code_word defined_in(const char *line, size_t len)
{
    static const struct code_word nothing = {NULL, 0};
    const char *end = line + len;
    bool opens = len > 0 && (end[-1] == '{' || (end[-1] != ';' && is_name_part(*line)));
    struct code_word assigned = nothing, last = nothing, word;
    enum { NO, ANY, TYPE } next = NO;
    for (const char *at = line; at<end; at += word.len> 0 ? word.len : 1) {
        word = (struct code_word){at, 0};
        while (at + word.len < end && is_name_part(at[word.len]))
            word.len++;
        if (word.len == 0) {
            if (*at == '"' || *at == '\'' || (*at == '=' && at[1] == '>'))
                return *at == '=' && opens ? assigned : nothing;
            if (strchr("=:<", *at) && !assigned.at)
                assigned = last;
            next = strchr(" \t.", *at) ? next : NO;
            continue;
        }
        const char *behind = at + word.len;
        char sign = behind[code_indentation(behind, (size_t)(end - behind))];
        if ((next == ANY && *behind != '.') || (next == TYPE && strchr("{:<(\n", sign)))
            return word;
        if (word_of(calling, at, word.len, true))
            return nothing;
        if (sign == '(' && assigned.at && word_of("function", at, word.len, true))
            return assigned;
        next = next == ANY                                 ? ANY
               : word_of(defining, at, word.len, true) > 0 ? ANY
               : word_of(typing, at, word.len, true) > 0   ? TYPE
                                                           : NO;
        if (*behind == '(' && !assigned.at && next == NO)
            return opens && (at == line || at[-1] != '.') ? word : nothing;
        last = word;
    }
    return nothing;
}

void code_names_add(const struct code_language *l, const char *text, struct buf *out)
{
    for (size_t len; *text; text += len + (text[len] == '\n')) {
        len = strcspn(text, "\n");
        struct code_word name = {0};
        if (!code_is_comment(l, text, len))
            name = defined_in(text, len);
        buf_add(out, name.at, name.len);
        buf_addstr(out, name.len > 0 ? "\n" : "");
    }
}

/* --- Markdown --------------------------------------------------------------------------------- */

enum { FENCE_LEAST = 3, INDENTED = 4, LEVELS = 6 };

struct markdown {
    struct loading *l;
    const char *text;
    size_t len;
    size_t from;  /* the end of the last part */
    size_t above; /* the line above, if it can be a heading that is underlined */
    size_t above_len;
    char fence; /* its character; 0: outside */
    size_t fence_len;
};

static size_t run_of(const char *s, size_t len, char c)
{
    size_t n = 0;
    while (n < len && s[n] == c)
        n++;
    return n;
}

static size_t trimmed_line(const char *s, size_t len)
{
    while (len > 0 && strchr(" \t\r\f\v", s[len - 1]))
        len--;
    return len;
}

static void add_up_to(struct markdown *m, enum document_part_kind kind, size_t end)
{
    loading_add_part(m->l, (struct document_part){.kind = kind}, m->from, end);
    m->from = end;
}

static bool add_heading(struct markdown *m, int level, size_t at, size_t end, size_t name_at,
                        size_t name_len)
{
    add_up_to(m, DOCUMENT_PROSE, at);
    loading_add_part(
        m->l,
        (struct document_part){
            .kind = DOCUMENT_HEADING, .level = level, .name_at = name_at, .name_len = name_len},
        at, end);
    m->from = end;
    return true;
}

/* "## Name ##" */
static bool take_hashes(struct markdown *m, size_t at, size_t len, size_t end)
{
    const char *line = m->text + at;
    size_t level = run_of(line, len, '#');
    if (level == 0 || level > LEVELS || (level < len && line[level] != ' ' && line[level] != '\t'))
        return false;
    size_t from = level, to = trimmed_line(line, len), mark = to;
    while (from < to && strchr(" \t\f\v", line[from]))
        from++;
    while (mark > from && line[mark - 1] == '#')
        mark--;
    if (mark > from && mark < to && strchr(" \t", line[mark - 1]))
        to = trimmed_line(line, mark);
    return to > from && add_heading(m, (int)level, at, end, at + from, to - from);
}

/* Opens and closes fences. A fence and the lines in it are code. */
static bool take_fence(struct markdown *m, size_t at, size_t len, size_t line_at, size_t end)
{
    const char *line = m->text + at;
    char c = len > 0 && (line[0] == '`' || line[0] == '~') ? line[0] : '\0';
    size_t run = c ? run_of(line, len, c) : 0;
    if (!m->fence && run >= FENCE_LEAST && !(c == '`' && memchr(line + run, '`', len - run))) {
        add_up_to(m, DOCUMENT_PROSE, line_at);
        m->fence = c;
        m->fence_len = run;
        return true;
    }
    if (m->fence && c == m->fence && run >= m->fence_len &&
        trimmed_line(line + run, len - run) == 0) {
        add_up_to(m, DOCUMENT_CODE, end);
        m->fence = '\0';
        return true;
    }
    return m->fence != '\0';
}

static void take_line(struct markdown *m, size_t line_at, size_t line_len)
{
    size_t blanks = run_of(m->text + line_at, line_len, ' ');
    size_t at = line_at + blanks, len = line_len - blanks, end = line_at + line_len;
    bool taken = (m->fence || blanks < INDENTED) && take_fence(m, at, len, line_at, end);
    taken = taken || (blanks < INDENTED && take_hashes(m, at, len, end));
    const char *line = m->text + at;
    size_t n = trimmed_line(line, len);
    bool underlines = blanks < INDENTED && m->above_len > 0 && n > 0 &&
                      (line[0] == '=' || line[0] == '-') && run_of(line, n, line[0]) == n;
    if (!taken && underlines) /* "Name" above "====" or "----" */
        taken = add_heading(m, line[0] == '=' ? 1 : 2, m->above, end, m->above, m->above_len);
    bool is_paragraph =
        !taken && blanks < INDENTED && len > 0 && !strchr("\t\r\f\v>|-*+", m->text[at]);
    m->above = at;
    m->above_len = is_paragraph ? n : 0;
}

enum document_outcome load_markdown(struct loading *l)
{
    enum document_outcome outcome = decode(l);
    if (outcome != DOCUMENT_LOADED)
        return outcome;
    struct markdown m = {.l = l, .text = l->out->text.data, .len = l->out->text.len};
    /* "---" … "---" at the beginning has data about the document: it is code. */
    bool has_matter = m.len >= 4 && memcmp(m.text, "---", 3) == 0 && strchr("\r\n", m.text[3]);
    for (const char *at = m.text; has_matter && (at = strstr(at, "\n---")); at += 4)
        if (strchr("\r\n", at[4])) { /* or the end of the text */
            add_up_to(&m, DOCUMENT_CODE, (size_t)(at - m.text) + 4);
            break;
        }
    for (size_t at = m.from; at < m.len;) {
        const char *end = memchr(m.text + at, '\n', m.len - at);
        size_t len = end ? (size_t)(end - m.text) - at : m.len - at;
        take_line(&m, at, len);
        at += len + 1;
    }
    add_up_to(&m, m.fence ? DOCUMENT_CODE : DOCUMENT_PROSE, m.len);
    return DOCUMENT_LOADED;
}
