/* Sealed spaces: lines, rings, members, and a carrier that lies. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/paths.h"
#include "space/keys.h"
#include "tests/suite.h"

#define SPACE "01890a5d-ac96-774b-bcce-b302099a8057"
#define OTHER "01890a5d-ac96-774b-bcce-b302099a8058"
#define DAY_MS INT64_C(86400000)

#ifdef HAVE_LIBSODIUM
enum { SEALS = 1 };
#else
enum { SEALS = 0 };
#endif
#define SEALED(f) TEST_IF(SEALS, f)

FIXTURE(support_setup, support_teardown);

/* ---- persons and what they do ---- */

/* From now on the program is on this person's machine. */
static void on(const char *machine)
{
    setenv("XDG_DATA_HOME", support_path(machine), 1);
}

static struct key_ring *ring_of(const char *machine)
{
    struct error e;
    struct key_ring *r = NULL;
    on(machine);
    assert_ok(key_ring_open(SPACE, &r, &e), e);
    return r;
}

static struct carrier *carrier_of(const char *person)
{
    struct error e;
    struct carrier *c = NULL;
    const struct carrier_place place = {.url = support_text("folder:%s", support_path("shared")),
                                        .space = SPACE,
                                        .person = support_text("%s", person),
                                        .writer = support_text("%s", person)};
    assert_ok(carrier_open(&place, &c, &e), e);
    return c;
}

/* Anna makes the space. */
static void make_space(void)
{
    struct error e;
    struct key_ring *r;
    struct space_member anna = {.person = mem_strdup("anna"), .role = SPACE_OWNER};
    struct space_facts facts = {.id = SPACE, .name = (char *)"team", .schema = 1, .min_client = 1};
    on("anna");
    assert_ok(key_ring_make(SPACE, &r, &e), e);
    assert_ok(key_ring_first_row(r, &anna, &e), e);
    facts.epoch = key_ring_epoch(r);
    struct carrier *c = carrier_of("anna");
    assert_ok(c->ops->make(c, &facts, &anna, &e), e);
    carrier_close(c);
    space_member_release(&anna);
    key_ring_close(r);
}

static struct key_tended tend_at(const char *machine, const char *person, int64_t now_ms)
{
    struct error e;
    struct key_tended out;
    struct key_ring *r = ring_of(machine);
    struct carrier *c = carrier_of(person);
    assert_ok(key_ring_tend(r, c, person, now_ms, &out, &e), e);
    carrier_close(c);
    key_ring_close(r);
    return out;
}

static struct key_tended tend(const char *person)
{
    return tend_at(person, person, clock_wall_ms());
}

/* The text of an invitation by this person, for a week. */
static const char *invite(const char *owner, enum space_role role)
{
    struct error e;
    struct key_ring *r = ring_of(owner);
    struct space_invitation i = {.id = SPACE,
                                 .name = mem_strdup("team"),
                                 .url = mem_strdup("folder:/srv/team"),
                                 .role = role};
    assert_ok(key_ring_invite(r, &i, clock_wall_ms() + 7 * DAY_MS, &e), e);
    const char *code = support_keep(space_invitation_write(&i));
    space_invitation_release(&i);
    key_ring_close(r);
    return code;
}

static void join(const char *machine, const char *code)
{
    struct error e;
    struct space_invitation i;
    on(machine);
    assert_ok(space_invitation_read(code, &i, &e), e);
    assert_ok(key_ring_join(&i, &e), e);
    space_invitation_release(&i);
}

/* Joins, asks, is admitted by the owner, takes the keys. */
static void bring(const char *owner, const char *person, enum space_role role)
{
    join(person, invite(owner, role));
    assert_false(tend(person).admitted);
    assert_int_equal(tend(owner).newcomers, 1);
    assert_true(tend(person).admitted);
}

static void rotate(const char *owner, const char *without)
{
    struct error e;
    struct key_ring *r = ring_of(owner);
    struct carrier *c = carrier_of(owner);
    assert_ok(key_ring_rotate(r, c, owner, without, &e), e);
    carrier_close(c);
    key_ring_close(r);
}

static struct space_line line_of(const char *owner, const char *text)
{
    struct space_line line = {.entry = mem_strdup("e1"),
                              .version = 1,
                              .kind = SPACE_ENTRY,
                              .owner = mem_strdup(owner),
                              .project = mem_strdup("github.com/team/boat"),
                              .at_ms = 1700000000000,
                              .key = BUF_INIT,
                              .body = BUF_INIT};
    buf_addstr(&line.body, text);
    return line;
}

static struct space_line copy_of(const struct space_line *line)
{
    struct space_line copy = *line;
    copy.entry = mem_strdup(line->entry);
    copy.owner = mem_strdup(line->owner);
    copy.project = mem_strdup(line->project);
    copy.key = copy.body = (struct buf)BUF_INIT;
    buf_add(&copy.key, line->key.data, line->key.len);
    buf_add(&copy.body, line->body.data, line->body.len);
    return copy;
}

static struct space_line sealed_by(const char *machine, const char *text)
{
    struct error e;
    struct space_line line = line_of(machine, text);
    struct key_ring *r = ring_of(machine);
    assert_ok(key_ring_seal(r, &line, &e), e);
    key_ring_close(r);
    return line;
}

static enum line_opened opened_by(const char *machine, const struct space_line *line)
{
    struct space_line copy = copy_of(line);
    struct key_ring *r = ring_of(machine);
    enum line_opened opened = key_ring_open_line(r, &copy);
    if (opened != LINE_OPENED && opened != LINE_ERASED) { /* as it was */
        assert_int_equal(copy.body.len, line->body.len);
        assert_memory_equal(copy.body.data, line->body.data, line->body.len);
    }
    key_ring_close(r);
    space_line_release(&copy);
    return opened;
}

/* ---- lines ---- */

SEALED(a_sealed_line_opens_as_it_was)
{
    static const char *const texts[] = {"", "x", "{\"content\":\"the mast is of spruce\"}"};
    make_space();
    struct key_ring *r = ring_of("anna");
    for (size_t i = 0; i < 3; i++)
        for (int with = 0; with < 2; with++) {
            struct error e;
            struct space_line line = line_of("anna", texts[i]);
            if (!with)
                mem_replace(&line.project, NULL);
            assert_ok(key_ring_seal(r, &line, &e), e);
            assert_true(line.key.len > 0 && line.body.len >= strlen(texts[i]) + 16);
            assert_true(space_line_fits(&line));
            assert_int_equal(key_ring_open_line(r, &line), LINE_OPENED);
            assert_int_equal(line.body.len, strlen(texts[i]));
            assert_string_equal(line.body.data, texts[i]);
            assert_int_equal(line.key.len, 0);
            if (with)
                assert_string_equal(line.project, "github.com/team/boat");
            else
                assert_null(line.project);
            space_line_release(&line);
        }
    key_ring_close(r);
}

SEALED(no_word_of_it_is_in_a_sealed_line)
{
    static const char *const words[] = {"spruce", "mast", "github", "boat", "content"};
    make_space();
    struct space_line line = sealed_by("anna", "{\"content\":\"the mast is of spruce\"}");
    AUTO(buf_release) struct buf text = BUF_INIT;
    space_line_write(&line, &text);
    buf_add(&text, line.body.data, line.body.len);
    buf_add(&text, line.key.data, line.key.len);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t at = 0; at + strlen(words[i]) <= text.len; at++)
            assert_memory_not_equal(text.data + at, words[i], strlen(words[i]));
    /* The same again is other bytes, but of the same project. */
    struct space_line again = sealed_by("anna", "{\"content\":\"the mast is of spruce\"}");
    assert_string_equal(again.project, line.project);
    assert_memory_not_equal(again.body.data, line.body.data, line.body.len);
    assert_memory_not_equal(again.key.data + 20, line.key.data + 20, line.key.len - 20);
    space_line_release(&again);
    space_line_release(&line);
}

SEALED(every_flipped_bit_is_refused)
{
    make_space();
    struct space_line line = sealed_by("anna", "the mast is of spruce");
    struct key_ring *r = ring_of("anna");
    struct buf *const parts[] = {&line.key, &line.body};
    for (int k = 0; k < 2; k++)
        for (size_t bit = 0; bit < parts[k]->len * 8; bit++) {
            parts[k]->data[bit / 8] ^= (char)(1 << bit % 8);
            enum line_opened opened = key_ring_open_line(r, &line);
            if (opened != LINE_FORGED && opened != LINE_LOCKED)
                fail_msg("part %d, bit %zu: %d", k, bit, (int)opened);
            parts[k]->data[bit / 8] ^= (char)(1 << bit % 8);
        }
    for (int k = 0; k < 2; k++) /* and every length */
        for (size_t len = 0; len < parts[k]->len; len++) {
            struct space_line copy = copy_of(&line);
            buf_truncate(k == 0 ? &copy.key : &copy.body, len);
            assert_int_equal(key_ring_open_line(r, &copy), LINE_FORGED);
            space_line_release(&copy);
        }
    assert_int_equal(key_ring_open_line(r, &line), LINE_OPENED);
    key_ring_close(r);
    space_line_release(&line);
}

SEALED(a_line_that_was_moved_is_refused)
{
    make_space();
    struct space_line line = sealed_by("anna", "the mast is of spruce");
    for (int field = 0; field < 8; field++) {
        struct space_line moved = copy_of(&line);
        switch (field) {
        case 0:
            mem_replace(&moved.entry, mem_strdup("e2"));
            break;
        case 1:
            moved.version = 2;
            break;
        case 2:
            moved.kind = SPACE_LEARNED;
            break;
        case 3:
            mem_replace(&moved.owner, mem_strdup("eve"));
            break;
        case 4:
            mem_replace(&moved.project, NULL);
            break;
        case 5:
            moved.at_ms++;
            break;
        case 6: /* the border between two fields */
            mem_replace(&moved.entry, mem_strdup("e"));
            mem_replace(&moved.owner, mem_strdup("1anna"));
            break;
        default: /* an emptied entry that is called a forget */
            moved.kind = SPACE_FORGET;
            buf_clear(&moved.key);
            buf_clear(&moved.body);
        }
        if (opened_by("anna", &moved) != LINE_FORGED)
            fail_msg("field %d", field);
        space_line_release(&moved);
    }
    /* Another space with the very same keys. */
    auto_free char *from = mem_printf("%s/tiro/spaces/" SPACE ".keys", getenv("XDG_DATA_HOME"));
    auto_free char *to = mem_printf("%s/tiro/spaces/" OTHER ".keys", getenv("XDG_DATA_HOME"));
    struct key_ring *other;
    struct error e;
    assert_int_equal(rename(from, to), 0);
    assert_error(key_ring_open(OTHER, &other, &e), e, ERR_FILE_ERROR, "damaged");
    assert_error(key_ring_open(SPACE, &other, &e), e, ERR_FILE_ERROR, "invitation");
    space_line_release(&line);
}

SEALED(a_line_that_its_carrier_emptied_is_known)
{
    struct error e;
    make_space();
    struct space_line line = sealed_by("anna", "x");
    buf_clear(&line.key);
    buf_clear(&line.body);
    assert_int_equal(opened_by("anna", &line), LINE_ERASED);
    space_line_release(&line);
    /* A forget is sealed like any other line. */
    line = line_of("anna", "");
    line.kind = SPACE_FORGET;
    struct key_ring *r = ring_of("anna");
    assert_ok(key_ring_seal(r, &line, &e), e);
    assert_int_equal(opened_by("anna", &line), LINE_OPENED);
    line.body.data[0] ^= 1;
    assert_int_equal(opened_by("anna", &line), LINE_FORGED);
    space_line_release(&line);
    /* A body that would not fit. */
    line = line_of("anna", "");
    auto_free char *much = mem_alloc(SPACE_BODY_BYTES);
    buf_add(&line.body, much, SPACE_BODY_BYTES);
    assert_err(key_ring_seal(r, &line, &e), e, ERR_USAGE);
    space_line_release(&line);
    key_ring_close(r);
}

/* ---- members ---- */

SEALED(who_was_invited_gets_the_keys)
{
    struct error e;
    make_space();
    struct space_line old = sealed_by("anna", "the mast is of spruce");
    join("ben", invite("anna", SPACE_WRITER));
    assert_int_equal(opened_by("ben", &old), LINE_LOCKED);
    struct key_ring *r = ring_of("ben");
    struct space_line line = line_of("ben", "x");
    assert_err(key_ring_seal(r, &line, &e), e, ERR_FORBIDDEN);
    assert_string_equal(line.body.data, "x");
    space_line_release(&line);
    key_ring_close(r);
    assert_false(tend("ben").admitted);
    struct key_tended anna = tend("anna");
    assert_int_equal(anna.newcomers, 1);
    assert_int_equal(anna.waiting, 0);
    assert_true(tend("ben").admitted);
    assert_int_equal(opened_by("ben", &old), LINE_OPENED);
    line = sealed_by("ben", "the sail is red");
    assert_int_equal(opened_by("anna", &line), LINE_OPENED);
    assert_string_equal(line.project, old.project);
    space_line_release(&line);
    space_line_release(&old);
    assert_int_equal(tend("anna").newcomers, 0);
}

SEALED(who_leaves_keeps_the_old_and_cannot_open_the_new)
{
    make_space();
    bring("anna", "ben", SPACE_WRITER);
    bring("anna", "eve", SPACE_READER);
    struct space_line old = sealed_by("anna", "old");
    rotate("anna", "eve");
    struct space_line new = sealed_by("anna", "new");
    assert_int_equal(opened_by("ben", &new), LINE_LOCKED); /* until he looks */
    assert_true(tend("ben").admitted);
    assert_true(tend("eve").removed);
    assert_int_equal(opened_by("ben", &new), LINE_OPENED);
    assert_int_equal(opened_by("ben", &old), LINE_OPENED);
    assert_int_equal(opened_by("eve", &old), LINE_OPENED);
    assert_int_equal(opened_by("eve", &new), LINE_LOCKED);
    assert_string_equal(new.project, old.project);
    /* She cannot bring herself back, but may be invited again. */
    assert_int_equal(tend("anna").waiting, 0);
    bring("anna", "eve", SPACE_READER);
    assert_int_equal(opened_by("eve", &new), LINE_OPENED);
    space_line_release(&old);
    space_line_release(&new);
}

static struct space_members members_of(const char *person)
{
    struct error e;
    struct space_members all;
    struct carrier *c = carrier_of(person);
    assert_ok(c->ops->members(c, &all, &e), e);
    carrier_close(c);
    return all;
}

/* As somebody who may write anything on the carrier. */
static void put(const struct space_member *m)
{
    struct error e;
    struct carrier *c = carrier_of("operator");
    assert_ok(c->ops->put_member(c, m, &e), e);
    carrier_close(c);
}

static struct space_member *member_in(struct space_members *all, const char *person)
{
    for (size_t i = 0; i < all->items.len; i++)
        if (strcmp(all->items.items[i].person, person) == 0)
            return &all->items.items[i];
    fail_msg("%s is no member", person);
    return NULL;
}

/* The carrier's operator makes a ring of his own and writes what he likes. */
SEALED(an_operator_cannot_admit_himself)
{
    struct error e;
    make_space();
    bring("anna", "ben", SPACE_WRITER);
    struct space_line line = sealed_by("anna", "secret");
    /* His own key, as a new member, without an invitation and with one that he made up. */
    const char *code = invite("anna", SPACE_WRITER);
    struct space_invitation i;
    assert_ok(space_invitation_read(code, &i, &e), e);
    i.token[0] = i.token[0] == 'A' ? 'B' : 'A';
    on("operator");
    assert_ok(key_ring_join(&i, &e), e);
    space_invitation_release(&i);
    assert_false(tend("operator").admitted);
    struct key_tended anna = tend("anna");
    assert_int_equal(anna.newcomers, 0);
    assert_int_equal(anna.waiting, 1);
    assert_false(tend("operator").admitted);
    /* His key in the place of Ben's, which has a good signature for Ben's key. */
    struct space_members all = members_of("operator");
    struct space_member *ben = member_in(&all, "ben"), *own = member_in(&all, "operator");
    struct space_member changed = *ben;
    changed.public_key = own->public_key;
    put(&changed);
    rotate("anna", NULL);
    struct space_line new = sealed_by("anna", "secret");
    assert_false(tend_at("operator", "ben", clock_wall_ms()).admitted);
    assert_int_equal(opened_by("operator", &new), LINE_LOCKED);
    assert_int_equal(opened_by("operator", &line), LINE_LOCKED);
    /* Ben's row under another name. */
    changed = *ben;
    changed.person = own->person;
    put(&changed);
    assert_int_equal(tend("anna").newcomers, 0);
    space_members_release(&all);
    space_line_release(&line);
    space_line_release(&new);
}

/* Keys that anybody could seal to a public key are believed only with an owner's signature. */
SEALED(an_operator_cannot_plant_a_key)
{
    struct error e;
    struct key_ring *r;
    make_space();
    bring("anna", "ben", SPACE_WRITER);
    bring("anna", "eve", SPACE_WRITER);
    /* The operator owns a ring of the same space, with a newer epoch. */
    on("operator");
    assert_ok(key_ring_make(SPACE, &r, &e), e);
    struct space_members all = members_of("operator");
    struct space_member *ben = member_in(&all, "ben");
    struct space_member planted = {.person = mem_strdup("ben")};
    assert_ok(key_ring_first_row(r, &planted, &e), e);
    mem_replace(&ben->wrapped_key, mem_strdup(planted.wrapped_key));
    put(ben);
    assert_true(tend("ben").admitted);
    struct space_line line = sealed_by("ben", "secret");
    assert_int_equal(opened_by("operator", &line), LINE_LOCKED);
    assert_int_equal(opened_by("eve", &line), LINE_OPENED);
    space_line_release(&line);
    space_member_release(&planted);
    space_members_release(&all);
    key_ring_close(r);
}

/* Every change of one byte of a row leaves the keys as they are. */
SEALED(a_row_that_was_changed_gives_nothing)
{
    make_space();
    bring("anna", "ben", SPACE_WRITER);
    rotate("anna", NULL);
    struct space_members all = members_of("anna");
    struct space_member *ben = member_in(&all, "ben");
    size_t len = strlen(ben->wrapped_key);
    for (size_t at = 0; at < len; at += 7) {
        const char kept = ben->wrapped_key[at];
        ben->wrapped_key[at] = kept == 'A' ? 'z' : 'A'; /* no unused bits of Base64 alone */
        put(ben);
        struct key_ring *r = ring_of("ben");
        assert_int_equal(key_ring_epoch(r), 1);
        key_ring_close(r);
        tend("ben");
        r = ring_of("ben");
        assert_int_equal(key_ring_epoch(r), 1);
        key_ring_close(r);
        r = ring_of("anna");
        assert_false(key_ring_vouches(r, ben));
        key_ring_close(r);
        ben->wrapped_key[at] = kept;
    }
    put(ben);
    tend("ben");
    struct key_ring *r = ring_of("ben");
    assert_int_equal(key_ring_epoch(r), 2);
    key_ring_close(r);
    r = ring_of("anna");
    assert_true(key_ring_vouches(r, ben));
    key_ring_close(r);
    space_members_release(&all);
}

SEALED(a_row_from_before_the_departure_is_not_believed)
{
    make_space();
    bring("anna", "ben", SPACE_WRITER);
    bring("anna", "eve", SPACE_WRITER);
    struct space_members all = members_of("anna");
    struct space_member *eve = member_in(&all, "eve");
    rotate("anna", "eve");
    put(eve);
    assert_int_equal(tend("anna").waiting, 1);
    rotate("anna", NULL);
    tend("eve");
    struct space_line line = sealed_by("anna", "new");
    assert_int_equal(opened_by("eve", &line), LINE_LOCKED);
    space_line_release(&line);
    space_members_release(&all);
}

SEALED(an_invitation_admits_one_machine_for_a_while)
{
    make_space();
    const char *code = invite("anna", SPACE_WRITER);
    join("ben", code);
    join("eve", code);
    tend("ben");
    assert_int_equal(tend("anna").newcomers, 1);
    tend("eve");
    struct key_tended anna = tend("anna");
    assert_int_equal(anna.newcomers, 0);
    assert_int_equal(anna.waiting, 1);
    assert_true(tend("ben").admitted);
    assert_false(tend("eve").admitted);
    /* One that has expired. */
    join("finn", invite("anna", SPACE_WRITER));
    tend("finn");
    assert_int_equal(tend_at("anna", "anna", clock_wall_ms() + 8 * DAY_MS).waiting, 2);
    assert_int_equal(tend("anna").waiting, 2); /* and is gone */
}

SEALED(somebody_who_waits_is_admitted_by_his_words)
{
    struct error e;
    make_space();
    const char *code = invite("anna", SPACE_WRITER);
    join("ben", code);
    join("eve", code);
    tend("ben");
    tend("anna");
    tend("eve");
    struct space_members all = members_of("anna");
    auto_free char *words = key_words(member_in(&all, "eve")->public_key);
    struct key_ring *r = ring_of("eve");
    auto_free char *own = key_ring_words(r);
    key_ring_close(r);
    assert_string_equal(words, own);
    size_t blanks = 0;
    for (const char *p = words; *p; p++)
        blanks += *p == ' ';
    assert_int_equal(blanks, 7);
    r = ring_of("anna");
    struct carrier *c = carrier_of("anna");
    auto_free char *others = key_words(member_in(&all, "ben")->public_key);
    assert_error(key_ring_approve(r, c, "anna", "eve", others, &e), e, ERR_USAGE, "words");
    assert_ok(key_ring_approve(r, c, "anna", "eve", words, &e), e);
    key_ring_close(r);
    carrier_close(c);
    assert_true(tend("eve").admitted);
    /* A member who is no owner admits and removes nobody. */
    r = ring_of("eve");
    c = carrier_of("eve");
    assert_err(key_ring_approve(r, c, "eve", "ben", others, &e), e, ERR_FORBIDDEN);
    assert_err(key_ring_rotate(r, c, "eve", "ben", &e), e, ERR_FORBIDDEN);
    struct space_invitation i = {.id = SPACE, .name = (char *)"team", .url = (char *)"folder:/x"};
    assert_err(key_ring_invite(r, &i, DAY_MS, &e), e, ERR_FORBIDDEN);
    key_ring_close(r);
    carrier_close(c);
    assert_null(key_words("no key"));
    space_members_release(&all);
}

SEALED(a_second_owner_goes_on_when_the_first_is_removed)
{
    make_space();
    bring("anna", "ben", SPACE_WRITER);
    bring("anna", "olga", SPACE_OWNER);
    assert_true(tend("ben").admitted);
    struct key_ring *r = ring_of("olga");
    assert_true(key_ring_owns(r));
    key_ring_close(r);
    rotate("olga", "anna");
    assert_true(tend("ben").admitted);
    assert_true(tend("anna").removed);
    struct space_line line = sealed_by("olga", "new");
    assert_int_equal(opened_by("ben", &line), LINE_OPENED);
    assert_int_equal(opened_by("anna", &line), LINE_LOCKED);
    space_line_release(&line);
    bring("olga", "eve", SPACE_WRITER);
}

/* Both rotate before either has heard of the other. */
SEALED(two_owners_who_rotate_at_once_come_together)
{
    struct error e;
    make_space();
    bring("anna", "ben", SPACE_WRITER);
    bring("anna", "eve", SPACE_WRITER);
    bring("anna", "olga", SPACE_OWNER);
    tend("ben");
    tend("eve");
    struct space_members before = members_of("anna");
    rotate("anna", "eve");
    struct space_line by_anna = sealed_by("anna", "a");
    /* The carrier shows Olga the members as they were. */
    for (size_t i = 0; i < before.items.len; i++)
        put(&before.items.items[i]);
    struct key_ring *r = ring_of("olga");
    struct carrier *c = carrier_of("olga");
    assert_ok(key_ring_rotate(r, c, "olga", "ben", &e), e);
    key_ring_close(r);
    struct space_line by_olga = sealed_by("olga", "o");
    struct error ignored;
    c->ops->drop_member(c, "eve", &ignored);
    carrier_close(c);
    for (int i = 0; i < 3; i++) {
        tend("anna");
        tend("olga");
    }
    struct space_line line = sealed_by("anna", "new");
    assert_int_equal(opened_by("olga", &line), LINE_OPENED);
    assert_int_equal(opened_by("anna", &by_olga), LINE_OPENED);
    tend("eve");
    tend("ben");
    assert_int_equal(opened_by("eve", &line), LINE_LOCKED);
    assert_int_equal(opened_by("ben", &line), LINE_LOCKED);
    space_line_release(&line);
    space_line_release(&by_anna);
    space_line_release(&by_olga);
    space_members_release(&before);
}

SEALED(a_second_machine_has_a_key_of_its_own)
{
    make_space();
    join("laptop", invite("anna", SPACE_OWNER));
    assert_false(tend_at("laptop", "anna", clock_wall_ms()).admitted);
    assert_int_equal(tend("anna").newcomers, 1);
    assert_true(tend_at("laptop", "anna", clock_wall_ms()).admitted);
    struct space_line line = sealed_by("anna", "x");
    assert_int_equal(opened_by("laptop", &line), LINE_OPENED);
    space_line_release(&line);
    struct space_members all = members_of("anna");
    assert_int_equal(all.items.len, 1);
    assert_int_equal(all.items.items[0].role, SPACE_OWNER);
    auto_free char *words = key_words(all.items.items[0].public_key);
    assert_non_null(strchr(words, '\n'));
    space_members_release(&all);
}

/* A carrier that fails at the n-th change; the next visit goes on. */
static int changes_left;
static const struct carrier_ops *whole_ops;

static bool failing_put(struct carrier *c, const struct space_member *m, struct error *e)
{
    return changes_left-- > 0 ? whole_ops->put_member(c, m, e)
                              : err_set(e, ERR_AGENT_ERROR, "the line is cut");
}
static bool failing_drop(struct carrier *c, const char *person, struct error *e)
{
    return changes_left-- > 0 ? whole_ops->drop_member(c, person, e)
                              : err_set(e, ERR_AGENT_ERROR, "the line is cut");
}
static bool failing_facts(struct carrier *c, const struct space_facts *f, struct error *e)
{
    return changes_left-- > 0 ? whole_ops->set_facts(c, f, e)
                              : err_set(e, ERR_AGENT_ERROR, "the line is cut");
}

SEALED(a_departure_that_was_cut_is_finished_later)
{
    make_space();
    bring("anna", "ben", SPACE_WRITER);
    for (int left = 0; left < 6; left++) {
        struct error e;
        bring("anna", "eve", SPACE_WRITER);
        struct key_ring *r = ring_of("anna");
        struct carrier *c = carrier_of("anna");
        whole_ops = c->ops;
        struct carrier_ops failing = *c->ops;
        failing.put_member = failing_put;
        failing.drop_member = failing_drop;
        failing.set_facts = failing_facts;
        c->ops = &failing;
        changes_left = left;
        if (!key_ring_rotate(r, c, "anna", "eve", &e))
            assert_int_equal(e.code, ERR_AGENT_ERROR);
        c->ops = whole_ops;
        carrier_close(c);
        key_ring_close(r);
        assert_false(tend("anna").unfinished);
        assert_true(tend("ben").admitted);
        struct space_line line = sealed_by("anna", "new");
        assert_int_equal(opened_by("ben", &line), LINE_OPENED);
        assert_true(tend("eve").removed);
        assert_int_equal(opened_by("eve", &line), LINE_LOCKED);
        space_line_release(&line);
    }
}

/* ---- the file ---- */

static char *path_of_ring(const char *machine)
{
    on(machine);
    auto_free char *data = paths_dir(PATHS_DATA);
    return support_keep(mem_printf("%s/spaces/" SPACE ".keys", data));
}

SEALED(the_ring_is_a_file_of_its_owner_alone)
{
    struct stat st;
    struct error e;
    struct key_ring *r;
    make_space();
    const char *path = path_of_ring("anna");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    auto_free char *directory = paths_parent(path);
    assert_int_equal(stat(directory, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_true(key_ring_exists(SPACE));
    assert_err(key_ring_make(SPACE, &r, &e), e, ERR_USAGE);
    assert_null(r);
    assert_err(key_ring_make("../../x", &r, &e), e, ERR_USAGE);
    assert_ok(key_ring_erase(SPACE, &e), e);
    assert_false(key_ring_exists(SPACE));
    assert_error(key_ring_open(SPACE, &r, &e), e, ERR_FILE_ERROR, "new invitation");
}

SEALED(a_damaged_ring_is_told_and_never_replaced)
{
    struct error e;
    make_space();
    const char *code = invite("anna", SPACE_WRITER), *path = path_of_ring("anna");
    struct buf whole = {.data = buf_empty, .max = 1 << 20};
    assert_ok(paths_read_file(path, PATHS_FILE, &whole, &e), e);
    for (size_t n = 0; n < 2 * whole.len; n += 1 + n / 16) {
        struct buf torn = BUF_INIT, now = {.data = buf_empty, .max = 1 << 20};
        struct space_invitation i;
        struct key_ring *r;
        buf_add(&torn, whole.data, n < whole.len ? n : whole.len);
        if (n >= whole.len)
            torn.data[n - whole.len] ^= 4;
        assert_ok(paths_write_file(path, torn.data, torn.len, &e), e);
        assert_error(key_ring_open(SPACE, &r, &e), e, ERR_FILE_ERROR, "damaged");
        assert_err(key_ring_make(SPACE, &r, &e), e, ERR_USAGE);
        assert_ok(space_invitation_read(code, &i, &e), e);
        assert_error(key_ring_join(&i, &e), e, ERR_FILE_ERROR, "damaged");
        space_invitation_release(&i);
        assert_ok(paths_read_file(path, PATHS_FILE, &now, &e), e);
        assert_int_equal(now.len, torn.len);
        assert_memory_equal(now.data, torn.data, torn.len);
        buf_release(&torn);
        buf_release(&now);
    }
    buf_release(&whole);
}

SEALED(a_lost_ring_is_replaced_by_a_new_invitation)
{
    struct error e;
    make_space();
    bring("anna", "ben", SPACE_WRITER);
    struct space_line line = sealed_by("anna", "old");
    on("ben");
    assert_ok(key_ring_erase(SPACE, &e), e);
    bring("anna", "ben", SPACE_WRITER);
    assert_int_equal(opened_by("ben", &line), LINE_OPENED);
    space_line_release(&line);
}

/* Four processes change the ring of one machine; none undoes what another did. */
SEALED(processes_do_not_undo_each_others_changes)
{
    enum { PROCESSES = 4, EACH = 5 };
    pid_t pids[PROCESSES];
    make_space();
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            struct error e;
            struct key_ring *r = NULL;
            bool ok = key_ring_open(SPACE, &r, &e);
            for (int k = 0; k < EACH && ok; k++) {
                struct space_invitation out = {0};
                ok = key_ring_invite(r, &out, clock_wall_ms() + DAY_MS, &e);
                space_invitation_release(&out);
            }
            _exit(ok ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    /* A hundred can be open. */
    struct error e;
    struct key_ring *r = ring_of("anna");
    for (int k = PROCESSES * EACH; k <= 100; k++) {
        struct space_invitation out = {0};
        bool ok = key_ring_invite(r, &out, clock_wall_ms() + DAY_MS, &e);
        assert_int_equal(ok, k < 100);
        space_invitation_release(&out);
    }
    key_ring_close(r);
}

/* While another process holds the lock, a visit does nothing, and does not wait. */
SEALED(a_visit_does_not_wait_for_another_process)
{
    make_space();
    join("ben", invite("anna", SPACE_WRITER));
    tend("ben");
    auto_free char *directory = paths_parent(path_of_ring("anna"));
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    struct key_tended anna = tend("anna");
    assert_int_equal(anna.newcomers, 0);
    assert_true(anna.admitted);
    close(fd);
    assert_int_equal(tend("anna").newcomers, 1);
}

/* ---- invitations ---- */

TEST(an_invitation_comes_back_as_it_was)
{
    static const char *const urls[][2] = {
        {"folder:/srv/te am", "folder:/srv/te am"},
        {"folder:/a@b/c?x", "folder:/a@b/c?x"},
        {"postgresql://db.example/memory", "postgresql://db.example/memory"},
        {"postgresql://anna:s3cret@db.example:5432/memory?sslmode=verify-full",
         "postgresql://db.example:5432/memory?sslmode=verify-full"},
        {"postgres://anna:p@ss@db/m?user=anna&password=x&a=1&b=2", "postgres://db/m?a=1&b=2"},
        {"postgresql://db/m?password=x", "postgresql://db/m"},
    };
    for (size_t k = 0; k < sizeof urls / sizeof *urls; k++) {
        struct error e;
        struct space_invitation i = {.id = SPACE, .name = mem_strdup("team \xc3\xa4")}, read;
        i.url = mem_strdup(urls[k][0]);
        i.role = SPACE_READER;
        auto_free char *code = space_invitation_write(&i);
        assert_null(strpbrk(code, " \n\t'\"$"));
        assert_ok(space_invitation_read(code, &read, &e), e);
        assert_string_equal(read.id, SPACE);
        assert_string_equal(read.name, i.name);
        assert_string_equal(read.url, urls[k][1]);
        assert_int_equal(read.role, SPACE_READER);
        assert_null(read.token);
        space_invitation_release(&read);
        for (size_t at = 0; at < strlen(code); at++) { /* mistyped, cut */
            const char kept = code[at];
            code[at] = kept == 'a' ? 'b' : 'a';
            assert_err(space_invitation_read(code, &read, &e), e, ERR_USAGE);
            code[at] = '\0';
            assert_err(space_invitation_read(code, &read, &e), e, ERR_USAGE);
            code[at] = kept;
        }
        space_invitation_release(&i);
    }
}

TEST(hostile_invitations_are_refused)
{
    static const char *const names[] = {"", "a\nb", "\xe2\x80\xaeteam", "\x1b[2J"};
    struct error e;
    struct space_invitation read;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct space_invitation i = {
            .id = SPACE, .name = mem_strdup(names[k]), .url = mem_strdup("folder:/x")};
        auto_free char *code = space_invitation_write(&i);
        assert_err(space_invitation_read(code, &read, &e), e, ERR_USAGE);
        space_invitation_release(&i);
    }
    AUTO(buf_release) struct buf much = BUF_INIT;
    buf_addstr(&much, "tiro:");
    for (int i = 0; i < 100000; i++)
        buf_addch(&much, 'A');
    assert_err(space_invitation_read(much.data, &read, &e), e, ERR_USAGE);
    assert_err(space_invitation_read("", &read, &e), e, ERR_USAGE);
    assert_err(space_invitation_read("tiro:", &read, &e), e, ERR_USAGE);
    assert_err(space_invitation_read("https://x", &read, &e), e, ERR_USAGE);
    /* It joins no sealed space without its keys. */
    struct space_invitation i = {.id = SPACE, .name = (char *)"x", .url = (char *)"folder:/x"};
    assert_err(key_ring_join(&i, &e), e, ERR_USAGE);
}

TEST_IF(!SEALS, a_build_without_libsodium_refuses_sealed_spaces)
{
    struct error e;
    struct key_ring *r;
    assert_error(key_ring_make(SPACE, &r, &e), e, ERR_USAGE, "libsodium");
    assert_error(key_ring_open(SPACE, &r, &e), e, ERR_USAGE, "libsodium");
}
