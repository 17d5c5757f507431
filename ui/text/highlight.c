#include "ui/text/highlight.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char c_words[] =
    "#define #elif #else #endif #if #ifdef #ifndef #include #pragma #undef NULL auto bool break "
    "case char const constexpr continue default do double else enum extern false float for goto "
    "if inline int int16_t int32_t int64_t int8_t long nullptr register restrict return short "
    "signed size_t sizeof static static_assert struct switch thread_local true typedef typeof "
    "uint16_t uint32_t uint64_t uint8_t union unsigned void volatile while";

static const char cpp_words[] =
    "#define #elif #else #endif #if #ifdef #ifndef #include #pragma #undef auto bool break case "
    "catch char class co_await co_return co_yield concept const consteval constexpr constinit "
    "continue decltype default delete do double dynamic_cast else enum explicit export extern "
    "false final float for friend goto if inline int long mutable namespace new noexcept nullptr "
    "operator override private protected public reinterpret_cast requires return short signed "
    "sizeof static static_assert static_cast struct switch template this throw true try typedef "
    "typename union unsigned using virtual void volatile while";

static const char python_words[] =
    "False None True and as assert async await break case class continue def del elif else except "
    "finally for from global if import in is lambda match nonlocal not or pass raise return self "
    "try while with yield";

static const char javascript_words[] =
    "abstract any as async await boolean break case catch class const continue debugger declare "
    "default delete do else enum export extends false finally for from function get if implements "
    "import in instanceof interface keyof let namespace never new null number of private "
    "protected public readonly return set static string super switch this throw true try type "
    "typeof undefined unknown var void while yield";

static const char go_words[] =
    "any bool break byte case chan const continue default defer else error fallthrough false for "
    "func go goto if import int int64 interface iota map nil package range return rune select "
    "string struct switch true type uint var";

static const char rust_words[] =
    "Self as async await bool break const continue crate dyn else enum extern false fn for i32 "
    "i64 if impl in let loop match mod move mut pub ref return self static str struct super trait "
    "true type u32 u64 u8 unsafe use usize where while";

static const char java_words[] =
    "abstract assert boolean break byte case catch char class const continue default do double "
    "else enum extends false final finally float for fun func goto if implements import in "
    "instanceof int interface internal let long namespace native new null object override package "
    "private protected public record return sealed short static string struct super switch "
    "synchronized this throw throws transient true try using val var void volatile when while "
    "yield";

static const char shell_words[] =
    "alias break case cd continue declare do done echo elif else esac eval exec exit export fi "
    "for function if in local printf read readonly return select set shift source sudo test then "
    "trap unset until while";

static const char sql_words[] =
    "add all alter and as asc begin between bigint boolean by cascade case check collate column "
    "commit constraint create cross current_timestamp database date default delete desc distinct "
    "drop else end except exists explain foreign from full group having if in index inner insert "
    "int integer intersect into is join key left like limit not null numeric offset on or order "
    "outer primary recursive references returning right rollback select set table text then "
    "timestamp to transaction trigger union unique update using values varchar view when where "
    "with";

static const char json_words[] = "false null true";

static const char yaml_words[] = "false no null off on true yes";

static const char toml_words[] = "false true";

static const char css_words[] =
    "@charset @font-face @import @include @keyframes @media @mixin @supports @use and from "
    "important not only to";

static const char lua_words[] =
    "and break do else elseif end false for function goto if in local nil not or repeat return "
    "self then true until while";

static const char ruby_words[] =
    "alias and begin break case class def do else elsif end ensure false for if in module next "
    "nil not or raise redo require rescue retry return self super then true undef unless until "
    "when while yield";

static const char php_words[] =
    "abstract array as break case catch class const continue declare default do echo else elseif "
    "extends false final finally fn for foreach function global if implements include instanceof "
    "interface isset list match namespace new null print private protected public readonly "
    "require return static switch this throw trait true try unset use var while yield";

static const char make_words[] =
    "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM LABEL RUN SHELL USER VOLUME WORKDIR define else "
    "endef endif export ifdef ifeq ifndef ifneq include override";

#define C_COMMENTS {"//"}, "/*", "*/"
#define HASH {"#"}, NULL, NULL
#define Q "\"'"
#define VARIABLES LANGUAGE_VARIABLES
#define SPACED LANGUAGE_SPACED

/* names, keywords, line comments, block comment, quotes, quotes of many lines, flags */
const struct language languages[] = {
    {"c h", c_words, C_COMMENTS, Q, NULL, 0},
    {"cpp c++ cc cxx hpp", cpp_words, C_COMMENTS, Q, NULL, 0},
    {"python py python3", python_words, HASH, Q, NULL, LANGUAGE_TRIPLE},
    {"javascript js jsx typescript ts tsx", javascript_words, C_COMMENTS, Q, "`", 0},
    {"go golang", go_words, C_COMMENTS, Q, "`", 0},
    {"rust rs", rust_words, C_COMMENTS, "\"", NULL, 0},
    {"java kotlin kt scala cs csharp swift", java_words, C_COMMENTS, Q, NULL, LANGUAGE_TRIPLE},
    {"sh bash shell zsh console fish", shell_words, HASH, Q, NULL, VARIABLES | SPACED},
    {"sql sqlite postgresql mysql", sql_words, {"--"}, "/*", "*/", Q, NULL, LANGUAGE_ANY_CASE},
    {"json json5 jsonc jsonl", json_words, {"//"}, NULL, NULL, "\"", NULL, 0},
    {"yaml yml", yaml_words, HASH, Q, NULL, LANGUAGE_KEYS | SPACED},
    {"toml ini conf cfg properties", toml_words, {"#", ";"}, NULL, NULL, Q, NULL, SPACED},
    {"html xml svg xhtml vue", NULL, {NULL}, "<!--", "-->", Q, NULL, LANGUAGE_TAGS},
    {"css scss less", css_words, {NULL}, "/*", "*/", Q, NULL, 0},
    {"lua", lua_words, {"--"}, "--[[", "]]", Q, NULL, 0},
    {"ruby rb", ruby_words, HASH, Q, NULL, SPACED},
    {"php", php_words, {"//", "#"}, "/*", "*/", Q, NULL, VARIABLES},
    {"make makefile dockerfile docker cmake", make_words, HASH, "\"", NULL, VARIABLES | SPACED},
    {"diff patch", NULL, {NULL}, NULL, NULL, NULL, NULL, LANGUAGE_DIFF},
};

const size_t language_count = sizeof languages / sizeof *languages;

/* A line and where the tokenizer is in it. */
struct scan {
    const char *line;
    size_t len, pos;
};

const struct language *language_find(const char *name, size_t len)
{
    for (size_t i = 0; len > 0 && i < language_count; i++)
        for (const char *p = languages[i].names; *p;) {
            size_t n = strcspn(p, " ");
            if (n == len && strncasecmp(p, name, n) == 0)
                return &languages[i];
            p += n + (p[n] == ' ');
        }
    return NULL;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool starts(const struct scan *s, const char *with)
{
    size_t n = with ? strlen(with) : 0;
    return n > 0 && s->len - s->pos >= n && memcmp(s->line + s->pos, with, n) == 0;
}

static bool is_keyword(const struct language *l, const char *word, size_t len)
{
    char folded[24];
    bool fold = l->flags & LANGUAGE_ANY_CASE;
    if (!l->keywords || len >= sizeof folded)
        return false;
    for (size_t i = 0; i < len; i++)
        folded[i] = fold ? (char)tolower((unsigned char)word[i]) : word[i];
    folded[len] = '\0';
    for (size_t low = 0, high = strlen(l->keywords); low < high;) {
        size_t start = low + (high - low) / 2;
        while (start > low && l->keywords[start - 1] != ' ')
            start--;
        const char *keyword = l->keywords + start;
        size_t n = strcspn(keyword, " ");
        int order = strncmp(folded, keyword, n);
        if (order == 0 && len == n)
            return true;
        if (order < 0)
            high = start;
        else
            low = start + n + 1;
    }
    return false;
}

static void emit(struct scan *s, struct styled *out, size_t len, enum style style)
{
    styled_add(out, s->line + s->pos, len, style, 0);
    s->pos += len;
}

/* Emits `from` bytes and the rest of the open comment or string, as far as the line has it. A
 * backslash escapes in strings. */
static void finish_open(struct highlight *h, struct scan *s, struct styled *out, size_t from)
{
    bool escapes = h->inside == STYLE_CODE_STRING;
    size_t n = strlen(h->until), i = s->pos + from;
    for (; i < s->len; i++) {
        if (escapes && s->line[i] == '\\') {
            i++;
        } else if (s->len - i >= n && memcmp(s->line + i, h->until, n) == 0) {
            h->until = NULL;
            i += n;
            break;
        }
    }
    emit(s, out, (i < s->len ? i : s->len) - s->pos, h->inside);
}

static bool open_comment(struct highlight *h, struct scan *s, struct styled *out)
{
    const struct language *l = h->language;
    if (starts(s, l->block_open)) {
        h->until = l->block_close;
        h->inside = STYLE_CODE_COMMENT;
        finish_open(h, s, out, strlen(l->block_open));
        return true;
    }
    bool alone = s->pos == 0 || isspace((unsigned char)s->line[s->pos - 1]);
    if ((l->flags & LANGUAGE_SPACED) && !alone)
        return false;
    if (!starts(s, l->line_comments[0]) && !starts(s, l->line_comments[1]))
        return false;
    emit(s, out, s->len - s->pos, STYLE_CODE_COMMENT);
    return true;
}

static bool open_string(struct highlight *h, struct scan *s, struct styled *out)
{
    static const char *const ends[] = {"\"\"\"", "'''", "\"", "'", "`"};
    const struct language *l = h->language;
    char c = s->line[s->pos];
    bool many = l->long_quotes && strchr(l->long_quotes, c);
    bool one = l->quotes && strchr(l->quotes, c) && (!(l->flags & LANGUAGE_TAGS) || h->tag);
    for (size_t i = l->flags & LANGUAGE_TRIPLE ? 0 : 2; i < sizeof ends / sizeof *ends; i++) {
        bool triple = i < 2;
        if (!starts(s, ends[i]) || (!triple && !many && !one))
            continue;
        h->until = ends[i];
        h->inside = STYLE_CODE_STRING;
        finish_open(h, s, out, strlen(ends[i]));
        if (!triple && !many) /* the string ends with the line */
            h->until = NULL;
        return true;
    }
    return false;
}

static size_t word_len(const struct scan *s, size_t from)
{
    size_t i = s->pos + from;
    while (i < s->len && is_word(s->line[i]))
        i++;
    return i - s->pos;
}

static bool add_tag(struct highlight *h, struct scan *s, struct styled *out)
{
    char c = s->line[s->pos];
    if (c == '<') {
        size_t slash = s->pos + 1 < s->len && strchr("/!?", s->line[s->pos + 1]) ? 2 : 1;
        size_t len = word_len(s, slash);
        h->tag = len > slash;
        emit(s, out, len, h->tag ? STYLE_CODE_KEYWORD : STYLE_CODE);
        return true;
    }
    if (c != '>' || !h->tag)
        return false;
    h->tag = false;
    emit(s, out, 1, STYLE_CODE_KEYWORD);
    return true;
}

static void add_word(struct highlight *h, struct scan *s, struct styled *out)
{
    unsigned flags = h->language->flags;
    char c = s->line[s->pos];
    bool sigil = c == '#' || c == '@' || (c == '$' && (flags & LANGUAGE_VARIABLES));
    size_t len = word_len(s, sigil), end = s->pos + len;
    if (isdigit((unsigned char)c)) {
        while (end < s->len && (is_word(s->line[end]) || s->line[end] == '.'))
            end++;
        emit(s, out, end - s->pos, STYLE_CODE_NUMBER);
        return;
    }
    if (len == 0 || (sigil && len == 1)) {
        emit(s, out, len ? len : 1, STYLE_CODE);
        return;
    }
    bool before_colon =
        end < s->len && s->line[end] == ':' && (end + 1 == s->len || s->line[end + 1] == ' ');
    bool key = (c == '$' && sigil) || ((flags & LANGUAGE_KEYS) && before_colon) ||
               is_keyword(h->language, s->line + s->pos, len);
    emit(s, out, len, key ? STYLE_CODE_KEYWORD : STYLE_CODE);
}

void highlight_line(struct highlight *h, struct styled *out, const char *line, size_t len)
{
    static const struct {
        const char *beginning;
        enum style style;
    } diff[] = {{"+++ ", STYLE_CODE_COMMENT}, {"--- ", STYLE_CODE_COMMENT},
                {"@@", STYLE_CODE_COMMENT},   {"+", STYLE_DIFF_ADDED},
                {"-", STYLE_DIFF_REMOVED},    {"", STYLE_CODE}};
    struct scan s = {line, len, 0};
    unsigned flags = h->language ? h->language->flags : 0;
    if (!h->language || flags & LANGUAGE_DIFF) {
        size_t i = h->language ? 0 : sizeof diff / sizeof *diff - 1;
        while (*diff[i].beginning && !starts(&s, diff[i].beginning))
            i++;
        emit(&s, out, len, diff[i].style);
        return;
    }
    if (h->until)
        finish_open(h, &s, out, 0);
    while (s.pos < s.len) {
        if (open_comment(h, &s, out) || open_string(h, &s, out))
            continue;
        if ((flags & LANGUAGE_TAGS) && add_tag(h, &s, out))
            continue;
        add_word(h, &s, out);
    }
}
