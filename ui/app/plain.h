/* State and functions that plain*.c share: the line surface (plain_run() in run.h). */
#ifndef UI_APP_PLAIN_H
#define UI_APP_PLAIN_H

#include "ui/app/plain_io.h"
#include "ui/app/turns.h"
#include "ui/transcript/transcript.h"
#include "ui/view/approval.h"

struct plain;

/* Takes the answer to a request that succeeded. */
typedef void plain_taker(struct plain *p, struct operation_answer *a);

/* A request whose answer is needed before the next line of input is read. */
struct plain_asked {
    bool open;
    uint64_t id; /* of the request; 0: the session is being opened */
    plain_taker *take;
};

struct plain {
    const struct ui_options *options;
    const struct config *config;
    struct engine *engine;
    struct plain_reader in;
    struct plain_writer out;
    enum reasoning_view reasoning;

    struct session_info session;
    bool read_only;
    char *provider;
    struct transcript *transcript;
    size_t item;     /* of the transcript; the items before it are written */
    size_t written;  /* bytes of its text that are written; 1: the first row of another kind of item
                        is */
    int64_t writing; /* number of the event that began the item */
    bool history;    /* the items written now are from the past */
    bool echo;       /* the next message was not typed just now, so it is written, too */

    struct plain_asked asked;
    bool busy;    /* a turn or a compaction runs, or was requested */
    bool running; /* the engine has reported it */
    bool compacting;
    bool failed; /* the last turn */
    int tasks;   /* commands in the background */
    int64_t began_ms;
    char *waiting; /* the message that is sent when the turn ends; NULL: none */
    char *unsent;  /* the message that /retry sends: a draft, or one that was refused; NULL: none */
    char *files;   /* pipes of -f, put before the next message; NULL: none */
    struct mentions attach; /* files of -f and /attach, mentioned in the next message */

    struct approval approval; /* questions of tools; the first was written */
    bool reviewing;           /* a draft summary waits for an answer */
    int cited;                /* the number that /cite asked for */
    VEC(char *) found;        /* ids of the memory entries in the last list */

    int64_t import_told_ms; /* the last line about a running import */
    int64_t leave_until_ms; /* another Ctrl-C before then leaves */
    bool leaving;
    int signal_number;
};

/* plain.c */

/* Starts an operation; the next line of input waits for its answer. */
void plain_ask(struct plain *p, const struct operation *o, const void *params, plain_taker *take);
/* Starts an operation; no line waits, and only a failure is reported. */
void plain_send(struct plain *p, const struct operation *o, const void *params);
void plain_say(struct plain *p, const char *text); /* sends a message, or queues it */
void plain_began(struct plain *p);                 /* a turn or a compaction was requested */

/* Takes the lines typed so far, before a question that the person has not seen when typing. */
void plain_drain(struct plain *p);

/* Reports a text that /retry sends. */
void plain_say_unsent(struct plain *p, const char *text);

/* Reports the text, appends it to the one that /retry sends, which is also the session's draft, and
 * frees it. NULL: drops the text that was kept. */
void plain_keep(struct plain *p, char *text);

/* plain_notices.c. Frees the notice. */
void plain_take(struct plain *p, struct notice *n);

void plain_take_models(struct plain *p, struct operation_answer *a);

/* The question that waits for an answer: a tool before it runs, the draft of a summary. */
bool plain_is_asked(const struct plain *p);
const char *plain_question(const struct plain *p); /* one line, the prompt of the answer */
bool plain_fills(const struct plain *p);           /* any line is the value of a field */
/* False: the text is no answer. NULL: nobody answers, which is a no. */
bool plain_answer(struct plain *p, const char *text);
void plain_forget_questions(struct plain *p);

/* plain_commands.c */
void plain_command(struct plain *p, const char *text);
bool plain_imports(const struct plain *p); /* /import runs */
bool plain_stop_import(struct plain *p);   /* false: it does not */

#endif
