#include "bench/make_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "bench/prose.h"
#include "chat/history.h"
#include "chat/session_info.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"
#include "store/store.h"

enum { PIECE = 200, ANSWER_BYTES = 800 };

struct maker {
    struct store *store;
    struct session_info info;
    struct history history;
    struct error e;
};

static void must(const struct maker *m, bool ok)
{
    if (ok)
        return;
    fprintf(stderr, "bench: %s\n", m->e.text);
    exit(99);
}

static struct event *begin(struct maker *m, enum event_type type)
{
    struct event *ev = event_new(type);
    ev->seq = ++m->info.last_seq;
    ev->wall_ms = m->info.updated_ms++;
    memcpy(ev->session_id, m->info.id, sizeof ev->session_id);
    return ev;
}

static void commit(struct maker *m, struct event *ev)
{
    must(m, event_log_append(m->store, ev, &m->e));
    history_apply(&m->history, ev);
    event_free(ev);
}

static void add_question(struct maker *m, int turn)
{
    struct event *ev = begin(m, EVENT_RUN_STARTED);
    ev->text = mem_printf("Question number %d: what did the letters say about the harvest?", turn);
    commit(m, ev);
    ev = begin(m, EVENT_TURN_STARTED);
    ev->number = turn;
    ev->count = 1;
    commit(m, ev);
}

static void add_text(struct maker *m, const struct buf *text)
{
    for (size_t at = 0; at < text->len;) {
        size_t len = text->len - at < PIECE ? text->len - at : PIECE;
        len -= utf8_incomplete_tail(text->data + at, len);
        struct event *ev = begin(m, EVENT_TEXT_DELTA);
        ev->text = mem_strndup(text->data + at, len);
        commit(m, ev);
        at += len;
    }
    struct event *ev = begin(m, EVENT_TEXT_COMPLETE);
    ev->text = mem_strdup(text->data);
    commit(m, ev);
}

static void add_answer(struct maker *m, int turn, const char *ending)
{
    struct buf text = BUF_INIT;
    struct usage usage = {.input = 1000 + turn, .output = 200, .cached = 900};
    prose(&text, ANSWER_BYTES, (unsigned)turn, ending);
    add_text(m, &text);
    struct event *ev = begin(m, EVENT_TURN_COMPLETED);
    ev->stop_reason = STOP_END_TURN;
    ev->usage = usage;
    ev->model = mem_strdup("bench");
    commit(m, ev);
    ev = begin(m, EVENT_RUN_COMPLETED);
    ev->text = mem_strdup(text.data);
    ev->stop_reason = STOP_END_TURN;
    ev->usage = usage;
    ev->count = 1;
    ev->number = 1234;
    commit(m, ev);
    usage_add(&m->info.usage, &usage);
    buf_release(&text);
}

static void describe(struct maker *m)
{
    session_info_init(&m->info);
    uuid_new(m->info.id);
    m->info.title = mem_strdup("A long correspondence");
    m->info.directory = mem_strdup("/");
    m->info.provider = mem_strdup("openai");
    m->info.model = mem_strdup("bench");
    m->info.created_ms = m->info.updated_ms = clock_wall_ms() - 3600000;
}

void make_session(const char *store_path, size_t messages, const char *ending)
{
    struct maker m = {0};
    int turns = (int)(messages / 2);
    describe(&m);
    history_init(&m.history);
    must(&m, store_open(store_path, STORE_READ_WRITE, &m.store, &m.e));
    must(&m, store_begin(m.store, &m.e));
    must(&m, sessions_put(m.store, &m.info, &m.e));
    for (int turn = 1; turn <= turns; turn++) {
        add_question(&m, turn);
        add_answer(&m, turn, turn == turns ? ending : "So much for this letter.");
    }
    m.info.turns = turns;
    m.info.messages = 2 * (int64_t)turns;
    m.info.last_line = mem_strdup("So much for this letter.");
    must(&m, sessions_put(m.store, &m.info, &m.e));
    must(&m, snapshot_save(m.store, m.info.id, &m.history, &m.e));
    must(&m, store_commit(m.store, &m.e));
    store_close(m.store);
    history_release(&m.history);
    session_info_release(&m.info);
}
