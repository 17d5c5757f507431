#include "space/postgresql_link.h"

#ifdef HAVE_LIBPQ

#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"

enum {
    CONNECT_MS = 10000, /* for each host of the URL */
    ANSWER_MS = 30000,  /* without any progress */
    PASSWORD_MS = 10000,
    TRIES = 8 /* of a transaction that others disturb */
};

#define LIBPQ_FUNCTIONS(X)                                                                         \
    X(PQclear)                                                                                     \
    X(PQcmdTuples)                                                                                 \
    X(PQconnectPoll)                                                                               \
    X(PQconnectStartParams)                                                                        \
    X(PQconnectionNeedsPassword)                                                                   \
    X(PQconninfoFree)                                                                              \
    X(PQconninfoParse)                                                                             \
    X(PQconsumeInput)                                                                              \
    X(PQerrorMessage)                                                                              \
    X(PQfinish)                                                                                    \
    X(PQflush)                                                                                     \
    X(PQfreemem)                                                                                   \
    X(PQgetResult)                                                                                 \
    X(PQgetisnull)                                                                                 \
    X(PQgetlength)                                                                                 \
    X(PQgetvalue)                                                                                  \
    X(PQisBusy)                                                                                    \
    X(PQnfields)                                                                                   \
    X(PQntuples)                                                                                   \
    X(PQresultErrorField)                                                                          \
    X(PQresultStatus)                                                                              \
    X(PQsendQuery)                                                                                 \
    X(PQsendQueryParams)                                                                           \
    X(PQsetErrorVerbosity)                                                                         \
    X(PQsetNoticeProcessor)                                                                        \
    X(PQsetnonblocking)                                                                            \
    X(PQsocket)                                                                                    \
    X(PQstatus)

struct libpq {
#define X(name) __typeof__(name) *name;
    LIBPQ_FUNCTIONS(X)
#undef X
};

#ifdef LIBPQ_FILE
static bool load(struct libpq *library, struct error *e)
{
    static const struct late_function functions[] = {
#define X(name) {#name, offsetof(struct libpq, name)},
        LIBPQ_FUNCTIONS(X)
#undef X
    };
    return late_library_load(library, "libpq", LIBPQ_FILE, functions,
                             sizeof functions / sizeof *functions, e);
}
#else
static bool load(struct libpq *library, struct error *e)
{
    (void)e;
#define X(name) library->name = name;
    LIBPQ_FUNCTIONS(X)
#undef X
    return true;
}
#endif

static const struct libpq *libpq(struct error *e)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct libpq library;
    static bool loaded;
    pthread_mutex_lock(&lock);
    loaded = loaded || load(&library, e);
    bool usable = loaded;
    pthread_mutex_unlock(&lock);
    return usable ? &library : NULL;
}

/* ---- opening ---- */

static bool is_local(const char *host)
{
    return *host == '/' || *host == '@' || strcmp(host, "localhost") == 0 ||
           strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0;
}

/* Counts the hosts of a list, which commas separate; *local: each is this machine. */
static int count_hosts(const char *list, bool *local)
{
    int count = 1;
    *local = true;
    for (;; count++, list++) {
        size_t len = strcspn(list, ",");
        auto_free char *host = mem_strndup(list, len);
        *local = *local && (len == 0 || is_local(host));
        list += len;
        if (*list == '\0')
            return count;
    }
}

/* False with USAGE for a URL with a password: it is kept, and shown as the place of the space. */
static bool read_options(struct pg *p, const PQconninfoOption *options, struct error *e)
{
    const char *host = NULL, *address = NULL, *port = NULL, *database = NULL, *sslmode = NULL;
    const char *service = NULL, *user = NULL, *password = NULL;
    const struct {
        const char *word;
        const char **value;
    } wanted[] = {{"host", &host},       {"hostaddr", &address}, {"port", &port},
                  {"dbname", &database}, {"sslmode", &sslmode},  {"service", &service},
                  {"user", &user},       {"password", &password}};
    for (const PQconninfoOption *o = options; o->keyword; o++)
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            if (o->val && strcmp(o->keyword, wanted[i].word) == 0)
                *wanted[i].value = o->val;
    if (password)
        return err_set(e, ERR_USAGE,
                       "the URL of a space has no password, since it is shown; put that into "
                       "~/.pgpass, or use a password_command");
    p->role = user ? NULL : p->place->person;
    service = service ? service : environment_get("PGSERVICE");
    address = address ? address : environment_get("PGHOSTADDR");
    host = host ? host : environment_get("PGHOST");
    bool local;
    p->hosts = count_hosts(address ? address : host ? host : "", &local);
    if (!sslmode && (!local || service))
        p->sslmode = "verify-full"; /* a service may name any host */
    auto_free char *name = mem_printf("%.40s%s%.12s/%.24s",
                                      host      ? host
                                      : address ? address
                                                : "localhost",
                                      port ? ":" : "", port ? port : "", database ? database : "");
    p->name = utf8_clean_line(name);
    return true;
}

bool pg_open(struct pg *p, const struct carrier_place *place, struct error *e)
{
    const struct libpq *pq = libpq(e);
    char *fault = NULL; /* it may quote a password */
    if (!pq)
        return false;
    PQconninfoOption *options = pq->PQconninfoParse(place->url, &fault);
    pq->PQfreemem(fault);
    if (!options)
        return err_set(e, ERR_USAGE,
                       "libpq cannot read the URL of the space; write "
                       "postgresql://ROLE@HOST:PORT/DATABASE, other signs as %%XX");
    *p = (struct pg){.place = place, .pq = pq};
    bool ok = read_options(p, options, e);
    pq->PQconninfoFree(options);
    return ok;
}

/* ---- the connection ---- */

static void disconnect(struct pg *p)
{
    if (p->connection)
        p->pq->PQfinish(p->connection);
    p->connection = NULL;
}

void pg_close(struct pg *p)
{
    disconnect(p);
    free(p->name);
    free(p->person);
}

/* The server's words, which may be anybody's, in an error of ours. */
bool pg_fail(const struct pg *p, enum err_code code, const char *text, const char *advice,
             struct error *e)
{
    AUTO(buf_release) struct buf masked = BUF_INIT;
    AUTO(buf_release) struct buf cut = BUF_INIT;
    auto_free char *clean = utf8_clean_line(text);
    size_t len = strlen(clean);
    while (len > 0 && clean[len - 1] == ' ')
        len--;
    clean[len] = '\0';
    (void)url_mask(&masked, clean);
    utf8_add_cut(&cut, masked.data, masked.len, 110);
    return err_set(e, code, "%s: %s%s", p->name, cut.data, advice);
}

/* Waits for the socket. A failure leaves the connection in the midst of something. */
static bool wait_for(struct pg *p, short events, int64_t deadline_ms, struct error *e)
{
    const struct wakeup *w = p->place->wakeup;
    struct pollfd fds[] = {{.fd = p->pq->PQsocket(p->connection), .events = events},
                           {.fd = w ? w->fd : -1, .events = POLLIN}};
    for (;;) {
        int64_t left = deadline_ms - clock_mono_ms();
        if (left <= 0)
            return err_set(e, ERR_AGENT_ERROR, "%s does not answer; it is tried again later",
                           p->name);
        int ready = poll(fds, 2, wakeup_timeout(w, (int)left));
        bool woken = ready > 0 && (fds[1].revents & POLLIN);
        bool asked = woken || wakeup_late(w);
        if (asked && !w->go_on(w->context))
            return err_set(e, ERR_INTERRUPTED, "the call to %s was interrupted", p->name);
        if (ready < 0 && errno != EINTR)
            return err_set_errno(e, ERR_AGENT_ERROR, "%s cannot be waited for", p->name);
        if (ready > 0 && fds[0].revents)
            return true;
        if (ready > 0 && !woken)
            fds[1].fd = -1; /* hung up: it would be ready for ever */
    }
}

/* A failure of the connection itself. */
static bool lose(struct pg *p, struct error *e)
{
    const char *text = p->pq->PQerrorMessage(p->connection);
    pg_fail(p, ERR_AGENT_ERROR, *text ? text : "the connection was lost", "", e);
    disconnect(p);
    return false;
}

/* libpq would print it. */
static void ignore_notice(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static bool refuse_connection(struct pg *p, struct error *e)
{
    const char *text = p->pq->PQerrorMessage(p->connection);
    bool asks = p->pq->PQconnectionNeedsPassword(p->connection);
    if (asks || strstr(text, "  28P01: ") || strstr(text, "  28000: "))
        pg_fail(p, ERR_FORBIDDEN, text,
                asks ? "; put the password into ~/.pgpass or use a password_command"
                     : "; check role and password",
                e);
    else
        pg_fail(p, strstr(text, "  3D000: ") ? ERR_USAGE : ERR_AGENT_ERROR,
                *text ? text : "no connection", "", e);
    disconnect(p);
    return false;
}

static bool establish(struct pg *p, const char *password, struct error *e)
{
    /* Parameters behind the URL win over it, parameters before it give way. Of several hosts the
     * one that takes writes is meant, and one that is dead must not keep the next from being tried.
     */
    const char *const options[][2] = {
        {"target_session_attrs", p->hosts > 1 ? "read-write" : NULL},
        {"tcp_user_timeout", "8000"},
        {"user", p->role},
        {"dbname", p->place->url},
        {"fallback_application_name", "tiro"},
        {"client_encoding", "UTF8"},
        {"sslmode", p->sslmode},
        {"password", password},
    };
    enum { OPTIONS = sizeof options / sizeof *options };
    const char *words[OPTIONS + 1] = {0}, *values[OPTIONS + 1] = {0};
    for (int i = 0; i < OPTIONS; i++) {
        words[i] = options[i][0];
        values[i] = options[i][1];
    }
    int64_t deadline_ms = clock_mono_ms() + (int64_t)CONNECT_MS * p->hosts;
    p->connection = p->pq->PQconnectStartParams(words, values, 1);
    if (!p->connection)
        return err_set(e, ERR_AGENT_ERROR, "libpq cannot make a connection");
    p->pq->PQsetNoticeProcessor(p->connection, ignore_notice, NULL);
    p->pq->PQsetErrorVerbosity(p->connection, PQERRORS_VERBOSE); /* with SQLSTATE */
    if (p->pq->PQstatus(p->connection) == CONNECTION_BAD)
        return refuse_connection(p, e);
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (next != PGRES_POLLING_OK) {
        if (!wait_for(p, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_ms, e)) {
            disconnect(p);
            return false;
        }
        next = p->pq->PQconnectPoll(p->connection);
        if (next == PGRES_POLLING_FAILED)
            return refuse_connection(p, e);
    }
    p->pq->PQsetErrorVerbosity(p->connection, PQERRORS_DEFAULT);
    return p->pq->PQsetnonblocking(p->connection, 1) == 0 || lose(p, e);
}

/* ---- statements ---- */

struct pg_value pg_text(const char *text)
{
    return (struct pg_value){.bytes = text, .len = text ? strlen(text) : 0};
}

struct pg_value pg_bytes(const struct buf *bytes)
{
    return (struct pg_value){bytes->len > 0 ? bytes->data : NULL, bytes->len, true};
}

static bool send_statement(struct pg *p, const char *sql, const struct pg_value *values,
                           size_t count, struct error *e)
{
    VEC(const char *) bytes = {0};
    VEC(int) lengths = {0}, formats = {0};
    for (size_t i = 0; i < count; i++) {
        vec_push(&bytes, values[i].bytes);
        vec_push(&lengths, (int)values[i].len);
        vec_push(&formats, values[i].binary);
    }
    bool ok = values ? p->pq->PQsendQueryParams(p->connection, sql, (int)count, NULL, bytes.items,
                                                lengths.items, formats.items, 1)
                     : p->pq->PQsendQuery(p->connection, sql);
    vec_release(&bytes);
    vec_release(&lengths);
    vec_release(&formats);
    int left = ok ? 1 : -1;
    while (left > 0 && (left = p->pq->PQflush(p->connection)) > 0) {
        if (!wait_for(p, POLLIN | POLLOUT, clock_mono_ms() + ANSWER_MS, e)) {
            disconnect(p);
            return false;
        }
        if (!p->pq->PQconsumeInput(p->connection))
            left = -1;
    }
    return left == 0 || lose(p, e);
}

/* The error code for a failed statement, by its SQLSTATE. */
static bool refuse(struct pg *p, const PGresult *result, struct error *e)
{
    static const struct {
        const char *state;
        enum err_code code;
        const char *advice;
        bool ends; /* another server may answer the next connection */
    } meanings[] = {
        {"42501", ERR_FORBIDDEN, "; ask an owner of the space for the right", false},
        {"42P01", ERR_USAGE, "; the database has no tables of tiro yet", false},
        {"3F000", ERR_USAGE, "; the database has no tables of tiro yet", false},
        {"25006", ERR_AGENT_ERROR, "", true}, /* a replica, which only reads */
        {"57P", ERR_AGENT_ERROR, "", true},
    };
    const char *state = p->pq->PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = p->pq->PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    enum err_code code = ERR_AGENT_ERROR;
    const char *advice = "";
    bool ends = false;
    if (!state)
        return lose(p, e);
    memcpy(p->state, state, strnlen(state, sizeof p->state - 1));
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strncmp(state, meanings[i].state, strlen(meanings[i].state)) == 0) {
            code = meanings[i].code;
            advice = meanings[i].advice;
            ends = meanings[i].ends;
        }
    pg_fail(p, code, text ? text : "the statement failed", advice, e);
    if (ends)
        disconnect(p);
    return false;
}

/* The next result of the statement in *out; NULL: there is none any more. */
static bool next_result(struct pg *p, PGresult **out, struct error *e)
{
    while (p->pq->PQisBusy(p->connection)) {
        if (!wait_for(p, POLLIN, clock_mono_ms() + ANSWER_MS, e)) {
            disconnect(p);
            return false;
        }
        if (!p->pq->PQconsumeInput(p->connection))
            return lose(p, e);
    }
    *out = p->pq->PQgetResult(p->connection);
    return true;
}

bool pg_run(struct pg *p, const char *sql, const struct pg_value *values, size_t count, int columns,
            struct pg_rows *rows, struct error *e)
{
    struct pg_rows got = {.pq = p->pq};
    bool ok = true;
    memset(p->state, 0, sizeof p->state);
    if (rows)
        *rows = got;
    if (!send_statement(p, sql, values, count, e))
        return false;
    while (p->connection) {
        PGresult *result = NULL;
        if (!next_result(p, &result, e)) {
            ok = false;
            break;
        }
        if (!result)
            break;
        ExecStatusType status = p->pq->PQresultStatus(result);
        bool fits = status == PGRES_TUPLES_OK && p->pq->PQnfields(result) >= columns;
        if (status == PGRES_FATAL_ERROR)
            ok = ok && refuse(p, result, e);
        else if (!fits && (status != PGRES_COMMAND_OK || columns > 0)) {
            /* copying, which would never end, or an answer to another question */
            ok = pg_fail(p, ERR_AGENT_ERROR, "the answer does not fit the question", "", e);
            disconnect(p);
        }
        if (fits && !got.result)
            got.result = result;
        else
            p->pq->PQclear(result);
    }
    if (ok && p->pq->PQstatus(p->connection) != CONNECTION_OK)
        ok = lose(p, e);
    if (ok && columns > 0 && !got.result)
        ok = pg_fail(p, ERR_AGENT_ERROR, "there is no answer", "", e);
    if (ok && rows)
        *rows = got;
    else
        pg_rows_release(&got);
    return ok;
}

/* ---- rows ---- */

void pg_rows_release(struct pg_rows *rows)
{
    if (rows->result)
        rows->pq->PQclear(rows->result);
    rows->result = NULL;
}

int pg_count(const struct pg_rows *rows)
{
    return rows->result ? rows->pq->PQntuples(rows->result) : 0;
}

const char *pg_cell(const struct pg_rows *rows, int row, int column)
{
    return rows->pq->PQgetvalue(rows->result, row, column);
}

size_t pg_length(const struct pg_rows *rows, int row, int column)
{
    return (size_t)rows->pq->PQgetlength(rows->result, row, column);
}

char *pg_copy(const struct pg_rows *rows, int row, int column)
{
    return rows->pq->PQgetisnull(rows->result, row, column)
               ? NULL
               : mem_strdup(rows->pq->PQgetvalue(rows->result, row, column));
}

int64_t pg_number(const struct pg_rows *rows, int row, int column)
{
    return strtoll(rows->pq->PQgetvalue(rows->result, row, column), NULL, 10);
}

/* ---- the link ---- */

bool pg_connect(struct pg *p, struct error *e)
{
    AUTO(pg_rows_release) struct pg_rows rows = {0};
    char *password = NULL;
    if (p->connection) {
        struct pollfd fd = {.fd = p->pq->PQsocket(p->connection), .events = POLLIN};
        if (poll(&fd, 1, 0) == 0 || (p->pq->PQconsumeInput(p->connection) &&
                                     p->pq->PQstatus(p->connection) == CONNECTION_OK))
            return true;
        disconnect(p);
    }
    if (p->place->password_command &&
        !key_command_run("password_command", p->place->password_command, PASSWORD_MS,
                         p->place->wakeup, &password, e))
        return false;
    bool ok = establish(p, password, e);
    key_command_free(password);
    if (!ok || !pg_run(p, "SELECT CAST(current_user AS text)", PG_NOTHING, 1, &rows, e))
        return false;
    auto_free char *person = pg_count(&rows) > 0 ? pg_copy(&rows, 0, 0) : NULL;
    if (!person || !*person || strlen(person) > SPACE_NAME_BYTES ||
        (p->person && strcmp(p->person, person) != 0) ||
        (p->place->person && strcmp(p->place->person, person) != 0)) {
        disconnect(p);
        return pg_fail(p, ERR_FORBIDDEN, person ? person : "nobody",
                       " is the role here, which is not the name of the space's member", e);
    }
    if (!p->person)
        p->person = mem_strdup(person);
    return true;
}

bool pg_ask(struct pg *p, const char *sql, const struct pg_value *values, size_t count, int columns,
            struct pg_rows *rows, struct error *e)
{
    if (rows)
        *rows = (struct pg_rows){0};
    return pg_connect(p, e) && pg_run(p, sql, values, count, columns, rows, e);
}

bool pg_transaction(struct pg *p, bool (*steps)(struct pg *p, const void *context, struct error *e),
                    const void *context, struct error *e)
{
    for (int tries = 1;; tries++) {
        if (!pg_connect(p, e))
            return false;
        if (pg_run(p, "BEGIN", NULL, 0, 0, NULL, e) && steps(p, context, e) &&
            pg_run(p, "COMMIT", NULL, 0, 0, NULL, e))
            return true;
        bool again = strcmp(p->state, "40001") == 0 || strcmp(p->state, "40P01") == 0;
        struct error ignored;
        char state[sizeof p->state];
        memcpy(state, p->state, sizeof state);
        if (p->connection && !pg_run(p, "ROLLBACK", NULL, 0, 0, NULL, &ignored))
            disconnect(p);
        memcpy(p->state, state, sizeof state);
        if (!again || tries == TRIES)
            return false;
        if (!wakeup_sleep(p->place->wakeup, (int)(entropy_unit() * (20 << tries))))
            return err_set(e, ERR_INTERRUPTED, "the call to %s was interrupted", p->name);
    }
}

#endif
