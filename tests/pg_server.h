/* A PostgreSQL server of the test's own: a directory in memory where there is room, a unix socket
 * in it, no protection against a power failure. It runs as the user postgres or nobody where the
 * test runs as root, and ends with the test program. The roles anna, ben, carl and locked (password
 * "sesame") may log in, and a superuser called admin. Failures of the machine end the test program
 * with a message. */
#ifndef TESTS_PG_SERVER_H
#define TESTS_PG_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

/* Debian's programs are there, and a user that they can run as. */
bool pg_server_there(void);

struct pg_server {
    char *directory; /* of the socket, with data/ and log; what a URL has as its host */
    pid_t pid;       /* 0: it does not run */
};

struct pg_server *pg_server_start(void);
/* Another one that copies the first, until pg_server_promote(). */
struct pg_server *pg_server_replica(const struct pg_server *of);
void pg_server_promote(const struct pg_server *s);
void pg_server_kill(struct pg_server *s);  /* SIGKILL */
void pg_server_again(struct pg_server *s); /* after a kill */
void pg_server_stop(struct pg_server *s);  /* and removes it; NULL is fine */

/* "postgresql://ROLE@/postgres?host=DIRECTORY"; kept. */
char *pg_server_url(const struct pg_server *s, const char *role);

/* The output of psql without headings, kept; NULL: a statement failed. */
char *pg_server_sql(const struct pg_server *s, const char *role, const char *sql);

/* Starts a program as the server's user in its directory, its output in DIRECTORY/log. */
pid_t pg_server_run(const struct pg_server *s, const char *const *argv);

#endif
