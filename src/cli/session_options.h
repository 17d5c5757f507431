/* The options that `tiro chat`, `tiro run` and `tiro serve` share, and the engine's options from
 * them. */
#ifndef CLI_SESSION_OPTIONS_H
#define CLI_SESSION_OPTIONS_H

#include "base/buf.h"
#include "base/i18n.h"
#include "base/vec.h"
#include "chat/mention.h"
#include "cli/command_line.h"
#include "config/config.h"
#include "session/engine.h"

/* Texts are borrowed from the command line unless a comment says that they are owned. It is the
 * first member of a command's struct. */
struct session_options {
    const char *provider, *model, *effort, *system, *tools, *resume;
    struct buf allow; /* the lists of all --allow; owned */
    char *labels;     /* as session_labels_change() gives them; owned */
    bool read_only;
    int persist, compaction, memory; /* -1: as configured */
    VEC(const char *) files;
};

/* Rows of a table of options. */
/* clang-format off */
#define SESSION_AT(member) .at = offsetof(struct session_options, member)
#define SESSION_SWITCH(name, member, help)                                                         \
    {name, 0, OPTION_FLAG, NULL, help, SESSION_AT(member), .take = session_options_take_switch}
#define SESSION_OPTIONS                                                                            \
    {"continue", 'c', OPTION_FLAG, NULL, N_("continue the newest session of this project"),        \
     SESSION_AT(resume), .take = session_options_take_last},                                       \
    {"file", 'f', OPTION_VALUE, "FILE", N_("attach a file, image or folder; may be repeated"),      \
     .take = session_options_take_file, .offer = {.what = OFFER_FILES}},                           \
    {"label", 'l', OPTION_VALUE, "LABEL", N_("a label for a new session; may be repeated"),        \
     SESSION_AT(labels), .take = session_options_take_label},                                      \
    SESSION_SETTINGS(N_("tools, classes or commands that run without asking; may be repeated"))
/* The options that are not about one message or one session. */
#define SESSION_SETTINGS(allow_help)                                                               \
    {"provider", 'p', OPTION_VALUE, "PROVIDER", N_("anthropic, openai, ollama or offline"),        \
     SESSION_AT(provider), .take = session_options_take_choice,                                  \
     .offer = {OFFER_CHOICES, .choices = session_options_providers}},                              \
    {"model", 'm', OPTION_VALUE, "MODEL", N_("the model's name"), SESSION_AT(model)},              \
    {"effort", 0, OPTION_VALUE, "WORD", N_("how much the model reasons, in its provider's word"),  \
     SESSION_AT(effort),                                                                            \
     .offer = {OFFER_CHOICES, .fixed = "none minimal low medium high xhigh max"}},                  \
    {"system", 's', OPTION_VALUE, "TEXT", N_("system prompt"), SESSION_AT(system)},                \
    {"tools", 0, OPTION_VALUE, "none|read|full", N_("tools that the model may use"),              \
     SESSION_AT(tools), .take = session_options_take_choice,                                        \
     .offer = {OFFER_CHOICES, .choices = session_options_tools}},                                  \
    {"allow", 0, OPTION_VALUE, "LIST", allow_help,                                                 \
     SESSION_AT(allow), .take = session_options_take_allow},                                       \
    SESSION_SWITCH("persist", persist, N_("save the conversation")),                               \
    SESSION_SWITCH("no-persist", persist, N_("do not save the conversation")),                     \
    SESSION_SWITCH("compaction", compaction,                                                       \
                   N_("shorten the conversation when it grows too long")),                         \
    SESSION_SWITCH("no-compaction", compaction, N_("do not shorten the conversation")),            \
    SESSION_SWITCH("memory", memory,                                                               \
                   N_("keep a memory of conversations, and let the model search it")),             \
    SESSION_SWITCH("no-memory", memory,                                                            \
                   N_("neither store messages in memory nor search it"))
/* clang-format on */

/* The choices of --provider and --tools, separated by blanks; the caller frees. */
char *session_options_providers(void);
char *session_options_tools(void);

option_take session_options_take_choice, session_options_take_last, session_options_take_file,
    session_options_take_allow, session_options_take_label, session_options_take_switch;

#define SESSION_OPTIONS_INIT                                                                       \
    {                                                                                              \
        .allow = BUF_INIT, .persist = -1, .compaction = -1, .memory = -1                           \
    }

void session_options_release(struct session_options *o);

/* The caller sets can_ask. */
struct engine_options session_options_service(const struct session_options *o,
                                              const struct config *config);

/* The files and folders of -f: names for `attach` of turn/start. A pipe can be read once only: its
 * text is appended to `piped`, under its name in a fence that it cannot close. False: a file is not
 * there, or a pipe is not UTF-8 text or longer than 4 MiB. */
bool session_options_files(const struct session_options *o, struct buf *piped,
                           struct mentions *files, struct error *e);

#endif
