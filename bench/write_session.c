#include "bench/write_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/entropy.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "bench/prose.h"
#include "chat/session_info.h"
#include "index/transcripts.h"
#include "store/sessions.h"
#include "store/snapshot.h"

static void must(bool ok, const struct error *e)
{
    if (ok)
        return;
    fprintf(stderr, "bench: %s\n", e->text);
    exit(99);
}

struct store *write_open(const char *store_path)
{
    struct error e;
    struct store *s;
    must(store_open(store_path, STORE_READ_WRITE, &s, &e) && store_begin(s, &e), &e);
    return s;
}

void write_close(struct store *s)
{
    struct error e;
    must(store_commit(s, &e), &e);
    store_close(s);
}

void write_session_begin(struct session_writer *w, struct store *s, const char *title,
                         int64_t created_ms)
{
    *w = (struct session_writer){.store = s};
    session_info_init(&w->info);
    history_init(&w->history);
    uuid_new(w->info.id);
    free(w->info.title);
    w->info.title = mem_strdup(title);
    w->info.directory = mem_strdup("/");
    w->info.provider = mem_strdup("openai");
    w->info.model = mem_strdup("bench");
    w->info.created_ms = w->info.updated_ms = created_ms;
    must(sessions_put(s, &w->info, &w->e), &w->e);
}

static struct event *begin(struct session_writer *w, enum event_type type)
{
    struct event *ev = event_new(type);
    ev->seq = w->info.last_seq + 1;
    ev->wall_ms = w->info.updated_ms + 1;
    memcpy(ev->session_id, w->info.id, sizeof ev->session_id);
    return ev;
}

static void commit(struct session_writer *w, struct event *ev)
{
    session_tally(&w->info, ev);
    w->info.last_seq = ev->seq;
    w->info.updated_ms = ev->wall_ms;
    history_apply(&w->history, ev);
    vec_push(&w->events, ev);
}

static void add_question(struct session_writer *w, const char *question)
{
    struct event *ev = begin(w, EVENT_TURN_STARTED);
    ev->text = mem_strdup(question);
    commit(w, ev);
    ev = begin(w, EVENT_CALL_STARTED);
    ev->number = w->info.turns;
    ev->count = 1;
    commit(w, ev);
}

static void add_text(struct session_writer *w, const struct buf *text, size_t piece)
{
    for (size_t at = 0; at < text->len;) {
        size_t len = text->len - at < piece ? text->len - at : piece;
        len -= utf8_incomplete_tail(text->data + at, len);
        struct event *ev = begin(w, EVENT_TEXT_DELTA);
        ev->text = mem_strndup(text->data + at, len);
        commit(w, ev);
        at += len;
    }
    struct event *ev = begin(w, EVENT_TEXT_COMPLETE);
    ev->text = mem_strdup(text->data);
    commit(w, ev);
}

static void end_run(struct session_writer *w, const struct buf *text, const struct usage *usage)
{
    struct event *ev = begin(w, EVENT_CALL_COMPLETED);
    ev->stop_reason = STOP_END_TURN;
    ev->usage = *usage;
    ev->model = mem_strdup("bench");
    commit(w, ev);
    ev = begin(w, EVENT_TURN_COMPLETED);
    ev->text = mem_strdup(text->data);
    ev->stop_reason = STOP_END_TURN;
    ev->usage = *usage;
    ev->count = 1;
    ev->number = 1234;
    commit(w, ev);
}

void write_session_turn(struct session_writer *w, const char *question, size_t bytes, size_t piece,
                        unsigned seed, const char *ending)
{
    const struct usage usage = {.input = 1000 + (int64_t)seed % 1000, .output = 200, .cached = 900};
    struct buf text = BUF_INIT;
    prose(&text, bytes, seed, ending);
    add_question(w, question);
    add_text(w, &text, piece);
    end_run(w, &text, &usage);
    buf_release(&text);
}

void write_session_end(struct session_writer *w)
{
    must(sessions_put(w->store, &w->info, &w->e), &w->e);
    must(transcripts_fill(w->store, w->events.items, w->events.len, &w->e), &w->e);
    must(snapshot_save(w->store, w->info.id, &w->history, &w->e), &w->e);
    for (size_t i = 0; i < w->events.len; i++)
        event_free(w->events.items[i]);
    vec_release(&w->events);
    history_release(&w->history);
    session_info_release(&w->info);
}
