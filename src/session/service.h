/* The session service: one conversation at a time, carried by the agent thread. Surfaces send
 * commands and pop notices; nothing else is shared. It knows no surface.
 *
 * Reads (PAGE, LIST, INPUTS) are served by a second worker with its own read-only connection, so
 * that they never wait for a turn. */
#ifndef SESSION_SERVICE_H
#define SESSION_SERVICE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mailbox.h"
#include "config/config.h"
#include "session/command.h"
#include "session/notice.h"

struct service;

struct service_options {
    const struct config *config; /* borrowed; outlives the service */
    const char *directory;       /* working directory; NULL: the process's */
    const char *store_path;      /* NULL: the default */
    const char *provider;        /* overrides; NULL: not given */
    const char *model;
    const char *system;
    const char *tools; /* "none" or "read"; NULL: configured */
    bool persist;
    const char *resume; /* reference of the session to open; NULL: a new one */
};

/* Copies the options' strings and starts the agent thread; never waits for disk or network: what
 * fails later arrives as NOTICE_ERROR (command RESUME or NEW). The first notices are SESSION, then
 * PROVIDER as soon as it is known. */
struct service *service_new(const struct service_options *options);

/* Interrupts a running turn, keeps what arrived, ends both threads and frees. */
void service_free(struct service *s);

/* Takes the command. Whatever the agent thread waits for, the mailbox wakes it. A START_TURN while
 * a turn runs is answered with SESSION_BUSY; an INTERRUPT while none runs with SESSION_NOT_RUNNING.
 */
void service_send(struct service *s, struct command *c);

/* Notices; poll mailbox_fd() of it, free with notice_free(). */
struct mailbox *service_notices(struct service *s);

/* Without threads, for listings of the command line: both open the store read-only.
 * A store that does not exist is an empty list / SESSION_NOT_FOUND. */
bool service_list(const char *store_path, int limit, struct session_list *out, struct error *e);
bool service_read(const char *store_path, const char *reference, struct session_info *info,
                  bool (*visit)(void *context, const struct event *ev), void *context,
                  struct error *e);

#endif
