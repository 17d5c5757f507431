#include "tests/conversation.h"

#include "base/utf8.h"
#include "tests/suite.h"

/* --- dice ------------------------------------------------------------------------------------- */

uint64_t dice_throw(struct dice *d)
{
    uint64_t z = d->state += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

size_t dice_below(struct dice *d, size_t bound)
{
    return bound > 0 ? (size_t)(dice_throw(d) % bound) : 0;
}

bool dice_one_in(struct dice *d, size_t n)
{
    return dice_below(d, n) == 0;
}

char *dice_text(struct dice *d, size_t max)
{
    static const char *const pieces[] = {"a",
                                         "plain",
                                         "next step",
                                         "todo",
                                         " ",
                                         "\n",
                                         "\t",
                                         "src/main.c",
                                         "/etc/hosts",
                                         "café",
                                         "e\xCC\x81\xCC\xA3",
                                         "日本語",
                                         "مرحبا",
                                         "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
                                         "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA",
                                         "각",
                                         "\"quoted\"",
                                         "\\",
                                         "[Context compacted]",
                                         "## Timeline\n",
                                         "नमस्ते"};
    size_t want = dice_below(d, max + 1);
    struct buf out = BUF_INIT;
    while (out.len < want) {
        const char *piece = pieces[dice_below(d, sizeof pieces / sizeof *pieces)];
        if (out.len + strlen(piece) > max)
            break;
        buf_addstr(&out, piece);
    }
    return buf_take(&out);
}

/* --- by hand ---------------------------------------------------------------------------------- */

void conversation_release(struct conversation *c)
{
    for (size_t i = 0; i < c->messages.len; i++)
        message_release(&c->messages.items[i]);
    vec_release(&c->messages);
    vec_release(&c->estimates);
    c->open = 0;
}

void conversation_weigh(struct conversation *c)
{
    vec_clear(&c->estimates);
    for (size_t i = 0; i < c->messages.len; i++)
        vec_push(&c->estimates, message_estimate_tokens(&c->messages.items[i]));
}

static void weigh_last(struct conversation *c)
{
    vec_last(&c->estimates) = message_estimate_tokens(&vec_last(&c->messages));
}

size_t conversation_add(struct conversation *c, enum role role, const char *text)
{
    const struct message *last = c->messages.len > 0 ? &vec_last(&c->messages) : NULL;
    struct message m = {.role = role,
                        .seq = last ? last->seq + 10 : 1,
                        .turn = (last ? last->turn : 0) + (role == ROLE_USER)};
    if (text)
        vec_push(&m.blocks, block_text(text));
    vec_push(&c->messages, m);
    vec_push(&c->estimates, 0);
    weigh_last(c);
    c->open = c->messages.len;
    return c->messages.len - 1;
}

void conversation_call(struct conversation *c, const char *id, const char *name, const char *text)
{
    vec_push(&vec_last(&c->messages).blocks, (struct block){.type = BLOCK_TOOL_CALL,
                                                            .id = mem_strdup(id),
                                                            .name = mem_strdup(name),
                                                            .text = mem_strdup(text)});
    weigh_last(c);
}

void conversation_result(struct conversation *c, const char *id, const char *text)
{
    vec_push(
        &vec_last(&c->messages).blocks,
        (struct block){.type = BLOCK_TOOL_RESULT, .id = mem_strdup(id), .text = mem_strdup(text)});
    weigh_last(c);
}

/* --- at random -------------------------------------------------------------------------------- */

static void add_text(struct conversation *c, struct dice *d, size_t max)
{
    auto_free char *text = dice_text(d, max);
    struct block b = block_text(text);
    vec_push(&vec_last(&c->messages).blocks, b);
}

static size_t result_size(struct dice *d)
{
    static const size_t sizes[] = {0, 10, 30, 60, 60, 90, 150, 300, 2500};
    return sizes[dice_below(d, sizeof sizes / sizeof *sizes)];
}

/* An answer that calls, and the results, which need not come in the order of the calls. */
static void add_work(struct conversation *c, struct dice *d)
{
    static const char *const tools[] = {"read_file", "search_files", "run_command"};
    size_t calls = 1 + dice_below(d, 3), first = dice_below(d, 3);
    bool same = dice_one_in(d, 8);
    conversation_add(c, ROLE_ASSISTANT, NULL);
    if (dice_one_in(d, 4)) {
        char *text = dice_text(d, 60);
        vec_push(&vec_last(&c->messages).blocks, (struct block){.type = BLOCK_REASONING,
                                                                .text = text,
                                                                .signature = mem_strdup("proof"),
                                                                .name = mem_strdup("model")});
    }
    if (!dice_one_in(d, 3))
        add_text(c, d, 60);
    for (size_t i = 0; i < calls; i++) {
        auto_free char *id = mem_printf("call-%zu", same ? 0 : i);
        conversation_call(c, id, tools[dice_below(d, 3)], "{\"path\":\"src/base/buf.c\"}");
    }
    conversation_add(c, ROLE_TOOL, NULL);
    for (size_t i = 0; i < calls; i++) {
        auto_free char *id = mem_printf("call-%zu", same ? 0 : (i + first) % calls);
        auto_free char *text = dice_text(d, result_size(d));
        conversation_result(c, id, text);
    }
}

static void add_turn(struct conversation *c, struct dice *d, bool runs)
{
    size_t question = c->messages.len;
    conversation_add(c, ROLE_USER, NULL);
    bool image = dice_one_in(d, 8);
    if (image) {
        vec_push(&vec_last(&c->messages).blocks,
                 (struct block){.type = BLOCK_IMAGE,
                                .text = mem_strdup("pictures/cat.png"),
                                .media_type = mem_strdup("image/png")});
    }
    if (!image || dice_one_in(d, 2))
        add_text(c, d, 70);
    for (size_t work = dice_below(d, 4); work > 0; work--)
        add_work(c, d);
    if (!runs && !dice_one_in(d, 10)) {
        conversation_add(c, ROLE_ASSISTANT, "Well: ");
        add_text(c, d, 90);
        vec_last(&c->messages).partial = dice_one_in(d, 10);
    }
    c->open = runs ? question : c->messages.len;
}

/* Adds a summary as a compaction leaves it, in an earlier turn or in the middle of one. */
static void add_summary(struct conversation *c, struct dice *d)
{
    static const char *const begins[] = {
        "[Context compacted]\n\n",
        "[Context compacted] 7 earlier messages were dropped: 3 user, 3 assistant, 1 tool.",
        "[Context compacted] 1 earlier message was dropped: 1 user, 0 assistant, 0 tool."};
    conversation_add(c, ROLE_USER, begins[dice_below(d, 3)]);
    struct message *m = &vec_last(&c->messages);
    m->summary = true;
    if (c->messages.len > 1)
        m->turn = m[-1].turn;
    if (dice_one_in(d, 2))
        add_text(c, d, 200);
}

void conversation_random(struct conversation *c, struct dice *d, size_t turns)
{
    bool runs = turns > 0 && dice_one_in(d, 3);
    size_t summary = dice_one_in(d, 2) ? dice_below(d, turns + 1) : turns;
    for (size_t i = 0; i < turns; i++) {
        if (i == summary)
            add_summary(c, d);
        add_turn(c, d, runs && i + 1 == turns);
    }
    if (dice_one_in(d, 2)) {
        for (size_t i = 0; i < c->messages.len; i++) {
            struct message *m = &c->messages.items[i];
            bool result = m->role == ROLE_TOOL; /* is pinned with its answer */
            m->pinned = !m->summary && dice_one_in(d, result ? 2 : 9) &&
                        (!result || (i > 0 && m[-1].pinned && m[-1].role != ROLE_USER));
        }
    }
    conversation_weigh(c);
}

/* --- compaction ------------------------------------------------------------------------------- */

struct compact_settings conversation_settings(void)
{
    struct compact_settings s;
    struct compact_warnings w;
    AUTO(config_free_local) struct config *config = config_new();
    compact_settings_read(&s, config, &w);
    assert_int_equal(w.count, 0);
    return s;
}

struct compact_input conversation_input(const struct conversation *c,
                                        const struct compact_settings *s, int64_t threshold)
{
    return (struct compact_input){.messages = c->messages.items,
                                  .count = c->messages.len,
                                  .estimates = c->estimates.items,
                                  .open = c->open,
                                  .settings = s,
                                  .threshold = threshold};
}

void conversation_rebuilt(const struct conversation *c, const struct rebuild *r,
                          struct conversation *out)
{
    *out = (struct conversation){.open = SIZE_MAX};
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        if (p->count == 0)
            vec_push(&out->messages, message_clone(&p->made));
        for (size_t k = p->first; k < p->first + p->count; k++) {
            if (k == c->open)
                out->open = out->messages.len;
            vec_push(&out->messages, message_clone(&c->messages.items[k]));
        }
    }
    if (out->open == SIZE_MAX)
        out->open = out->messages.len;
    conversation_weigh(out);
}

/* --- invariants ------------------------------------------------------------------------------- */

static size_t count_blocks(const struct message *m, enum block_type type, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; m && i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        count += b->type == type && (!id || strcmp(b->id, id) == 0);
    }
    return count;
}

static bool pairs(const struct message *answer, const struct message *next)
{
    const struct message *results = next && next->role == ROLE_TOOL ? next : NULL;
    for (size_t i = 0; i < answer->blocks.len; i++) {
        const struct block *b = &answer->blocks.items[i];
        if (b->type == BLOCK_TOOL_CALL && count_blocks(answer, BLOCK_TOOL_CALL, b->id) !=
                                              count_blocks(results, BLOCK_TOOL_RESULT, b->id))
            return false;
    }
    return count_blocks(answer, BLOCK_TOOL_CALL, NULL) ==
           count_blocks(results, BLOCK_TOOL_RESULT, NULL);
}

static bool is_utf8(const struct message *m)
{
    for (size_t i = 0; i < m->blocks.len; i++) {
        const char *text = m->blocks.items[i].text;
        if (text && !utf8_valid(text, strlen(text)))
            return false;
    }
    return true;
}

static const char *fault_at(const struct conversation *c, size_t i)
{
    const struct message *m = &c->messages.items[i];
    const struct message *before = i > 0 ? m - 1 : NULL;
    const struct message *next = i + 1 < c->messages.len ? m + 1 : NULL;
    if (!before && m->role != ROLE_USER)
        return "the user does not begin";
    if (m->blocks.len == 0)
        return "it is empty";
    if (before && (m->seq <= before->seq || m->turn < before->turn))
        return "it is out of order";
    if (m->role == ROLE_TOOL && before->role != ROLE_ASSISTANT)
        return "nothing called these results";
    if (m->role == ROLE_ASSISTANT && !pairs(m, next))
        return "calls and results do not pair";
    return is_utf8(m) ? NULL : "it is no UTF-8";
}

char *conversation_fault(const struct conversation *c)
{
    size_t summaries = 0;
    for (size_t i = 0; i < c->messages.len; i++) {
        const struct message *m = &c->messages.items[i];
        const char *fault = fault_at(c, i);
        summaries += m->summary && !m->pinned;
        if (!fault && summaries > 1)
            fault = "it is a second summary";
        if (fault)
            return mem_printf("message %zu: %s", i, fault);
    }
    return NULL;
}

/* --- in short --------------------------------------------------------------------------------- */

static void sketch_block(struct buf *out, const struct block *b)
{
    static const char *const forms[] = {[BLOCK_TEXT] = "  ",
                                        [BLOCK_REASONING] = "{}",
                                        [BLOCK_TOOL_CALL] = "[]",
                                        [BLOCK_TOOL_RESULT] = "()",
                                        [BLOCK_IMAGE] = "<>"};
    const char *shown = b->id ? b->id : b->text;
    if (b->type == BLOCK_TEXT)
        buf_addstr(out, shown);
    else
        buf_addf(out, "%c%s%c", forms[b->type][0], shown, forms[b->type][1]);
}

char *conversation_sketch(const struct conversation *c)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < c->messages.len; i++) {
        const struct message *m = &c->messages.items[i];
        buf_addf(&out, "%s%c%s:", i > 0 ? " " : "", m->summary ? 'S' : role_name(m->role)[0],
                 m->pinned ? "^" : "");
        for (size_t b = 0; b < m->blocks.len; b++) {
            buf_addstr(&out, b > 0 ? "," : "");
            sketch_block(&out, &m->blocks.items[b]);
        }
    }
    return buf_take(&out);
}
