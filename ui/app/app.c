#include "ui/app/app.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "session/session_operations.h"
#include "ui/term/term.h"
#include "ui/text/format.h"

#define FRAME_MS 16
#define STREAM_FRAME_MS 33 /* every frame costs two moves of the cursor */
#define STATUS_MS 500
#define SECOND_MS 1000
#define DRAFT_MS 100     /* after the last key */
#define DRAFT_MAX_MS 500 /* after the first that is not saved, while somebody types on */
#define PAGE_EVENTS 200
#define LAID_OUT_A_FRAME ((size_t)128 * 1024) /* bytes of an answer; the worst text takes 10 ms */

/* Errands */

/* Shared with the workers; the last user frees it. */
struct errands {
    struct mailbox *back;
    atomic_int users;
    struct worker *worker; /* the screen's, like `away` */
    int away;              /* errands that have not returned yet */
};

struct way {
    struct job job;
    struct errands *errands;
    struct errand *errand;
};

static const struct worker_role errand_role = {.chore_count = 0};

static void release_errand(void *item)
{
    struct errand *e = item;
    e->release(e);
}

static void drop_errands(struct errands *s)
{
    if (atomic_fetch_sub(&s->users, 1) > 1)
        return;
    mailbox_free(s->back);
    free(s);
}

struct mailbox *errands_back(struct errands *s)
{
    return s->back;
}

static void run_errand(struct job *job, void *context, const struct wakeup *wakeup)
{
    struct way *way = (struct way *)job;
    (void)context;
    (void)wakeup;
    way->errand->run(way->errand);
    mailbox_push(way->errands->back, way->errand);
}

static void release_way(struct job *job)
{
    struct way *way = (struct way *)job;
    drop_errands(way->errands);
    free(way);
}

void errand_start(struct errands *s, struct errand *e)
{
    struct error fault;
    struct way *way = mem_alloc(sizeof *way);
    *way = (struct way){.job = {.run = run_errand, .release = release_way, .lasting = true},
                        .errands = s,
                        .errand = e};
    e->errands = s;
    if (s->away > 0) { /* the worker may hang: it is left to its errand */
        worker_leave(s->worker);
        s->worker = worker_new(&errand_role, NULL);
    }
    s->away++;
    atomic_fetch_add(&s->users, 1);
    if (worker_submit(s->worker, &way->job, &fault))
        return;
    e->refused = true;
    mailbox_push(s->back, e);
    release_way(&way->job);
}

void errand_finish(struct app *app, struct errand *e)
{
    e->errands->away--;
    e->done(app, e);
    e->release(e);
}

/* The state */

static void bind_key(void *context, const char *section, const char *name, const char *value,
                     const char *source, int line)
{
    struct app *app = context;
    struct error fault;
    if (strcmp(section, "keys") == 0 && !keymap_bind(&app->keymap, name, value, &fault))
        app_note(app, STYLE_WARNING, "%s:%d: %s", source, line, fault.text);
}

enum reasoning_view app_reasoning(const struct config *config)
{
    const char *view = config_string(config, CONFIG_UI_REASONING);
    return strcmp(view, "open") == 0     ? REASONING_OPEN
           : strcmp(view, "hidden") == 0 ? REASONING_HIDDEN
                                         : REASONING_FOLDED;
}

void app_init(struct app *app, const struct ui_options *options)
{
    *app = (struct app){.options = options, .config = options->config};
    app->transcript = transcript_new();
    transcript_set_pace(app->transcript, LAID_OUT_A_FRAME);
    transcript_set_reasoning(app->transcript, app_reasoning(app->config));
    app->editor = editor_new();
    app->errands = mem_alloc(sizeof *app->errands);
    app->errands->back = mailbox_new(release_errand);
    app->errands->worker = worker_new(&errand_role, NULL);
    atomic_init(&app->errands->users, 1);
    keymap_init(&app->keymap);
    session_info_init(&app->session);
    session_info_init(&app->welcome.newest);
    app->meters.cost = -1;
    app->meters.total = USAGE_UNKNOWN;
    app->fresh = true;
    app->dirty = DIRTY_ALL;
    for (char *const *w = options->warnings; w && *w; w++)
        app_note(app, STYLE_WARNING, "%s", *w);
    config_visit(app->config, "keys", bind_key, app);
    static const enum action to_leave_out[] = {ACTION_MEMORY, ACTION_MEMORY_TAB,
                                               ACTION_MEMORY_LEAVE_OUT};
    AUTO(buf_release) struct buf cancel = BUF_INIT, open = BUF_INIT, leave_out = BUF_INIT;
    keymap_describe_first(&app->keymap, ACTION_CANCEL, &cancel);
    keymap_describe_first(&app->keymap, ACTION_SEND, &open);
    for (size_t i = 0; i < sizeof to_leave_out / sizeof *to_leave_out; i++) {
        buf_addstr(&leave_out, i > 0 ? " " : "");
        keymap_describe_first(&app->keymap, to_leave_out[i], &leave_out);
    }
    transcript_set_hints(app->transcript, cancel.data, open.data, leave_out.data,
                         config_boolean(app->config, CONFIG_COMPACTION_HINT));
    AUTO(buf_release) struct buf first = BUF_INIT;
    buf_addstr(&first, options->first_draft ? options->first_draft : "");
    if (options->attach && options->attach->items.len > 0) {
        mentions_add(&first, options->attach);
        buf_addch(&first, ' ');
    }
    editor_set(app->editor, first.data);
}

void app_forget_cards(struct app *app)
{
    for (size_t i = 0; i < app->cards.len; i++) {
        free(app->cards.items[i].id);
        free(app->cards.items[i].text);
    }
    vec_release(&app->cards);
    free(app->reworded);
    app->reworded = NULL;
}

void mention_looks_release(struct mention_looks *l)
{
    for (size_t i = 0; i < l->items.len; i++)
        free(l->items.items[i].name);
    vec_release(&l->items);
}

void app_release(struct app *app)
{
    app_forget_cards(app);
    vec_release(&app->asked);
    views_release(&app->views);
    for (size_t i = 0; i < app->background.len; i++)
        free(app->background.items[i].title);
    vec_release(&app->background);
    transcript_free(app->transcript);
    editor_free(app->editor);
    mentions_release(&app->mentions.files);
    mentions_release(&app->mentions.folders);
    mentions_release(&app->mentions.corpora);
    mention_looks_release(&app->mentions.looks);
    free(app->mentions.place);
    worker_leave(app->errands->worker); /* a thread that hangs is left to the process's end */
    drop_errands(app->errands);
    keymap_release(&app->keymap);
    session_info_release(&app->session);
    session_info_release(&app->welcome.newest);
    free(app->welcome.files);
    shape_release(operation_import_list.result, &app->import.found);
    session_list_release(&app->sessions);
    for (size_t i = 0; i < app->models.len; i++)
        shape_release(operation_models_list.result, &app->models.items[i]);
    vec_release(&app->models);
    free(app->space.name);
    free(app->theme_name);
    free(app->provider);
    free(app->model);
    free(app->effort);
    free(app->efforts);
    free(app->detail);
    free(app->last_sent);
    free(app->activity.retry_reason);
    free(app->waiting);
    free(app->draft_when_left);
    free(app->parting);
    free(app->find_next);
    vec_release(&app->way_back.places);
}

void app_touch_now(struct app *app, unsigned parts)
{
    app->dirty |= parts;
    app->urgent = true;
}

void app_follow(struct app *app)
{
    if (transcript_scroll(app->transcript, -TRANSCRIPT_ALL))
        app_touch_now(app, DIRTY_BODY | DIRTY_STATUS);
}

void app_note_as(struct app *app, bool briefly, enum style style, const char *format, ...)
{
    AUTO(buf_release) struct buf text = BUF_INIT, clean = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    bool foot = briefly && app->selecting.active; /* the view may be far from the end */
    utf8_clean(&clean, text.data, text.len, foot ? UTF8_ONE_LINE : UTF8_MULTILINE);
    if (foot)
        mem_replace(&app->selecting.told, mem_strdup(clean.data));
    else
        transcript_note(app->transcript, style, clean.data, briefly);
    app_touch_now(app, foot ? DIRTY_STATUS : DIRTY_BODY);
}

/* Requests */

uint64_t app_ask(struct app *app, const struct operation *o, const void *params, app_answer *take)
{
    return asked_start(app, o, params, (struct asked_request){.take = take});
}

uint64_t asked_start(struct app *app, const struct operation *o, const void *params,
                     struct asked_request by)
{
    by.id = engine_start(app->engine, o, params);
    by.lasts = operation_lasts(o);
    vec_push(&app->asked, by);
    return by.id;
}

void asked_withdraw(struct app *app, const struct view *v, uint64_t id)
{
    for (size_t i = app->asked.len; i > 0; i--) {
        struct asked_request *r = &app->asked.items[i - 1];
        if (v ? r->view != v : r->id != id)
            continue;
        if (v && r->lasts) {
            *r = (struct asked_request){.id = r->id};
        } else {
            engine_withdraw(app->engine, r->id);
            vec_remove(&app->asked, i - 1, 1);
        }
    }
}

bool asked_give(struct app *app, const struct asked_request *r, struct operation_answer *a,
                const char *words)
{
    if (r->view)
        return r->take_view && r->take_view(r->view, a, words);
    return r->take && r->take(app, a, words);
}

bool app_is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

void app_write(struct app *app, const char *text)
{
    editor_set(app->editor, text);
    app_edited(app);
}

void app_give_back(struct app *app, const char *text)
{
    const char *written = editor_text(app->editor);
    if (app_is_blank(text) || strcmp(text, written) == 0)
        return;
    auto_free char *both =
        app_is_blank(written) ? mem_strdup(text) : mem_printf("%s\n\n%s", text, written);
    app_write(app, both);
}

void app_edited(struct app *app)
{
    int64_t now = clock_mono_ms();
    if (!app->draft_at)
        app->draft_since = now;
    app->draft_at = now + DRAFT_MS;
    if (app->draft_at > app->draft_since + DRAFT_MAX_MS)
        app->draft_at = app->draft_since + DRAFT_MAX_MS;
    if (app->follow_edit)
        app->follow_edit(app);
    app_touch_now(app, DIRTY_EDITOR | (app->import.shown ? DIRTY_BODY : 0)); /* it names keys */
}

void app_save_draft(struct app *app)
{
    app->draft_at = 0;
    if (app->read_only)
        return;
    const char *text = editor_text(app->editor);
    AUTO(buf_release) struct buf both = BUF_INIT;
    if (app->waiting) /* it is not sent yet, so it belongs to the draft */
        buf_addf(&both, "%s%s", app->waiting, app_is_blank(text) ? "" : "\n\n");
    buf_addstr(&both, text);
    (void)app_ask(app, &operation_session_set_draft,
                  &(struct session_text_params){.text = both.data}, NULL);
}

bool app_take_waiting(struct app *app)
{
    if (!app->waiting)
        return false;
    auto_free char *text = app->waiting;
    app->waiting = NULL;
    app_give_back(app, text);
    app_touch_now(app, DIRTY_ALL);
    return true;
}

void app_open_session(struct app *app, const char *session, bool read_only)
{
    const struct session_open_params params = {.session = session, .read_only = read_only};
    app_leave_session(app);
    (void)app_ask(app, &operation_session_open, &params, NULL);
}

/* Conversations in the background */

struct background_session *background_find(const struct app *app, const char *id)
{
    for (size_t i = 0; i < app->background.len; i++)
        if (strcmp(app->background.items[i].id, id) == 0)
            return &app->background.items[i];
    return NULL;
}

struct background_session *background_put(struct app *app, const char *id, const char *title)
{
    struct background_session *b = background_find(app, id);
    if (b)
        return b;
    struct background_session new = {.title = mem_strdup(title ? title : "")};
    memcpy(new.id, id, strnlen(id, UUID_LEN));
    vec_push(&app->background, new);
    return &vec_last(&app->background);
}

bool background_remove(struct app *app, const char *id)
{
    struct background_session *b = background_find(app, id);
    if (!b)
        return false;
    free(b->title);
    vec_remove(&app->background, (size_t)(b - app->background.items), 1);
    return true;
}

size_t background_count(const struct app *app, bool waits)
{
    size_t count = 0;
    for (size_t i = 0; i < app->background.len; i++) {
        const struct background_session *b = &app->background.items[i];
        count += b->waits == waits && strcmp(b->id, app->session.id) != 0;
    }
    return count;
}

void app_next_session(struct app *app)
{
    const struct background_session *next = NULL; /* the first that waits, else the first */
    for (size_t i = 0; i < app->background.len; i++) {
        const struct background_session *b = &app->background.items[i];
        if (strcmp(b->id, app->session.id) != 0 && (!next || (b->waits && !next->waits)))
            next = b;
    }
    const char *left = *app->left || !app->fresh ? app->left : app->welcome.newest.id;
    if (!next && (!*left || strcmp(left, app->session.id) == 0)) {
        app_note_briefly(app, STYLE_NOTE, "%s", _("No other conversation is working."));
        return;
    }
    auto_free char *id = mem_strdup(next ? next->id : left);
    app_open_session(app, id, false);
}

bool app_knows_others(struct app *app)
{
    size_t others = background_count(app, false) + background_count(app, true);
    size_t tasks = (size_t)app->meters.tasks;
    bool known = others <= app->others_told, tasks_known = tasks <= app->tasks_told;
    app->others_told = others;
    app->tasks_told = tasks;
    if (!tasks_known)
        app_note_briefly(app, STYLE_WARNING,
                         ngettext("%zu command runs in the background. Leaving ends it; do it "
                                  "again to leave.",
                                  "%zu commands run in the background. Leaving ends them; do it "
                                  "again to leave.",
                                  tasks),
                         tasks);
    if (!known)
        app_note_briefly(app, STYLE_WARNING,
                         ngettext("%zu other conversation goes on. Leaving stops its turn; do it "
                                  "again to leave.",
                                  "%zu other conversations go on. Leaving stops their turns; do it "
                                  "again to leave.",
                                  others),
                         others);
    return known && tasks_known;
}

void app_leave(struct app *app)
{
    app->leaving = app_knows_others(app);
}

void app_leave_session(struct app *app)
{
    app_take_waiting(app);
    app_save_draft(app);
    if (app->activity.busy) { /* the turn goes on in the background */
        background_put(app, app->session.id, app->session.title)->waits =
            approval_open(&app->approval.view) || draft_review_open(&app->draft);
        app->activity.busy = app->activity.over = app->retry_after = false;
    }
    free(app->draft_when_left);
    app->draft_when_left = NULL;
    bool kept = app->options->engine->persist && !app->read_only; /* else the text comes along */
    if (kept)
        app->draft_when_left = mem_strdup(editor_text(app->editor));
}

bool app_set_theme(struct app *app, const char *name)
{
    struct error fault;
    struct theme theme;
    memset(&theme, 0, sizeof theme);
    bool mono = term_facts().colors == 0;
    bool ok = theme_load(name, app->light_ground, &theme, &fault);
    if (!ok)
        app_note(app, STYLE_WARNING, "%s", fault.text);
    if (mono)
        ok = theme_load("mono", false, &theme, &fault);
    if (ok) {
        app->theme = theme;
        free(app->theme_name);
        app->theme_name = mem_strdup(name);
        term_set_theme(&app->theme);
        app_touch_now(app, DIRTY_ALL);
    }
    return ok;
}

static void ask_for_older(struct app *app, int64_t before)
{
    const struct session_history_params params = {
        .session = app->session.id, .newest = true, .before = before, .limit = PAGE_EVENTS};
    if (before > 0 && !app->older_asked)
        app->older_asked = app_ask(app, &operation_session_history, &params, app->take_older);
}

void app_want_page(struct app *app)
{
    ask_for_older(app, transcript_wants_before(app->transcript));
}

int64_t app_want_older(struct app *app)
{
    int64_t oldest = transcript_oldest(app->transcript);
    ask_for_older(app, oldest);
    return oldest;
}

int64_t app_context(const struct app *app, bool *estimated)
{
    const struct request_size *request = &app->meters.request;
    int64_t streamed = app->activity.compacting_ms ? 0 : app->activity.streamed;
    int64_t since = (app->activity.unmeasured + streamed) / BYTES_PER_TOKEN;
    *estimated = request->estimated || since > 0;
    return request->tokens + since > 0 ? request->tokens + since : -1;
}

void app_open_list(struct app *app, enum list_subject subject, struct list *list,
                   void (*chosen)(struct app *app, const char *value))
{
    views_open(&app->views, list_view_new(&app->host, subject, list,
                                          &(struct list_view_host){.chosen = chosen}));
    app_touch_now(app, DIRTY_BODY);
}

void app_close_list(struct app *app)
{
    views_close_from(&app->views, VIEW_LIST);
    app_touch_now(app, DIRTY_BODY);
}

/* Timers */

static int64_t next_frame(const struct app *app)
{
    return app->drawn_ms + (app->activity.streaming_ms ? STREAM_FRAME_MS : FRAME_MS);
}

int app_timeout(const struct app *app, int64_t now_ms)
{
    bool status = app->status_dirty && !(app->dirty & DIRTY_STATUS); /* else with the frame */
    const int64_t timers[] = {app->draft_at,
                              app->activity.busy ? app->tick_at : 0,
                              status ? app->status_ms + STATUS_MS : 0,
                              !app->dirty   ? 0
                              : app->urgent ? now_ms
                                            : next_frame(app),
                              app->leave_until,
                              views_due(&app->views)};
    int64_t due = 0;
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
        if (timers[i] != 0 && (due == 0 || timers[i] < due))
            due = timers[i];
    if (due == 0)
        return -1;
    int64_t wait = due - now_ms;
    return wait < 0 ? 0 : wait > 60000 ? 60000 : (int)wait;
}

void app_timers(struct app *app, int64_t now_ms)
{
    int64_t compacting = app->activity.compacting_ms;
    if (app->draft_at && now_ms >= app->draft_at)
        app_save_draft(app);
    if (app->activity.busy && now_ms >= app->tick_at) {
        if (app->tick_at)
            app->status_dirty = true;
        if (compacting && transcript_tick(app->transcript, now_ms - compacting))
            app->dirty |= DIRTY_BODY;
        app->tick_at = now_ms + SECOND_MS;
    }
    if (app->status_dirty && now_ms >= app->status_ms + STATUS_MS)
        app->dirty |= DIRTY_STATUS;
    if (app->leave_until && now_ms >= app->leave_until) {
        app->leave_until = 0;
        app_touch_now(app, DIRTY_STATUS);
    }
    if (views_tick(&app->views, now_ms))
        app_touch_now(app, DIRTY_BODY | DIRTY_EDITOR);
}

bool app_frame_due(const struct app *app, int64_t now_ms)
{
    return app->dirty && (app->urgent || now_ms >= next_frame(app));
}
