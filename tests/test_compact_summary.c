/* Summaries by a model: the requests, the folding of a long conversation, the result of every
 * answer and every fault. */
#include "base/paths.h"
#include "base/utf8.h"
#include "compact/summary.h"
#include "tests/scripted_summary.h"
#include "tests/steps.h"
#include "tests/suite.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define SYSTEM "You are tiro."

/* A family of four, one grapheme of 25 bytes. */
#define FAMILY                                                                                     \
    "\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7\xE2\x80\x8D\xF0\x9F" \
    "\x91\xA6"

static const char handoff_prompt[] =
    "You are performing a CONTEXT COMPACTION. Your job is to create a handoff summary so work can "
    "continue seamlessly.\n\nInclude:\n- Current progress and key decisions made\n- Important "
    "context, constraints, or user preferences discovered\n- What remains to be done (clear next "
    "steps)\n- Any critical data, file paths, examples, or references needed to continue\n- Tool "
    "call patterns that worked or failed\n\nBe concise and structured. Prioritize information the "
    "next context needs to act, not narrate.";

/* --- one summary ----------------------------------------------------------------------------- */

static struct bench {
    VEC(struct message) messages;
    VEC(int64_t) estimates;
    struct compact_plan plan;
    struct compact_input input;
    struct summary_job job;
    struct summariser model;
    struct scripted_summary script;
    struct summary summary;
    struct failure failure;
} b;

static int setup(void **state)
{
    (void)state;
    memset(&b, 0, sizeof b);
    b.job = (struct summary_job){.mode = &mode_handoff, .system = SYSTEM, .max_tokens = 4096};
    b.model = (struct summariser){
        .model = "small", .label = "test/small", .price = {.input = 1, .output = 2, .cached = -1}};
    scripted_summary_init(&b.script, NULL, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < b.messages.len; i++)
        message_release(&b.messages.items[i]);
    vec_release(&b.messages);
    vec_release(&b.estimates);
    vec_release(&b.plan.fates);
    scripted_summary_release(&b.script);
    mem_replace(&b.summary.text, NULL);
    return 0;
}

static void anew(void)
{
    teardown(NULL);
    setup(NULL);
}

static struct message *add(enum role role, const char *text)
{
    struct message m = {.role = role, .seq = (int64_t)b.messages.len + 1, .turn = 1};
    if (text)
        vec_push(&m.blocks, block_text(text));
    vec_push(&b.messages, m);
    vec_push(&b.plan.fates, FATE_GOES);
    return &vec_last(&b.messages);
}

static void add_block(struct message *m, enum block_type type, const char *name, const char *text)
{
    struct block block = {.type = type, .name = mem_strdup(name), .text = mem_strdup(text)};
    vec_push(&m->blocks, block);
}

static void prepare(void)
{
    vec_clear(&b.estimates);
    b.plan.gone = 0;
    for (size_t i = 0; i < b.messages.len; i++) {
        vec_push(&b.estimates, message_estimate_tokens(&b.messages.items[i]));
        b.plan.gone += b.plan.fates.items[i] == FATE_GOES;
    }
    b.input = (struct compact_input){.messages = b.messages.items,
                                     .count = b.messages.len,
                                     .estimates = b.estimates.items,
                                     .open = b.messages.len};
    b.job.input = &b.input;
    b.job.plan = &b.plan;
}

static bool complete(void *context, const struct summariser *s, const struct request *request,
                     bool (*delta)(void *, const char *, size_t), void *delta_context,
                     struct response *response, struct failure *failure)
{
    assert_ptr_equal(s, &b.model);
    assert_string_equal(request->model, s->model);
    return scripted_complete(context, request, delta, delta_context, response, failure);
}

static bool progress(void *context, const char *text, size_t len, int part, int of)
{
    return scripted_progress(context, text, len, part, of);
}

static bool may_call(void *context, struct failure *failure)
{
    return scripted_may_call(context, failure);
}

static enum summary_result make(void)
{
    const struct summary_host host = {
        .complete = complete, .progress = progress, .may_call = may_call, .context = &b.script};
    prepare();
    return summary_make(&b.job, &b.model, &host, &b.summary, &b.failure);
}

/* Makes a summary with one request, which is returned. */
static const struct sent_summary *make_one(void)
{
    size_t before = b.script.sent.len;
    mem_replace(&b.summary.text, NULL);
    assert_int_equal(make(), SUMMARY_DONE);
    assert_int_equal(b.script.sent.len, before + 1);
    return &b.script.sent.items[before];
}

#define SCRIPT(...)                                                                                \
    static const struct summary_act acts[] = {__VA_ARGS__};                                        \
    b.script.acts = acts;                                                                          \
    b.script.act_count = COUNT(acts)

static const char *prompt_of(size_t request)
{
    return sent_text(&b.script.sent.items[request], -1);
}

/* --- requests -------------------------------------------------------------------------------- */

FIXTURES(summary, setup, teardown);

TEST(messages_are_sent_as_plain_text)
{
    add(ROLE_USER, "Look at this");
    add_block(&b.messages.items[0], BLOCK_IMAGE, NULL, "/tmp/cat.png");
    struct message *m = add(ROLE_ASSISTANT, NULL);
    add_block(m, BLOCK_REASONING, NULL, "SECRET THOUGHT");
    add_block(m, BLOCK_TEXT, NULL, "I read it.");
    add_block(m, BLOCK_TOOL_CALL, "read_file", "{\"path\":\"a\"}");
    m = add(ROLE_TOOL, NULL);
    add_block(m, BLOCK_TOOL_RESULT, "read_file", "line one");
    m->blocks.items[0].is_error = true;
    m = add(ROLE_TOOL, NULL);
    add_block(m, BLOCK_TOOL_RESULT, "grep", "hit");
    add(ROLE_USER, "KEPT");
    b.plan.fates.items[4] = FATE_STAYS;
    add(ROLE_ASSISTANT, "");
    const struct sent_summary *sent = make_one();
    assert_int_equal(sent->messages.len, 6);
    static const enum role roles[] = {ROLE_USER, ROLE_ASSISTANT, ROLE_USER,
                                      ROLE_USER, ROLE_USER,      ROLE_USER};
    static const char *const texts[] = {
        "Look at this\n\n[image /tmp/cat.png]", "I read it.\n\n[called read_file {\"path\":\"a\"}]",
        "[error of read_file: line one]",       "[result of grep: hit]",
        SUMMARY_STAYS "\n\nuser: KEPT",         handoff_prompt};
    for (int i = 0; i < 6; i++) {
        const struct message *message = &sent->messages.items[i];
        assert_int_equal(message->role, roles[i]);
        assert_int_equal(message->blocks.len, 1);
        assert_int_equal(message->blocks.items[0].type, BLOCK_TEXT);
        assert_string_equal(sent_text(sent, i), texts[i]);
    }
}

/* Dropped messages are read in full; of the kept ones, the newest that fit into the window. */
TEST(of_what_stays_the_newest_has_room)
{
    char *filler = support_text("%0400d", 7);
    add(ROLE_USER, "all of this goes");
    for (int i = 0; i < 100; i++) {
        add(ROLE_USER, support_text("message %d. %s", i, filler));
        vec_last(&b.plan.fates) = FATE_STAYS;
    }
    b.model.window = 4000;
    const struct sent_summary *sent = make_one();
    assert_string_equal(sent_text(sent, 0), "all of this goes");
    assert_says(sent_text(sent, -2), "message 99.", "message 85.", "!message 60.");
    assert_true(sent->estimate + sent->max_output <= 3600);
}

TEST(images_without_a_path_are_not_sent)
{
    struct message *m = add(ROLE_USER, NULL);
    add_block(m, BLOCK_IMAGE, NULL, "data:image/png;base64,AAAA");
    m->blocks.items[0].media_type = mem_strdup("image/png");
    assert_string_equal(sent_text(make_one(), 0), "[image]");
}

TEST(a_request_has_system_limit_and_no_tools)
{
    add(ROLE_USER, "Hello");
    static const struct {
        int64_t wanted, own, window, limit;
    } cases[] = {{4096, 0, 0, 4096},
                 {4096, 1000, 0, 1000},
                 {4096, 8000, 0, 4096},
                 {4096, 0, 8192, 2048},
                 {500, 1000, 100000, 500}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        b.job.max_tokens = cases[i].wanted;
        b.model.max_output = cases[i].own;
        b.model.window = cases[i].window;
        const struct sent_summary *sent = make_one();
        assert_int_equal(sent->max_output, cases[i].limit);
        assert_int_equal(sent->window, cases[i].window);
        assert_int_equal(sent->tools, 0);
        assert_string_equal(sent->system, SYSTEM);
        assert_true(sent->estimate > (int64_t)strlen(handoff_prompt) / 4);
    }
}

/* Every model API requires a user's message first. */
TEST(a_conversation_from_its_middle_begins_with_the_user)
{
    add(ROLE_ASSISTANT, "An answer.");
    const struct sent_summary *sent = make_one();
    assert_int_equal(sent->messages.len, 3);
    assert_int_equal(sent->messages.items[0].role, ROLE_USER);
    assert_string_equal(sent_text(sent, 1), "An answer.");
}

TEST(the_structured_prompt_has_its_sections_in_order)
{
    static const char *const sections[] = {"## Goal",          "## Constraints & Preferences",
                                           "## Progress",      "### Done",
                                           "### In Progress",  "### Blocked",
                                           "## Key Decisions", "## Relevant Files",
                                           "## Next Steps",    "## Critical Context"};
    b.job.mode = &mode_structured;
    add(ROLE_USER, "Hello");
    assert_int_equal(make(), SUMMARY_DONE);
    const char *at = prompt_of(0);
    assert_says(at, "(none)");
    for (size_t i = 0; i < COUNT(sections); i++) {
        assert_says(at, sections[i]);
        at = strstr(at, sections[i]) + strlen(sections[i]);
    }
    assert_says(prompt_of(0), "!earlier summary");
}

/* Check 9, second half: on the second compaction the first summary reaches the summariser. */
TEST(an_earlier_summary_is_given_and_updated)
{
    b.job.mode = &mode_structured;
    add(ROLE_USER, COMPACT_PREFIX "\n\n## Goal\nTo sail.")->summary = true;
    add(ROLE_ASSISTANT, "Aye.");
    assert_int_equal(make(), SUMMARY_DONE);
    assert_says(sent_text(&b.script.sent.items[0], 0), "To sail.");
    assert_says(prompt_of(0), "from In Progress to Done");
    b.plan.fates.items[0] = FATE_STAYS;
    (void)make_one();
    assert_says(prompt_of(1), "!from In Progress to Done");
}

TEST(focus_and_draft_reach_the_request)
{
    add(ROLE_USER, "Hello");
    b.job.focus = "the {draft} of {part} and } {";
    b.job.draft = "MY DRAFT {focus}";
    assert_int_equal(make(), SUMMARY_DONE);
    assert_int_equal(strncmp(prompt_of(0), handoff_prompt, strlen(handoff_prompt)), 0);
    assert_says(prompt_of(0), "attention to this: the {draft} of {part} and } {",
                "\n\nMY DRAFT {focus}\n\n");
    b.job.focus = " \n";
    b.job.draft = NULL;
    (void)make_one();
    assert_string_equal(prompt_of(1), handoff_prompt);
}

TEST(a_focus_without_end_is_cut)
{
    AUTO(buf_release) struct buf focus = BUF_INIT;
    while (focus.len < 4000000)
        buf_addstr(&focus, FAMILY);
    add(ROLE_USER, "Hello");
    b.job.focus = focus.data;
    b.model.window = 100000;
    assert_int_equal(make(), SUMMARY_DONE);
    assert_true(strlen(prompt_of(0)) < 20000);
    assert_says(prompt_of(0), FAMILY "…");
}

/* Kept. */
static char *letters(char c, size_t count)
{
    char *text = support_keep(mem_alloc(count + 1));
    memset(text, c, count);
    return text;
}

/* --- folding --------------------------------------------------------------------------------- */

/* The limit of bytes holds for any window, and for an unknown one. */
TEST(parts_keep_to_the_limit_of_bytes)
{
    static const int64_t windows[] = {0, 100000};
    for (int i = 0; i < 200; i++)
        add(i % 2 ? ROLE_ASSISTANT : ROLE_USER, "A message of some words.");
    b.job.max_tokens = 100;
    b.model.max_bytes = 10000;
    for (size_t i = 0; i < COUNT(windows); i++) {
        size_t before = b.script.sent.len;
        b.model.window = windows[i];
        assert_int_equal(make(), SUMMARY_DONE);
        assert_true(b.script.sent.len >= before + 3);
        for (size_t k = before; k < b.script.sent.len; k++)
            assert_true(b.script.sent.items[k].estimate * 4 <= b.model.max_bytes / 5 * 4);
        mem_replace(&b.summary.text, NULL);
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void add_random(uint64_t *seed, size_t max_words)
{
    static const char *const words[] = {"word ",
                                        "\"q\"",
                                        "\\",
                                        "\n",
                                        "Gr\xC3\xBC\xC3\x9F"
                                        "e ",
                                        FAMILY,
                                        "e\xCC\x81",
                                        "\t",
                                        "\xE6\xBC\xA2\xE5\xAD\x97",
                                        "."};
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (size_t i = next_random(seed) % max_words; i > 0; i--)
        buf_addstr(&text, words[next_random(seed) % COUNT(words)]);
    enum role role = next_random(seed) % 2 ? ROLE_USER : ROLE_ASSISTANT;
    if (next_random(seed) % 4 == 0) {
        struct message *m = add(ROLE_TOOL, NULL);
        add_block(m, BLOCK_TOOL_RESULT, "read_file", text.data);
        vec_last(&m->blocks).id = mem_strdup("call_0123456789");
    } else {
        add(role, text.data);
    }
    if (next_random(seed) % 8 == 0)
        vec_last(&b.plan.fates) = FATE_STAYS;
}

struct parts {
    int64_t budget;
    struct summary_parts of;
    struct summary_messages messages; /* of the part that was read last */
};

static struct parts make_parts(int64_t budget)
{
    struct parts p = {.budget = budget};
    summary_parts_make(&b.input, &b.plan, budget, &p.of);
    return p;
}

static void read_part(struct parts *p, size_t i)
{
    int64_t tokens = 0;
    summary_messages_release(&p->messages);
    summary_part_read(&b.input, &b.plan, p->budget, &p->of, i, &p->messages);
    for (size_t k = 0; k < p->messages.items.len; k++)
        tokens += message_estimate_tokens(&p->messages.items.items[k]);
    assert_int_equal(tokens, p->of.items.items[i].tokens);
}

/* The only message of a part. */
static const struct message *only_message(struct parts *p, size_t i)
{
    read_part(p, i);
    assert_int_equal(p->messages.items.len, 1);
    return &p->messages.items.items[0];
}

static void release_parts(struct parts *p)
{
    summary_messages_release(&p->messages);
    vec_release(&p->of.items);
}

/* All dropped messages as one text. */
static void all_text(struct buf *out)
{
    AUTO(release_parts) struct parts parts = make_parts(0);
    assert_true(parts.of.items.len <= 1);
    if (parts.of.items.len > 0)
        read_part(&parts, 0);
    for (size_t i = 0; i < parts.messages.items.len; i++)
        buf_addstr(out, parts.messages.items.items[i].blocks.items[0].text);
}

/* The conversation's text in the requests, without carried summaries, leads and prompts. */
static void sent_parts(struct buf *out, const struct buf *all)
{
    for (size_t i = 0; i < b.script.sent.len; i++) {
        const struct sent_summary *sent = &b.script.sent.items[i];
        for (size_t m = 0; m + 1 < sent->messages.len; m++) {
            if (sent->messages.items[m].seq == 0) {
                bool stays = strstr(sent_text(sent, (int)m), SUMMARY_STAYS) != NULL;
                assert_int_equal(m, stays ? sent->messages.len - 2 : 0);
                assert_true(!stays || i + 1 == b.script.sent.len);
                continue;
            }
            buf_addstr(out, sent_text(sent, (int)m));
            assert_int_equal(utf8_cut_bytes(all->data, all->len, out->len), out->len);
        }
    }
}

static void check_sizes(void)
{
    for (size_t i = 0; i < b.script.sent.len; i++) {
        const struct sent_summary *sent = &b.script.sent.items[i];
        int64_t tokens = sent->max_output + (sent->system ? (int64_t)strlen(sent->system) / 4 : 0);
        for (size_t m = 0; m < sent->messages.len; m++)
            tokens += message_estimate_tokens(&sent->messages.items[m]);
        assert_true(tokens <= b.model.window * 9 / 10);
        assert_int_equal(sent->messages.items[0].role, ROLE_USER);
    }
}

/* Each part carries the summary of the parts before it, and states its number. */
static void check_chain(void)
{
    int of = (int)b.script.sent.len;
    for (int i = 0; i < of && of > 1; i++) {
        if (i > 0)
            assert_says(sent_text(&b.script.sent.items[i], 0), support_text("summary %d.", i));
        assert_says(prompt_of((size_t)i), support_text("part %d of %d", i + 1, of));
    }
}

/* Where it saves the folding, the summary has an eighth of the window in place of a quarter. */
TEST(a_shorter_summary_saves_calls)
{
    static const struct {
        int messages; /* of about 500 tokens */
        bool folds;
        int64_t most;
    } rows[] = {{9, false, 2048}, {11, false, 1024}, {14, true, 2048}};
    static const struct summary_act acts[] = {{.text = "One."}, {.text = "Two."}, {.text = "Three."},
                                              {.text = "Four."}, {.text = "Five."}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        anew();
        b.script.acts = acts;
        b.script.act_count = COUNT(acts);
        b.model.window = 8192;
        for (int k = 0; k < rows[i].messages; k++)
            add(k % 2 ? ROLE_ASSISTANT : ROLE_USER, letters('w', 2000));
        assert_int_equal(make(), SUMMARY_DONE);
        assert_int_equal(b.script.sent.len > 1, rows[i].folds);
        assert_int_equal(b.script.sent.items[0].max_output, rows[i].most);
    }
}

/* Every byte of every message is in some request, in order; each request fits the window. */
TEST(folding_skips_nothing)
{
    enum { PARTS = 20 };
    static struct summary_act acts[PARTS];
    for (int i = 0; i < PARTS; i++)
        acts[i].text = support_text("summary %d.", i + 1);
    char *system = letters('s', 1999);
    uint64_t seed = support_seed() | 1;
    size_t folded = 0;
    for (int round = 0; round < 100; round++) {
        anew();
        b.script.acts = acts;
        b.script.act_count = COUNT(acts);
        b.model.window = 2000 + (int64_t)(next_random(&seed) % 8000);
        b.job.system = system + next_random(&seed) % 2000;
        int64_t budget = b.model.window / 4;
        size_t max_words = next_random(&seed) % 3 ? 200 : 4000;
        for (int64_t tokens = 0; tokens < budget * (1 + round % 8);) {
            add_random(&seed, max_words);
            tokens += message_estimate_tokens(&vec_last(&b.messages));
        }
        enum summary_result result = make();
        if (b.script.sent.len == 0 || b.script.sent.len > PARTS)
            continue;
        assert_int_equal(result, SUMMARY_DONE);
        AUTO(buf_release) struct buf all = BUF_INIT, sent = BUF_INIT;
        all_text(&all);
        sent_parts(&sent, &all);
        assert_int_equal(sent.len, all.len);
        assert_memory_equal(sent.data, all.data, all.len);
        check_sizes();
        check_chain();
        folded += b.script.sent.len > 1;
    }
    assert_true(folded > 25);
}

/* Messages that are kept elsewhere. */
struct shelf {
    struct message_source source;
    VEC(struct message) items;
    size_t reads;
};

static bool take_down(struct message_source *source, const struct message *m, struct message *out,
                      struct error *e)
{
    struct shelf *s = (struct shelf *)source;
    (void)e;
    s->reads++;
    *out = message_clone(&s->items.items[m->row - 1]);
    return true;
}

static void put_away(struct shelf *s)
{
    *s = (struct shelf){.source = {.read = take_down}};
    for (size_t i = 0; i < b.messages.len; i++) {
        struct message *m = &b.messages.items[i];
        struct message rest = message_without_blocks(m);
        vec_push(&s->items, *m);
        rest.row = (int)i + 1;
        *m = rest;
    }
    b.input.source = &s->source;
}

static void shelf_release(struct shelf *s)
{
    for (size_t i = 0; i < s->items.len; i++)
        message_release(&s->items.items[i]);
    vec_release(&s->items);
}

/* Messages that are not in memory are read when their part is sent, and no part exceeds its
 * limit. */
TEST(parts_of_what_is_kept_elsewhere)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < 10; round++) {
        AUTO(buf_release) struct buf all = BUF_INIT, read = BUF_INIT;
        AUTO(shelf_release) struct shelf shelf = {0};
        anew();
        for (int i = 0; i < 60; i++)
            add_random(&seed, i % 20 == 19 ? 3000 : 100);
        prepare();
        all_text(&all);
        put_away(&shelf);
        AUTO(release_parts) struct parts parts = make_parts(1000);
        assert_true(shelf.reads < 10); /* those alone that must be split */
        for (size_t i = 0; i < parts.of.items.len; i++) {
            int64_t tokens = 0;
            summary_messages_release(&parts.messages);
            summary_part_read(&b.input, &b.plan, 1000, &parts.of, i, &parts.messages);
            for (size_t k = 0; k < parts.messages.items.len; k++) {
                const struct message *m = &parts.messages.items.items[k];
                tokens += message_estimate_tokens(m);
                buf_addstr(&read, m->blocks.items[0].text);
            }
            assert_true(tokens <= 1000 && tokens <= parts.of.items.items[i].tokens);
        }
        assert_string_equal(read.data, all.data);
    }
}

TEST(a_grapheme_without_end_is_split_between_characters)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addch(&text, 'e');
    while (text.len < 20000)
        buf_addstr(&text, "\xCC\x81");
    add(ROLE_USER, text.data);
    prepare();
    AUTO(release_parts) struct parts parts = make_parts(300);
    assert_true(parts.of.items.len > 10);
    for (size_t i = 0; i < parts.of.items.len; i++) {
        const struct message *m = only_message(&parts, i);
        const char *piece = m->blocks.items[0].text;
        assert_true(utf8_valid(piece, strlen(piece)));
        assert_true(message_estimate_tokens(m) <= 300);
    }
}

TEST(bytes_are_counted_as_they_are_sent)
{
    static const char kinds[] = {'\xFF', '\n', '\x01', '"', '\\', 'x'};
    for (size_t kind = 0; kind < sizeof kinds; kind++) {
        anew();
        add(ROLE_USER, letters(kinds[kind], 20000));
        prepare();
        size_t total = 0;
        AUTO(release_parts) struct parts parts = make_parts(300);
        for (size_t i = 0; i < parts.of.items.len; i++) {
            const struct message *m = only_message(&parts, i);
            assert_true(message_estimate_tokens(m) <= 300);
            total += strlen(m->blocks.items[0].text);
        }
        assert_int_equal(total, 20000);
    }
}

static void add_long(size_t bytes)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    while (text.len < bytes)
        buf_addf(&text, "Line %zu of a long text.\n", text.len);
    add(ROLE_USER, text.data);
}

static void fold(size_t bytes)
{
    b.model.window = 4000;
    b.job.max_tokens = 200;
    add_long(bytes);
}

/* A model that says more than it was asked for must not push the conversation out. */
TEST(a_long_summary_so_far_leaves_room)
{
    SCRIPT({.text = "So far. ", .times = 4000}, {.text = "So far. ", .times = 4000},
           {.text = "The end."});
    fold(28000);
    assert_int_equal(make(), SUMMARY_DONE);
    assert_int_equal(b.script.sent.len, 3);
    for (size_t i = 1; i < 3; i++) {
        const struct sent_summary *sent = &b.script.sent.items[i];
        assert_says(sent_text(sent, 0), "So far. So far.");
        assert_true(message_estimate_tokens(&sent->messages.items[0]) <= 400);
    }
    check_sizes();
    assert_string_equal(b.summary.text, "The end.");
}

/* From the second part on there is an earlier summary to update. */
TEST(a_folded_summary_is_updated)
{
    b.job.mode = &mode_structured;
    fold(14000);
    add_long(4000);
    assert_int_equal(make(), SUMMARY_DONE);
    assert_true(b.script.sent.len > 1);
    assert_says(prompt_of(0), "!from In Progress to Done");
    assert_says(prompt_of(1), "from In Progress to Done");
}

TEST(a_system_prompt_gives_way_to_the_conversation)
{
    char *system = letters('s', 11999);
    b.job.system = system;
    add(ROLE_USER, "Hello");
    b.model.window = 4000;
    assert_null(make_one()->system);
    b.model.window = 40000;
    assert_string_equal(make_one()->system, system);
}

TEST(a_window_too_small_for_anything_overflows_without_a_call)
{
    add(ROLE_USER, "Hello");
    b.model.window = 500;
    assert_int_equal(make(), SUMMARY_OVERFLOW);
    assert_int_equal(b.script.sent.len, 0);
    assert_int_equal(b.failure.kind, FAILURE_OVERFLOW);
    assert_says(b.failure.text, "no room");
}

/* --- results --------------------------------------------------------------------------------- */

TEST(use_is_summed_on_failure_too)
{
    SCRIPT({.text = "One.", .input = 1000, .output = 50},
           {.failure = FAILURE_STATUS, .why = "it is down", .input = 500, .output = 0});
    fold(14000);
    assert_int_equal(make(), SUMMARY_FAILED);
    assert_null(b.summary.text);
    assert_int_equal(b.summary.calls, 2);
    assert_int_equal(b.summary.usage.input, 1500);
    assert_true(b.summary.cost > 0.0015);
    assert_string_equal(b.failure.text, "it is down");
}

TEST(each_end_of_a_call)
{
    static const struct {
        struct summary_act act;
        enum summary_result result;
        const char *text; /* of the summary, or in the failure */
    } cases[] = {
        {{.text = " \n\t A summary.\n\n"}, SUMMARY_DONE, "A summary."},
        {{.text = ""}, SUMMARY_EMPTY, NULL},
        {{.text = NULL}, SUMMARY_EMPTY, NULL},
        {{.text = " \n\r\n \t "}, SUMMARY_EMPTY, NULL},
        {{.text = "I cannot help.", .stop = STOP_REFUSAL}, SUMMARY_FAILED, "refused"},
        {{.text = "x", .failure = FAILURE_OVERFLOW, .why = "too long"},
         SUMMARY_OVERFLOW,
         "too long"},
        {{.text = "x", .failure = FAILURE_CUT, .why = "cut"}, SUMMARY_FAILED, "cut"},
        {{.failure = FAILURE_STATUS, .why = "500"}, SUMMARY_FAILED, "500"},
        {{.failure = FAILURE_CANCELLED, .why = "stop"}, SUMMARY_CANCELLED, "stop"},
        {{.text = "Half.", .truncated = true}, SUMMARY_OVERFLOW, "dropped"},
        {{.stop = STOP_CONTEXT_EXCEEDED}, SUMMARY_OVERFLOW, "window"},
        {{.text = "One sentence. And hal", .stop = STOP_CONTEXT_EXCEEDED},
         SUMMARY_DONE,
         "One sentence."},
        {{.text = "One sentence. And hal", .stop = STOP_MAX_TOKENS}, SUMMARY_DONE, "One sentence."},
        {{.text = "One sentence. And hal", .stop = STOP_END_TURN},
         SUMMARY_DONE,
         "One sentence. And hal"},
        {{.text = "- first\n- second\n- thi", .stop = STOP_MAX_TOKENS},
         SUMMARY_DONE,
         "- first\n- second"},
        {{.text = "a word without any end", .stop = STOP_MAX_TOKENS},
         SUMMARY_DONE,
         "a word without any end"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        anew();
        add(ROLE_USER, "Hello");
        b.script.acts = &cases[i].act;
        b.script.act_count = 1;
        assert_int_equal(make(), cases[i].result);
        assert_int_equal(b.script.sent.len, 1);
        assert_int_equal(b.summary.usage.input, 100);
        if (cases[i].result == SUMMARY_DONE)
            assert_string_equal(b.summary.text, cases[i].text);
        else
            assert_null(b.summary.text);
        if (cases[i].text && cases[i].result != SUMMARY_DONE)
            assert_says(b.failure.text, cases[i].text);
    }
}

TEST(nothing_to_say_is_not_asked)
{
    add_block(add(ROLE_ASSISTANT, NULL), BLOCK_REASONING, NULL, "hm");
    assert_int_equal(make(), SUMMARY_EMPTY);
    assert_int_equal(b.script.sent.len, 0);
}

TEST(a_budget_that_is_used_up_ends_it)
{
    fold(14000);
    b.script.calls_allowed = 1;
    assert_int_equal(make(), SUMMARY_FAILED);
    assert_int_equal(b.script.sent.len, 1);
    assert_int_equal(b.summary.calls, 1);
    assert_string_equal(b.failure.text, "the budget is used up");
    assert_null(b.summary.text);
}

TEST(it_stops_at_every_delta)
{
    static const struct summary_act acts[] = {{.text = "One part.", .piece = 3},
                                              {.text = "Two parts", .piece = 3}};
    for (size_t at = 1; at <= 6; at++) {
        anew();
        fold(14000);
        b.script.acts = acts;
        b.script.act_count = COUNT(acts);
        b.script.stop_at = at;
        assert_int_equal(make(), SUMMARY_CANCELLED);
        assert_int_equal(b.script.deltas, at);
        assert_int_equal(b.script.sent.len, at <= 3 ? 1 : 2);
        assert_null(b.summary.text);
        assert_int_equal(b.summary.calls, b.script.sent.len);
        assert_int_equal(b.failure.kind, FAILURE_CANCELLED);
    }
}

/* --- hostile answers ------------------------------------------------------------------------- */

TEST(escapes_are_made_harmless)
{
    SCRIPT({.text = "\x1B[31mred\x07\r\nnext\xC2\x9B"
                    "0m\xE2\x80\xAE"
                    "rtl\xFF\xC0\x80 end\x7F"});
    add(ROLE_USER, "Hello");
    assert_int_equal(make(), SUMMARY_DONE);
    const char *const texts[] = {b.summary.text, b.script.streamed.data};
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_true(utf8_valid(texts[i], strlen(texts[i])));
        for (const char *c = texts[i]; *c; c++)
            assert_true((unsigned char)*c >= 0x20 || *c == '\n');
        assert_says(texts[i],
                    "!"
                    "\x7F",
                    "!"
                    "\xC2\x9B",
                    "!"
                    "\xE2\x80\xAE",
                    "red", "\nnext");
    }
}

TEST(an_answer_without_end_is_stopped_and_cut)
{
    SCRIPT({.text = FAMILY " and so on. ", .times = 280000, .piece = 4096});
    add(ROLE_USER, "Hello");
    b.job.max_tokens = 1000;
    assert_int_equal(make(), SUMMARY_DONE);
    size_t len = strlen(b.summary.text);
    assert_true(len <= 8000 && len > 7000);
    assert_int_equal(strcmp(b.summary.text + len - 10, "and so on."), 0);
    assert_true(b.script.streamed.len <= 8000 && b.script.streamed.len > 7900);
    assert_true(b.summary.usage.estimated);
    assert_true(b.summary.usage.output > 1900);
}

TEST(a_text_over_its_bound_ends_with_a_sentence)
{
    const struct block blocks[] = {{.type = BLOCK_TEXT, .text = (char[]){"One sentence."}},
                                   {.type = BLOCK_REASONING, .text = (char[]){"Hm."}},
                                   {.type = BLOCK_TEXT, .text = (char[]){"Another. And more"}}};
    static const struct {
        size_t max;
        const char *text;
    } cases[] = {{100, "One sentence.\n\nAnother. And more"},
                 {28, "One sentence.\n\nAnother."},
                 {18, "One sentence."},
                 {5, "One s"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *text = support_keep(summary_text(blocks, COUNT(blocks), cases[i].max, false));
        assert_string_equal(text, cases[i].text);
    }
}

TEST(sentences_end_where_they_should)
{
    static const struct {
        const char *text;
        size_t len;
    } cases[] = {{"", 0},
                 {"One. Two", 8}, /* more than half would go */
                 {"The first. Two", 10},
                 {"See also v1.2.3 fil", 19},
                 {"Really? Yes! And th", 12},
                 {"a\nb\nc", 4},
                 {"\xE6\xBC\xA2\xE5\xAD\x97\xE3\x80\x82\xE6\xBC\xA2", 9},
                 {"done.", 5}};
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(summary_text_sentences(cases[i].text, strlen(cases[i].text)),
                         cases[i].len);
}
