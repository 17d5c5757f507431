#include "bench/served_events.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

struct served_events {
    pid_t pid;
    int port, stream, turn;
    char *session, *token;
    struct buf text;
    size_t read;
};

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench: tiro serve --http: %s\n", what);
    exit(99);
}

/* Reads until the text is there; returns the text after it. */
static const char *read_until(int fd, struct buf *out, const char *text)
{
    char bytes[65536];
    const char *found;
    while (!(found = strstr(out->data, text))) {
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n <= 0)
            give_up(out->data);
        buf_add(out, bytes, (size_t)n);
    }
    return found + strlen(text);
}

/* Reads the token from the file that the server names. */
static char *read_token(const char *said)
{
    static const char where[] = "the token in ";
    const char *at = strstr(said, where);
    char line[256] = "";
    if (!at)
        give_up(said);
    at += strlen(where);
    char *path = mem_strndup(at, strcspn(at, "\n"));
    FILE *f = fopen(path, "r");
    if (!f || !fgets(line, sizeof line, f))
        give_up(path);
    fclose(f);
    free(path);
    return mem_strndup(line, strcspn(line, "\n"));
}

static void start_program(struct served_events *s)
{
    static const char where[] = "http://127.0.0.1:";
    struct buf said = BUF_INIT;
    int err[2];
    if (pipe(err) != 0)
        give_up("no pipe");
    s->pid = fork();
    if (s->pid == 0) {
        dup2(err[1], STDERR_FILENO);
        close(err[0]);
        execl(getenv("TIRO"), "tiro", "serve", "--http", "127.0.0.1:0", (char *)NULL);
        _exit(99);
    }
    close(err[1]);
    s->port = atoi(read_until(err[0], &said, where));
    s->token = read_token(said.data);
    close(err[0]);
    buf_release(&said);
}

static int ask(const struct served_events *s, const char *method, const char *path,
               const char *body)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)s->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char *text = mem_printf(
        "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        method, path, s->token, strlen(body), body);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
        write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        give_up("no connection");
    free(text);
    return fd;
}

struct served_events *served_events_start(void)
{
    struct served_events *s = mem_alloc(sizeof *s);
    struct buf answer = BUF_INIT;
    s->turn = -1;
    buf_init(&s->text, 0);
    start_program(s);
    int fd = ask(s, "POST", "/sessions", "{}");
    const char *id = read_until(fd, &answer, "{\"id\":\"");
    s->session = mem_strndup(id, strcspn(id, "\""));
    close(fd);
    buf_release(&answer);
    char *path = mem_printf("/sessions/%s/events", s->session);
    s->stream = ask(s, "GET", path, "");
    free(path);
    (void)read_until(s->stream, &s->text, "session_loaded");
    return s;
}

void served_events_say(struct served_events *s)
{
    char *path = mem_printf("/sessions/%s/messages", s->session);
    s->turn = ask(s, "POST", path, "{\"prompt\":\"hello\"}");
    free(path);
}

/* An event that is split between two chunks is skipped. */
const char *served_events_next(struct served_events *s)
{
    for (;;) {
        char *line = s->text.data + s->read, *end = strchr(line, '\n');
        if (end) {
            *end = '\0';
            s->read += (size_t)(end - line) + 1;
            if (strncmp(line, "data: ", 6) == 0)
                return line + 6;
            continue;
        }
        char bytes[65536];
        ssize_t n = read(s->stream, bytes, sizeof bytes);
        if (n <= 0)
            return NULL;
        buf_consume(&s->text, s->read);
        s->read = 0;
        buf_add(&s->text, bytes, (size_t)n);
    }
}

void served_events_stop(struct served_events *s)
{
    kill(s->pid, SIGTERM);
    waitpid(s->pid, NULL, 0);
    close(s->stream);
    if (s->turn >= 0)
        close(s->turn);
    buf_release(&s->text);
    free(s->session);
    free(s->token);
    free(s);
}
