#include "compact/shorten.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "compact/input.h"

#define MICRO_KEPT 1000
#define CUT_BEGIN "\n[cut: the first "
#define CUT_MIDDLE " of "
#define CUT_END " bytes]"
#define PLACEHOLDER_BEGIN "[tool result of "
#define PLACEHOLDER_END " bytes left out]"

/* The shorter text of a tool result, or NULL where it stays as it is; the caller frees. */
typedef char *shorten_result(const struct compact_settings *s, const char *text);

static char *cut_result(const struct compact_settings *s, const char *text)
{
    size_t len = strlen(text);
    if (len <= (size_t)s->micro_bytes)
        return NULL;
    size_t kept = utf8_cut_bytes(text, len, MICRO_KEPT);
    struct buf out = BUF_INIT;
    buf_add(&out, text, kept);
    buf_addf(&out, CUT_BEGIN "%zu" CUT_MIDDLE "%zu" CUT_END, kept, len);
    return buf_take(&out);
}

static bool has_more_chars(const char *text, size_t max)
{
    size_t chars = 0;
    for (; *text && chars <= max; text++)
        chars += ((unsigned char)*text & 0xC0) != 0x80;
    return chars > max;
}

/* Steps over the word, or over digits where it is NULL; NULL where they are not there. */
static const char *step_over(const char *at, const char *word)
{
    size_t len = at && word ? strlen(word) : 0;
    if (!at || (word && strncmp(at, word, len) != 0))
        return NULL;
    return at + (word ? len : strspn(at, "0123456789"));
}

static bool is_placeholder(const char *text)
{
    const char *end =
        step_over(step_over(step_over(text, PLACEHOLDER_BEGIN), NULL), PLACEHOLDER_END);
    return end && !*end;
}

static bool is_cut(const char *text)
{
    const char *note = strrchr(text, '\n');
    const char *end = step_over(step_over(note, CUT_BEGIN), NULL);
    end = step_over(step_over(step_over(end, CUT_MIDDLE), NULL), CUT_END);
    return end && !*end;
}

bool compact_is_shortened(const char *text)
{
    return is_placeholder(text) || is_cut(text);
}

static char *leave_out_result(const struct compact_settings *s, const char *text)
{
    if (!has_more_chars(text, (size_t)s->prune_chars) || is_placeholder(text))
        return NULL;
    size_t len = strlen(text);
    char *placeholder = mem_printf(PLACEHOLDER_BEGIN "%zu" PLACEHOLDER_END, len);
    if (strlen(placeholder) < len)
        return placeholder;
    free(placeholder);
    return NULL;
}

static char *shorter(const struct compact_input *in, const struct block *b, shorten_result *shorten)
{
    return b->type == BLOCK_TOOL_RESULT && b->text ? shorten(in->settings, b->text) : NULL;
}

static bool gets_shorter(const struct compact_input *in, size_t i, size_t newest,
                         shorten_result *shorten)
{
    struct message room;
    bool shorter_one = false;
    if (i >= newest || in->messages[i].role != ROLE_TOOL || in->messages[i].pinned)
        return false;
    const struct message *m = message_whole(in->source, &in->messages[i], &room);
    for (size_t b = 0; b < m->blocks.len && !shorter_one; b++) {
        char *text = shorter(in, &m->blocks.items[b], shorten);
        shorter_one = text != NULL;
        free(text);
    }
    message_release(&room);
    return shorter_one;
}

static struct message shortened(const struct compact_input *in, size_t i, shorten_result *shorten)
{
    struct message room;
    const struct message *old = message_whole(in->source, &in->messages[i], &room);
    struct message m = message_without_blocks(old);
    for (size_t b = 0; b < old->blocks.len; b++) {
        struct block block = old->blocks.items[b];
        char *text = shorter(in, &block, shorten);
        if (text)
            block.text = NULL;
        block = block_clone(&block);
        if (text)
            block.text = text;
        vec_push(&m.blocks, block);
    }
    message_release(&room);
    return m;
}

bool compact_prunes(const struct compact_input *in, size_t i, size_t newest)
{
    return gets_shorter(in, i, newest, leave_out_result);
}

struct message compact_pruned(const struct compact_input *in, size_t i)
{
    return shortened(in, i, leave_out_result);
}

bool compact_micro_useful(const struct compact_input *in)
{
    size_t newest = compact_newest_turn(in);
    for (size_t i = 0; i < newest; i++)
        if (gets_shorter(in, i, newest, cut_result))
            return true;
    return false;
}

bool compact_micro(const struct compact_input *in, struct rebuild *out)
{
    size_t newest = compact_newest_turn(in);
    *out = (struct rebuild){.parts = {0}};
    if (!compact_micro_useful(in))
        return false;
    for (size_t i = 0; i < newest; i++) {
        if (gets_shorter(in, i, newest, cut_result))
            rebuild_rewrite(out, i, shortened(in, i, cut_result));
        else
            rebuild_keep(out, i, 1);
    }
    rebuild_keep(out, newest, in->count - newest);
    return true;
}

bool compact_micro_enough(const struct compact_input *in, int64_t effective_window,
                          int64_t estimate_after)
{
    int64_t whole = effective_window > 0 ? effective_window : in->threshold;
    double target = in->settings->target_percent * (double)whole;
    return (double)estimate_after <= target && estimate_after < in->threshold;
}
