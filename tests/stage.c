#include "tests/stage.h"

#include "base/clock.h"
#include "base/utf8.h"
#include "tests/suite.h"
#include "ui/view/hints.h"

struct stage the;

static int64_t now_ms(void)
{
    return the.now_ms;
}

/* "session/rename", "session/rename title=\"Apples\"" … */
static void tell_request(const struct operation_request *r, struct buf *out)
{
    struct json *params = r->params ? shape_to_json(r->operation->params, r->params) : NULL;
    buf_addf(out, "%s\n", r->operation->name);
    for (const struct json *m = json_first(params); m; m = json_next(m)) {
        auto_free char *text = json_print(m);
        buf_addf(out, "%s %s=%s\n", r->operation->name, json_name(m), text);
    }
    json_free(params);
}

static uint64_t ask(struct app *app, struct view *v, const struct operation *o, const void *params,
                    view_answer *take)
{
    (void)app;
    assert_true(!the.view || view_outer(v) == the.view); /* it asks while it is made */
    struct operation_request *r = operation_request_new(o, params);
    r->id = ++the.counted;
    vec_push(&the.requests, ((struct staged_request){.request = r, .take = take}));
    tell_request(r, &the.asked);
    return r->id;
}

static void withdraw(struct app *app, const struct view *v, uint64_t id)
{
    (void)app;
    for (size_t i = the.requests.len; i > 0 && !v; i--) {
        struct operation_request *r = the.requests.items[i - 1].request;
        if (r->id == id) {
            operation_request_free(r);
            vec_remove(&the.requests, i - 1, 1);
        }
    }
}

static struct staged_request *find_request(const struct operation *o)
{
    struct staged_request *found = NULL;
    for (size_t i = 0; i < the.requests.len; i++) {
        struct staged_request *r = &the.requests.items[i];
        if (r->request->operation != o || r->seen || r->answered)
            continue;
        assert_null(found);
        found = r;
    }
    return found;
}

static void close_view(struct app *app, struct view *v)
{
    (void)app, (void)v;
    the.closed = true;
    buf_addstr(&the.asked, "close\n");
}

/* "jump 17", "message ID 17" */
static void show_message(struct app *app, struct view *v, const char *session_id, int64_t seq)
{
    if (session_id) {
        buf_addf(&the.asked, "message %s %lld\n", session_id, (long long)seq);
        return;
    }
    close_view(app, v);
    the.jumped = seq;
    buf_addf(&the.asked, "jump %lld\n", (long long)seq);
}

static void run(struct app *app, enum action action)
{
    (void)app;
    the.memory_shown = action == ACTION_CARD_MEMORY;
    buf_addf(&the.asked, "act %d\n", (int)action);
}

static const char *title(struct app *app, const char *session_id)
{
    (void)app, (void)session_id;
    return "Kyoto in November";
}

static void touch(struct app *app)
{
    (void)app;
}

static void find_text(struct app *app, const char *session_id, const char *text)
{
    (void)app, (void)session_id;
    free(the.found);
    the.found = text ? mem_strdup(text) : NULL;
}

static int take_key(const struct key *key)
{
    the.closed = the.memory_shown = false;
    the.jumped = 0;
    assert_true(the.view->ops->key(the.view, keymap_find(&the.keymap, key), key));
    return 0;
}

void press(const char *name)
{
    struct key key = {0};
    assert_true(key_parse(name, false, &key));
    take_key(&key);
}

void type(const char *text)
{
    for (size_t at = 0, len = strlen(text); at < len;) {
        struct key key = {.code = K_CHAR};
        at += utf8_decode(text + at, len - at, &key.cp);
        take_key(&key);
    }
}

static void tell_asked(struct buf *out)
{
    buf_add(out, the.asked.data, the.asked.len);
}

static const struct person person = {
    .key = take_key, .rows = rows_now, .entry_rows = 1, .asked = tell_asked, .give = stage_step};

void stage_set_up(const struct step *steps, int width, int height)
{
    seen_by(&person);
    the = (struct stage){.steps = steps, .width = width, .height = height, .now_ms = 5000};
    keymap_init(&the.keymap);
    session_info_init(&the.session);
    clock_replace(NULL, now_ms);
    the.host = (struct view_host){.keymap = &the.keymap,
                                  .session = &the.session,
                                  .meters = &the.meters,
                                  .read_only = &the.read_only,
                                  .persist = true,
                                  .ask = ask,
                                  .withdraw = withdraw,
                                  .close = close_view,
                                  .touch = touch,
                                  .title = title,
                                  .show_message = show_message,
                                  .find = find_text,
                                  .act = run};
}

int stage_tear_down(void **state)
{
    (void)state;
    if (the.view)
        the.view->ops->free(the.view);
    free(the.found);
    session_info_release(&the.session);
    buf_release(&the.asked);
    for (size_t i = 0; i < the.requests.len; i++)
        operation_request_free(the.requests.items[i].request);
    vec_release(&the.requests);
    keymap_release(&the.keymap);
    clock_replace(NULL, NULL);
    return 0;
}

void forget_sent(void)
{
    buf_clear(&the.asked);
    for (size_t i = 0; i < the.requests.len; i++)
        the.requests.items[i].seen = true;
}

const void *params_of(const struct operation *o)
{
    const struct staged_request *r = find_request(o);
    return r ? r->request->params : NULL;
}

struct operation_answer *answer_to(const struct operation *o)
{
    struct staged_request *found = NULL;
    for (size_t i = 0; i < the.requests.len; i++)
        if (the.requests.items[i].request->operation == o && !the.requests.items[i].answered)
            found = found ? found : &the.requests.items[i];
    assert_non_null(found);
    struct operation_request *r = operation_request_new(o, found->request->params);
    r->id = found->request->id;
    return operation_answer_new(r);
}

bool give_answer(struct operation_answer *a, const char *words)
{
    view_answer *whose = NULL;
    for (size_t i = 0; i < the.requests.len; i++)
        if (the.requests.items[i].request->id == a->request->id) {
            the.requests.items[i].answered = true;
            whose = the.requests.items[i].take;
        }
    bool told = whose && whose(the.view, a, words);
    operation_answer_free(a);
    return told;
}

void give_json(const struct operation *o, const char *json)
{
    struct operation_answer *a = answer_to(o);
    struct error e;
    if (!support_shape(o->result, support_json(json), a->result, &e))
        fail_msg("%s", e.text);
    give_answer(a, NULL);
}

void give(struct notice *n)
{
    the.view->ops->notice(the.view, n);
    notice_free(n);
}

void give_event(enum event_type type)
{
    struct notice *n = notice_new(NOTICE_EVENT);
    n->event = event_new(type);
    give(n);
}

void click(size_t row)
{
    the.view->ops->click(the.view, (int)row, 0);
}

void paste(const char *text)
{
    auto_free char *copy = mem_strdup(text);
    const struct key key = {.code = K_PASTE, .text = copy};
    assert_true(the.view->ops->key(the.view, ACTION_NONE, &key));
}

static void take_hint(void *names, const char *keys, const char *text)
{
    (void)text;
    if (*keys != '"') /* an example of a query */
        buf_addf(names, " %s ", keys);
}

static bool is_named(const struct buf *names, const char *key)
{
    auto_free char *word = mem_printf(" %s ", key);
    return names->len > 0 && strstr(names->data, word) != NULL;
}

/* All that a key can change here. */
static char *state_now(void)
{
    (void)rows_now(); /* drawing may ask for more */
    return mem_printf("%s%s%d %d %lld", seen_text(rows_now()),
                      the.asked.len > 0 ? the.asked.data : "", the.view->caret.row,
                      the.view->caret.col, (long long)the.jumped);
}

static void start_anew(int (*set_up)(void **), void (*enter)(void))
{
    stage_tear_down(NULL);
    set_up(NULL);
    enter();
}

enum effect { EFFECT_NONE, EFFECT_EXCUSE /* "No passage is selected." */, EFFECT_PASSED, EFFECT };

static enum effect effect_of(const struct key *key)
{
    struct key pressed = *key;
    auto_free char *before = state_now();
    bool passed = !the.view->ops->key(the.view, keymap_find(&the.keymap, key), &pressed);
    auto_free char *after = state_now();
    return passed                          ? EFFECT_PASSED
           : strcmp(before, after) == 0    ? EFFECT_NONE
           : strstr(after, "is selected.") ? EFFECT_EXCUSE
                                           : EFFECT;
}

/* The action of a letter in a view, or of another key. */
static enum action meaning(const struct key *key, bool letter)
{
    enum action pane = letter ? keymap_find_in(&the.keymap, key, KEYS_PANE) : ACTION_NONE;
    enum action reading = letter ? keymap_find_in(&the.keymap, key, KEYS_READING) : ACTION_NONE;
    return pane != ACTION_NONE      ? pane
           : reading != ACTION_NONE ? reading
                                    : keymap_find(&the.keymap, key);
}

void stage_keys_hold(int (*set_up)(void **), void (*enter)(void))
{
    AUTO(vec_release_local) VEC(struct key) keys = {0};
    AUTO(buf_release) struct buf own = BUF_INIT;
    bool holds = true;
    start_anew(set_up, enter);
    hints_collect(take_hint, &own);
    (void)rows_now();
    hints_collect(NULL, NULL);
    bool writes = is_named(&own, "letters");
    for (size_t i = 0; i < the.keymap.bindings.len; i++)
        vec_push(&keys, the.keymap.bindings.items[i].key);
    for (uint32_t c = ' '; c < 0x7f; c++)
        vec_push(&keys, ((struct key){.code = K_CHAR, .cp = c}));
    vec_push(&keys, ((struct key){.code = K_CHAR, .cp = 'n', .ctrl = true}));
    for (size_t i = 0; i < keys.len; i++) {
        const struct key *key = &keys.items[i];
        AUTO(buf_release) struct buf name = BUF_INIT, first = BUF_INIT;
        bool letter = key->code == K_CHAR && !key->ctrl && !key->alt;
        enum action action = meaning(key, letter);
        bool edits = (action >= ACTION_LEFT && action <= ACTION_REDO) || action == ACTION_CLEAR ||
                     action == ACTION_LEAVE || action == ACTION_SCROLL_UP;
        if (action == ACTION_PANE_NEXT) /* the pane of a stage may have one tab */
            continue;
        if (writes && (letter || edits))
            continue;
        start_anew(set_up, enter);
        enum effect effect = effect_of(key);
        key_describe(key, &name);
        if (action != ACTION_NONE)
            keymap_describe_first(&the.keymap, action, &first);
        bool named = is_named(&own, name.data);
        bool of_action = named || (first.len > 0 && is_named(&own, first.data));
        if (named ? effect != EFFECT_NONE : effect != EFFECT || of_action)
            continue;
        print_error("%s: %s\n", name.data, named ? "named, without effect" : "effect, not named");
        holds = false;
    }
    assert_true(holds);
}

const struct rows *rows_now(void)
{
    const struct rows *rows = view_draw(the.view, the.width, the.height);
    seen_check(rows, the.width, the.height);
    if (the.view->caret.shown) {
        assert_in_range(the.view->caret.row, 0, the.height - 1);
        assert_in_range(the.view->caret.col, 0, the.width - 1);
    }
    return rows;
}

const char *row_text(size_t index)
{
    return seen_row(rows_now(), index);
}

size_t find(const char *text)
{
    return seen_find(rows_now(), text);
}

static bool caret_is(const char *place)
{
    (void)rows_now();
    auto_free char *is = the.view->caret.shown
                             ? mem_printf("%d %d", the.view->caret.row, the.view->caret.col)
                             : mem_strdup("none");
    return strcmp(is, place) == 0;
}

static const struct operation *operation_of(const char *name)
{
    auto_free char *own = mem_strndup(name, strcspn(name, " "));
    const struct operation *o = operation_find(own);
    if (!o)
        fail_msg("no such step: %s", name);
    return o;
}

static void look_at_row(const char *file, int line, bool by_number, const char *what)
{
    auto_free char *words = mem_strdup(what);
    char *save = NULL, *first = strtok_r(words, "|", &save);
    size_t row = by_number ? (size_t)atoi(first) : find(first);
    if (row >= rows_now()->list.len) {
        print_error("no such row: %s\n", first);
        _fail(file, line);
    }
    auto_free char *text = mem_strdup(row_text(row));
    for (const char *look; (look = strtok_r(NULL, "|", &save));)
        steps_check(file, line, &(struct scenery){.rows = text}, STEPS(look));
}

static bool bind(const char *action_and_keys)
{
    struct error e;
    auto_free char *action = mem_strndup(action_and_keys, strcspn(action_and_keys, " "));
    return keymap_bind(&the.keymap, action, action_and_keys + strlen(action) + 1, &e);
}

static void draw_all_sizes(void)
{
    int width = the.width, height = the.height;
    for (the.height = 1; the.height < 34; the.height++)
        for (the.width = 2; the.width < 130; the.width += 1 + the.width / 7)
            (void)rows_now();
    the.width = width;
    the.height = height;
}

void stage_step(const char *file, int line, const char *step)
{
    size_t len = strcspn(step, " ");
    const char *rest = step + len + (step[len] == ' ');
    auto_free char *name = mem_strndup(step, len);
    if (steps_own(the.steps, step))
        return;
    int *number = strcmp(name, "width") == 0    ? &the.width
                  : strcmp(name, "height") == 0 ? &the.height
                                                : NULL;
    bool holds = true;
    if (number)
        *number = atoi(rest);
    else if (strcmp(name, "now") == 0)
        the.now_ms = atoll(rest);
    else if (strcmp(name, "click") == 0)
        click(*rest >= '0' && *rest <= '9' ? (size_t)atoi(rest) : find(rest));
    else if (strcmp(name, "row") == 0 || strcmp(name, "line") == 0)
        look_at_row(file, line, *name == 'l', rest);
    else if (strcmp(name, "bind") == 0)
        holds = bind(rest);
    else if (strcmp(name, "paste") == 0)
        paste(rest);
    else if (strcmp(name, "draw") == 0)
        (void)rows_now();
    else if (strcmp(name, "sizes") == 0)
        draw_all_sizes();
    else if (strcmp(name, "forget") == 0)
        forget_sent();
    else if (strcmp(name, "closed") == 0 || strcmp(name, "open") == 0)
        holds = the.closed == (*name == 'c');
    else if (strcmp(name, "jumped") == 0)
        holds = the.jumped == atoll(rest);
    else if (strcmp(name, "found") == 0)
        holds = strcmp(the.found ? the.found : "", rest) == 0;
    else if (strcmp(name, "due") == 0)
        holds = *rest == 's' ? the.view->ops->due(the.view) > 0
                             : the.view->ops->due(the.view) == atoll(rest);
    else if (strcmp(name, "tick") == 0)
        the.view->ops->tick(the.view);
    else if (strcmp(name, "caret") == 0)
        holds = caret_is(rest);
    else if (strcmp(name, "ok") == 0)
        (void)give_answer(answer_to(operation_of(rest)), NULL);
    else if (strcmp(name, "fails") == 0)
        holds = give_answer(answer_to(operation_of(rest)), rest + strcspn(rest, " ") + 1);
    else
        give_json(operation_of(name), rest);
    if (!holds) {
        print_error("does not hold: %s\n", step);
        _fail(file, line);
    }
}
