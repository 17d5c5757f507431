#include "tests/told.h"

#include "base/vec.h"
#include "tests/seen.h"
#include "tests/suite.h"

struct event *told_event(enum event_type type, int64_t seq, const char *text)
{
    struct event *ev = event_new(type);
    ev->seq = seq;
    ev->text = mem_strdup(text);
    return ev;
}

bool told(struct transcript *t, struct event *ev)
{
    bool changed = transcript_apply(t, ev);
    event_free(ev);
    return changed;
}

bool told_all(struct transcript *t, struct event **events)
{
    bool shown = false;
    for (; *events; events++)
        shown = told(t, *events);
    return shown;
}

void told_earlier(struct transcript *t, struct event **events, size_t count, bool more)
{
    transcript_prepend(t, events, count, more);
    for (size_t i = 0; i < count; i++)
        event_free(events[i]);
}

/* --- scripts --- */

static struct transcript *hearer;
static const struct step *own_steps;
static VEC(struct event *) page; /* that is being made */
static bool paging, shown;

void told_to(struct transcript *t, const struct step *own)
{
    hearer = t;
    own_steps = own;
    paging = shown = false;
}

void told_take(struct event *ev)
{
    if (paging)
        vec_push(&page, ev);
    else
        shown = told(hearer, ev);
}

/* The next word of `*at`, kept. */
static char *word(const char **at)
{
    size_t len = strcspn(*at, " ");
    char *first = support_keep(mem_strndup(*at, len));
    *at += len + ((*at)[len] == ' ');
    return first;
}

static bool is(const char *name, const char *wanted)
{
    return strcmp(name, wanted) == 0;
}

static bool tell_call(const char *name, int64_t seq, const char *rest)
{
    bool call = is(name, "call"), change = is(name, "change");
    if (!call && !change && !is(name, "result") && !is(name, "error"))
        return false;
    char *id = word(&rest), *tool = call ? word(&rest) : NULL;
    struct event *ev =
        told_event(call ? EVENT_TOOL_CALL_REQUESTED : EVENT_TOOL_EXECUTION_COMPLETED, seq, rest);
    ev->id = mem_strdup(id);
    ev->name = mem_strdup(call ? tool : "read_file");
    ev->flag = *name == 'e';
    if (change) { /* BEFORE|AFTER, where nothing before the bar is a new file */
        size_t len = strcspn(rest, "|");
        ev->change.before = len > 0 ? mem_strndup(rest, len) : NULL;
        ev->change.after = mem_strdup(rest + len + 1);
    }
    ev->number = call ? 0 : 35;
    told_take(ev);
    return true;
}

static bool tell_event(const char *name, const char *rest)
{
    static const struct {
        const char *word;
        enum event_type type;
    } events[] = {{"asks", EVENT_TURN_STARTED},   {"retry", EVENT_TURN_STARTED},
                  {"text", EVENT_TEXT_COMPLETE},  {"partial", EVENT_TEXT_COMPLETE},
                  {"ends", EVENT_TURN_COMPLETED}, {"thought", EVENT_REASONING_COMPLETE},
                  {"fails", EVENT_TURN_FAILED},   {"stops", EVENT_INTERRUPTED},
                  {"delta", EVENT_TEXT_DELTA},    {"thinks", EVENT_REASONING_DELTA},
                  {"repeats", EVENT_RETRYING}};
    bool numbered = !is(name, "delta") && !is(name, "thinks");
    const char *text = rest;
    int64_t seq = numbered ? atoll(word(&text)) : 0;
    if (is(name, "exchange")) {
        char *question = support_text("%.*s", (int)strcspn(text, "|"), text);
        const char *answer = text + strlen(question) + 1;
        told_take(EV(TURN_STARTED, seq, question));
        told_take(EV(TEXT_COMPLETE, seq + 1, answer));
        told_take(EV(TURN_COMPLETED, seq + 2, answer));
        return true;
    }
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (is(name, events[i].word)) {
            int64_t of = is(name, "retry") ? atoll(word(&text)) : 0;
            bool wordless = events[i].type == EVENT_INTERRUPTED;
            struct event *ev = told_event(events[i].type, seq, wordless ? NULL : text);
            ev->number = of;
            ev->flag = is(name, "partial");
            told_take(ev);
            return true;
        }
    return tell_call(name, seq, text);
}

static bool step_acts(const char *name, const char *rest)
{
    const char *second = rest;
    int number = atoi(word(&second));
    if (is(name, "page")) {
        paging = true;
    } else if (is(name, "earlier")) {
        told_earlier(hearer, page.items, page.len, *rest != '\0');
        vec_release(&page);
        paging = false;
    } else if (is(name, "size")) {
        transcript_resize(hearer, number, atoi(second));
    } else if (is(name, "toggle") && is(rest, "all")) {
        transcript_toggle_all(hearer);
    } else if (is(name, "toggle")) {
        transcript_toggle(hearer, (size_t)number);
    } else if (is(name, "top")) {
        (void)transcript_scroll(hearer, TRANSCRIPT_ALL);
    } else if (is(name, "end")) {
        (void)transcript_scroll(hearer, -TRANSCRIPT_ALL);
    } else if (is(name, "clear")) {
        transcript_clear(hearer);
    } else if (is(name, "output") || is(name, "anew")) { /* MS TEXT, of c1 */
        assert_true(transcript_output(hearer, "c1", second, *name == 'a', number));
    } else if (is(name, "tick")) {
        transcript_tick(hearer, number);
    } else if (is(name, "note") || is(name, "brief")) {
        transcript_note(hearer, STYLE_NOTE, rest, *name == 'b');
    } else if (is(name, "draw")) {
        free(seen_transcript(hearer));
    } else if (is(name, "reasoning")) {
        transcript_set_reasoning(hearer, *rest == 'o' ? REASONING_OPEN : REASONING_HIDDEN);
    } else {
        return false;
    }
    return true;
}

static bool step_holds(const char *name, const char *rest)
{
    const char *second = rest;
    int number = atoi(word(&second));
    if (is(name, "shown") || is(name, "unshown"))
        return shown == (*name == 's');
    if (is(name, "scroll"))
        return transcript_scroll(hearer, number);
    if (is(name, "stays"))
        return !transcript_scroll(hearer, number);
    if (is(name, "last") || is(name, "above"))
        return transcript_at_end(hearer) == (*name == 'l');
    if (is(name, "wants"))
        return transcript_wants_before(hearer) == number;
    if (is(name, "answer")) {
        const char *answer = transcript_last_answer(hearer);
        return is(answer ? answer : "", rest);
    }
    if (is(name, "find") || is(name, "newer"))
        return transcript_find(hearer, rest, *name == 'f');
    if (is(name, "lost"))
        return !transcript_find(hearer, rest, true);
    if (is(name, "unread"))
        return transcript_unread(hearer) == number;
    if (is(name, "card"))
        return transcript_newest_card(hearer) == number;
    if (is(name, "matches")) {
        struct transcript_matches m = transcript_matches(hearer, SIZE_MAX);
        return m.whole && m.at == (size_t)number && m.count == (size_t)atoi(second);
    }
    auto_free char *seen = seen_transcript(hearer);
    if (is(name, "first"))
        seen[strcspn(seen, "\n")] = '\0';
    else if (!is(name, "is"))
        fail_msg("no such step: %s", name);
    if (!is(seen, rest))
        print_error("seen:\n%s\n", seen);
    return is(seen, rest);
}

void told_play(const char *file, int line, const char *const *steps)
{
    for (; *steps; steps++) {
        const char *rest = *steps + 1;
        if (**steps != '=') {
            seen_transcript_check(file, line, hearer, STEPS(*steps));
        } else if (!steps_own(own_steps, rest)) {
            char *name = word(&rest);
            if (!tell_event(name, rest) && !step_acts(name, rest) && !step_holds(name, rest)) {
                print_error("does not hold: %s\n", *steps);
                _fail(file, line);
            }
        }
    }
}
