#include "provider/offline_plan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "provider/offline_rank.h"

#define COMPACTION_PROMPT "You are performing a CONTEXT COMPACTION"

#define QUOTE_BYTES 1600
#define FILE_BYTES 4000
#define FILE_LINES 60
#define HITS 2
#define SECOND_SCORE 0.65 /* of the best, that is quoted beside it */

/* A passage is quoted when it has this part of the question's words (by rarity). Talk is short; a
 * question to us is rarely about anything else, and one that calls us by name never. */
#define MANUAL_COVERAGE 0.45
#define TALK_COVERAGE 0.3
#define TO_US_COVERAGE 0.2

static const char how_to_connect[] =
    "To connect a model, do one of these and start tiro again:\n\n"
    "- set `ANTHROPIC_API_KEY`;\n"
    "- set `OPENAI_API_KEY`, or `OPENAI_BASE_URL` for a compatible server;\n"
    "- run Ollama, which is found by itself, or set `OLLAMA_HOST`.\n\n"
    "Ask *How do I connect a model?* for the details; `tiro doctor` says what was found.\n";

static const struct {
    const char *words, *answer;
} pleasantries[] = {
    {"hi|hello|hey|hallo|hola|salut|greetings|good morning|good afternoon|good evening|hello there|"
     "hi there|hello tiro|hi tiro",
     "Hello! There is no model here: I quote from this conversation, your files and tiro's "
     "manual. Try *What is tiro?* or *How do I connect a model?*\n"},
    {"thanks|thank you|thanks a lot|thank you very much|danke|merci|gracias", "You are welcome.\n"},
    {"bye|goodbye|good bye|good night|see you", "Goodbye. `/quit` or Ctrl-D leaves.\n"},
};

size_t offline_question(const struct request *request)
{
    for (size_t i = request->message_count; i > 0; i--) {
        const struct message *m = &request->messages[i - 1];
        for (size_t b = 0; m->role == ROLE_USER && b < m->blocks.len; b++)
            if (m->blocks.items[b].type == BLOCK_TEXT)
                return i - 1;
    }
    return request->message_count;
}

/* --- tools ----------------------------------------------------------------------------------- */

static bool is_offered(const struct request *request, const char *tool)
{
    for (size_t i = 0; i < request->tool_count; i++)
        if (strcmp(request->tools[i].name, tool) == 0)
            return true;
    return false;
}

/* The newest call of the tool after message `from`, or NULL; the id may be NULL for any. */
static const struct block *find_call(const struct request *request, size_t from, const char *tool,
                                     const char *id)
{
    for (size_t i = request->message_count; i > from; i--) {
        const struct message *m = &request->messages[i - 1];
        for (size_t b = m->blocks.len; b > 0; b--) {
            const struct block *block = &m->blocks.items[b - 1];
            if (block->type == BLOCK_TOOL_CALL && block->name &&
                (!tool || strcmp(block->name, tool) == 0) &&
                (!id || (block->id && strcmp(block->id, id) == 0)))
                return block;
        }
    }
    return NULL;
}

static bool plan_call(const struct request *request, size_t question, const char *tool,
                      const char *name, const char *value, struct offline_plan *out)
{
    struct json *args;
    if (!is_offered(request, tool) || find_call(request, question, tool, NULL))
        return false;
    args = json_new_object();
    json_set_string(args, name, value);
    out->tool = mem_strdup(tool);
    out->args = json_print(args);
    json_free(args);
    return true;
}

static bool plan_tool(const struct request *request, size_t question, const char *text,
                      struct offline_plan *out)
{
    static const char *const searches[] = {"memory_search", "rag_search"};
    char *path = NULL;
    const char *tool;
    bool planned;
    for (size_t i = 0; i < sizeof searches / sizeof *searches; i++)
        if (plan_call(request, question, searches[i], "query", text, out))
            return true;
    tool = offline_find_path(text, &path);
    planned = tool && plan_call(request, question, tool, "path", path, out);
    free(path);
    return planned;
}

/* --- quotations ------------------------------------------------------------------------------ */

static void quote(struct buf *out, const char *text, const char *source)
{
    size_t len = strlen(text);
    size_t cut = utf8_cut_bytes(text, len, QUOTE_BYTES);
    const char *at = text;
    const char *end = text + cut;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        buf_addstr(out, line_end > at ? "> " : ">");
        buf_add(out, at, (size_t)(line_end - at));
        buf_addstr(out, line_end == end && cut < len ? " …\n" : "\n");
        at = newline ? newline + 1 : end;
    }
    buf_addf(out, ">\n> — *%s*\n\n", source);
}

/* A fence is longer than any run of backticks inside. */
static size_t fence_length(const char *text, size_t len)
{
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < len; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest + 1;
}

static void add_fence(struct buf *out, size_t length)
{
    while (length-- > 0)
        buf_addch(out, '`');
}

/* The beginning of the text that is quoted: whole lines, if the first is not too long. */
static size_t excerpt(const char *text, size_t len)
{
    size_t cut = utf8_cut_bytes(text, len, FILE_BYTES);
    size_t at = 0;
    for (int lines = 0; lines < FILE_LINES; lines++) {
        const char *newline = memchr(text + at, '\n', cut - at);
        if (!newline)
            return cut == len || at == 0 ? cut : at;
        at = (size_t)(newline - text) + 1;
    }
    return at;
}

static void quote_file(struct buf *out, const struct block *result, const char *path)
{
    const char *text = result->text ? result->text : "";
    size_t len = strlen(text);
    size_t cut = excerpt(text, len);
    size_t fence = fence_length(text, cut);
    bool directory = strcmp(result->name, "list_directory") == 0;
    if (result->is_error) {
        buf_addf(out, "`%s` cannot be shown: %.300s\n\n", path, text);
        return;
    }
    buf_addf(out, directory ? "In `%s`:\n\n" : "`%s` says:\n\n", path);
    add_fence(out, fence);
    buf_addch(out, '\n');
    buf_add(out, text, cut);
    if (cut > 0 && text[cut - 1] != '\n')
        buf_addch(out, '\n');
    add_fence(out, fence);
    buf_addf(out, "\n\n— *%s*, ", path);
    if (cut < len)
        buf_addf(out, "the first %zu of %zu bytes\n\n", cut, len);
    else
        buf_addstr(out, "whole\n\n");
}

/* An array of {content, session_id, turn, …}; anything else is quoted as it is. */
static bool quote_hits(struct buf *out, const struct block *result)
{
    const char *text = result->text ? result->text : "";
    const char *place = strcmp(result->name, "memory_search") == 0 ? "memory" : "corpus";
    struct json *hits = json_parse(text, strlen(text), NULL);
    size_t quoted = 0;
    if (result->is_error)
        buf_addf(out, "The search failed: %.300s\n\n", text);
    else if (json_type(hits) != JSON_ARRAY && *text)
        quote(out, text, place);
    for (const struct json *hit = json_first(hits); hit && quoted < HITS; hit = json_next(hit)) {
        const char *content = json_get_string(hit, "content");
        const char *where = json_get_string(hit, "session_id");
        char *source;
        if (!content || result->is_error)
            continue;
        source = where ? mem_printf("%s: session %s, turn %d", place, where,
                                    (int)json_get_int(hit, "turn", 0))
                       : mem_strdup(place);
        quote(out, content, source);
        free(source);
        quoted++;
    }
    json_free(hits);
    return quoted > 0;
}

/* What path a call was about, for its result. The caller frees. */
static char *path_of(const struct request *request, size_t question, const struct block *result)
{
    const struct block *call = find_call(request, question, NULL, result->id);
    struct json *args =
        call && call->text ? json_parse(call->text, strlen(call->text), NULL) : NULL;
    const char *path = json_get_string(args, "path");
    char *copy = mem_strdup(path ? path : result->name);
    json_free(args);
    return copy;
}

struct found {
    bool file, hit;
};

static void add_result(struct buf *out, const struct request *request, size_t question,
                       const struct block *result, struct found *found)
{
    if (strcmp(result->name, "memory_search") == 0 || strcmp(result->name, "rag_search") == 0) {
        found->hit = quote_hits(out, result) || found->hit;
    } else {
        char *path = path_of(request, question, result);
        quote_file(out, result, path);
        found->file = true;
        free(path);
    }
}

static struct found add_results(struct buf *out, const struct request *request, size_t question)
{
    struct found found = {false, false};
    for (size_t i = question; i < request->message_count; i++) {
        const struct message *m = &request->messages[i];
        for (size_t b = 0; b < m->blocks.len; b++)
            if (m->blocks.items[b].type == BLOCK_TOOL_RESULT && m->blocks.items[b].name)
                add_result(out, request, question, &m->blocks.items[b], &found);
    }
    return found;
}

/* --- passages -------------------------------------------------------------------------------- */

/* What was said before the question, but for questions and our own quotations. */
static void add_talk(struct passages *p, const struct request *request, size_t question)
{
    for (size_t i = 0; i < question; i++) {
        const struct message *m = &request->messages[i];
        char *text;
        size_t len;
        if (m->role != ROLE_USER && m->role != ROLE_ASSISTANT)
            continue;
        text = message_text(m);
        len = strlen(text);
        while (len > 0 && isspace((unsigned char)text[len - 1]))
            len--;
        if (len > 0 && text[len - 1] != '?' && !strstr(text, OFFLINE_MARK)) {
            char *source =
                mem_printf("%s, turn %d", m->role == ROLE_USER ? "you" : "tiro", m->turn);
            passages_add(p, source, "", text, len, true);
            free(source);
        }
        free(text);
    }
}

static double manual_coverage(const char *text)
{
    if (text_has_word(text, "tiro"))
        return 0;
    if (text_has_word(text, "you") || text_has_word(text, "your") || text_has_word(text, "program"))
        return TO_US_COVERAGE;
    return MANUAL_COVERAGE;
}

static bool add_passages(struct buf *out, const struct request *request, size_t question,
                         const char *text, const char *manual)
{
    struct passages passages = {0};
    struct ranking ranking = {0};
    double least = manual_coverage(text);
    size_t quoted = 0;
    passages_add_manual(&passages, manual);
    add_talk(&passages, request, question);
    passages_rank(&passages, text, &ranking);
    if (ranking.hits.len == 0 && least < MANUAL_COVERAGE) /* "who are you?" has no other word */
        passages_rank(&passages, "tiro", &ranking);
    for (size_t i = 0; i < ranking.hits.len && quoted < HITS; i++) {
        const struct ranked *hit = &ranking.hits.items[i];
        if (hit->coverage < (hit->passage->is_talk ? TALK_COVERAGE : least) ||
            hit->score < SECOND_SCORE * ranking.hits.items[0].score)
            continue;
        quote(out, hit->passage->text, hit->passage->source);
        quoted++;
    }
    ranking_release(&ranking);
    passages_release(&passages);
    return quoted > 0;
}

/* --- the whole answer ------------------------------------------------------------------------ */

static void add_answer(struct buf *out, const struct request *request, size_t question,
                       const char *text, const char *manual)
{
    struct found found = add_results(out, request, question);
    bool quoted = found.file || found.hit;
    if (!found.file && !found.hit)
        quoted = add_passages(out, request, question, text, manual);
    if (!quoted)
        buf_addf(out,
                 "I found nothing about that: there is no model here, and neither this "
                 "conversation nor tiro's manual has the words.\n\n%s\n",
                 how_to_connect);
}

/* The answer to a message that is nothing but a pleasantry, or NULL. */
static const char *pleasantry(const char *text)
{
    char words[32] = "";
    size_t len = 0;
    for (; *text && len < sizeof words - 1; text++) {
        if (isalpha((unsigned char)*text))
            words[len++] = (char)tolower((unsigned char)*text);
        else if (len > 0 && words[len - 1] != ' ' && isspace((unsigned char)*text))
            words[len++] = ' ';
        else if ((unsigned char)*text >= 0x80 || isdigit((unsigned char)*text))
            return NULL;
    }
    while (len > 0 && words[len - 1] == ' ')
        len--;
    for (size_t i = 0; len > 0 && !*text && i < sizeof pleasantries / sizeof *pleasantries; i++)
        for (const char *at = pleasantries[i].words; at; at = strchr(at, '|')) {
            at += *at == '|';
            if (strncmp(at, words, len) == 0 && (at[len] == '|' || !at[len]))
                return pleasantries[i].answer;
        }
    return NULL;
}

static bool wants_summary(const struct request *request, const char *text)
{
    if (strncmp(text, COMPACTION_PROMPT, strlen(COMPACTION_PROMPT)) == 0)
        return true;
    return request->tool_count == 0 &&
           (utf8_contains_folded(text, "summari") || utf8_contains_folded(text, "summary"));
}

struct offline_plan offline_plan_make(const struct request *request, const char *manual)
{
    struct offline_plan plan = {NULL, NULL, NULL};
    size_t question = offline_question(request);
    char *text = question < request->message_count ? message_text(&request->messages[question])
                                                   : mem_strdup("");
    const char *polite = pleasantry(text);
    struct buf out = BUF_INIT;
    if (wants_summary(request, text)) {
        offline_extract(&out, request->messages, question, text);
    } else if (polite) {
        buf_addf(&out, "%s\n", polite);
    } else if (plan_tool(request, question, text, &plan)) {
        free(text);
        buf_release(&out);
        return plan;
    } else {
        add_answer(&out, request, question, text, manual);
    }
    buf_addstr(&out, OFFLINE_MARK "\n");
    free(text);
    plan.text = buf_take(&out);
    return plan;
}

void offline_plan_release(struct offline_plan *p)
{
    free(p->text);
    free(p->tool);
    free(p->args);
    *p = (struct offline_plan){NULL, NULL, NULL};
}
