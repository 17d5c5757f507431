/* Tools that ask before they run, and forms of MCP servers: the question over the transcript, and
 * the keys that answer it.
 *
 * A question comes while a person may be writing, so its keys count only while they are shown: when
 * no text is begun, and neither the question nor a key came in the last APPROVAL_PAUSE_MS; or after
 * Tab. Until then keys are text. Nothing can be allowed before the end of its text was on the
 * screen at the present size; a jump to the end counts, since the person chose it. Times are
 * clock_mono_ms(). No curses. */
#ifndef UI_APPROVAL_H
#define UI_APPROVAL_H

#include "base/vec.h"
#include "ui/view/sheet.h"
#include "ui/view/view.h"

enum {
    APPROVAL_PAUSE_MS = 700, /* from the first frame and from the last key on */
    APPROVAL_TAB_MS = 300    /* after these a Tab answers; sooner it completes a word */
};

/* Clean texts. */
struct question {
    char *id, *tool, *class_name;
    char *text;    /* the whole deed of the call, without invisible characters (utf8_reveal()) */
    char *guarded; /* the guarded place that the call reaches (agent/approval.h); NULL: none */
    char *grant;   /* the calls that "session" and "project" allow; NULL: neither is offered */
    struct sheet *sheet; /* a form of an MCP server; NULL: a tool or the project asks */
};

struct approval {
    struct view view;
    VEC(struct question) questions; /* oldest first; the first is on the screen */
    bool armed;                     /* drawn after the pause, or after Tab */
    bool drafted;                   /* a text has been begun, in the editor or in a view */
    bool entered;                   /* Tab has led to the question, and no other key came since */
    int64_t shown_ms;               /* its first frame; 0: none yet */
    int64_t key_ms;                 /* the last key that was not the question's; 0: none */
    bool read;                      /* the last row of the text was on the screen */
    bool explains;                  /* the person writes: the reason of a refusal, or a field */
    struct editor *reason;

    struct rows text; /* the text of the question, laid out for `width`; 0: not laid out */
    int width;
    size_t top, page; /* first row in view, and number of rows */
    struct rows rows;
};

void approval_init(struct approval *a, const struct view_host *host);
void approval_release(struct view *view); /* but not the struct */

/* Whether it asks about the programs of the project, not about a tool. */
bool approval_is_of_project(const struct question *q);

/* "The model wants to write (write_file)"; the caller frees. */
char *approval_title(const struct question *q);

/* Adds the question of a NOTICE_APPROVAL, or adds or removes that of a NOTICE_ELICITATION. */
void approval_ask(struct approval *a, const struct notice *n);

/* After the sheet of the first question has changed. */
void approval_write_sheet(struct approval *a);

/* Removes the question about this call. False: there is none. */
bool approval_over(struct approval *a, const char *id);
void approval_forget(struct view *view); /* all of them */

bool approval_open(const struct view *view); /* there is a question */

/* A key that does not belong to the question came at this time. */
void approval_typed(struct approval *a, int64_t now_ms);

/* The time from which the keys count; 0: they count already, or no question is on the screen. */
int64_t approval_due(const struct view *view);

/* The question must be looked at anew: the screen has another size, or did not show it. */
void approval_hidden(struct approval *a);

#endif
