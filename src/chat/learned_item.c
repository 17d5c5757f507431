#include "chat/learned_item.h"

#include <stddef.h>

static const char *const kind_words[] = {
#define X(name, word, replaces) [LEARNED_##name] = word,
    LEARNED_KINDS(X)
#undef X
};
static const bool replaces_of[] = {
#define X(name, word, replaces) [LEARNED_##name] = replaces,
    LEARNED_KINDS(X)
#undef X
};
static const char *const scope_words[] = {[LEARNED_PROJECT] = "project",
                                          [LEARNED_USER] = "user",
                                          [LEARNED_TOOL] = "tool",
                                          [LEARNED_HISTORY] = "history"};
static const char *const state_words[] = {[LEARNED_CANDIDATE] = "candidate",
                                          [LEARNED_ACTIVE] = "active",
                                          [LEARNED_SUPERSEDED] = "superseded",
                                          [LEARNED_REJECTED] = "rejected"};
static const char *const origin_words[] = {
    [LEARNED_TYPED] = "typed",
    [LEARNED_ADDED] = "added",
    [LEARNED_EXTRACTED] = "extracted",
    [LEARNED_LOGGED] = "logged",
};

static const char *const access_words[] = {
    [MEMORY_ACCESS_OFF] = "off", [MEMORY_ACCESS_READ] = "read", [MEMORY_ACCESS_WRITE] = "write"};

const struct shape_names memory_access_names = {access_words, MEMORY_ACCESS_WRITE + 1, -1};
const struct shape_names learned_kind_names = {kind_words, LEARNED_KIND_COUNT, -1};
const struct shape_names learned_scope_names = {scope_words, LEARNED_SCOPES, -1};
const struct shape_names learned_state_names = {state_words, LEARNED_STATES, -1};
const struct shape_names learned_origin_names = {origin_words, LEARNED_LOGGED + 1, -1};

bool learned_kind_replaces(enum learned_kind kind)
{
    return replaces_of[kind];
}

const char *learned_kind_word(enum learned_kind kind)
{
    return kind_words[kind];
}

const char *learned_scope_word(enum learned_scope scope)
{
    return scope_words[scope];
}

const char *learned_state_word(enum learned_state state)
{
    return state_words[state];
}

enum learned_scope learned_scope_of(enum learned_kind kind)
{
    if (kind == LEARNED_USAGE || kind == LEARNED_SESSION)
        return kind == LEARNED_USAGE ? LEARNED_TOOL : LEARNED_HISTORY;
    return learned_kind_replaces(kind) || kind == LEARNED_ENTITY ? LEARNED_USER : LEARNED_PROJECT;
}

void learned_item_release(struct learned_item *item)
{
    shape_release(&learned_item_shape, item);
}

void learned_items_release(struct learned_items *list)
{
    for (size_t i = 0; i < list->items.len; i++)
        learned_item_release(&list->items.items[i]);
    vec_release(&list->items);
}

#define AT(T, member) SHAPE_AT(T, struct learned_item, member)
#define TEXT(member) SHAPE_AT_TEXT(struct learned_item, member)

/* clang-format off */
static const struct shape_field fields[] = {
    SHAPE_FIELD("id", STRING, REQUIRED, TEXT(id), .most = LEARNED_ID_BYTES,
                .help = "Names the item."),
    SHAPE_FIELD("scope", ENUM, REQUIRED, AT(enum learned_scope, scope),
                .names = &learned_scope_names, .help = "Whom it is about."),
    SHAPE_FIELD("kind", ENUM, REQUIRED, AT(enum learned_kind, kind),
                .names = &learned_kind_names, .help = "What it is."),
    SHAPE_FIELD("state", ENUM, REQUIRED, AT(enum learned_state, state),
                .names = &learned_state_names, .help = "Whether it counts."),
    SHAPE_FIELD("origin", ENUM, REQUIRED, AT(enum learned_origin, origin),
                .names = &learned_origin_names, .help = "Where it came from."),
    SHAPE_FIELD("text", STRING, REQUIRED, TEXT(text), .most = LEARNED_TEXT_BYTES,
                .help = "What was learned."),
    SHAPE_FIELD("project", STRING, OPTIONAL, TEXT(project),
                .help = "Resolved path of the project that it belongs to."),
    SHAPE_FIELD("session_id", STRING, OPTIONAL, TEXT(session_id),
                .help = "The session that it was said in."),
    SHAPE_FIELD("session_gone", BOOLEAN, OPTIONAL, AT(bool, session_gone),
                .help = "That session was deleted."),
    SHAPE_FIELD("seq", INTEGER, OPTIONAL, AT(int64_t, seq), .least = 1,
                .help = "Number of the event of its message."),
    SHAPE_FIELD("replaced_by", STRING, OPTIONAL, TEXT(replaced_by),
                .help = "The item that took its place."),
    SHAPE_FIELD("created_at", TIME, REQUIRED, AT(int64_t, created_ms), .help = "When it was noted."),
    SHAPE_FIELD("changed_at", TIME, REQUIRED, AT(int64_t, changed_ms),
                .help = "When its text or state was last changed."),
    SHAPE_FIELD("uses", INTEGER, DEFAULT, AT(int64_t, uses),
                .help = "Sessions whose model was told of it."),
    SHAPE_FIELD("used_at", TIME, OPTIONAL, AT(int64_t, used_ms), .least = 1,
                .help = "When one was, last."),
    SHAPE_FIELD("said", STRING, OPTIONAL, TEXT(said),
                .help = "A line of the message that it is of, as the person typed it."),
    SHAPE_FIELD("said_at", TIME, OPTIONAL, AT(int64_t, said_ms), .least = 1,
                .help = "When that was sent."),
    SHAPE_FIELD("said_origin", ENUM, OPTIONAL, AT(enum input_origin, said_origin),
                .names = &input_origin_names, .help = "Where it came from; absent: unknown."),
    SHAPE_FIELD("turn", COUNT, OPTIONAL, AT(int, turn), .help = "Number of its turn."),
    SHAPE_FIELD("title", STRING, OPTIONAL, TEXT(title), .help = "Title of the session."),
    {0},
};
/* clang-format on */

const struct shape learned_item_shape = {
    .name = "learned item", .size = sizeof(struct learned_item), .fields = fields};
