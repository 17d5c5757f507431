/* Passages ranked by the words that they share with a question, and texts read for what they ask:
 * pure functions. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/knowledge.h"
#include "provider/offline.h"

#define TITLE_WEIGHT 3
#define TITLE_BONUS 3
#define REFERENCE_WEIGHT 0.5 /* a key or an option answers where no section of the guide does */
#define K1 1.2
#define B 0.75

/* Longer words are compared by their beginning. */
#define WORD_BYTES 48

static const char *const stop_words[] = {
    "a",      "about",   "all",     "also",   "am",    "an",     "and",   "any",   "are",  "as",
    "at",     "be",      "been",    "but",    "by",    "can",    "could", "did",   "do",   "does",
    "done",   "exactly", "explain", "for",    "from",  "get",    "give",  "had",   "has",  "have",
    "how",    "i",       "if",      "in",     "into",  "is",     "it",    "its",   "just", "know",
    "let",    "me",      "my",      "no",     "not",   "of",     "on",    "one",   "or",   "our",
    "please", "s",       "say",     "should", "so",    "some",   "tell",  "than",  "that", "the",
    "their",  "them",    "then",    "there",  "these", "they",   "this",  "those", "to",   "us",
    "was",    "we",      "were",    "what",   "when",  "where",  "which", "who",   "whom", "why",
    "will",   "with",    "would",   "you",    "your",  "want",   "way",   "much",  "many", "more",
    "thing",  "really",  "hi",      "hello",  "hey",   "thanks", "work",  "use",   "need", "make"};

struct term {
    char word[WORD_BYTES];
    size_t passages; /* that have it */
};

struct terms {
    VEC(struct term) list;
};

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || c == '_';
}

/* The next word from *at on, in lower case. False at the end. */
static bool next_word(const char **at, char word[WORD_BYTES])
{
    size_t len = 0;
    while (**at && !is_word_byte(**at))
        (*at)++;
    for (; **at && is_word_byte(**at); (*at)++)
        if (len < WORD_BYTES - 1)
            word[len++] = **at >= 'A' && **at <= 'Z' ? (char)(**at - 'A' + 'a') : **at;
    word[len] = '\0';
    return len > 0;
}

static bool is_stop_word(const char *word)
{
    for (size_t i = 0; i < sizeof stop_words / sizeof *stop_words; i++)
        if (strcmp(stop_words[i], word) == 0)
            return true;
    return false;
}

/* Takes off a frequent English ending, so that "connecting" meets "connect". What is left need not
 * be a word: both sides lose the same. */
static void stem(char *word)
{
    static const struct {
        const char *ending;
        size_t least; /* letters of the whole word */
        const char *instead;
    } rules[] = {{"ies", 5, "y"}, {"sses", 6, "ss"}, {"ing", 6, ""},
                 {"ions", 8, ""}, {"ion", 7, ""},    {"ed", 5, ""},
                 {"ss", 3, "ss"}, {"us", 3, "us"},   {"s", 4, ""}};
    size_t len = strlen(word);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        size_t ending = strlen(rules[i].ending);
        if (len < rules[i].least || len < ending ||
            strcmp(word + len - ending, rules[i].ending) != 0)
            continue;
        memcpy(word + len - ending, rules[i].instead, strlen(rules[i].instead) + 1);
        return;
    }
}

static struct term *find_term(struct terms *t, const char *word)
{
    for (size_t i = 0; i < t->list.len; i++)
        if (strcmp(t->list.items[i].word, word) == 0)
            return &t->list.items[i];
    return NULL;
}

bool offline_has_word(const char *text, const char *word)
{
    char found[WORD_BYTES];
    while (next_word(&text, found))
        if (strcmp(found, word) == 0)
            return true;
    return false;
}

void passages_add(struct passages *p, const char *source, const char *title, const char *text,
                  size_t len, bool is_talk)
{
    struct passage passage = {.source = mem_strdup(source),
                              .title = mem_strdup(title),
                              .text = mem_strndup(text, len),
                              .is_talk = is_talk,
                              .weight = 1};
    vec_push(&p->items, passage);
}

/* The next heading from `at` on, at the beginning of a line; else the end of the text. */
static const char *next_section(const char *at)
{
    while (*at && strncmp(at, "## ", 3) != 0 && strncmp(at, "### ", 4) != 0) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return at;
}

void passages_add_manual(struct passages *p, const char *markdown)
{
    for (const char *section = next_section(markdown), *next; *section; section = next) {
        const char *title = section + strspn(section, "# ");
        const char *text = title + strcspn(title, "\n"), *end = next = next_section(text);
        char *name = mem_strndup(title, (size_t)(text - title));
        char *source = mem_printf("tiro's manual, “%s”", name);
        text += strspn(text, "\n");
        while (end > text && end[-1] == '\n')
            end--;
        passages_add(p, source, name, text, (size_t)(end - text), false);
        if (section[2] == '#')
            vec_last(&p->items).weight = REFERENCE_WEIGHT;
        free(source);
        free(name);
    }
}

void passages_release(struct passages *p)
{
    for (size_t i = 0; i < p->items.len; i++) {
        free(p->items.items[i].source);
        free(p->items.items[i].title);
        free(p->items.items[i].text);
    }
    vec_release(&p->items);
}

void ranking_release(struct ranking *r)
{
    vec_release(&r->hits);
}

/* --- scoring ---------------------------------------------------------------------------------- */

/* How often each term stands in a text; adds to counts[]. Returns the text's number of words. */
static size_t count_terms(struct terms *t, const char *text, size_t weight, size_t *counts)
{
    char word[WORD_BYTES];
    size_t words = 0;
    while (next_word(&text, word)) {
        struct term *term;
        stem(word);
        term = find_term(t, word);
        if (term)
            counts[term - t->list.items] += weight;
        words++;
    }
    return words;
}

struct counts {
    size_t *table;   /* [passage][term] */
    size_t *lengths; /* [passage], in words */
    double mean_length;
};

static struct ranked score(const struct passages *p, struct terms *t, const struct counts *c,
                           size_t index)
{
    struct ranked r = {.passage = &p->items.items[index]};
    double count = (double)p->items.len;
    double norm = K1 * (1 - B + B * (double)c->lengths[index] / c->mean_length);
    double found = 0, all = 0;
    for (size_t k = 0; k < t->list.len; k++) {
        double frequency = (double)c->table[index * t->list.len + k];
        double having = (double)t->list.items[k].passages;
        double rarity = log(1 + (count - having + 0.5) / (having + 0.5));
        r.score += rarity * frequency * (K1 + 1) / (frequency + norm);
        found += frequency > 0 ? rarity : 0;
        all += rarity;
    }
    /* A question that is a title wants that passage. */
    char word[WORD_BYTES];
    size_t words = 0, shared = 0;
    for (const char *title = r.passage->title; next_word(&title, word);) {
        if (is_stop_word(word))
            continue;
        stem(word);
        shared += find_term(t, word) != NULL;
        words++;
    }
    double share = words > 0 ? (double)shared / (double)words : 0;
    r.score *= r.passage->weight * (1 + TITLE_BONUS * share);
    r.coverage = all > 0 ? found / all : 0;
    return r;
}

static int better_first(const void *a, const void *b)
{
    const struct ranked *left = a;
    const struct ranked *right = b;
    if (left->score > right->score || left->score < right->score)
        return left->score > right->score ? -1 : 1;
    return left->passage > right->passage ? -1 : left->passage < right->passage;
}

void passages_rank(const struct passages *p, const char *question, struct ranking *out)
{
    struct terms terms = {0};
    struct counts counts;
    struct term term = {.passages = 0};
    while (next_word(&question, term.word)) {
        if (is_stop_word(term.word))
            continue;
        stem(term.word);
        if (!find_term(&terms, term.word))
            vec_push(&terms.list, term);
    }
    size_t total = 0;
    counts.table = mem_alloc((p->items.len * terms.list.len + 1) * sizeof *counts.table);
    counts.lengths = mem_alloc((p->items.len + 1) * sizeof *counts.lengths);
    for (size_t i = 0; i < p->items.len; i++) {
        size_t *row = counts.table + i * terms.list.len;
        total += counts.lengths[i] = count_terms(&terms, p->items.items[i].text, 1, row);
        count_terms(&terms, p->items.items[i].title, TITLE_WEIGHT, row);
        for (size_t k = 0; k < terms.list.len; k++)
            terms.list.items[k].passages += row[k] > 0;
    }
    counts.mean_length = p->items.len > 0 ? (double)total / (double)p->items.len + 1 : 1;
    for (size_t i = 0; i < p->items.len; i++) {
        struct ranked r = score(p, &terms, &counts, i);
        if (r.coverage > 0)
            vec_push(&out->hits, r);
    }
    vec_sort(&out->hits, better_first);
    free(counts.table);
    free(counts.lengths);
    vec_release(&terms.list);
}

/* --- the file or directory that a message wants to see ---------------------------------------- */

/* A known file name, or a name with a known ending. */
static bool is_file_name(const char *token)
{
    static const char *const endings[] = {
        "md",   "txt",  "c",   "h",   "cc",   "cpp", "hpp", "py",    "js",   "ts",
        "json", "toml", "ini", "yml", "yaml", "sh",  "rs",  "go",    "java", "html",
        "css",  "sql",  "xml", "csv", "conf", "cfg", "log", "am",    "ac",   "mk",
        "tex",  "rst",  "org", "lua", "rb",   "pl",  "po",  "patch", "diff"};
    static const char *const names[] = {"Makefile", "README",  "LICENSE",    "COPYING", "NEWS",
                                        "HACKING",  "INSTALL", "Dockerfile", "AUTHORS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(token, names[i]) == 0)
            return true;
    const char *dot = strrchr(token, '.');
    for (size_t i = 0; dot && dot != token && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot + 1, endings[i]) == 0)
            return true;
    return false;
}

/* The word from *at on without its punctuation; the caller frees. NULL at the end. */
static char *next_token(const char **at)
{
    const char *start = *at + strspn(*at, " \t\n\r");
    size_t len = strcspn(start, " \t\n\r");
    *at = start + len;
    if (len == 0)
        return NULL;
    while (len > 0 && strchr("\"'`(<[@*", *start)) {
        start++;
        len--;
    }
    while (len > 0 && strchr("\"'`)>]?,.!:;*", start[len - 1]))
        len--;
    return mem_strndup(start, len);
}

const char *offline_find_path(const char *text, char **path)
{
    static const char *const verbs[] = {"read",  "show",     "open",    "list", "cat",
                                        "print", "contents", "content", "quote"};
    static const char *const here[] = {
        "list the files", "list files",         "list all files",   "which files",
        "what files",     "list the directory", "list directory",   "this directory",
        "this folder",    "current directory",  "working directory"};
    bool see = utf8_contains_folded(text, "what is in") || utf8_contains_folded(text, "what's in");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        see = see || offline_has_word(text, verbs[i]);
    const char *at = text;
    for (char *token; (token = next_token(&at)); free(token)) {
        const char *slash = strrchr(token, '/');
        bool file = is_file_name(token);
        /* Only a file's name is enough by itself; the others could be "and/or". */
        if (!*token || strstr(token, "://") || !(file || (slash && token[1] && see)))
            continue;
        *path = token;
        return file || (slash[1] && strchr(slash + 2, '.')) ? "read_file" : "list_directory";
    }
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        if (utf8_contains_folded(text, here[i])) {
            *path = mem_strdup(".");
            return "list_directory";
        }
    return NULL;
}

/* --- questions to memory, and its hits -------------------------------------------------------- */

bool offline_is_question(const char *text)
{
    static const char *const words[] = {
        "who",   "whom",   "whose",   "what",    "when",  "where", "which", "why",   "how",
        "did",   "do",     "does",    "is",      "are",   "was",   "were",  "can",   "could",
        "would", "will",   "has",     "have",    "had",   "wer",   "wen",   "wem",   "wann",
        "wo",    "welche", "welcher", "welches", "warum", "wieso", "wie",   "wohin", "quién",
        "qué",   "cuándo", "dónde",   "qui",     "que",   "quand", "où"};
    if (strchr(text, '?') || strstr(text, "？") || strstr(text, "؟"))
        return true;
    text += strspn(text, " \t\r\n\"'(");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]);
        unsigned char next = strncasecmp(text, words[i], len) == 0 ? (unsigned char)text[len] : 'x';
        if (!isalnum(next) && next < 0x80 && next != '\'' && next != '_')
            return true;
    }
    return false;
}

bool offline_is_idle(const char *text, size_t len)
{
    auto_free char *whole = mem_strndup(text, len);
    auto_free char *said = corpus_without_mentions(whole);
    size_t end = strlen(said);
    bool asks = (end > 0 && said[end - 1] == '?') ||
                (end >= strlen("？") && strcmp(said + end - strlen("？"), "？") == 0);
    /* More than one sentence may say something before it asks. */
    bool bare = asks && !strchr(said, '\n') && !strstr(said, ". ") && !strstr(said, "! ") &&
                !strstr(said, "。");
    return end == 0 || bare || strstr(said, OFFLINE_MARK);
}

/* Where a hit is from: "[2] boiler.md, line 7" of a document, by the passage's number, or "memory:
 * this conversation, turn 3". The caller frees. */
static char *source_of(const struct json *hit, bool of_document, const char *session_id)
{
    struct buf out = BUF_INIT;
    if (of_document) {
        const char *file = json_get_string(hit, "file");
        int64_t line = json_get_int(hit, "line", 0), page = json_get_int(hit, "page", 0);
        buf_addf(&out, "[%lld] %s", (long long)json_get_int(hit, "n", 0), file ? file : "?");
        if (page > 0 || line > 0)
            buf_addf(&out, page > 0 ? ", page %lld" : ", line %lld",
                     (long long)(page > 0 ? page : line));
        return buf_take(&out);
    }
    const char *session = json_get_string(hit, "session_id");
    int64_t turn = json_get_int(hit, "turn", 0);
    buf_addstr(&out, "memory");
    if (session && session_id && strcmp(session, session_id) == 0)
        buf_addstr(&out, ": this conversation");
    else if (session)
        buf_addf(&out, ": session %s", session);
    if (session && turn > 0)
        buf_addf(&out, ", turn %lld", (long long)turn);
    return buf_take(&out);
}

bool offline_add_hits(struct passages *p, const struct block *result, const char *session_id)
{
    const char *text = result->text ? result->text : "";
    bool of_documents = strcmp(result->name, "rag_search") == 0;
    AUTO(json_free_local) struct json *hits = json_parse(text, strlen(text), NULL);
    if (json_type(hits) != JSON_ARRAY)
        return false;
    for (const struct json *hit = json_first(hits); hit; hit = json_next(hit)) {
        const char *content = json_get_string(hit, "content");
        size_t len = content ? strlen(content) : 0;
        while (len > 0 && isspace((unsigned char)content[len - 1]))
            len--;
        bool known = !content || offline_is_idle(content, len);
        for (size_t i = 0; i < p->items.len && !known; i++)
            known = strlen(p->items.items[i].text) == len &&
                    memcmp(p->items.items[i].text, content, len) == 0;
        if (known)
            continue;
        auto_free char *source = source_of(hit, of_documents, session_id);
        passages_add(p, source, "", content, len, true);
        vec_last(&p->items).recalled = json_get_number(hit, "score", 0);
    }
    return true;
}
