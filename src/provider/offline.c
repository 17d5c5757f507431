/* The offline provider's answer to a request for a summary: an extract. */
#include "provider/offline.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/extract.h"
#include "chat/knowledge.h"
#include "chat/session_info.h"
#include "provider/outgoing.h"

/* Begins the message behind a conversation that tells what stays (compact/summary_parts.h). */
#define STAYS "[This stays in the context"
#define COMPACTION_PROMPT "You are performing a CONTEXT COMPACTION"

#define QUOTE_BYTES 1600
#define FILE_BYTES 4000
#define FILE_LINES 60
#define HITS 2
#define RECALL_SCORE 0.7  /* useful matches lie above, whatever words they have */
#define SECOND_SCORE 0.65 /* of the best, that is quoted beside it */

/* A passage is quoted when it has this part of the question's words (by rarity). Talk is short; a
 * question to us is rarely about anything else, and one that calls us by name never. */
#define MANUAL_COVERAGE 0.45
#define TALK_COVERAGE 0.3
#define TO_US_COVERAGE 0.2

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

/* Index of the message that asks: the newest of the user's with text; message_count if none. */
static size_t find_question(const struct request *request)
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

/* A second argument may be NULL. */
static bool call(struct offline_plan *out, const char *tool, const char *name, const char *value,
                 const char *second, const char *second_value)
{
    struct json *args = json_new_object();
    json_set_string(args, name, value);
    if (second)
        json_set_string(args, second, second_value);
    out->tool = mem_strdup(tool);
    out->args = json_print(args);
    json_free(args);
    return true;
}

static bool plan_call(const struct request *request, size_t question, const char *tool,
                      const char *name, const char *value, struct offline_plan *out)
{
    return is_offered(request, tool) && !find_call(request, question, tool, NULL) &&
           call(out, tool, name, value, NULL, NULL);
}

static bool is_search(const char *tool)
{
    return strcmp(tool, "memory_search") == 0 || strcmp(tool, "rag_search") == 0;
}

/* The next result of a tool behind *message and *block, or NULL. Begin with {question, 0}. */
struct place {
    size_t message, block;
};

static const struct block *next_result(const struct request *request, struct place *at)
{
    for (; at->message < request->message_count; at->message++, at->block = 0) {
        const struct message *m = &request->messages[at->message];
        while (at->block < m->blocks.len) {
            const struct block *b = &m->blocks.items[at->block++];
            if (b->type == BLOCK_TOOL_RESULT && b->name)
                return b;
        }
    }
    return NULL;
}

static bool has_shown_file(const struct request *request, size_t question)
{
    struct place at = {.message = question};
    const struct block *b;
    while ((b = next_result(request, &at)))
        if (!is_search(b->name) && !b->is_error)
            return true;
    return false;
}

static bool plan_file(const struct request *request, size_t question, const char *text,
                      struct offline_plan *out)
{
    char *path = NULL;
    const char *tool = offline_find_path(text, &path);
    bool planned = tool && plan_call(request, question, tool, "path", path, out);
    free(path);
    return planned;
}

static bool has_searched(const struct request *request, size_t question, const char *corpus)
{
    bool found = false;
    for (size_t i = question; i < request->message_count && !found; i++) {
        const struct message *m = &request->messages[i];
        for (size_t b = 0; b < m->blocks.len && !found; b++) {
            const struct block *block = &m->blocks.items[b];
            if (block->type != BLOCK_TOOL_CALL || !block->name || !block->text ||
                strcmp(block->name, "rag_search") != 0)
                continue;
            struct json *args = json_parse(block->text, strlen(block->text), NULL);
            const char *searched = json_get_string(args, "corpus_id");
            found = searched && strcmp(searched, corpus) == 0;
            json_free(args);
        }
    }
    return found;
}

/* The first that the message mentions and that was not searched since the question; the caller
 * frees. *mentions: there are some. */
static char *corpus_of(const struct request *request, size_t message, size_t question,
                       bool *mentions)
{
    struct message room;
    char *text = message_text(message_whole(request->source, &request->messages[message], &room));
    const char *at = text;
    char *name = corpus_next_mention(&at);
    *mentions = name != NULL;
    while (name && has_searched(request, question, name)) {
        free(name);
        name = corpus_next_mention(&at);
    }
    message_release(&room);
    free(text);
    return name;
}

/* The corpora that the user named last. */
static bool plan_corpus(const struct request *request, size_t question, const char *text,
                        struct offline_plan *out)
{
    bool mentions = false;
    char *corpus = NULL;
    if (!is_offered(request, "rag_search"))
        return false;
    for (size_t i = question + 1; i > 0 && !mentions; i--)
        if (request->messages[i - 1].role == ROLE_USER)
            corpus = corpus_of(request, i - 1, question, &mentions);
    bool planned = corpus && call(out, "rag_search", "corpus_id", corpus, "query", text);
    free(corpus);
    return planned;
}

/* What looked like a file may have been none. */
static bool plan_search(const struct request *request, size_t question, const char *text,
                        struct offline_plan *out)
{
    return offline_is_question(text) && !has_shown_file(request, question) &&
           (plan_call(request, question, "memory_search", "query", text, out) ||
            plan_corpus(request, question, text, out));
}

static bool plan_tool(const struct request *request, size_t question, const char *text,
                      struct offline_plan *out)
{
    return plan_file(request, question, text, out) || plan_search(request, question, text, out);
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
    bool directory = strcmp(result->name, "list_directory") == 0;
    if (result->is_error) {
        buf_addf(out, "`%s` cannot be shown: %.300s\n\n", path, text);
        return;
    }
    buf_addf(out, directory ? "In `%s`:\n\n" : "`%s` says:\n\n", path);
    attached_file_fence(out, text, cut);
    buf_addf(out, "\n— *%s*, ", path);
    if (cut < len)
        buf_addf(out, "the first %zu of %zu bytes\n\n", cut, len);
    else
        buf_addstr(out, "whole\n\n");
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

static void add_files(struct buf *out, const struct request *request, size_t question)
{
    struct place at = {.message = question};
    const struct block *b;
    while ((b = next_result(request, &at))) {
        if (is_search(b->name))
            continue;
        char *path = path_of(request, question, b);
        quote_file(out, b, path);
        free(path);
    }
}

/* --- passages -------------------------------------------------------------------------------- */

/* What was said before the question. A summary quotes what memory has whole. */
static void add_talk(struct passages *p, const struct request *request, size_t question,
                     bool summaries)
{
    for (size_t i = 0; i < question; i++) {
        const struct message *m = &request->messages[i];
        struct message room;
        if ((m->role != ROLE_USER && m->role != ROLE_ASSISTANT) || (m->summary && !summaries))
            continue;
        char *text = message_text(message_whole(request->source, m, &room));
        message_release(&room);
        size_t len = strlen(text);
        while (len > 0 && isspace((unsigned char)text[len - 1]))
            len--;
        if (!offline_is_idle(text, len)) {
            char *source =
                mem_printf("%s, turn %d", m->role == ROLE_USER ? "you" : "tiro", m->turn);
            passages_add(p, source, "", text, len, true);
            free(source);
        }
        free(text);
    }
}

/* Failures of the searches are said. */
static void add_hits(struct passages *p, struct buf *out, const struct request *request,
                     size_t question)
{
    struct place at = {.message = question};
    const struct block *b;
    while ((b = next_result(request, &at))) {
        const char *text = b->text ? b->text : "";
        if (!is_search(b->name))
            continue;
        if (b->is_error)
            buf_addf(out, "The search failed: %.300s\n\n", text);
        else if (!offline_add_hits(p, b, request->session_id) && strcmp(b->name, "rag_search") != 0)
            quote(out, text, b->name);
    }
}

static double manual_coverage(const char *text)
{
    if (offline_has_word(text, "tiro"))
        return 0;
    if (offline_has_word(text, "you") || offline_has_word(text, "your") ||
        offline_has_word(text, "program"))
        return TO_US_COVERAGE;
    return MANUAL_COVERAGE;
}

static bool is_worth(const struct ranked *r, double best, double manual)
{
    return r->coverage >= (r->passage->is_talk ? TALK_COVERAGE : manual) &&
           r->score >= SECOND_SCORE * best;
}

static size_t quote_ranked(struct buf *out, const struct passages *p, const char *text)
{
    struct ranking ranking = {0};
    double manual = manual_coverage(text);
    size_t quoted = 0;
    passages_rank(p, text, &ranking);
    if (ranking.hits.len == 0 && manual < MANUAL_COVERAGE) /* "who are you?" has no other word */
        passages_rank(p, "tiro", &ranking);
    for (size_t i = 0; i < ranking.hits.len && quoted < HITS; i++) {
        const struct ranked *r = &ranking.hits.items[i];
        if (!is_worth(r, ranking.hits.items[0].score, manual))
            continue;
        quote(out, r->passage->text, r->passage->source);
        quoted++;
    }
    ranking_release(&ranking);
    return quoted;
}

/* Memory may know the same thing in other words. They are there best first. */
static size_t quote_recalled(struct buf *out, const struct passages *p)
{
    size_t quoted = 0;
    for (size_t i = 0; i < p->items.len && quoted < HITS; i++) {
        if (p->items.items[i].recalled < RECALL_SCORE)
            continue;
        quote(out, p->items.items[i].text, p->items.items[i].source);
        quoted++;
    }
    return quoted;
}

static bool add_passages(struct buf *out, const struct request *request, size_t question,
                         const char *text, const char *manual)
{
    struct passages passages = {0};
    add_hits(&passages, out, request, question);
    bool recalls = passages.items.len > 0;
    passages_add_manual(&passages, manual);
    add_talk(&passages, request, question, !recalls);
    size_t quoted = quote_ranked(out, &passages, text);
    if (quoted == 0)
        quoted = quote_recalled(out, &passages);
    passages_release(&passages);
    return quoted > 0;
}

/* --- the whole answer ------------------------------------------------------------------------ */

static void add_nothing_found(struct buf *out, const struct request *request, size_t question)
{
    bool searched = find_call(request, question, "memory_search", NULL) != NULL;
    bool corpora = find_call(request, question, "rag_search", NULL) != NULL;
    buf_addf(out,
             "I found nothing about that in this conversation%s%s or tiro's manual; ask *How do I "
             "connect a model?* for answers of a model. ",
             searched ? ", in memory" : "", corpora ? ", in the corpora that you named" : "");
}

static void add_answer(struct buf *out, const struct request *request, size_t question,
                       const char *text, const char *manual)
{
    bool shown = has_shown_file(request, question);
    add_files(out, request, question);
    if (shown || (out->len > 0 && !offline_is_question(text)))
        return;
    bool failed = out->len > 0;
    if (!add_passages(out, request, question, text, manual) && !failed)
        add_nothing_found(out, request, question);
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

/* Messages that are to be summarised: those before the prompt but what stays. */
static size_t count_summarised(const struct request *request, size_t prompt)
{
    if (prompt == 0)
        return 0;
    struct message room;
    char *text =
        message_text(message_whole(request->source, &request->messages[prompt - 1], &room));
    bool stays = strncmp(text, STAYS, strlen(STAYS)) == 0;
    message_release(&room);
    free(text);
    return prompt - stays;
}

struct offline_plan offline_plan_make(const struct request *request, const char *manual)
{
    struct offline_plan plan = {NULL, NULL, NULL};
    size_t question = find_question(request);
    char *whole = question < request->message_count ? message_text(&request->messages[question])
                                                    : mem_strdup("");
    char *text = corpus_without_mentions(whole);
    const char *polite = pleasantry(text);
    struct buf out = BUF_INIT;
    free(whole);
    if (wants_summary(request, text)) {
        offline_extract(&out, request, count_summarised(request, question), text);
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

/* --- offline_extract --- */

#define PROMPT_BYTES 2000

/* In a request for a summary the results of tools are texts of the user's. */
static enum role role_of(const struct request *request, size_t i)
{
    static const char result[] = "[result of ", failed[] = "[error of ";
    struct message room;
    const struct message *m = message_whole(request->source, &request->messages[i], &room);
    const char *text = m->role == ROLE_USER && m->blocks.len > 0 ? m->blocks.items[0].text : NULL;
    bool is_result = text && (strncmp(text, result, sizeof result - 1) == 0 ||
                              strncmp(text, failed, sizeof failed - 1) == 0);
    enum role role = is_result ? ROLE_TOOL : m->role;
    message_release(&room);
    return role;
}

/* With the roles that they have; their blocks are borrowed. The caller frees. */
static struct message *messages_of(const struct request *request, size_t count)
{
    struct message *said = mem_alloc(count * sizeof *said);
    for (size_t i = 0; i < count; i++) {
        said[i] = request->messages[i];
        said[i].role = role_of(request, i);
    }
    return said;
}

static size_t count_role(const struct message *messages, size_t count, enum role role)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += messages[i].role == role;
    return found;
}

static void add_extract(struct buf *out, const struct message *said, size_t count,
                        struct message_source *source)
{
    VEC(const struct message *) list = {0};
    for (size_t i = 0; i < count; i++)
        vec_push(&list, &said[i]);
    extract_add(out, list.items, list.len, source);
    vec_release(&list);
}

/* A transcript that stands in the prompt itself, below its first paragraph. */
static void add_prompt(struct buf *out, const char *prompt)
{
    const char *rest = strstr(prompt, "\n\n");
    if (!rest) {
        buf_addstr(out, "There is nothing to summarise yet.\n");
        return;
    }
    utf8_add_cut(out, rest + 2, strlen(rest + 2), PROMPT_BYTES);
    buf_addch(out, '\n');
}

void offline_extract(struct buf *out, const struct request *request, size_t count,
                     const char *prompt)
{
    struct message *messages = messages_of(request, count);
    buf_addf(out,
             "## Extract, made without a model\n\n%zu messages: %zu user, %zu assistant, "
             "%zu tool.",
             count, count_role(messages, count, ROLE_USER),
             count_role(messages, count, ROLE_ASSISTANT), count_role(messages, count, ROLE_TOOL));
    if (count > 0) {
        add_extract(out, messages, count, request->source);
        buf_addch(out, '\n');
    } else {
        buf_addstr(out, "\n\n");
        add_prompt(out, prompt);
    }
    free(messages);
}

/* --- offline --- */

/* The pace of an answer that is watched: as that of a fast model, and never long. */
#define PAUSE_MS 4
#define MAX_PAUSES 350
#define PIECE_BYTES 48

static int64_t estimate_tokens(const struct request *request)
{
    int64_t tokens = request->system ? (int64_t)strlen(request->system) / 4 : 0;
    for (size_t i = 0; i < request->message_count; i++) {
        struct message room;
        tokens +=
            message_estimate_tokens(message_whole(request->source, &request->messages[i], &room));
        message_release(&room);
    }
    for (size_t i = 0; i < request->tool_count; i++)
        tokens +=
            (int64_t)(strlen(request->tools[i].description) + strlen(request->tools[i].schema)) / 4;
    return tokens;
}

/* A word with the blanks after it, or the beginning of a long one. */
static size_t piece_length(const char *text, size_t len)
{
    size_t end = strcspn(text, " \n");
    if (end > PIECE_BYTES) {
        size_t cut = utf8_cut_bytes(text, end, PIECE_BYTES);
        end = cut > 0 ? cut : end;
    } else {
        end += strspn(text + end, " \n");
    }
    return end < len ? end : len;
}

static size_t count_pieces(const char *text, size_t len)
{
    size_t pieces = 0;
    for (size_t at = 0; at < len; at += piece_length(text + at, len - at))
        pieces++;
    return pieces;
}

/* How many bytes were sent: fewer than `len` when it was stopped. */
static size_t stream(const struct provider_call *call, const char *text, size_t len)
{
    size_t group = count_pieces(text, len) / MAX_PAUSES + 1;
    size_t at = 0;
    while (at < len) {
        size_t end = at;
        for (size_t i = 0; i < group && end < len; i++)
            end += piece_length(text + end, len - end);
        if (!wakeup_sleep(call->wakeup, call->watched ? PAUSE_MS : 0))
            return at;
        bool taken = !call->delta || call->delta(call->context, BLOCK_TEXT, text + at, end - at);
        at = end;
        if (!taken)
            return at;
    }
    return at;
}

/* An id that no earlier call of the conversation has. */
static char *call_id(const struct request *request)
{
    size_t calls = 0;
    for (size_t i = 0; i < request->message_count; i++) {
        struct message room;
        const struct message *m = message_whole(request->source, &request->messages[i], &room);
        for (size_t b = 0; b < m->blocks.len; b++)
            calls += m->blocks.items[b].type == BLOCK_TOOL_CALL;
        message_release(&room);
    }
    return mem_printf("offline_%zu", calls + 1);
}

static void take_call(const struct request *request, struct offline_plan *plan,
                      struct response *response)
{
    struct block call = {
        .type = BLOCK_TOOL_CALL, .id = call_id(request), .name = plan->tool, .text = plan->args};
    response->usage.output = (int64_t)(strlen(plan->tool) + strlen(plan->args)) / 4 + 1;
    response->stop_reason = STOP_TOOL_USE;
    plan->tool = plan->args = NULL;
    vec_push(&response->blocks, call);
}

static bool answer(const struct provider_call *call, const struct request *request,
                   const char *text, struct response *response, struct failure *failure)
{
    size_t len = strlen(text);
    size_t limit = request->max_output > 0 && request->max_output < (int64_t)(len / 4)
                       ? utf8_cut_bytes(text, len, (size_t)request->max_output * 4)
                       : len;
    size_t sent = stream(call, text, limit);
    if (sent > 0) {
        char *copy = mem_strndup(text, sent);
        vec_push(&response->blocks, block_text(copy));
        free(copy);
    }
    response->usage.output = ((int64_t)sent + 3) / 4;
    if (sent < limit) {
        failure->content_seen = sent > 0;
        response->stop_reason = STOP_CANCELLED;
        return failure_set(failure, FAILURE_CANCELLED, "interrupted");
    }
    response->stop_reason = limit < len ? STOP_MAX_TOKENS : STOP_END_TURN;
    return true;
}

bool offline_complete(const struct provider_call *call, const struct request *request,
                      struct response *response, struct failure *failure)
{
    const char *manual = embedded_text("manual.md");
    struct offline_plan plan = offline_plan_make(request, manual ? manual : "");
    bool ok = true;
    free(response->model);
    response->model = mem_strdup(provider_offline.name);
    response->usage = (struct usage){
        .input = estimate_tokens(request), .output = -1, .cached = -1, .estimated = true};
    if (request->source && request->source->failed) {
        ok = failure_set(failure, FAILURE_SETUP, "%s", request->source->fault.text);
    } else if (!wakeup_sleep(call->wakeup, 0)) {
        response->stop_reason = STOP_CANCELLED;
        ok = failure_set(failure, FAILURE_CANCELLED, "interrupted");
    } else if (plan.tool) {
        take_call(request, &plan, response);
    } else {
        ok = answer(call, request, plan.text, response, failure);
    }
    offline_plan_release(&plan);
    return ok;
}

bool offline_models(const struct provider_call *call, struct provider_names *out,
                    struct failure *failure)
{
    (void)call;
    (void)failure;
    vec_push(&out->names, mem_strdup(provider_offline.name));
    return true;
}
