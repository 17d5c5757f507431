/* Shared spaces: what one replica says, edits and forgets is the same on all others. */
#include "base/clock.h"
#include "base/paths.h"
#include "knowledge/learned.h"
#include "space/space.h"
#include "store/sql.h"
#include "tests/memory_store.h"
#include "tests/suite.h"

enum { REPLICAS = 5 };

static struct error e;

/* A machine with its own database, and a member of the space. */
struct replica {
    struct store *store;
    struct memory *memory;
    struct space space;
    struct carrier *carrier;
    struct space_news news;
    char *name, *path;
    uint64_t made; /* ids */
};
static struct replica replicas[REPLICAS];

/* ---- a carrier that fails ---- */

static struct {
    int in;    /* calls until one fails; negative: none does */
    bool done; /* the failing call does its work, and its caller does not hear of it */
} failure = {-1, false};

static bool fails(bool *before)
{
    bool now = failure.in == 0;
    failure.in -= failure.in >= 0;
    *before = now && !failure.done;
    return now;
}

static bool cut(void)
{
    return err_set(&e, ERR_AGENT_ERROR, "the connection was cut");
}

static bool failing_push(struct carrier *c, const struct space_line *lines, size_t count,
                         struct error *cause)
{
    bool before, now = fails(&before);
    (void)cause;
    return !before && carrier_folder.push(c, lines, count, &e) && (!now || cut());
}

static bool failing_pull(struct carrier *c, struct buf *cursor, size_t most,
                         struct space_lines *out, bool *more, int64_t *skipped, struct error *cause)
{
    bool before, now = fails(&before);
    (void)most;
    /* Small steps, so that there are many. */
    if (before || !carrier_folder.pull(c, cursor, 1000, out, more, skipped, cause))
        return cut();
    if (now)
        space_lines_release(out);
    return !now || cut();
}

static bool failing_erase(struct carrier *c, const char *const *entries, size_t count,
                          struct error *cause)
{
    bool before, now = fails(&before);
    (void)cause;
    return !before && carrier_folder.erase(c, entries, count, &e) && (!now || cut());
}

/* ---- replicas ---- */

static void connect_to(struct replica *r)
{
    static struct carrier_ops failing;
    failing = carrier_folder;
    failing.push = failing_push;
    failing.pull = failing_pull;
    failing.erase = failing_erase;
    assert_ok(space_connect(&r->space, NULL, &r->carrier, &e), e);
    r->carrier->ops = &failing;
}

static void open_store(struct replica *r)
{
    assert_ok(store_open(r->path, STORE_READ_WRITE, &r->store, &e), e);
    r->memory = memory_open(r->store, NULL);
}

static void close_store(struct replica *r)
{
    if (r->carrier)
        carrier_folder.close(r->carrier);
    r->carrier = NULL;
    memory_close(r->memory);
    store_close(r->store);
}

/* The program ends without warning, and starts again. */
static void restart(struct replica *r)
{
    close_store(r);
    open_store(r);
    space_release(&r->space);
    assert_ok(space_find(r->store, NULL, &r->space, &e), e);
    connect_to(r);
}

static int setup(void **state)
{
    support_setup(state);
    struct space_facts facts = {.id = "0196f0c0-0000-7000-8000-000000000001",
                                .name = (char *)"team",
                                .schema = SPACE_SCHEMA,
                                .min_client = 1};
    char *url = support_text("folder:%s/shared", support_dir());
    failure.in = -1;
    for (int i = 0; i < REPLICAS; i++) {
        struct replica *r = &replicas[i];
        *r = (struct replica){.name = support_text("person%d", i),
                              .path = support_path(support_text("r%d/tiro.db", i))};
        struct space space = {.name = mem_strdup("team"),
                              .id = mem_strdup(facts.id),
                              .url = mem_strdup(url),
                              .person = mem_strdup(r->name),
                              .writer = mem_printf("writer%d", i),
                              .role = i == 0 ? SPACE_OWNER : SPACE_WRITER,
                              .form = SPACE_SCHEMA};
        const struct space_member member = {.person = r->name, .role = space.role};
        open_store(r);
        assert_ok(space_add(r->store, &space, &e), e);
        space_release(&space);
        assert_ok(space_find(r->store, NULL, &r->space, &e), e);
        connect_to(r);
        assert_ok(i == 0 ? carrier_folder.make(r->carrier, &facts, &member, &e)
                         : carrier_folder.put_member(r->carrier, &member, &e),
                  e);
    }
    for (int i = 0; i < REPLICAS; i++)
        assert_ok(space_refresh(replicas[i].store, &replicas[i].space, replicas[i].carrier, &e), e);
    return 0;
}

static int teardown(void **state)
{
    for (int i = 0; i < REPLICAS; i++) {
        close_store(&replicas[i]);
        space_release(&replicas[i].space);
    }
    return support_teardown(state);
}

/* ---- what people do ---- */

static char *say(struct replica *r, const char *session, const char *text, int64_t at)
{
    char *id = support_text("%s-entry-%llu", r->name, (unsigned long long)++r->made);
    struct memory_entry entry = memory_said(id, text, at);
    int stored;
    entry.seq = (int64_t)r->made;
    memory_check(r->memory->ops->index(r->memory, session, 0, &entry, 1, &stored, &e), &e);
    memory_entry_release(&entry);
    return stored == 1 ? id : NULL;
}

static void share(struct replica *r, const char *session, bool shared)
{
    struct space_shared out;
    assert_ok(space_share(r->store, &r->space, "session", session, shared, false, &out, &e), e);
    space_shared_release(&out);
}

/* One of the three steps of the background; false: it failed, and can be repeated. */
static bool push(struct replica *r)
{
    bool more = true;
    while (more)
        assert_ok(space_gather(r->store, r->memory, 100, &more, &e), e);
    do
        if (!space_send(r->store, &r->space, r->carrier, &more, &e))
            return false;
    while (more);
    return true;
}

static bool pull(struct replica *r)
{
    bool more = true;
    while (more)
        if (!space_receive(r->store, r->memory, &r->space, r->carrier, &more, &r->news, &e))
            return false;
    return true;
}

static void settle(void)
{
    failure.in = -1;
    for (int i = 0; i < REPLICAS; i++)
        assert_ok(push(&replicas[i]), e);
    for (int i = 0; i < REPLICAS; i++)
        assert_ok(pull(&replicas[i]), e);
    for (int i = 0; i < REPLICAS; i++) /* lines of forgotten bodies */
        assert_ok(push(&replicas[i]), e);
    for (int i = 0; i < REPLICAS; i++)
        assert_ok(pull(&replicas[i]), e);
}

/* ---- what is there ---- */

static bool add_line(void *list, const struct memory_entry *entry)
{
    struct text_list *lines = list;
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    struct memory_entry kept = *entry;
    kept.from = kept.author = NULL; /* differ by the machine */
    shape_write(&memory_entry_shape, &kept, &o);
    vec_push(&lines->items, buf_take(&text));
    return true;
}

/* The export, sorted; kept. */
static char *export_of(struct replica *r)
{
    struct text_list lines = {0};
    struct buf all = BUF_INIT;
    memory_check(r->memory->ops->each(r->memory, add_line, &lines, &e), &e);
    vec_sort(&lines.items, vec_text_order);
    for (size_t i = 0; i < lines.items.len; i++)
        buf_addf(&all, "%s\n", lines.items.items[i]);
    vec_free_each(&lines.items);
    return support_keep(buf_take(&all));
}

/* Ids and ranks of the hits of a question; kept. */
static char *found_by(struct replica *r, const char *question)
{
    struct memory_hits hits;
    struct memory_query query = lore_query(question);
    struct text_list lines = {0};
    struct buf all = BUF_INIT;
    query.limit = 1000; /* equal ranks are in the order of keys, which differ */
    memory_check(r->memory->ops->search(r->memory, &query, &hits, &e), &e);
    for (size_t i = 0; i < hits.items.len; i++)
        vec_push(&lines.items, mem_printf("%.9f %s", 100 - hits.items.items[i].rank,
                                          hits.items.items[i].entry.id));
    memory_hits_release(&hits);
    vec_sort(&lines.items, vec_text_order);
    for (size_t i = 0; i < lines.items.len; i++)
        buf_addf(&all, "%s\n", lines.items.items[i]);
    vec_free_each(&lines.items);
    return support_keep(buf_take(&all));
}

static void expect_export(struct replica *r, const char *wanted)
{
    AUTO(memory_entries_release) struct memory_entries all = {0};
    struct buf text = BUF_INIT;
    const struct memory_scope scope = {.kind = MEMORY_SCOPE_ALL};
    memory_check(r->memory->ops->list(r->memory, &scope, 0, -1, &all, &e), &e);
    for (size_t i = all.items.len; i-- > 0;)
        buf_addf(&text, "%s|", all.items.items[i].content);
    char *kept = support_keep(buf_take(&text));
    assert_string_equal(kept, wanted);
}

FIXTURE(setup, teardown);

TEST(nothing_is_shared_until_somebody_says_so)
{
    struct replica *a = &replicas[0], *b = &replicas[1];
    say(a, "s", "a private word", 1000);
    settle();
    expect_export(b, "");
    share(a, "s", true);
    say(a, "s", "another word", 2000);
    say(a, "other", "of a session that is not shared", 3000);
    settle();
    expect_export(b, "a private word|another word|");
}

TEST(an_edit_and_a_pin_reach_all)
{
    struct replica *a = &replicas[0], *b = &replicas[1];
    share(a, "s", true);
    char *id = say(a, "s", "the door code is 1234", 1000);
    settle();
    memory_check(b->memory->ops->edit(b->memory, id, "the door code is 5678", &e), &e);
    settle();
    for (int i = 0; i < REPLICAS; i++)
        expect_export(&replicas[i], "the door code is 5678|");
    memory_check(a->memory->ops->pin(a->memory, id, true, &e), &e);
    settle();
    for (int i = 1; i < REPLICAS; i++)
        assert_string_equal(export_of(&replicas[i]), export_of(a));
}

TEST(a_forgotten_entry_is_erased_everywhere_and_stays_away)
{
    struct replica *a = &replicas[0], *b = &replicas[1];
    share(b, "s", true);
    char *id = say(b, "s", "the secret of Maupertuis", 1000);
    say(b, "s", "a harmless word", 2000);
    settle();
    memory_check(b->memory->ops->forget(b->memory, (const char *const[]){id}, 1, NULL, &e), &e);
    settle();
    for (int i = 0; i < REPLICAS; i++)
        expect_export(&replicas[i], "a harmless word|");
    /* Neither the log has it. */
    char *out = NULL;
    struct support_child grep;
    support_start(
        &grep, TEXTS("/bin/grep", "-rl", "Maupertuis", support_text("%s/shared", support_dir())));
    assert_int_equal(support_finish(&grep, NULL), 1);
    support_release(&grep);
    (void)out;
    /* A replica that begins anew reads the whole log. */
    assert_ok(sql_exec(a->store, &e, "UPDATE space SET cursor = ''", ""), e);
    restart(a);
    settle();
    expect_export(a, "a harmless word|");
}

TEST(a_member_hides_what_an_other_wrote_and_an_owner_forgets_it)
{
    struct replica *owner = &replicas[0], *b = &replicas[1], *c = &replicas[2];
    share(b, "s", true);
    char *id = say(b, "s", "one word", 1000);
    char *other = say(b, "s", "two words", 2000);
    settle();
    memory_check(c->memory->ops->forget(c->memory, (const char *const[]){id}, 1, NULL, &e), &e);
    settle();
    expect_export(c, "two words|");
    expect_export(owner, "one word|two words|");
    memory_check(
        owner->memory->ops->forget(owner->memory, (const char *const[]){other}, 1, NULL, &e), &e);
    settle();
    expect_export(c, "");
    expect_export(&replicas[3], "one word|");
    expect_export(b, "one word|two words|"); /* the person's own words */
}

TEST(a_session_that_is_taken_back_is_private_again)
{
    struct replica *a = &replicas[0], *b = &replicas[1];
    share(a, "s", true);
    say(a, "s", "a word", 1000);
    settle();
    expect_export(b, "a word|");
    share(a, "s", false);
    say(a, "s", "another word", 2000);
    settle();
    expect_export(b, "");
    expect_export(a, "a word|another word|");
}

TEST(a_machine_that_is_out_of_touch_erases_what_others_wrote)
{
    struct replica *a = &replicas[0], *b = &replicas[1];
    share(a, "s", true);
    share(b, "t", true);
    say(a, "s", "a word of others", 1000);
    say(b, "t", "an own word", 2000);
    settle();
    b->space.lease_days = 90;
    b->space.read_ms = clock_wall_ms() - 89 * 86400000LL;
    assert_ok(space_expire(b->store, b->memory, &b->space, &e), e);
    expect_export(b, "a word of others|an own word|");
    b->space.read_ms = clock_wall_ms() - 91 * 86400000LL;
    assert_ok(space_expire(b->store, b->memory, &b->space, &e), e);
    expect_export(b, "an own word|");
    expect_export(a, "a word of others|an own word|"); /* nothing is forgotten for others */
    settle();
    expect_export(b, "a word of others|an own word|");
    expect_export(a, "a word of others|an own word|");
}

TEST(after_a_restored_backup_everything_is_erased_and_sent_again)
{
    struct replica *a = &replicas[0], *b = &replicas[1];
    share(a, "s", true);
    char *id = say(a, "s", "a forgotten word", 1000);
    say(a, "s", "a kept word", 2000);
    settle();
    struct support_child copy;
    char *log = support_text("%s/shared/log", support_dir());
    char *backup = support_text("%s/backup", support_dir());
    support_start(&copy, TEXTS("/bin/cp", "-r", log, backup));
    assert_int_equal(support_finish(&copy, NULL), 0);
    support_release(&copy);
    memory_check(a->memory->ops->forget(a->memory, (const char *const[]){id}, 1, NULL, &e), &e);
    char *last = say(a, "s", "a late word", 3000);
    settle();
    support_start(&copy,
                  TEXTS("/bin/sh", "-c", "rm -r \"$1\" && mv \"$2\" \"$1\"", "sh", log, backup));
    assert_int_equal(support_finish(&copy, NULL), 0);
    support_release(&copy);
    settle(); /* A finds that its last file is not there, and sends again */
    settle();
    expect_export(b, "a kept word|a late word|");
    memory_check(b->memory->ops->edit(b->memory, last, "a later word", &e), &e);
    settle();
    expect_export(a, "a kept word|a later word|");
    support_start(&copy, TEXTS("/bin/grep", "-r", "forgotten word", log));
    assert_int_equal(support_finish(&copy, NULL), 1);
    support_release(&copy);
}

/* Lines of a member who writes what the program would not. */
static void write_line(struct replica *r, const char *json)
{
    struct space_line line;
    bool known;
    char *text = support_json(json);
    assert_ok(space_line_read(text, strlen(text), &line, &known, &e) && known, e);
    assert_ok(carrier_folder.push(r->carrier, &line, 1, &e), e);
    space_line_release(&line);
}

/* An entry that person1 writes without the program. */
static void write_entry(const char *id, const char *session)
{
    write_line(&replicas[1],
               support_text("{'entry':'%s','version':1,'kind':'entry','owner':'person1','at':1,"
                            "'body':'{\\\"id\\\":\\\"%s\\\",\\\"session_id\\\":\\\"%s\\\","
                            "\\\"turn\\\":0,\\\"role\\\":\\\"user\\\",\\\"created_at\\\":"
                            "\\\"2026-01-01T00:00:00Z\\\",\\\"content\\\":\\\"evil\\\"}'}",
                            id, id, session));
}

TEST(a_member_cannot_overwrite_private_entries_or_forget_those_of_others)
{
    struct replica *a = &replicas[0], *b = &replicas[1], *c = &replicas[2];
    char *mine = say(a, "private", "my words", 1000);
    share(a, "s", true);
    char *shared = say(a, "s", "shared words", 2000);
    assert_ok(sql_exec(a->store, &e,
                       "INSERT INTO session (id, title, title_set, directory, provider, model,"
                       " created_ms, updated_ms, messages, turns, last_seq, estimated) VALUES"
                       " ('s', '', 0, '/', '', '', 1, 1, 1, 1, 1, 0)",
                       ""),
              e);
    settle();
    write_entry(mine, "private");
    write_entry("person1-made-up", "s"); /* words in a session that A holds */
    write_line(b, support_text("{'entry':'%s','version':9,'kind':'forget','owner':'person1',"
                               "'at':1}",
                               shared));
    settle();
    expect_export(a, "my words|shared words|");
    assert_int_equal(a->news.refused, 3);
    /* For others both are entries of person1. */
    expect_export(c, "shared words|evil|evil|");
    struct memory_entry entry;
    memory_check(c->memory->ops->get(c->memory, "person1-made-up", &entry, &e), &e);
    assert_string_equal(memory_entry_speaker(&entry), "person1");
    memory_entry_release(&entry);
    /* So is an entry of A whose text B has changed. */
    memory_check(b->memory->ops->edit(b->memory, shared, "changed words", &e), &e);
    settle();
    memory_check(c->memory->ops->get(c->memory, shared, &entry, &e), &e);
    assert_string_equal(memory_entry_speaker(&entry), "person1");
    assert_string_equal(entry.content, "changed words");
    memory_entry_release(&entry);
}

/* ---- after any interleaving all replicas are equal ---- */

static const char *const words[] = {"harbour", "lantern", "violin",  "copper", "meadow", "signal",
                                    "cellar",  "orchard", "granite", "ribbon", "saddle", "thimble"};

static char *sentence(uint64_t *seed)
{
    struct buf text = BUF_INIT;
    for (uint64_t n = 2 + support_random(seed) % 12; n > 0; n--)
        buf_addf(&text, "%s%s", text.len > 0 ? " " : "",
                 words[support_random(seed) % (sizeof words / sizeof *words)]);
    return support_keep(buf_take(&text));
}

/* An entry that this replica has; NULL: none. Of its own if `own`. */
static char *any_entry(struct replica *r, uint64_t *seed, bool own)
{
    struct text_list ids = {0};
    char *id = NULL;
    memory_check(r->memory->ops->ids(r->memory, own ? r->name : "", 1000, &ids, &e), &e);
    if (ids.items.len > 0)
        id = support_keep(mem_strdup(ids.items.items[support_random(seed) % ids.items.len]));
    vec_free_each(&ids.items);
    return id;
}

static void act(struct replica *r, uint64_t *seed, int64_t at)
{
    char *id;
    switch (support_random(seed) % 12) {
    case 0:
    case 1:
    case 2:
    case 3:
        say(r, support_text("%s-%d", r->name, (int)(support_random(seed) % 3)), sentence(seed),
            at - (int64_t)(support_random(seed) % 3) * 7200000);
        break;
    case 4:
        if ((id = any_entry(r, seed, false)))
            memory_check(r->memory->ops->edit(r->memory, id, sentence(seed), &e), &e);
        break;
    case 5:
        if ((id = any_entry(r, seed, true)))
            memory_check(r->memory->ops->forget(r->memory, (const char *const[]){id}, 1, NULL, &e),
                         &e);
        break;
    case 6:
        if ((id = any_entry(r, seed, false)))
            memory_check(r->memory->ops->pin(r->memory, id, support_random(seed) % 2, &e), &e);
        break;
    case 7:
    case 8:
        if (!push(r))
            restart(r);
        break;
    case 9:
    case 10:
        if (!pull(r))
            restart(r);
        break;
    default:
        failure.in = (int)(support_random(seed) % 4);
        failure.done = support_random(seed) % 2;
    }
}

TEST(after_any_interleaving_all_replicas_have_the_same_entries_and_hits)
{
    uint64_t seed = support_seed();
    for (int i = 0; i < REPLICAS; i++)
        for (int k = 0; k < 3; k++)
            share(&replicas[i], support_text("%s-%d", replicas[i].name, k), true);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 150; i++)
            act(&replicas[support_random(&seed) % REPLICAS], &seed,
                1750000000000 + round * 86400000LL + i * 60000LL);
        settle();
        char *wanted = export_of(&replicas[0]);
        for (int i = 1; i < REPLICAS; i++) {
            assert_string_equal(export_of(&replicas[i]), wanted);
            assert_int_equal(replicas[i].news.refused + replicas[i].news.skipped, 0);
        }
        for (size_t w = 0; w + 1 < sizeof words / sizeof *words; w++) {
            char *question = support_text("%s %s", words[w], words[w + 1]);
            for (int i = 1; i < REPLICAS; i++)
                assert_string_equal(found_by(&replicas[i], question),
                                    found_by(&replicas[0], question));
        }
    }
    assert_true(strlen(export_of(&replicas[0])) > 1000);
}

/* The texts of learned items in this state, one after another. */
static void expect_learned(struct replica *r, enum learned_state state, const char *wanted)
{
    struct learned_items items = {0};
    struct buf text = BUF_INIT;
    const struct learned_filter filter = {.states = 1U << state};
    assert_ok(learned_list(r->store, &filter, &items, &e), e);
    for (size_t i = 0; i < items.items.len; i++)
        buf_addf(&text, "%s|", items.items.items[i].text);
    learned_items_release(&items);
    char *kept = support_keep(buf_take(&text));
    assert_string_equal(kept, wanted);
}

TEST(learned_items_of_others_are_proposals)
{
    struct replica *a = &replicas[0], *b = &replicas[1], *c = &replicas[2];
    char *project = support_path("tool");
    struct learned_item item = {.scope = LEARNED_PROJECT,
                                .kind = LEARNED_FACT,
                                .state = LEARNED_ACTIVE,
                                .origin = LEARNED_ADDED,
                                .project = project,
                                .text = (char *)"the tests need a display"};
    AUTO(learned_item_release) struct learned_item kept = {.id = NULL};
    struct space_shared shared;
    enum learned_added how;
    assert_ok(paths_make_dir(support_path("tool/.git"), &e), e);
    support_write(support_path("tool/.git/config"), "[remote \"o\"]\nurl = https://x.org/a/tool\n");
    assert_ok(learned_add(a->store, &item, &kept, &how, &e), e);
    assert_ok(space_share(a->store, &a->space, "project", "x.org/a/tool", true, false, &shared, &e),
              e);
    space_shared_release(&shared);
    assert_ok(space_note_directory(c->store, project, "x.org/a/tool", &e), e);
    settle();
    expect_learned(c, LEARNED_CANDIDATE, "the tests need a display|");
    expect_learned(b, LEARNED_CANDIDATE, ""); /* it has no such project yet */
    assert_ok(space_note_directory(b->store, project, "x.org/a/tool", &e), e);
    restart(b);
    settle();
    expect_learned(b, LEARNED_CANDIDATE, "the tests need a display|");
    assert_ok(learned_edit(a->store, kept.id, "the tests need Xvfb", &e), e);
    settle();
    expect_learned(b, LEARNED_CANDIDATE, "the tests need Xvfb|");
    settle();
    expect_learned(a, LEARNED_CANDIDATE, "");
    expect_learned(a, LEARNED_ACTIVE, "the tests need Xvfb|");
    struct learned_items gone = {0};
    assert_ok(learned_forget(a->store, (const char *const[]){kept.id}, 1, &gone, &e), e);
    learned_items_release(&gone);
    settle();
    expect_learned(b, LEARNED_CANDIDATE, "");
    expect_learned(c, LEARNED_CANDIDATE, "");
}

TEST(a_remote_is_a_host_and_a_path)
{
    static const char *const cases[][2] = {
        {"git@github.com:team/tool.git", "github.com/team/tool"},
        {"https://user:secret@GitHub.com/team/tool.git", "github.com/team/tool"},
        {"ssh://git@example.org:2222/team/tool/", "example.org/team/tool"},
        {"https://example.org/a/b/c?x=1", "example.org/a/b/c"},
        {"/srv/git/tool.git", ""},
        {"file:///srv/git/tool.git", ""},
        {"../tool", ""},
        {"", ""},
        {"https://", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        auto_free char *identity = space_project_of_remote(cases[i][0]);
        assert_string_equal(identity ? identity : "", cases[i][1]);
    }
}
