#include "session/space_operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/environment.h"
#include "base/mem.h"
#include "session/memories.h"
#include "space/invitation.h"
#include "space/postgresql_schema.h"
#include "store/store.h"

#define READS (NEED_MEMORY | NEED_STORE)
#define WRITES (READS | NEED_WRITE)
#define SPACE_NAME(S)                                                                              \
    SHAPE_OPT(S, space, "Name of a space here; absent: the only one.", .least = 1,                 \
              .most = SPACE_NAME_BYTES,                                                            \
              SHAPE_OPTION("--space NAME", N_("the space; needed when "                            \
                                              "there are several")))

/* ---- a space and its carrier ---- */

bool space_link_open(struct space_link *l, struct store *s, const struct wakeup *wakeup,
                     struct error *e)
{
    return space_connect(&l->space, wakeup, &l->carrier, e) &&
           space_refresh(s, &l->space, l->carrier, e);
}

void space_link_close(struct space_link *l)
{
    carrier_close(l->carrier);
    space_release(&l->space);
    *l = (struct space_link){0};
}

bool space_link_sync(struct space_link *l, struct store *s, struct memory *m,
                     const struct wakeup *wakeup, struct space_news *news, struct error *e)
{
    enum { GATHER_MOST = 500, REST_MS = 5 }; /* other connections write between two steps */
    bool more = true;
    while (more)
        if (!space_gather(s, m, GATHER_MOST, &more, e) || (more && !wakeup_sleep(wakeup, REST_MS)))
            return false;
    do
        if (!space_send(s, &l->space, l->carrier, &more, e))
            return false;
    while (more && wakeup_sleep(wakeup, 0));
    do
        if (!space_receive(s, m, &l->space, l->carrier, &more, news, e))
            return false;
    while (more && wakeup_sleep(wakeup, REST_MS));
    return more || space_note_read(s, &l->space, l->carrier, e);
}

/* Finds the space by its name and connects. */
static bool find_link(struct operation_context *c, const char *name, struct space_link *l,
                      struct error *e)
{
    *l = (struct space_link){0};
    bool ok = space_find(c->memories->store, name, &l->space, e) &&
              space_link_open(l, c->memories->store, c->wakeup, e);
    if (!ok)
        space_link_close(l);
    return ok;
}

static bool sync_link(struct operation_context *c, struct space_link *l, struct space_news *news,
                      struct error *e)
{
    return space_link_sync(l, c->memories->store, c->memories->recall.memory, c->wakeup, news, e);
}

const char *space_role_word(enum space_role role)
{
    static const char *const words[] = {N_("reader"), N_("writer"), N_("owner")};
    return words[role];
}

/* ---- space/status ---- */

static const struct shape row_shape =
    SHAPE_OF("space", struct space_row, SHAPE_REQ(space_row, name, "Name on this machine."),
             SHAPE_REQ(space_row, url, "Where its log is."),
             SHAPE_REQ(space_row, person, "Who uses it here."),
             SHAPE_REQ_WORD(space_row, role, space_role_names, "What the person may do."),
             SHAPE_OPT(space_row, sealed, "Only members can read the log."),
             SHAPE_REQ(space_row, entries, "Entries of memory that it has."),
             SHAPE_REQ(space_row, foreign, "Those that other persons wrote."),
             SHAPE_REQ(space_row, waiting, "Lines that are not sent yet."),
             SHAPE_FIELD("waiting_since", TIME, OPTIONAL,
                         SHAPE_AT(int64_t, struct space_row, waiting_since_ms),
                         .help = "Time of the oldest of them."),
             SHAPE_FIELD("read_at", TIME, OPTIONAL, SHAPE_AT(int64_t, struct space_row, read_ms),
                         .help = "When the log was last read to its end."));

static bool run_status(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    struct space_rows *out = result;
    AUTO(spaces_release) struct spaces all = {0};
    (void)params;
    bool ok = !c->memories->store || spaces_read(c->memories->store, &all, e);
    for (size_t i = 0; i < all.items.len && ok; i++) {
        struct space *s = &all.items.items[i];
        struct space_state state;
        ok = space_state(c->memories->store, s, &state, e);
        if (!ok)
            break;
        vec_push(&out->items, ((struct space_row){
                                  .name = mem_strdup(s->name),
                                  .url = mem_strdup(s->url),
                                  .person = mem_strdup(s->person),
                                  .role = s->role,
                                  .sealed = s->sealed,
                                  .entries = state.entries,
                                  .foreign = state.foreign,
                                  .waiting = state.waiting + state.unlooked,
                                  .waiting_since_ms = state.waiting_since_ms,
                                  .read_ms = s->read_ms,
                              }));
    }
    return ok;
}

const struct operation operation_space_status = {
    OPERATION("space/status", CLIENT, MEMORY, "Lists the spaces that this machine shares."),
    COMMAND("space status", "", N_("list the shared spaces and what waits to be sent")),
    SLASH("space", "", N_("list the shared spaces and what waits to be sent")),
    .result = &(const struct shape)SHAPE_OF(
        "spaces", struct space_rows,
        SHAPE_REQ_LIST("spaces", space_rows, items, row_shape, "By name.")),
    .lines = "spaces",
    .line = N_("{name}: you are {person} ({_role}); {entries} entries, {foreign} of others; "
               "{waiting} wait to be sent"),
    .none = N_("This machine shares no space; tiro space init makes one."),
    .needs = READS,
    .run = run_status,
};

/* ---- space/init, space/join ---- */

/* Connects to the carrier of a new row, as the person who is given, else as whom the carrier or the
 * system knows the user. */
static bool begin_space(struct space *space, const struct wakeup *wakeup, struct carrier **carrier,
                        struct error *e)
{
    char writer[UUID_LEN + 1];
    uuid_new(writer);
    space->writer = mem_strdup(writer);
    space->form = SPACE_SCHEMA;
    if (strcmp(space->name, "off") == 0 || strlen(space->name) > SPACE_NAME_BYTES)
        return err_set(e, ERR_USAGE, "a space cannot be called %.70s; give --name NAME",
                       space->name);
    if (!space->person) {
        const char *known = NULL;
        struct carrier *asked;
        if (!space_connect(space, wakeup, &asked, e))
            return false;
        bool ok = asked->ops->person(asked, &known, e);
        known = known ? known : environment_get("USER");
        space->person = mem_strdup(known);
        carrier_close(asked);
        if (!ok || !space->person)
            return ok ? err_set(e, ERR_USAGE, "your name is not known; give --person NAME") : false;
    }
    return space_connect(space, wakeup, carrier, e);
}

static bool run_init(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct space_init_params *p = params;
    struct store *s = c->memories->store;
    struct space_link l = {.space = {.name = mem_strdup(p->name),
                                     .url = mem_strdup(p->url),
                                     .person = mem_strdup(p->person),
                                     .command = mem_strdup(p->password_command),
                                     .role = SPACE_OWNER,
                                     .sealed = p->sealed}};
    char id[UUID_LEN + 1];
    (void)result;
    uuid_new(id);
    l.space.id = mem_strdup(id);
    bool ok = begin_space(&l.space, c->wakeup, &l.carrier, e);
    if (ok) {
        struct space_facts facts = {
            .name = l.space.name, .schema = SPACE_SCHEMA, .min_client = 1, .lease_days = 90};
        AUTO(space_member_release)
        struct space_member owner = {.person = mem_strdup(l.space.person), .role = SPACE_OWNER};
        memcpy(facts.id, id, sizeof id);
        ok = !p->sealed ||
             (key_ring_make(id, &l.space.ring, e) && key_ring_first_row(l.space.ring, &owner, e));
        facts.epoch = owner.epoch;
        ok = ok && l.carrier->ops->make(l.carrier, &facts, &owner, e) &&
             space_add(s, &l.space, e) && space_refresh(s, &l.space, l.carrier, e);
    }
    space_link_close(&l);
    return ok;
}

const struct operation operation_space_init = {
    OPERATION("space/init", TERMINAL, SPACE,
              "Makes a shared space, of which this person is owner."),
    COMMAND("space init", "URL NAME", N_("make a shared space")),
    .details =
        N_("URL is folder:/PATH, a directory that Syncthing or a share brings to others, or\n"
           "postgresql://HOST/DATABASE. Nothing is shared until tiro space share."),
    .params = PARAMETERS(
        space_init_params,
        SHAPE_REQ(space_init_params, url, "folder:/PATH or postgresql://…", .least = 1),
        SHAPE_REQ(space_init_params, name, "Its name.", .least = 1, .most = SPACE_NAME_BYTES),
        SHAPE_OPT(space_init_params, person, "Name of the person; absent: that of the login.",
                  .most = SPACE_NAME_BYTES, SHAPE_OPTION("--person NAME", N_("your name there"))),
        SHAPE_OPT(space_init_params, password_command, "Prints the password of the server.",
                  SHAPE_OPTION("--password-command COMMAND",
                               N_("a command that prints the server's password"))),
        SHAPE_OPT(space_init_params, sealed, "Only members can read the log, not its server.",
                  SHAPE_OPTION("--sealed", N_("encrypt it: who runs the server reads nothing")))),
    .done = N_("The space is ready. tiro space invite lets others join, tiro space share shares."),
    .needs = WRITES,
    .run = run_init,
};

enum { INVITATION_MS = 7 * 24 * 60 * 60 * 1000 };

static bool role_read(const char *word, enum space_role *out, struct error *e)
{
    for (int i = 0; i < space_role_names.count; i++)
        if (strcmp(word, space_role_names.words[i]) == 0) {
            *out = (enum space_role)i;
            return true;
        }
    return err_set(e, ERR_USAGE, "a role is reader, writer or owner, not %.40s", word);
}

static bool run_invite(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct space_invite_params *p = params;
    struct space_code *out = result;
    struct space_link l;
    enum space_role role = SPACE_WRITER;
    if ((p->role && !role_read(p->role, &role, e)) || !find_link(c, p->space, &l, e))
        return false;
    AUTO(space_members_release) struct space_members all = {0};
    struct space_member member = {.person = (char *)(uintptr_t)p->person, .role = role};
    bool ok = l.carrier->ops->members(l.carrier, &all, e);
    for (size_t i = 0; i < all.items.len; i++) /* another machine of a member, who keeps his keys */
        if (strcmp(all.items.items[i].person, p->person) == 0)
            member = all.items.items[i];
    member.role = p->role ? role : member.role;
    ok = ok && l.carrier->ops->put_member(l.carrier, &member, e);
    if (ok) {
        struct space_invitation i = {
            .name = mem_strdup(l.space.name), .url = mem_strdup(l.space.url), .role = role};
        snprintf(i.id, sizeof i.id, "%s", l.space.id);
        ok = !l.space.ring || key_ring_invite(l.space.ring, &i, clock_wall_ms() + INVITATION_MS, e);
        out->code = ok ? space_invitation_write(&i) : NULL;
        space_invitation_release(&i);
    }
    space_link_close(&l);
    return ok;
}

const struct operation operation_space_invite = {
    OPERATION("space/invite", TERMINAL, SPACE,
              "Makes a person a member, and gives a code to join."),
    COMMAND("space invite", "PERSON", N_("let a person join: prints a code for tiro space join")),
    .details =
        N_("PERSON is the name by which the server knows the person; of a folder, any name."),
    .params = PARAMETERS(
        space_invite_params,
        SHAPE_REQ(space_invite_params, person, "Name of the person.", .least = 1,
                  .most = SPACE_NAME_BYTES),
        SHAPE_OPT(space_invite_params, role, "\"reader\", \"writer\" (default) or \"owner\".",
                  SHAPE_OPTION("--role ROLE", N_("reader, writer (default) or owner"))),
        SPACE_NAME(space_invite_params)),
    .result = RESULT("invitation", space_code, SHAPE_REQ(space_code, code, "For space/join.")),
    .line = "{code}",
    .needs = WRITES,
    .run = run_invite,
};

struct join_params {
    const char *code, *name, *person, *password_command;
};

static bool run_join(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct join_params *p = params;
    struct store *s = c->memories->store;
    AUTO(space_invitation_release) struct space_invitation i = {0};
    struct space_link l = {0};
    (void)result;
    if (!space_invitation_read(p->code, &i, e))
        return false;
    l.space = (struct space){.name = mem_strdup(p->name ? p->name : i.name),
                             .id = mem_strdup(i.id),
                             .url = mem_strdup(i.url),
                             .person = mem_strdup(p->person),
                             .command = mem_strdup(p->password_command),
                             .role = i.role,
                             .sealed = i.owner != NULL};
    bool ok = begin_space(&l.space, c->wakeup, &l.carrier, e) &&
              (!i.owner || key_ring_join(&i, e)) && store_begin(s, e);
    if (ok) {
        ok = space_add(s, &l.space, e) && space_refresh(s, &l.space, l.carrier, e);
        ok = ok ? store_commit(s, e) : (store_rollback(s), false);
    }
    space_link_close(&l);
    return ok;
}

const struct operation operation_space_join = {
    OPERATION("space/join", TERMINAL, SPACE, "Joins the space of an invitation."),
    COMMAND("space join", "CODE", N_("join a shared space with the code of an invitation")),
    .params = PARAMETERS(
        join_params, SHAPE_REQ(join_params, code, "Of space/invite.", .least = 1),
        SHAPE_OPT(join_params, name, "Its name on this machine; absent: as the inviter has it.",
                  .most = SPACE_NAME_BYTES,
                  SHAPE_OPTION("--name NAME", N_("its name on this machine"))),
        SHAPE_OPT(join_params, person, "Name of the person; absent: that of the login.",
                  .most = SPACE_NAME_BYTES, SHAPE_OPTION("--person NAME", N_("your name there"))),
        SHAPE_OPT(join_params, password_command, "Prints the password of the server.",
                  SHAPE_OPTION("--password-command COMMAND",
                               N_("a command that prints the server's password")))),
    .done =
        N_("Joined. What others share comes in the background; tiro space sync fetches it now."),
    .needs = WRITES,
    .run = run_join,
};

/* ---- space/members, space/remove, space/leave ---- */

struct space_named {
    const char *space;
};

static bool run_members(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    const struct space_named *p = params;
    struct space_persons *out = result;
    AUTO(space_members_release) struct space_members members = {0};
    struct space_link l;
    if (!find_link(c, p->space, &l, e))
        return false;
    bool ok = l.carrier->ops->members(l.carrier, &members, e);
    for (size_t i = 0; i < members.items.len && ok; i++) {
        const struct space_member *m = &members.items.items[i];
        char *words = l.space.ring && m->public_key ? key_words(m->public_key) : NULL;
        for (char *at = words; at && (at = strchr(at, '\n'));)
            *at = ',';
        vec_push(&out->items,
                 ((struct space_person){.person = mem_strdup(m->person),
                                        .role = m->role,
                                        .seen_ms = m->seen_ms,
                                        .words = words,
                                        .admitted = words && key_ring_vouches(l.space.ring, m)}));
    }
    space_link_close(&l);
    return ok;
}

static const struct shape person_shape = SHAPE_OF(
    "member", struct space_person, SHAPE_REQ(space_person, person, "Name."),
    SHAPE_REQ_WORD(space_person, role, space_role_names, "What the person may do."),
    SHAPE_FIELD("seen_at", TIME, OPTIONAL, SHAPE_AT(int64_t, struct space_person, seen_ms),
                .help = "When a replica of this person last read the log to its end."),
    SHAPE_OPT(space_person, words, "Of a sealed space: the fingerprint of each machine's key."),
    SHAPE_OPT(space_person, admitted, "An owner has admitted each of these machines."));

const struct operation operation_space_members = {
    OPERATION("space/members", CLIENT, SPACE, "Lists the members of a space."),
    COMMAND("space members", "", N_("list the members of a space and when they last read it")),
    .params = PARAMETERS(space_named, SPACE_NAME(space_named)),
    .result = RESULT("members", space_persons,
                     SHAPE_REQ_LIST("members", space_persons, items, person_shape, "By name.")),
    .lines = "members",
    .line = "{person}  {_role}  {seen_at}",
    .needs = WRITES,
    .run = run_members,
};

struct remove_params {
    const char *space, *person;
};

static bool run_remove(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct remove_params *p = params;
    struct space_link l;
    (void)result;
    if (!find_link(c, p->space, &l, e))
        return false;
    bool ok = l.space.ring ? key_ring_rotate(l.space.ring, l.carrier, l.space.person, p->person, e)
                           : l.carrier->ops->drop_member(l.carrier, p->person, e);
    space_link_close(&l);
    return ok;
}

const struct operation operation_space_remove = {
    OPERATION("space/remove", TERMINAL, SPACE, "Ends the membership of a person."),
    COMMAND("space remove", "PERSON", N_("end the membership of a person")),
    .details = N_("The person reads nothing new. What the person's machines have, they keep."),
    .params = PARAMETERS(remove_params,
                         SHAPE_REQ(remove_params, person, "Name of the person.", .least = 1),
                         SPACE_NAME(remove_params)),
    .done = N_("Removed. What the person's machines have already, they keep."),
    .needs = WRITES,
    .run = run_remove,
};

static bool run_rotate(struct operation_context *c, const void *params, void *result,
                       struct error *e)
{
    const struct space_named *p = params;
    struct space_link l;
    (void)result;
    if (!find_link(c, p->space, &l, e))
        return false;
    bool ok = l.space.ring ? key_ring_rotate(l.space.ring, l.carrier, l.space.person, NULL, e)
                           : err_set(e, ERR_USAGE, "the space %.60s is not sealed: it has no keys",
                                     l.space.name);
    space_link_close(&l);
    return ok;
}

const struct operation operation_space_rotate = {
    OPERATION("space/rotate", TERMINAL, SPACE, "Gives the members of a sealed space a new key."),
    COMMAND("space rotate", "", N_("give the members of a sealed space a new key")),
    .params = PARAMETERS(space_named, SPACE_NAME(space_named)),
    .done = SAYS_DONE,
    .needs = WRITES,
    .run = run_rotate,
};

struct approve_params {
    const char *space, *person, *words;
};

static bool run_approve(struct operation_context *c, const void *params, void *result,
                        struct error *e)
{
    const struct approve_params *p = params;
    struct space_link l;
    (void)result;
    if (!find_link(c, p->space, &l, e))
        return false;
    bool ok =
        l.space.ring
            ? key_ring_approve(l.space.ring, l.carrier, l.space.person, p->person, p->words, e)
            : err_set(e, ERR_USAGE, "the space %.60s is not sealed: it has no keys", l.space.name);
    space_link_close(&l);
    return ok;
}

const struct operation operation_space_approve = {
    OPERATION("space/approve", TERMINAL, SPACE, "Admits a machine to a sealed space by its words."),
    COMMAND("space approve", "PERSON WORDS...",
            N_("admit a machine whose words you have compared (space members)")),
    .details = N_("For a machine that used no invitation in time. Ask the person for the words."),
    .params = PARAMETERS(approve_params,
                         SHAPE_REQ(approve_params, person, "Name of the person.", .least = 1),
                         SHAPE_REQ(approve_params, words, "The eight words.", .least = 1),
                         SPACE_NAME(approve_params)),
    .done = SAYS_DONE,
    .needs = WRITES,
    .run = run_approve,
};

struct leave_params {
    const char *space;
    bool erase;
};

static bool run_leave(struct operation_context *c, const void *params, void *result,
                      struct error *e)
{
    const struct leave_params *p = params;
    struct space space;
    (void)result;
    if (!space_find(c->memories->store, p->space, &space, e))
        return false;
    bool ok = space_leave(c->memories->store, c->memories->recall.memory, &space, p->erase, e);
    space_release(&space);
    return ok;
}

const struct operation operation_space_leave = {
    OPERATION("space/leave", TERMINAL, SPACE, "Ends the membership of this machine."),
    COMMAND("space leave", "SPACE", N_("end the membership of this machine")),
    .params = PARAMETERS(leave_params, SHAPE_REQ(leave_params, space, "Name here.", .least = 1),
                         SHAPE_OPT(leave_params, erase, "Also erase what others wrote.",
                                   SHAPE_OPTION("--erase", N_("also erase what others wrote")))),
    .done = SAYS_DONE,
    .needs = WRITES,
    .run = run_leave,
};

/* ---- space/share ---- */

static bool run_share(struct operation_context *c, const void *params, void *result,
                      struct error *e)
{
    const struct space_share_params *p = params;
    struct space_share_result *out = result;
    struct memories *m = c->memories;
    bool off = p->off || (p->space && strcmp(p->space, "off") == 0);
    const char *name = p->space && strcmp(p->space, "off") != 0 ? p->space : NULL;
    auto_free char *project = NULL;
    struct space space;
    if (!memories_work_in(m, p->session, e) || !space_find(m->store, name, &space, e))
        return false;
    const char *what = memories_session(m);
    bool ok = true;
    if (p->project || !what) {
        what = project = space_project(memories_directory(m));
        ok = what || err_set(e, ERR_USAGE,
                             "%.120s is in no Git repository with a remote; share a session "
                             "instead (--session)",
                             memories_directory(m));
    }
    struct space_shared shared = {0};
    ok = ok && space_share(m->store, &space, project ? "project" : "session", what, !off,
                           p->dry_run, &shared, e);
    if (ok) {
        out->entries = shared.entries;
        out->samples.items = shared.samples.items.items;
        out->samples.len = shared.samples.items.len;
        out->samples.cap = shared.samples.items.cap;
        out->space = mem_strdup(space.name);
        out->what = mem_strdup(off       ? N_("No longer shared with")
                               : project ? N_("The project is shared now with")
                                         : N_("The session is shared now with"));
        out->noun = mem_strdup(off ? N_("entries that are taken back")
                                   : N_("entries of memory that go there at once"));
    }
    space_release(&space);
    return ok;
}

const struct operation operation_space_share = {
    OPERATION("space/share", OWNER, MEMORY,
              "Shares the memory of a session or project with a space, or takes it back."),
    COMMAND("space share", "[SPACE]",
            N_("share the memory of this project, or of a session, with a space")),
    SLASH("share", "[SPACE|off]", N_("share the memory of this session (off: take it back)")),
    .details =
        N_("Without --session: the project of this directory, by its Git remote, now and in\n"
           "future sessions. --off takes back: others erase what they have of it."),
    .params = PARAMETERS(
        space_share_params,
        SHAPE_OPT(space_share_params, space, "Name of a space here; absent: the only one.",
                  .most = SPACE_NAME_BYTES),
        SHAPE_OPT_AS(SESSION_MEMBER, space_share_params, session,
                     "The session; absent: the project of the directory.",
                     SHAPE_OPTION("--session SESSION", N_("only this session"))),
        SHAPE_OPT(space_share_params, project, "The project of the session's directory.",
                  SHAPE_OPTION("--project", N_("the project of the session"))),
        SHAPE_OPT(space_share_params, off, "Take it back.",
                  SHAPE_OPTION("--off", N_("take it back: others erase it"))),
        SHAPE_OPT(space_share_params, dry_run, "Only count, and show samples.",
                  SHAPE_OPTION("--dry-run", N_("change nothing: count and show samples")))),
    .result = RESULT(
        "shared", space_share_result, SHAPE_REQ(space_share_result, space, "Name of the space."),
        SHAPE_REQ(space_share_result, what, "What was done, in English."),
        SHAPE_REQ(space_share_result, noun, "What happens to the entries, in English."),
        SHAPE_REQ(space_share_result, entries, "Entries of memory that it concerns now."),
        SHAPE_REQ_TEXTS(space_share_result, samples,
                        "Beginnings of the newest, as they are sent.")),
    .line = N_("{_what} {space}; {_noun}: {entries}"),
    .needs = WRITES,
    .run = run_share,
};

/* ---- space/sync, space/check ---- */

struct sync_result {
    int64_t read, applied, refused, skipped, waiting;
};

static bool run_sync(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct space_named *p = params;
    struct sync_result *out = result;
    struct space_news news = {0};
    struct space_state state = {0};
    struct space_link l;
    if (!find_link(c, p->space, &l, e))
        return false;
    bool ok = sync_link(c, &l, &news, e) && space_state(c->memories->store, &l.space, &state, e);
    *out = (struct sync_result){.read = news.lines,
                                .applied = news.applied,
                                .refused = news.refused,
                                .skipped = news.skipped + news.sealed,
                                .waiting = state.waiting};
    space_link_close(&l);
    return ok;
}

const struct operation operation_space_sync = {
    OPERATION("space/sync", OWNER, SPACE, "Sends what waits, and reads what others wrote."),
    COMMAND("space sync", "", N_("send what waits and read what others wrote, now")),
    .details = N_("While tiro runs, this happens by itself, every second."),
    .params = PARAMETERS(space_named, SPACE_NAME(space_named)),
    .result = RESULT(
        "synced", sync_result,
        SHAPE_REQ(sync_result, read, "Lines of the log.", .label = N_("lines read")),
        SHAPE_REQ(sync_result, applied, "Those that changed something here.",
                  .label = N_("changes")),
        SHAPE_REQ(sync_result, refused, "Those that a member may not write.",
                  .label = N_("refused")),
        SHAPE_REQ(sync_result, skipped, "Damaged, of a newer version, or without a key.",
                  .label = N_("not read")),
        SHAPE_REQ(sync_result, waiting, "Lines that are not sent yet.", .label = N_("waiting"))),
    .needs = WRITES,
    .run = run_sync,
};

struct check_params {
    const char *space;
    bool reapply;
};

static bool run_check(struct operation_context *c, const void *params, void *result,
                      struct error *e)
{
    const struct check_params *p = params;
    struct text_list warnings = {0};
    struct space_warnings *out = result;
    struct space_news news = {0};
    struct space_link l;
    if (!find_link(c, p->space, &l, e))
        return false;
    bool ok = l.carrier->ops->doctor(l.carrier, &warnings, e) &&
              (!p->reapply ||
               (space_send_again(c->memories->store, &l.space, e) && sync_link(c, &l, &news, e)));
    out->warnings.items = warnings.items.items;
    out->warnings.len = warnings.items.len;
    out->warnings.cap = warnings.items.cap;
    space_link_close(&l);
    return ok;
}

const struct operation operation_space_check = {
    OPERATION("space/check", TERMINAL, SPACE, "Says who can see more than the roles allow."),
    COMMAND("space check", "", N_("say who can see or change more than the roles allow")),
    .params = PARAMETERS(
        check_params,
        SHAPE_OPT(check_params, reapply,
                  "Erase again what was forgotten, and send again what this person wrote.",
                  SHAPE_OPTION("--reapply", N_("after a backup of the log was restored: erase and "
                                               "send again"))),
        SPACE_NAME(check_params)),
    .result = RESULT("check", space_warnings,
                     SHAPE_REQ_TEXTS(space_warnings, warnings, "Sentences in English.")),
    .needs = WRITES,
    .run = run_check,
};

/* ---- space/sql ---- */

static bool run_sql(struct operation_context *c, const void *params, void *result, struct error *e)
{
    struct buf sql = BUF_INIT;
    (void)c;
    (void)params;
    (void)e;
    buf_addstr(&sql, postgresql_tables);
    postgresql_policies(&sql);
    ((struct space_sql *)result)->sql = buf_take(&sql);
    return true;
}

const struct operation operation_space_sql = {
    OPERATION("space/sql", TERMINAL, SPACE, "The SQL that makes the tables on PostgreSQL."),
    COMMAND("space sql", "", N_("print the SQL that makes the tables of spaces on PostgreSQL")),
    .details = N_("For an administrator of the database, where your role may make no tables."),
    .result = RESULT("sql", space_sql, SHAPE_REQ(space_sql, sql, "It may be run again.")),
    .run = run_sql,
};
