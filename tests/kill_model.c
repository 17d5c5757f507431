#include "tests/kill_model.h"

#include "base/json.h"
#include "config/edit.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "tests/history_check.h"
#include "tests/kill_script.h"
#include "tests/program.h"
#include "tests/suite.h"

/* --- texts and values ------------------------------------------------------------------------- */

void kill_texts_add(struct kill_texts *t, const char *text)
{
    vec_push(&t->items, mem_strdup(text));
}

bool kill_texts_have(const struct kill_texts *t, const char *text)
{
    for (size_t i = 0; i < t->items.len; i++)
        if (strcmp(t->items.items[i], text) == 0)
            return true;
    return false;
}

bool kill_texts_have_all(const struct kill_texts *t, const struct kill_texts *wanted)
{
    for (size_t i = 0; i < wanted->items.len; i++)
        if (!kill_texts_have(t, wanted->items.items[i]))
            return false;
    return true;
}

static bool have_any(const struct kill_texts *t, const struct kill_texts *wanted)
{
    for (size_t i = 0; i < wanted->items.len; i++)
        if (kill_texts_have(t, wanted->items.items[i]))
            return true;
    return false;
}

void kill_texts_add_all(struct kill_texts *t, const struct kill_texts *more)
{
    for (size_t i = 0; i < more->items.len; i++)
        if (!kill_texts_have(t, more->items.items[i]))
            kill_texts_add(t, more->items.items[i]);
}

void kill_texts_clear(struct kill_texts *t)
{
    vec_free_each(&t->items);
}

void kill_value_settle(struct kill_value *v, const char *now, const char *what)
{
    bool is_what_was = (v->was && now && strcmp(v->was, now) == 0) || (!v->was && !now);
    bool was_done = now && (kill_texts_have(&v->told, now) || kill_texts_have(&v->tried, now));
    if (!was_done && (!is_what_was || v->told.items.len > 0))
        fail_msg("%s is \"%s\"; it was \"%s\", told done: \"%s\" (%zu), tried: \"%s\" (%zu)", what,
                 now ? now : "(none)", v->was ? v->was : "(none)",
                 v->told.items.len ? vec_last(&v->told.items) : "", v->told.items.len,
                 v->tried.items.len ? vec_last(&v->tried.items) : "", v->tried.items.len);
    char *kept = mem_strdup(now);
    kill_value_release(v);
    v->was = kept;
}

void kill_value_release(struct kill_value *v)
{
    free(v->was);
    v->was = NULL;
    kill_texts_clear(&v->told);
    kill_texts_clear(&v->tried);
}

/* --- sessions --------------------------------------------------------------------------------- */

static void free_session(struct kill_session *s)
{
    kill_value_release(&s->title);
    kill_value_release(&s->archived);
    kill_texts_clear(&s->labels);
    free(s->draft);
    kill_texts_clear(&s->words);
    kill_texts_clear(&s->completed);
    for (size_t i = 0; i < s->lines.len; i++)
        free(s->lines.items[i].text);
    vec_release(&s->lines);
    free(s);
}

struct kill_session *kill_model_session(const struct kill_model *m, const char *id)
{
    for (size_t i = 0; i < m->sessions.len; i++)
        if (strcmp(m->sessions.items[i]->id, id) == 0)
            return m->sessions.items[i];
    return NULL;
}

struct kill_session *kill_model_add_session(struct kill_model *m, const char *id)
{
    struct kill_session *s = mem_alloc(sizeof *s);
    assert_int_equal(strlen(id), UUID_LEN);
    strcpy(s->id, id);
    vec_push(&m->sessions, s);
    return s;
}

void kill_session_shown(struct kill_model *m, struct kill_session *s, const char *line)
{
    AUTO(json_free_local) struct json *v = parse_json(line);
    const char *type = json_get_string(v, "type");
    struct kill_line shown = {.seq = json_get_int(v, "seq", 0), .text = mem_strdup(line)};
    if (strstr(type, "_delta")) {
        free(shown.text);
    } else {
        vec_push(&s->lines, shown);
        m->lines_shown++;
    }
}

static void add_words(struct kill_texts *words, const char *text)
{
    for (; text && (text = kill_word_find(text)); text += KILL_WORD_LEN) {
        auto_free char *word = mem_strndup(text, KILL_WORD_LEN);
        if (!kill_texts_have(words, word))
            kill_texts_add(words, word);
    }
}

static bool take_event(void *session, const struct event *ev)
{
    struct kill_session *s = session;
    auto_free char *line = event_to_line(ev);
    if (ev->type == EVENT_TURN_STARTED)
        s->words_before = s->words.items.len;
    add_words(&s->words, line);
    for (size_t i = s->words_before; ev->type == EVENT_TURN_COMPLETED && i < s->words.items.len;
         i++)
        kill_texts_add(&s->completed, s->words.items.items[i]);
    return true;
}

static void settle_labels(const struct kill_session *s, const char *labels)
{
    for (size_t i = 0; i < s->labels.items.len; i++)
        if (!labels || !strstr(labels, s->labels.items.items[i]))
            fail_msg("session %s has the labels \"%s\", without %s", s->id, labels ? labels : "",
                     s->labels.items.items[i]);
}

/* A message that was cut off and is to be sent again, also in another session. */
static bool was_asked(const struct kill_model *m, const char *draft)
{
    bool was = false;
    const char *at = kill_word_find(draft);
    auto_free char *word = at ? mem_strndup(at, KILL_WORD_LEN) : NULL;
    for (size_t i = 0; word && !was && i < m->sessions.len; i++)
        was = kill_texts_have(&m->sessions.items[i]->words, word);
    return was;
}

static bool is_beginning_of_typed(const struct kill_model *m, const char *draft)
{
    for (size_t i = 0; i < m->typed.items.len; i++)
        if (strncmp(m->typed.items.items[i], draft, strlen(draft)) == 0)
            return true;
    return false;
}

/* The draft is the old one, a prefix of the typed text, or such a prefix after the old one. */
static bool became_draft(const struct kill_model *m, const char *was, const char *draft)
{
    size_t old = was && strncmp(was, draft, strlen(was)) == 0 ? strlen(was) : 0;
    return !draft[old] || is_beginning_of_typed(m, draft + old) || is_beginning_of_typed(m, draft);
}

static bool came_along(const struct kill_model *m, const char *draft)
{
    for (size_t i = 0; i < m->drafts.items.len; i++)
        if (became_draft(m, m->drafts.items.items[i], draft))
            return true;
    return false;
}

static void settle_draft(const struct kill_model *m, struct kill_session *s, const char *draft,
                         bool is_new)
{
    if (draft && !became_draft(m, s->draft, draft) && !was_asked(m, draft) &&
        !(is_new && came_along(m, draft)))
        fail_msg("session %s has the draft \"%s\"", s->id, draft);
    free(s->draft);
    s->draft = mem_strdup(draft);
}

static void settle_session(struct kill_model *m, struct kill_session *s, struct store *store,
                           bool is_new)
{
    AUTO(session_info_release) struct session_info info = {0};
    struct error e = {0};
    struct kill_texts before = s->completed;
    s->completed = (struct kill_texts){0};
    kill_texts_clear(&s->words);
    assert_ok(sessions_get(store, s->id, &info, &e), e);
    assert_session_sound(store, s->id);
    assert_ok(event_log_read(store, s->id, 0, take_event, s, &e), e);
    s->words_said = s->words.items.len;
    if (!kill_texts_have_all(&s->words, &before))
        fail_msg("session %s has lost words", s->id);
    add_words(&s->words,
              info.title); /* a fork has that of its parent, and a draft may come along */
    add_words(&s->words, info.draft);
    /* Text that was shown must stay, including text that earlier rounds found. */
    for (; s->lines_held < s->lines.len; s->lines_held++) {
        const struct kill_line *line = &s->lines.items[s->lines_held];
        if (!log_has_line(store, s->id, line->seq, line->text))
            fail_msg("shown, but not in the log: %s", line->text);
    }
    if (is_new) {
        /* The group was begun, so none of its words may be missing. */
        for (size_t i = 0; i < m->wholes.len; i++)
            if (have_any(&s->words, &m->wholes.items[i]) &&
                !kill_texts_have_all(&s->words, &m->wholes.items[i]))
                fail_msg("session %s has only a part of what came into it at once", s->id);
    }
    settle_labels(s, info.labels);
    settle_draft(m, s, info.draft, is_new);
    bool strict = s->named || s->title.told.items.len > 0;
    if (!strict && !kill_texts_have(&s->title.tried, info.title)) {
        kill_value_release(&s->title);
        s->title.was = mem_strdup(info.title);
    }
    kill_value_settle(&s->title, info.title, "a title");
    s->named = info.title_set;
    if (is_new && !s->archived.was)
        s->archived.was = mem_strdup(info.archived_ms ? "yes" : "no");
    kill_value_settle(&s->archived, info.archived_ms ? "yes" : "no", "being archived");
    kill_texts_clear(&before);
}

/* A session without messages is deleted together with its draft. */
static void settle_absent(struct kill_model *m, size_t i)
{
    struct kill_session *s = m->sessions.items[i];
    if (!s->delete_tried && !s->delete_told && (s->lines.len > 0 || s->words_said > 0))
        fail_msg("session %s is lost", s->id);
    kill_texts_add_all(&m->gone, &s->words);
    free_session(s);
    vec_remove(&m->sessions, i, 1);
}

static bool note_id(void *context, const char *id)
{
    kill_texts_add(context, id);
    return true;
}

static void forget_living(struct kill_model *m)
{
    for (size_t i = 0; i < m->sessions.len; i++)
        for (size_t w = m->gone.items.len; w-- > 0;)
            if (kill_texts_have(&m->sessions.items[i]->words, m->gone.items.items[w])) {
                free(m->gone.items.items[w]);
                vec_remove(&m->gone.items, w, 1);
            }
}

static void settle_known(struct kill_model *m, struct store *store, const struct kill_texts *ids)
{
    for (size_t i = m->sessions.len; i-- > 0;) {
        struct kill_session *s = m->sessions.items[i];
        if (!kill_texts_have(ids, s->id)) {
            settle_absent(m, i);
            continue;
        }
        if (s->delete_told)
            fail_msg("session %s was told deleted, and is there", s->id);
        s->delete_tried = false;
        settle_session(m, s, store, s->words.items.len == 0);
    }
}

void kill_model_settle_sessions(struct kill_model *m, struct store *store)
{
    struct error e = {0};
    struct kill_texts ids = {0};
    for (size_t i = 0; i < m->sessions.len; i++)
        if (m->sessions.items[i]->draft)
            kill_texts_add(&m->drafts, m->sessions.items[i]->draft);
    if (store)
        assert_ok(sessions_each(store, NULL, note_id, &ids, &e), e);
    settle_known(m, store, &ids);
    for (size_t i = 0; i < ids.items.len; i++)
        if (!kill_model_session(m, ids.items.items[i]))
            settle_session(m, kill_model_add_session(m, ids.items.items[i]), store, true);
    forget_living(m);
    for (size_t i = 0; i < m->wholes.len; i++)
        kill_texts_clear(&m->wholes.items[i]);
    vec_clear(&m->wholes);
    kill_texts_clear(&m->typed);
    kill_texts_clear(&m->drafts);
    kill_texts_clear(&ids);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void free_entry(struct kill_entry *entry)
{
    kill_value_release(&entry->content);
    kill_value_release(&entry->pinned);
    free(entry);
}

struct kill_entry *kill_model_add_entry(struct kill_model *m, const char *id, const char *content,
                                        int import)
{
    struct kill_entry *entry = mem_alloc(sizeof *entry);
    assert_true(strlen(id) < sizeof entry->id);
    strcpy(entry->id, id);
    entry->content.was = mem_strdup(content);
    entry->pinned.was = mem_strdup("no");
    entry->import = import;
    vec_push(&m->entries, entry);
    return entry;
}

static struct json *exported_entry(const char *exported, const char *id)
{
    auto_free char *mark = mem_printf("\"id\":\"%s\"", id);
    const char *at = strstr(exported, mark);
    if (!at)
        return NULL;
    while (at > exported && at[-1] != '\n')
        at--;
    auto_free char *line = mem_strndup(at, strcspn(at, "\n"));
    return parse_json(line);
}

/* One import is one transaction, so its entries are all there or all missing. */
static void settle_import(struct kill_model *m, const struct kill_entry *entry, bool there)
{
    for (size_t i = 0; i < m->entries.len; i++) {
        struct kill_entry *other = m->entries.items[i];
        if (other->import != entry->import)
            continue;
        other->sure = there;
        other->absent = !there;
    }
}

static bool settle_entry(struct kill_model *m, struct kill_entry *entry, const struct json *found)
{
    if (!found) {
        if (entry->sure && !entry->delete_told && !entry->delete_tried)
            fail_msg("the entry %s of memory is lost", entry->id);
        if (entry->sure)
            add_words(&m->gone, entry->content.was);
        for (size_t i = 0; i < entry->content.tried.items.len; i++)
            add_words(&m->gone, entry->content.tried.items.items[i]);
        for (size_t i = 0; i < entry->content.told.items.len; i++)
            add_words(&m->gone, entry->content.told.items.items[i]);
        return false;
    }
    if (entry->delete_told)
        fail_msg("the entry %s of memory was told deleted, and is there", entry->id);
    if (entry->absent)
        fail_msg("the entry %s of memory is there without others of its import", entry->id);
    entry->delete_tried = false;
    kill_value_settle(&entry->content, json_get_string(found, "content"), entry->id);
    kill_value_settle(&entry->pinned, json_get_bool(found, "pinned", false) ? "yes" : "no",
                      "being pinned");
    return true;
}

void kill_model_settle_entries(struct kill_model *m, const char *exported)
{
    for (size_t i = m->entries.len; i-- > 0;) {
        struct kill_entry *entry = m->entries.items[i];
        AUTO(json_free_local) struct json *found = exported_entry(exported, entry->id);
        if (!entry->sure && !entry->absent)
            settle_import(m, entry, found != NULL);
        bool stays = settle_entry(m, entry, found);
        if (stays)
            continue;
        free_entry(entry);
        vec_remove(&m->entries, i, 1);
    }
}

/* --- settings --------------------------------------------------------------------------------- */

struct kill_setting *kill_model_setting(struct kill_model *m, const char *key)
{
    for (size_t i = 0; i < m->settings.len; i++)
        if (strcmp(m->settings.items[i]->key, key) == 0)
            return m->settings.items[i];
    struct kill_setting *setting = mem_alloc(sizeof *setting);
    setting->key = mem_strdup(key);
    vec_push(&m->settings, setting);
    return setting;
}

void kill_model_settle_settings(struct kill_model *m, const char *ini)
{
    for (size_t i = 0; i < m->settings.len; i++) {
        struct kill_setting *setting = m->settings.items[i];
        auto_free char *section = NULL, *name = NULL;
        struct error e = {0};
        assert_ok(config_edit_split(setting->key, &section, &name, &e), e);
        auto_free char *value = config_edit_value(ini, section, name);
        kill_value_settle(&setting->value, value, setting->key);
    }
}

void kill_model_release(struct kill_model *m)
{
    for (size_t i = 0; i < m->sessions.len; i++)
        free_session(m->sessions.items[i]);
    for (size_t i = 0; i < m->entries.len; i++)
        free_entry(m->entries.items[i]);
    for (size_t i = 0; i < m->settings.len; i++) {
        kill_value_release(&m->settings.items[i]->value);
        free(m->settings.items[i]->key);
        free(m->settings.items[i]);
    }
    for (size_t i = 0; i < m->wholes.len; i++)
        kill_texts_clear(&m->wholes.items[i]);
    vec_release(&m->sessions);
    vec_release(&m->entries);
    vec_release(&m->settings);
    vec_release(&m->wholes);
    kill_texts_clear(&m->gone);
    kill_texts_clear(&m->typed);
    kill_texts_clear(&m->drafts);
    *m = (struct kill_model){0};
}
