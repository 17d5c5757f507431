/* The options that `tiro chat` and `tiro run` share, and what they make of a conversation. */
#ifndef CLI_SESSION_OPTIONS_H
#define CLI_SESSION_OPTIONS_H

#include "base/buf.h"
#include "base/i18n.h"
#include "base/vec.h"
#include "cli/command_line.h"
#include "config/config.h"
#include "session/service.h"

enum session_option {
    SESSION_CONTINUE = 100, /* above the ids of the commands' own options */
    SESSION_PROVIDER,
    SESSION_MODEL,
    SESSION_SYSTEM,
    SESSION_FILE,
    SESSION_TOOLS,
    SESSION_PERSIST,
    SESSION_NO_PERSIST
};

/* Rows of an option table. */
/* clang-format off */
#define SESSION_OPTIONS                                                                            \
    {SESSION_CONTINUE, "continue", 'c', OPTION_FLAG, NULL, N_("go on with the last session")},     \
    {SESSION_PROVIDER, "provider", 'p', OPTION_VALUE, "PROVIDER",                                  \
     N_("anthropic, openai, ollama or offline")},                                                  \
    {SESSION_MODEL, "model", 'm', OPTION_VALUE, "MODEL", N_("which model")},                       \
    {SESSION_SYSTEM, "system", 's', OPTION_VALUE, "TEXT", N_("system prompt")},                    \
    {SESSION_FILE, "file", 'f', OPTION_VALUE, "FILE",                                              \
     N_("put a text file into the message; may be repeated")},                                     \
    {SESSION_TOOLS, "tools", 0, OPTION_VALUE, "none|read",                                         \
     N_("which tools the model is offered")},                                                      \
    {SESSION_PERSIST, "persist", 0, OPTION_FLAG, NULL, N_("keep the conversation")},               \
    {SESSION_NO_PERSIST, "no-persist", 0, OPTION_FLAG, NULL, N_("do not keep the conversation")}
/* clang-format on */

/* Borrowed from the command line. */
struct session_options {
    const char *provider, *model, *system, *tools, *resume;
    int persist; /* -1: as configured */
    VEC(const char *) files;
};

#define SESSION_OPTIONS_INIT                                                                       \
    {                                                                                              \
        .persist = -1                                                                              \
    }

void session_options_release(struct session_options *o);

/* Takes one of SESSION_OPTIONS. False with USAGE on a value that does not fit. */
bool session_options_take(struct session_options *o, int id, const char *value, struct error *e);

struct service_options session_options_service(const struct session_options *o,
                                               const struct config *config);

/* Appends the files of -f, each under its name in a fence that it cannot break out of. False when
 * one cannot be read, is no UTF-8 text or is over 4 MiB. */
bool session_options_files(const struct session_options *o, struct buf *out, struct error *e);

#endif
