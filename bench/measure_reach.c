/* Reach: the share of the evidence for a question that stands whole in the request that the model
 * receives, after a long talk was held with the program turn by turn, with compaction on. The model
 * is scripted: it gives the answers of the talk; to a question it searches memory with the
 * question's words, then reads around the best hit. In the same table: a window of the newest
 * messages, BM25 with the same amount of text, and the seeds' way (four turns and five hits by
 * hashed vectors). doc/reach.md tells how another program is measured (REACH_ADAPTER). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/paths.h"
#include "bench/chat.h"
#include "bench/exam.h"
#include "bench/exam_plain.h"
#include "bench/exam_store.h"
#include "bench/measures.h"
#include "bench/piped.h"
#include "tests/model_server.h"

enum {
    STOPS = 4,
    ASKED = 16 /* questions at a stop */,
    RECENT_TURNS = 4,
    SEEDS_LIMIT = 5,
    TOKEN_BYTES = 4,
    BM25_MOST = 400,
    UNRELATED_STEP = 3
};
static const long windows[] = {8192, 16384, 32768};
enum { WINDOWS = sizeof windows / sizeof *windows };

/* The conversations of a set are joined to talks that are longer than the windows. */
static const struct set {
    const char *directory;
    size_t talks;
    bool named; /* messages begin with the speaker's name */
} sets[] = {{"friends", 1, true}, {"recall", 1, true}, {"assistant", 3, false}};

static const char *const kinds[] = {"talk with a model", "talk of two people"};

struct fed {
    const char *id; /* borrowed from the exam */
    char *text;     /* as it is fed */
    char *squashed;
};

struct exchange {
    char *said, *answered;
    size_t end; /* number of messages up to here */
};

struct talk {
    const struct set *set;
    struct exam exam; /* the conversations of this talk; all questions of the set */
    VEC(struct fed) messages;
    VEC(struct exchange) exchanges;
    VEC(const struct exam_question *) questions;
    size_t fed; /* messages that were said */
};

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(99);
}

/* Letters and digits alone, so that texts compare equal however JSON has escaped them. */
static char *squash(const char *text)
{
    struct buf out = BUF_INIT;
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '\\') {
            while (p[1] == '\\')
                p++;
            p += p[1] && strchr("nrtbf", p[1]) ? 1 : 0;
        } else if (*p >= 0x80 || (*p >= '0' && *p <= '9') || (*p >= 'A' && *p <= 'Z') ||
                   (*p >= 'a' && *p <= 'z')) {
            buf_addch(&out, (char)*p);
        }
    }
    return buf_take(&out);
}

/* ---- talks ---- */

static void add_message(struct talk *t, const struct memory_entry *m)
{
    char *text = t->set->named && m->speaker ? mem_printf("%s: %s", m->speaker, m->content)
                                             : mem_strdup(m->content);
    vec_push(&t->messages, (struct fed){m->id, text, squash(m->content)});
    /* A person who says two things in a row says them in one message. */
    struct exchange *last = t->exchanges.len > 0 ? &vec_last(&t->exchanges) : NULL;
    bool user = m->role == ROLE_USER;
    if (user && (!last || last->answered))
        vec_push(&t->exchanges, (struct exchange){.said = mem_strdup(text)});
    else if (!user && !last)
        vec_push(&t->exchanges,
                 ((struct exchange){.said = mem_strdup("Hello."), .answered = mem_strdup(text)}));
    else {
        char **to = user ? &last->said : &last->answered;
        mem_replace(to, *to ? mem_printf("%s\n\n%s", *to, text) : mem_strdup(text));
    }
    vec_last(&t->exchanges).end = t->messages.len;
}

/* Every talks-th conversation from `number` on, and the questions about them. */
static void talk_open(struct talk *t, const struct set *set, size_t number, const char *directory)
{
    struct error e;
    *t = (struct talk){.set = set};
    if (!exam_read(&t->exam, directory, exam_questions, &e))
        give_up(e.text);
    for (size_t i = number; i < t->exam.conversations.len; i += set->talks) {
        const struct memory_entries *turns = &t->exam.conversations.items[i].turns;
        for (size_t j = 0; j < turns->items.len; j++)
            add_message(t, &turns->items.items[j]);
    }
    for (size_t i = 0; i < t->exam.questions.len; i++)
        if (t->exam.questions.items[i].conversation % set->talks == number)
            vec_push(&t->questions, &t->exam.questions.items[i]);
    struct exchange *last = &vec_last(&t->exchanges);
    if (!last->answered)
        last->answered = mem_strdup("I see.");
}

static void talk_release(struct talk *t)
{
    for (size_t i = 0; i < t->messages.len; i++) {
        free(t->messages.items[i].text);
        free(t->messages.items[i].squashed);
    }
    for (size_t i = 0; i < t->exchanges.len; i++) {
        free(t->exchanges.items[i].said);
        free(t->exchanges.items[i].answered);
    }
    vec_release(&t->messages);
    vec_release(&t->exchanges);
    vec_release(&t->questions);
    exam_release(&t->exam);
}

static size_t message_of(const struct talk *t, const char *id)
{
    size_t i = 0;
    while (i < t->messages.len && strcmp(t->messages.items[i].id, id) != 0)
        i++;
    if (i == t->messages.len)
        give_up("a question asks about another talk");
    return i;
}

/* Whether the evidence was said. */
static bool may_ask(const struct talk *t, const struct exam_question *q)
{
    const struct exam_targets *targets = &q->evidence[EXAM_MESSAGE];
    for (size_t i = 0; i < targets->items.len; i++)
        if (message_of(t, targets->items.items[i].ids.items[0]) >= t->fed)
            return false;
    return true;
}

/* The share of the question's evidence that stands in the text. */
static double share(const struct talk *t, const struct exam_question *q, const char *text)
{
    auto_free char *all = squash(text);
    const struct exam_targets *targets = &q->evidence[EXAM_MESSAGE];
    double found = 0;
    for (size_t i = 0; i < targets->items.len; i++)
        found += strstr(all, t->messages.items[message_of(t, targets->items.items[i].ids.items[0])]
                                 .squashed) != NULL;
    return found / (double)targets->items.len;
}

/* ---- the scripted model ---- */

enum step { ITSELF, SEARCHED, READ, STEPS };

struct model {
    struct model_server *server;
    const char *answer;   /* to the turn's first request; NULL: a question was asked */
    const char *question; /* that memory is searched for */
    size_t step;
    char *requests[STEPS];
    char *arguments; /* of the newest call */
    size_t bytes, calls, summaries;
    long window;
    char refusal[160];
    bool tooled; /* a request had tools; one without them is for a summary from then on */
};

/* The "#NUMBER" of the first hit in the newest message, which is the result of a search; NULL:
 * there is none. */
static char *first_hit(const char *body, size_t len)
{
    char *id = NULL;
    struct json *request = json_parse(body, len, NULL);
    const struct json *newest = NULL;
    for (const struct json *m = json_first(json_get(request, "messages")); m; m = json_next(m))
        newest = m;
    const char *content = json_get_string(newest, "content");
    if (content && *content == '#')
        id = mem_strndup(content, strcspn(content, " "));
    json_free(request);
    return id;
}

static void respond(void *context, const char *body, size_t len, struct reply *r)
{
    static const char summary[] =
        "The person and the assistant talked about several subjects. Plans were made, some of them "
        "were changed later, and questions of everyday life were answered.";
    static const char done[] = "Done.";
    struct model *m = context;
    bool tools = strstr(body, "\"tools\"") != NULL;
    m->bytes += len;
    m->calls++;
    r->input_tokens = (long)(len / TOKEN_BYTES);
    if (r->input_tokens > m->window) {
        r->fault = REPLY_STATUS;
        r->status = 400;
        r->error_type = "context_length_exceeded";
        snprintf(m->refusal, sizeof m->refusal,
                 "This model's maximum context length is %ld tokens. However, your messages "
                 "resulted in %ld tokens.",
                 m->window, r->input_tokens);
        r->error_message = m->refusal;
        return;
    }
    m->tooled |= tools;
    if (m->tooled && !tools) {
        m->summaries++;
        r->text = summary;
        return;
    }
    r->text = m->answer ? m->answer : done;
    if (m->answer || m->step == STEPS) {
        m->answer = m->answer ? done : NULL;
        return;
    }
    m->requests[m->step] = mem_strndup(body, len);
    struct json *call = NULL;
    auto_free char *id = m->step == SEARCHED ? first_hit(body, len) : NULL;
    if (m->step == ITSELF && strstr(body, "\"memory_search\""))
        call = json_pack("{query:s}", m->question);
    else if (id)
        call = json_pack("{id:s before:i after:i}", id, 2, 2);
    if (call) {
        r->text = NULL;
        r->tool_name = m->step == ITSELF ? "memory_search" : "memory_read";
        mem_replace(&m->arguments, json_print(call));
        r->tool_args = m->arguments;
    }
    json_free(call);
    m->step++;
}

/* ---- the program that is measured ---- */

/* tiro, or a command that reads {"turn":"text"} lines and writes a line when a turn is complete;
 * its last argument is "new" or "resume". */
struct program {
    struct piped pipe;
    bool foreign;
    char *session;
};

static struct program program_start(const char *session)
{
    const char *foreign = getenv("REACH_ADAPTER");
    struct program p = {.foreign = foreign != NULL};
    if (foreign) {
        auto_free char *line = mem_printf("exec %s %s", foreign, session ? "resume" : "new");
        p.pipe = piped_start("sh", (const char *const[]){"sh", "-c", line, NULL});
        return p;
    }
    p.pipe = piped_start(getenv("TIRO"), (const char *const[]){"tiro", "serve", "--stdio", NULL});
    json_free(piped_call(&p.pipe, "initialize", "{}"));
    struct json *info = session ? NULL : piped_call(&p.pipe, "session/create", "{}");
    p.session = mem_strdup(session ? session : json_get_string(info, "id"));
    json_free(info);
    return p;
}

static void program_take_turn(struct program *p, const char *text)
{
    struct json *turn = p->foreign ? json_pack("{turn:s}", text)
                                   : json_pack("{session_id:s prompt:s}", p->session, text);
    auto_free char *params = json_print(turn);
    json_free(turn);
    if (!p->foreign) {
        json_free(piped_call(&p->pipe, "turn/start", params));
        return;
    }
    piped_write(&p->pipe, params);
    struct json *done = piped_next(&p->pipe);
    if (!done)
        give_up("the adapter ended");
    json_free(done);
}

/* Returns the session's id, which the caller frees. */
static char *program_stop(struct program *p)
{
    piped_stop(&p->pipe);
    return p->session;
}

static void configure(struct model *m, long window)
{
    m->window = window;
    m->tooled = false;
    auto_free char *folder = mem_printf("%s/.config/tiro", chat_home());
    auto_free char *path = mem_printf("%s/tiro.ini", folder);
    auto_free char *text = mem_printf(
        "[provider]\nname = openai\nmodel = bench\n"
        "[model bench]\nwindow = %ld\n%s\n",
        window, getenv("REACH_CONFIG") ? getenv("REACH_CONFIG") : "");
    struct error e;
    if (!paths_make_dir(folder, &e) || !paths_write_file(path, text, strlen(text), &e))
        give_up(e.text);
    auto_free char *number = mem_printf("%ld", window);
    setenv("REACH_WINDOW", number, 1);
}

/* ---- results ---- */

enum way { BY_ITSELF, AFTER_SEARCH, AFTER_READ, NEWEST, BM25, SEEDS, WAYS };
static const char *const way_names[WAYS] = {
    "by itself",       "after one memory_search",       "after memory_read too",
    "newest messages", "BM25, as much as the search's", "the seeds' way"};

struct result {
    double sum[WAYS];
    double tokens[STEPS], talk_tokens;
    size_t lost[STEPS]; /* questions with less evidence than in the request before */
    size_t asked, turns, summaries;
    size_t unrelated, disturbed; /* messages about something else, and those sent with passages */
    size_t paid, most_paid;      /* summaries for questions, and for one of them */
};

/* The newest messages that fit in `tokens`, or as many as `most`. */
static char *newest(const struct talk *t, size_t tokens, size_t most)
{
    struct buf out = BUF_INIT;
    size_t at = t->fed, count = 0, bytes = 0;
    while (at > 0 && count < most) {
        bytes += strlen(t->messages.items[at - 1].text);
        if (bytes > tokens * TOKEN_BYTES)
            break;
        at--;
        count++;
    }
    for (; at < t->fed; at++)
        buf_addf(&out, "%s\n", t->messages.items[at].text);
    return buf_take(&out);
}

/* Adds the found messages while they fit. */
static void add_found(struct buf *out, const struct talk *t, const struct exam_found *found,
                      size_t bytes)
{
    for (size_t i = 0; i < found->ids.len; i++) {
        size_t message = message_of(t, found->ids.items[i]);
        const char *text = t->messages.items[message].text;
        if (message < t->fed && out->len + strlen(text) <= bytes)
            buf_addf(out, "%s\n", text);
    }
}

struct peers {
    struct exam_plain *bm25;
    struct exam_store *hashed;
};

static void run(const char *command)
{
    if (system(command) != 0)
        give_up(command);
}

static void ask_peers(const struct talk *t, struct peers *peers, const struct exam_question *q,
                      long window, size_t bytes, struct result *r)
{
    AUTO(exam_found_release) struct exam_found found = {.ids = {0}};
    struct exam_way seeds = exam_way_default();
    struct error e;
    auto_free char *room = newest(t, (size_t)window / 8 * 7, SIZE_MAX);
    r->sum[NEWEST] += share(t, q, room);
    AUTO(buf_release) struct buf text = BUF_INIT;
    exam_plain_ask(peers->bm25, q->text, BM25_MOST, &found);
    add_found(&text, t, &found, bytes);
    r->sum[BM25] += share(t, q, text.data);
    seeds.ranking = MEMORY_VECTORS;
    seeds.vectors = EXAM_HASHED;
    if (!exam_store_ask(peers->hashed, &seeds, q, &found, &e))
        give_up(e.text);
    while (found.ids.len > SEEDS_LIMIT)
        free(found.ids.items[--found.ids.len]);
    auto_free char *recent = newest(t, (size_t)window, 2 * RECENT_TURNS);
    buf_clear(&text);
    buf_addstr(&text, recent);
    add_found(&text, t, &found, SIZE_MAX);
    r->sum[SEEDS] += share(t, q, text.data);
}

/* Asks in a copy of the home, so that no question knows of another. */
static void put(struct model *m, const char *session, const char *question)
{
    auto_free char *home = mem_strdup(chat_home());
    auto_free char *copy = mem_printf("%s-asked", home);
    auto_free char *make = mem_printf("cp -a '%s' '%s'", home, copy);
    auto_free char *drop = mem_printf("rm -r '%s'", copy);
    run(make);
    setenv("HOME", copy, 1);
    m->answer = NULL;
    m->question = question;
    m->step = 0;
    m->summaries = 0;
    for (size_t s = 0; s < STEPS; s++)
        mem_replace(&m->requests[s], NULL);
    struct program p = program_start(session);
    program_take_turn(&p, question);
    free(program_stop(&p));
    setenv("HOME", home, 1);
    run(drop);
}

static void ask(struct talk *t, struct model *m, struct peers *peers, const char *session,
                const struct exam_question *q, long window, size_t overhead, struct result *r)
{
    put(m, session, q->text);
    /* A program may send no request that fits the window. */
    if (!m->requests[ITSELF])
        m->requests[ITSELF] = mem_strdup("");
    r->paid += m->summaries;
    r->most_paid = m->summaries > r->most_paid ? m->summaries : r->most_paid;
    size_t bytes = 0, last = 0;
    double before = 0;
    for (size_t s = 0; s < STEPS; s++) {
        last = m->requests[s] ? s : last;
        bytes += m->requests[s] ? strlen(m->requests[s]) : 0;
        double found = share(t, q, m->requests[last]);
        r->sum[BY_ITSELF + s] += found;
        r->lost[s] += found < before;
        before = found;
        r->tokens[s] += (double)bytes / TOKEN_BYTES;
    }
    size_t searched = strlen(m->requests[m->requests[SEARCHED] ? SEARCHED : ITSELF]);
    ask_peers(t, peers, q, window, searched > overhead ? searched - overhead : 0, r);
    r->asked++;
}

/* Messages that have nothing to do with the talk: to how many of them tiro adds passages. */
static void ask_unrelated(struct model *m, const char *session, struct result *r)
{
    struct error e;
    const char *sets_of = getenv("RECALL_SETS");
    auto_free char *path = mem_printf("%s/unrelated.txt", sets_of && *sets_of ? sets_of : "bench");
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!paths_read_file(path, PATHS_FILE, &text, &e))
        give_up(e.text);
    for (const char *line = text.data; *line; line += strcspn(line, "\n") + 1) {
        auto_free char *message = mem_strndup(line, strcspn(line, "\n"));
        if (r->unrelated++ % UNRELATED_STEP != 0)
            continue;
        put(m, session, message);
        r->disturbed += strstr(m->requests[ITSELF], "[From memory,") != NULL;
    }
}

/* Holds the talk. At each stop it asks questions about all that was said. */
static void hold(struct talk *t, struct model *m, struct peers *peers, long window,
                 struct result *r)
{
    size_t overhead = 0, said = 0, count = t->exchanges.len, bytes = 0, summaries = 0;
    auto_free char *session = NULL;
    chat_new_home();
    configure(m, window);
    m->bytes = m->summaries = 0;
    for (size_t stop = 1; stop <= STOPS; stop++) {
        struct program p = program_start(session);
        for (; said < count * (STOPS + stop) / (2 * STOPS); said++) {
            const struct exchange *e = &t->exchanges.items[said];
            m->answer = e->answered;
            program_take_turn(&p, e->said);
            overhead = said == 0 ? m->bytes - strlen(e->said) : overhead;
        }
        mem_replace(&session, program_stop(&p));
        bytes = m->bytes;
        summaries = m->summaries;
        VEC(const struct exam_question *) asked = {0};
        t->fed = t->exchanges.items[said - 1].end;
        for (size_t i = 0; i < t->questions.len; i++)
            if (may_ask(t, t->questions.items[i]))
                vec_push(&asked, t->questions.items[i]);
        size_t most = getenv("REACH_ASKED") ? strtoul(getenv("REACH_ASKED"), NULL, 10) : ASKED;
        for (size_t i = 0; i < most && i < asked.len; i++)
            ask(t, m, peers, session,
                asked.items[(STOPS * i + stop - 1) * asked.len / (STOPS * most)], window, overhead,
                r);
        vec_release(&asked);
        m->bytes = bytes;
        m->summaries = summaries;
    }
    if (window == windows[0] && !getenv("REACH_ADAPTER"))
        ask_unrelated(m, session, r);
    m->bytes = bytes;
    m->summaries = summaries;
    r->talk_tokens += (double)m->bytes / TOKEN_BYTES;
    r->turns += count;
    r->summaries += m->summaries;
}

static void print(const struct result results[WINDOWS])
{
    for (int way = 0; way < WAYS; way++) {
        printf("  %-34s", way_names[way]);
        for (size_t w = 0; w < WINDOWS; w++)
            printf("%9.3f", results[w].sum[way] / (double)results[w].asked);
        printf("\n");
    }
    static const char *const names[STEPS] = {"tokens a question, one request", "with a search",
                                             "with memory_read"};
    for (int step = 0; step < STEPS; step++) {
        printf("  %-34s", names[step]);
        for (size_t w = 0; w < WINDOWS; w++)
            printf("%9.0f", results[w].tokens[step] / (double)results[w].asked);
        printf("\n");
    }
    printf("  %-34s", "tokens sent a turn of the talk");
    for (size_t w = 0; w < WINDOWS; w++)
        printf("%9.0f", results[w].talk_tokens / (double)results[w].turns);
    printf("\n  %-34s", "turns a summary");
    for (size_t w = 0; w < WINDOWS; w++)
        printf("%9.1f", (double)results[w].turns / (double)results[w].summaries);
    if (results[0].unrelated > 0)
        printf("\n  %-34s%9.3f", "unrelated messages with passages",
               (double)results[0].disturbed * UNRELATED_STEP / (double)results[0].unrelated);
    printf("\n  %-34s", "summaries a question (the most)");
    for (size_t w = 0; w < WINDOWS; w++)
        printf("  %.2f (%zu)", (double)results[w].paid / (double)results[w].asked,
               results[w].most_paid);
    printf("\n  %-34s", "lost by the search, by the reading");
    for (size_t w = 0; w < WINDOWS; w++)
        printf("%5zu,%3zu", results[w].lost[SEARCHED], results[w].lost[READ]);
    printf("\n\n");
}

static void measure_set(struct model *m, const struct set *set, struct result results[WINDOWS])
{
    const char *all = getenv("RECALL_SETS");
    auto_free char *directory = mem_printf("%s/%s", all && *all ? all : "bench", set->directory);
    for (size_t number = 0; number < set->talks; number++) {
        struct talk t;
        struct error e;
        struct peers peers;
        talk_open(&t, set, number, directory);
        /* The peers hold the conversations of this talk alone. */
        struct exam alone = {.conversations = {0}};
        for (size_t i = number; i < t.exam.conversations.len; i += set->talks)
            vec_push(&alone.conversations, t.exam.conversations.items[i]);
        chat_new_home();
        auto_free char *path = mem_printf("%s/seeds.db", chat_home());
        peers.bm25 = exam_plain_new(EXAM_SNOWBALL, &alone, 0, alone.conversations.len);
        if (!exam_store_new(&peers.hashed, path, &alone, 0, alone.conversations.len, &e))
            give_up(e.text);
        for (size_t w = 0; w < WINDOWS; w++) {
            auto_free char *window = mem_printf("%ld", windows[w]);
            const char *only = getenv("REACH_WINDOWS");
            if (!only || strstr(only, window))
                hold(&t, m, &peers, windows[w], &results[w]);
        }
        exam_plain_free(peers.bm25);
        exam_store_free(peers.hashed);
        vec_release(&alone.conversations);
        talk_release(&t);
    }
}

void measure_reach(void)
{
    struct model m = {.server = model_server_start()};
    struct result results[2][WINDOWS] = {0};
    signal(SIGPIPE, SIG_IGN);
    chat_tell_model(model_server_url(m.server));
    model_server_set_responder(m.server, respond, &m);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        measure_set(&m, &sets[i], results[sets[i].named]);
    for (int kind = 1; kind >= 0; kind--) {
        printf("%-36s", kinds[kind]);
        for (size_t w = 0; w < WINDOWS; w++)
            printf("%8ldk", windows[w] / 1024);
        printf("\n");
        print(results[kind]);
    }
    free(m.arguments);
    for (size_t s = 0; s < STEPS; s++)
        free(m.requests[s]);
    model_server_stop(m.server);
}
