#include "provider/dialects.h"

#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "provider/offline_plan.h"

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

static bool complete(const struct provider_call *call, const struct request *request,
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

static bool list_models(const struct provider_call *call, struct provider_names *out,
                        struct failure *failure)
{
    (void)call;
    (void)failure;
    vec_push(&out->names, mem_strdup(provider_offline.name));
    return true;
}

const struct provider provider_offline = {
    .name = "offline", .has_network = false, .complete = complete, .models = list_models};
