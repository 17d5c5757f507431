/* The offline provider: it answers with quotations of the conversation, of files, of memory and of
 * the manual, and makes an extract where a summary is asked for. */
#include "provider/offline.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_pack.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/extract.h"
#include "chat/knowledge.h"
#include "chat/session_info.h"
#include "provider/outgoing.h"

/* Begins the message behind a conversation that says which parts stay (compact/summary.h). */
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

/* --- tools ------------------------------------------------------------------------------------ */

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

/* Plans a call; takes the arguments. */
static bool call(struct offline_plan *out, const char *tool, struct json *args)
{
    AUTO(json_free_local) struct json *taken = args;
    out->tool = mem_strdup(tool);
    out->args = json_print(taken);
    return true;
}

static bool is_search(const struct block *result)
{
    return strcmp(result->name, "memory_search") == 0 || strcmp(result->name, "rag_search") == 0;
}

/* Where next_result() goes on; it begins with {question, 0}. */
struct place {
    size_t message, block;
};

/* The next result of a tool, or NULL. */
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
    for (const struct block *b; (b = next_result(request, &at));)
        if (!is_search(b) && !b->is_error)
            return true;
    return false;
}

static bool has_searched(const struct request *request, size_t question, const char *corpus)
{
    for (size_t i = question; i < request->message_count; i++) {
        const struct message *m = &request->messages[i];
        for (size_t b = 0; b < m->blocks.len; b++) {
            const struct block *block = &m->blocks.items[b];
            if (block->type != BLOCK_TOOL_CALL || !block->name || !block->text ||
                strcmp(block->name, "rag_search") != 0)
                continue;
            AUTO(json_free_local)
            struct json *args = json_parse(block->text, strlen(block->text), NULL);
            const char *searched = json_get_string(args, "corpus_id");
            if (searched && strcmp(searched, corpus) == 0)
                return true;
        }
    }
    return false;
}

/* Searches the corpora that the user named last, one after the other. */
static bool plan_corpus(const struct request *request, size_t question, const char *text,
                        struct offline_plan *out)
{
    bool mentions = false;
    for (size_t i = question + 1; i > 0 && !mentions; i--) {
        if (request->messages[i - 1].role != ROLE_USER)
            continue;
        struct message room;
        auto_free char *said =
            message_text(message_whole(request->source, &request->messages[i - 1], &room));
        message_release(&room);
        const char *at = said;
        for (char *name; (name = corpus_next_mention(&at)); free(name)) {
            mentions = true;
            if (has_searched(request, question, name))
                continue;
            call(out, "rag_search", json_pack("{corpus_id:s query:s}", name, text));
            free(name);
            return true;
        }
    }
    return false;
}

static bool plan_tool(const struct request *request, size_t question, const char *text,
                      struct offline_plan *out)
{
    auto_free char *path = NULL;
    const char *tool = offline_find_path(text, &path);
    if (tool && is_offered(request, tool) && !find_call(request, question, tool, NULL))
        return call(out, tool, json_pack("{path:s}", path));
    /* A text that looked like the name of a file may have been none. */
    if (!offline_is_question(text) || has_shown_file(request, question))
        return false;
    if (is_offered(request, "memory_search") &&
        !find_call(request, question, "memory_search", NULL))
        return call(out, "memory_search", json_pack("{query:s limit:i}", text, 5));
    return is_offered(request, "rag_search") && plan_corpus(request, question, text, out);
}

/* --- quotations ------------------------------------------------------------------------------- */

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

static void add_files(struct buf *out, const struct request *request, size_t question)
{
    struct place at = {.message = question};
    for (const struct block *b; (b = next_result(request, &at));) {
        if (is_search(b))
            continue;
        const struct block *call = find_call(request, question, NULL, b->id);
        AUTO(json_free_local)
        struct json *args =
            call && call->text ? json_parse(call->text, strlen(call->text), NULL) : NULL;
        const char *given = json_get_string(args, "path"), *path = given ? given : b->name;
        const char *text = b->text ? b->text : "";
        size_t len = strlen(text), cut = excerpt(text, len);
        if (b->is_error) {
            buf_addf(out, "`%s` cannot be shown: %.300s\n\n", path, text);
            continue;
        }
        bool directory = strcmp(b->name, "list_directory") == 0;
        buf_addf(out, directory ? "In `%s`:\n\n" : "`%s` says:\n\n", path);
        attached_file_fence(out, text, cut);
        buf_addf(out, "\n— *%s*, ", path);
        if (cut < len)
            buf_addf(out, "the first %zu of %zu bytes\n\n", cut, len);
        else
            buf_addstr(out, "whole\n\n");
    }
}

/* --- passages --------------------------------------------------------------------------------- */

/* Adds the conversation before the question. A summary only repeats entries of memory. */
static void add_talk(struct passages *p, const struct request *request, size_t question,
                     bool summaries)
{
    for (size_t i = 0; i < question; i++) {
        const struct message *m = &request->messages[i];
        struct message room;
        if ((m->role != ROLE_USER && m->role != ROLE_ASSISTANT) || (m->summary && !summaries))
            continue;
        auto_free char *text = message_text(message_whole(request->source, m, &room));
        message_release(&room);
        size_t len = strlen(text);
        while (len > 0 && isspace((unsigned char)text[len - 1]))
            len--;
        if (offline_is_idle(text, len))
            continue;
        auto_free char *source =
            mem_printf("%s, turn %d", m->role == ROLE_USER ? "you" : "tiro", m->turn);
        passages_add(p, source, "", text, len, true);
    }
}

/* Adds the results of searches; a failure of one goes to the answer. */
static void add_hits(struct passages *p, struct buf *out, const struct request *request,
                     size_t question)
{
    struct place at = {.message = question};
    for (const struct block *b; (b = next_result(request, &at));) {
        const char *text = b->text ? b->text : "";
        if (!is_search(b))
            continue;
        if (b->is_error)
            buf_addf(out, "The search failed: %.300s\n\n", text);
        else if (!offline_add_hits(p, b, request->session_id) && strcmp(b->name, "rag_search") != 0)
            quote(out, text, b->name);
    }
}

static size_t quote_ranked(struct buf *out, const struct passages *p, const char *text)
{
    AUTO(ranking_release) struct ranking ranking = {0};
    bool to_us = offline_has_word(text, "you") || offline_has_word(text, "your") ||
                 offline_has_word(text, "program");
    double manual = offline_has_word(text, "tiro") ? 0 : to_us ? TO_US_COVERAGE : MANUAL_COVERAGE;
    size_t quoted = 0;
    passages_rank(p, text, &ranking);
    if (ranking.hits.len == 0 && manual < MANUAL_COVERAGE) /* "who are you?" has no other word */
        passages_rank(p, "tiro", &ranking);
    for (size_t i = 0; i < ranking.hits.len && quoted < HITS; i++) {
        const struct ranked *r = &ranking.hits.items[i];
        if (r->coverage < (r->passage->is_talk ? TALK_COVERAGE : manual) ||
            r->score < SECOND_SCORE * ranking.hits.items[0].score)
            continue;
        quote(out, r->passage->text, r->passage->source);
        quoted++;
    }
    return quoted;
}

static bool add_passages(struct buf *out, const struct request *request, size_t question,
                         const char *text, const char *manual)
{
    AUTO(passages_release) struct passages passages = {0};
    add_hits(&passages, out, request, question);
    bool recalls = passages.items.len > 0;
    passages_add_manual(&passages, manual);
    add_talk(&passages, request, question, !recalls);
    size_t quoted = quote_ranked(out, &passages, text);
    if (quoted > 0)
        return true;
    /* Memory, best first, may know the same thing in other words. */
    for (size_t i = 0; i < passages.items.len && quoted < HITS; i++) {
        const struct passage *p = &passages.items.items[i];
        if (p->recalled < RECALL_SCORE)
            continue;
        quote(out, p->text, p->source);
        quoted++;
    }
    return quoted > 0;
}

/* --- the extract ------------------------------------------------------------------------------ */

#define PROMPT_BYTES 2000

/* The deterministic extract of the messages before `count`, for a summarising request; `prompt` is
 * that request's text. */
static void add_extract(struct buf *out, const struct request *request, size_t count,
                        const char *prompt)
{
    auto_free struct message *messages = mem_alloc(count * sizeof *messages);
    VEC(const struct message *) list = {0};
    size_t user = 0, assistant = 0, tool = 0;
    for (size_t i = 0; i < count; i++) {
        messages[i] = request->messages[i]; /* its blocks are borrowed */
        /* In a request for a summary the results of tools are texts of the user's. */
        struct message room;
        const struct message *m = message_whole(request->source, &messages[i], &room);
        const char *text =
            m->role == ROLE_USER && m->blocks.len > 0 ? m->blocks.items[0].text : NULL;
        bool result =
            text && (strncmp(text, "[result of ", 11) == 0 || strncmp(text, "[error of ", 10) == 0);
        enum role role = messages[i].role = result ? ROLE_TOOL : m->role;
        message_release(&room);
        user += role == ROLE_USER;
        assistant += role == ROLE_ASSISTANT;
        tool += role == ROLE_TOOL;
        vec_push(&list, &messages[i]);
    }
    buf_addf(out,
             "## Extract, made without a model\n\n%zu messages: %zu user, %zu assistant, "
             "%zu tool.",
             count, user, assistant, tool);
    /* Without messages the transcript stands in the prompt itself, below its first paragraph. */
    const char *rest = strstr(prompt, "\n\n");
    if (count > 0)
        extract_add(out, list.items, list.len, request->source);
    else if (rest)
        utf8_add_cut(out, rest, strlen(rest), PROMPT_BYTES + 2);
    else
        buf_addstr(out, "\n\nThere is nothing to summarise yet.");
    buf_addch(out, '\n');
    vec_release(&list);
}

/* --- the whole answer ------------------------------------------------------------------------- */

static void add_answer(struct buf *out, const struct request *request, size_t question,
                       const char *text, const char *manual)
{
    bool shown = has_shown_file(request, question);
    add_files(out, request, question);
    if (shown || (out->len > 0 && !offline_is_question(text)))
        return;
    bool failed = out->len > 0;
    if (add_passages(out, request, question, text, manual) || failed)
        return;
    bool searched = find_call(request, question, "memory_search", NULL);
    bool corpora = find_call(request, question, "rag_search", NULL);
    buf_addf(out,
             "I found nothing about that in this conversation%s%s or tiro's manual; ask *How do I "
             "connect a model?* for answers of a model. ",
             searched ? ", in memory" : "", corpora ? ", in the corpora that you named" : "");
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

struct offline_plan offline_plan_make(const struct request *request, const char *manual)
{
    struct offline_plan plan = {NULL, NULL, NULL};
    size_t question = find_question(request);
    auto_free char *whole = question < request->message_count
                                ? message_text(&request->messages[question])
                                : mem_strdup("");
    auto_free char *text = corpus_without_mentions(whole);
    const char *polite = pleasantry(text);
    struct buf out = BUF_INIT;
    if (strncmp(text, COMPACTION_PROMPT, strlen(COMPACTION_PROMPT)) == 0 ||
        (request->tool_count == 0 &&
         (utf8_contains_folded(text, "summari") || utf8_contains_folded(text, "summary")))) {
        /* The message right before the prompt may say which parts stay. */
        struct message room;
        auto_free char *last =
            question > 0 ? message_text(message_whole(request->source,
                                                      &request->messages[question - 1], &room))
                         : NULL;
        bool stays = last && strncmp(last, STAYS, strlen(STAYS)) == 0;
        if (last)
            message_release(&room);
        add_extract(&out, request, question - stays, text);
    } else if (polite) {
        buf_addf(&out, "%s\n", polite);
    } else if (plan_tool(request, question, text, &plan)) {
        return plan;
    } else {
        add_answer(&out, request, question, text, manual);
    }
    buf_addstr(&out, OFFLINE_MARK "\n");
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

/* --- the provider ----------------------------------------------------------------------------- */

/* The pace of an answer that is watched: as that of a fast model, and never long. */
#define PAUSE_MS 4
#define MAX_PAUSES 350
#define PIECE_BYTES 48

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

/* Returns the bytes that were sent: fewer than `len` when it was stopped. */
static size_t stream(const struct provider_call *call, const char *text, size_t len)
{
    size_t pieces = 0, at = 0;
    for (; at < len; at += piece_length(text + at, len - at))
        pieces++;
    for (at = 0; at < len;) {
        size_t end = at;
        for (size_t i = 0; i < pieces / MAX_PAUSES + 1 && end < len; i++)
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

static bool answer(const struct provider_call *call, const struct request *request,
                   const char *text, struct response *response, struct failure *failure)
{
    size_t len = strlen(text);
    size_t limit = request->max_output > 0 && request->max_output < (int64_t)(len / 4)
                       ? utf8_cut_bytes(text, len, (size_t)request->max_output * 4)
                       : len;
    size_t sent = stream(call, text, limit);
    if (sent > 0) {
        auto_free char *copy = mem_strndup(text, sent);
        vec_push(&response->blocks, block_text(copy));
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
    AUTO(offline_plan_release)
    struct offline_plan plan = offline_plan_make(request, manual ? manual : "");
    int64_t tokens = request->system ? (int64_t)strlen(request->system) / 4 : 0;
    size_t calls = 1;
    for (size_t i = 0; i < request->message_count; i++) {
        struct message room;
        const struct message *m = message_whole(request->source, &request->messages[i], &room);
        tokens += message_estimate_tokens(m);
        for (size_t b = 0; b < m->blocks.len; b++)
            calls += m->blocks.items[b].type == BLOCK_TOOL_CALL;
        message_release(&room);
    }
    for (size_t i = 0; i < request->tool_count; i++)
        tokens +=
            (int64_t)(strlen(request->tools[i].description) + strlen(request->tools[i].schema)) / 4;
    free(response->model);
    response->model = mem_strdup(provider_offline.name);
    response->usage =
        (struct usage){.input = tokens, .output = -1, .cached = -1, .estimated = true};
    if (request->source && request->source->failed)
        return failure_set(failure, FAILURE_SETUP, "%s", request->source->fault.text);
    if (!wakeup_sleep(call->wakeup, 0)) {
        response->stop_reason = STOP_CANCELLED;
        return failure_set(failure, FAILURE_CANCELLED, "interrupted");
    }
    if (!plan.tool)
        return answer(call, request, plan.text, response, failure);
    response->usage.output = (int64_t)(strlen(plan.tool) + strlen(plan.args)) / 4 + 1;
    response->stop_reason = STOP_TOOL_USE;
    struct block block = {.type = BLOCK_TOOL_CALL,
                          .id = mem_printf("offline_%zu", calls),
                          .name = plan.tool,
                          .text = plan.args};
    plan.tool = plan.args = NULL;
    vec_push(&response->blocks, block);
    return true;
}

bool offline_models(const struct provider_call *call, struct provider_names *out,
                    struct failure *failure)
{
    (void)call;
    (void)failure;
    vec_push(&out->names, mem_strdup(provider_offline.name));
    return true;
}
