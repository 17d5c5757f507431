/* Tools that ask before they run: the question over the transcript, and the keys that answer it.
 *
 * A question comes while a person may be writing, so its keys count only while they are shown: when
 * no text is begun, and neither the question nor a key came in the last APPROVAL_PAUSE_MS; or after
 * Tab. Until then keys are text. Nothing can be allowed before the end of its text was on the
 * screen at the present size; a jump to the end passes over the rest knowingly. Times are
 * clock_mono_ms(). No curses. */
#ifndef UI_APPROVAL_H
#define UI_APPROVAL_H

#include "base/vec.h"
#include "ui/view/view.h"

enum {
    APPROVAL_PAUSE_MS = 700, /* from the first frame and from the last key on */
    APPROVAL_TAB_MS = 300    /* likewise; a Tab that comes sooner completes a word */
};

/* Clean texts. */
struct question {
    char *id, *tool, *class_name;
    char *text;    /* what would be done, in full; nothing in it is invisible (utf8_reveal()) */
    char *guarded; /* the place for whose sake it is asked, each time; NULL: none */
    char *grant;   /* what can be allowed for the session or the project; NULL: nothing */
};

struct approval {
    struct view view;
    VEC(struct question) questions; /* as they came; the first is on the screen */
    bool armed;                     /* drawn after the pause, or after Tab */
    bool drafted;                   /* a text has been begun, in the editor or in a view */
    bool entered;                   /* Tab led to the question since */
    int64_t shown_ms;               /* its first frame; 0: none yet */
    int64_t key_ms;                 /* the last key that was not the question's; 0: none */
    bool read;                      /* the last row of the text was on the screen */
    bool explains;                  /* the reason of a refusal is being written */
    struct editor *reason;

    struct rows text; /* the question's, for `width`; 0: not laid out */
    int width;
    size_t top, page; /* the rows of it in view */
    struct rows rows;
};

void approval_init(struct approval *a, const struct view_host *host);
void approval_release(struct view *view); /* but not the struct */

/* "The model wants to write (write_file)"; the caller frees. */
char *approval_title(const struct question *q);

/* As NOTICE_APPROVAL tells it. */
void approval_ask(struct approval *a, const struct notice *n);

/* The question about this call needs no answer any more. False if there is none. */
bool approval_over(struct approval *a, const char *id);
void approval_forget(struct view *view); /* all of them */

bool approval_open(const struct view *view); /* there is a question */

/* A key came at this time that was not the question's. */
void approval_typed(struct approval *a, int64_t now_ms);

/* When its keys are to be shown; 0: they are, or there is nothing to show them for. */
int64_t approval_due(const struct view *view);

/* The screen has another size, perhaps too small a one: it is to be looked at anew. */
void approval_hidden(struct approval *a);

#endif
