/* What the offline provider asks memory, and what it makes of the answer. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "chat/corpora.h"
#include "provider/offline_plan.h"

static const char *const question_words[] = {
    "who",   "whom",   "whose",   "what",    "when",  "where", "which", "why",   "how",
    "did",   "do",     "does",    "is",      "are",   "was",   "were",  "can",   "could",
    "would", "will",   "has",     "have",    "had",   "wer",   "wen",   "wem",   "wann",
    "wo",    "welche", "welcher", "welches", "warum", "wieso", "wie",   "wohin", "quién",
    "qué",   "cuándo", "dónde",   "qui",     "que",   "quand", "où"};

static bool begins_with_word(const char *text, const char *word)
{
    size_t len = strlen(word);
    unsigned char next = strncasecmp(text, word, len) == 0 ? (unsigned char)text[len] : 'x';
    return !isalnum(next) && next < 0x80 && next != '\'' && next != '_';
}

bool offline_is_question(const char *text)
{
    if (strchr(text, '?') || strstr(text, "？") || strstr(text, "؟"))
        return true;
    text += strspn(text, " \t\r\n\"'(");
    for (size_t i = 0; i < sizeof question_words / sizeof *question_words; i++)
        if (begins_with_word(text, question_words[i]))
            return true;
    return false;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t n = strlen(end);
    return len >= n && memcmp(text + len - n, end, n) == 0;
}

/* More than one sentence may say something before it asks. */
static bool is_bare_question(const char *text, size_t len)
{
    if (!ends_with(text, len, "?") && !ends_with(text, len, "？"))
        return false;
    return !strchr(text, '\n') && !strstr(text, ". ") && !strstr(text, "! ") && !strstr(text, "。");
}

bool offline_is_idle(const char *text, size_t len)
{
    char *whole = mem_strndup(text, len), *said = corpus_without_mentions(whole);
    bool idle = *said == '\0' || is_bare_question(said, strlen(said)) || strstr(said, OFFLINE_MARK);
    free(said);
    free(whole);
    return idle;
}

/* Of a passage of a document, by its number: "[2] boiler.md, line 7". The caller frees. */
static char *document_of(const struct json *hit)
{
    const char *file = json_get_string(hit, "file");
    int64_t line = json_get_int(hit, "line", 0), page = json_get_int(hit, "page", 0);
    struct buf out = BUF_INIT;
    buf_addf(&out, "[%lld] %s", (long long)json_get_int(hit, "n", 0), file ? file : "?");
    if (page > 0)
        buf_addf(&out, ", page %lld", (long long)page);
    else if (line > 0)
        buf_addf(&out, ", line %lld", (long long)line);
    return buf_take(&out);
}

/* Of an entry of memory. The caller frees. */
static char *talk_of(const struct json *hit, const char *session_id)
{
    const char *session = json_get_string(hit, "session_id");
    int64_t turn = json_get_int(hit, "turn", 0);
    if (!session)
        return mem_strdup("memory");
    bool own = session_id && strcmp(session, session_id) == 0;
    char *where = own ? mem_strdup("this conversation") : mem_printf("session %s", session);
    char *source = turn > 0 ? mem_printf("memory: %s, turn %lld", where, (long long)turn)
                            : mem_printf("memory: %s", where);
    free(where);
    return source;
}

static bool has_text(const struct passages *p, const char *text, size_t len)
{
    for (size_t i = 0; i < p->items.len; i++)
        if (strlen(p->items.items[i].text) == len && memcmp(p->items.items[i].text, text, len) == 0)
            return true;
    return false;
}

static void add_hit(struct passages *p, const struct json *hit, bool of_document,
                    const char *session_id)
{
    const char *content = json_get_string(hit, "content");
    size_t len = content ? strlen(content) : 0;
    while (len > 0 && isspace((unsigned char)content[len - 1]))
        len--;
    if (!content || offline_is_idle(content, len) || has_text(p, content, len))
        return;
    char *source = of_document ? document_of(hit) : talk_of(hit, session_id);
    passages_add(p, source, "", content, len, true);
    vec_last(&p->items).recalled = json_get_number(hit, "score", 0);
    free(source);
}

bool offline_add_hits(struct passages *p, const struct block *result, const char *session_id)
{
    const char *text = result->text ? result->text : "";
    bool of_documents = strcmp(result->name, "rag_search") == 0;
    struct json *hits = json_parse(text, strlen(text), NULL);
    bool is_list = json_type(hits) == JSON_ARRAY;
    for (const struct json *hit = is_list ? json_first(hits) : NULL; hit; hit = json_next(hit))
        add_hit(p, hit, of_documents, session_id);
    json_free(hits);
    return is_list;
}
