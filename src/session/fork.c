#include "session/fork.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chat/session_info.h"

static void stand_begin(struct fork_stand *s)
{
    *s = (struct fork_stand){0};
    session_info_init(&s->tally);
}

static void stand_set(struct fork_stand *to, const struct fork_stand *from)
{
    session_info_release(&to->tally);
    to->seq = from->seq;
    to->tally = session_info_clone(&from->tally);
}

void fork_point_begin(struct fork_point *p, int64_t at)
{
    *p = (struct fork_point){.at = at, .found = at == 0};
    session_info_init(&p->tally);
    stand_begin(&p->now);
    stand_begin(&p->message);
    stand_begin(&p->run);
    stand_begin(&p->compaction);
}

void fork_point_begin_before(struct fork_point *p, int64_t before)
{
    fork_point_begin(p, 0);
    p->before = before;
}

void fork_point_release(struct fork_point *p)
{
    session_info_release(&p->tally);
    session_info_release(&p->now.tally);
    session_info_release(&p->message.tally);
    session_info_release(&p->run.tally);
    session_info_release(&p->compaction.tally);
    free(p->draft);
    free(p->input);
    *p = (struct fork_point){0};
}

/* The part of a run that an event belongs to; FORK_OUTSIDE for those that say nothing of it. */
static enum fork_part part_of(enum event_type type)
{
    static const enum fork_part parts[EVENT_TYPE_COUNT] = {
        [EVENT_TURN_STARTED] = FORK_INPUT,         [EVENT_CALL_STARTED] = FORK_ANSWER,
        [EVENT_TEXT_DELTA] = FORK_ANSWER,          [EVENT_REASONING_DELTA] = FORK_ANSWER,
        [EVENT_REASONING_COMPLETE] = FORK_ANSWER,  [EVENT_TEXT_COMPLETE] = FORK_ANSWER,
        [EVENT_TOOL_CALL_REQUESTED] = FORK_ANSWER, [EVENT_TOOL_EXECUTION_COMPLETED] = FORK_RESULTS,
    };
    return parts[type];
}

static bool is_run_end(enum event_type type)
{
    return type == EVENT_TURN_COMPLETED || type == EVENT_TURN_FAILED || type == EVENT_INTERRUPTED;
}

static bool begins_message(const struct fork_point *p, const struct event *ev)
{
    if (ev->type == EVENT_TURN_STARTED)
        return true;
    if (p->part == FORK_OUTSIDE)
        return false;
    enum fork_part part = part_of(ev->type);
    return ev->type == EVENT_CALL_STARTED || (part != FORK_OUTSIDE && part != p->part);
}

/* As chat/history.h: an empty text is none. */
static bool is_answer(const struct event *ev)
{
    return ev->type == EVENT_TOOL_CALL_REQUESTED ||
           (ev->type == EVENT_TEXT_COMPLETE && ev->text && *ev->text);
}

/* A run that is still open died with the program: the history takes it back, as one that is
 * retried. */
static void begin_run(struct fork_point *p, const struct event *ev)
{
    bool replaces = p->part != FORK_OUTSIDE || (ev->number > 0 && ev->number == p->run_seq);
    if (!replaces)
        stand_set(&p->run, &p->now);
    p->run_seq = ev->seq;
    p->run_answered = false;
    free(p->input);
    p->input = mem_strdup(ev->text);
}

static void begin_message(struct fork_point *p, const struct event *ev)
{
    if (ev->type == EVENT_TURN_STARTED)
        begin_run(p, ev);
    stand_set(&p->message, &p->now);
    p->part = part_of(ev->type);
    p->part_answered = false;
}

/* The history takes the open run back, and goes on without it. */
static void take_back_run(struct fork_point *p)
{
    p->part = FORK_OUTSIDE;
    p->run_seq = 0;
}

/* The beginning of the one that a fork ends before is no more of it than its end. */
static void note_compaction(struct fork_point *p, const struct event *ev)
{
    if (ev->type == EVENT_COMPACTION_STARTED)
        stand_set(&p->compaction, &p->now);
    if (ev->type != EVENT_COMPACTION_DELTA && ev->type != EVENT_RETRYING)
        p->compacting = ev->type == EVENT_COMPACTION_STARTED;
}

bool fork_point_look(struct fork_point *p, const struct event *ev)
{
    if (p->before > 0 && ev->seq >= p->before)
        return false;
    if (p->part != FORK_OUTSIDE && event_between_turns(ev))
        take_back_run(p);
    bool begins = begins_message(p, ev);
    p->found = p->found || (p->at > 0 && ev->seq >= p->at);
    if (begins && p->at > 0 && p->at < ev->seq)
        return false;
    if (begins)
        begin_message(p, ev);
    if (p->part != FORK_OUTSIDE && is_answer(ev))
        p->run_answered = p->part_answered = true;
    if (p->before > 0)
        note_compaction(p, ev);
    p->now.seq = ev->seq;
    session_tally(&p->now.tally, ev);
    if (is_run_end(ev->type))
        p->part = FORK_OUTSIDE;
    return true;
}

static void part_at(struct fork_point *p, const struct fork_stand *s)
{
    p->last = s->seq;
    session_info_release(&p->tally);
    p->tally = session_info_clone(&s->tally);
}

void fork_point_end(struct fork_point *p)
{
    if (!p->found)
        return;
    bool within_run = p->before > 0 && p->part != FORK_OUTSIDE;
    if (within_run || (p->run_seq > 0 && !p->run_answered)) {
        part_at(p, &p->run);
        p->draft = p->input && *p->input ? mem_strdup(p->input) : NULL;
        return;
    }
    if (p->compacting) {
        part_at(p, &p->compaction);
        return;
    }
    p->open = p->part != FORK_OUTSIDE;
    bool empty = p->part == FORK_ANSWER && !p->part_answered;
    part_at(p, empty ? &p->message : &p->now);
}
