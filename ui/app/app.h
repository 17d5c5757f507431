/* The state of the terminal surface: what the engine told, what the person does, and what of the
 * screen is out of date. Keys (dispatch.h) and notices (notices.h) change it, screen.h draws it. */
#ifndef UI_APP_H
#define UI_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "session/engine.h"
#include "ui/app/background.h"
#include "ui/app/requests.h"
#include "ui/app/run.h"
#include "ui/term/keymap.h"
#include "ui/term/probe.h"
#include "ui/term/theme.h"
#include "ui/text/editor.h"
#include "ui/transcript/transcript.h"
#include "ui/view/approval.h"
#include "ui/view/draft_review.h"
#include "ui/view/list.h"
#include "ui/view/memory_view.h"
#include "ui/view/view.h"

/* Parts of the screen. */
enum { DIRTY_TITLE = 1, DIRTY_BODY = 2, DIRTY_STATUS = 4, DIRTY_EDITOR = 8, DIRTY_ALL = 15 };

/* As the engine estimates. */
enum { BYTES_PER_TOKEN = 4 };

/* What happens in the running turn. */
struct activity {
    bool busy;             /* a turn runs, or was asked for and not refused */
    bool over;             /* its last event was seen; the engine says "not busy" soon */
    bool failed;           /* the last turn ended with an error */
    int64_t started_ms;    /* monotonic, as all of these */
    int64_t streaming_ms;  /* first delta of this model call; 0: none yet */
    int64_t streamed;      /* bytes since then */
    int64_t unmeasured;    /* bytes sent since the provider last said what a request took */
    int64_t compacting_ms; /* when the compaction began that goes on; 0: none does */
    int retry, retries;
    int64_t retry_at;
    char *retry_reason;
};

struct find {
    struct view view;
    bool active;
    bool stepped; /* the line's text was looked for, and is what the matches are of */
    bool waiting; /* for older pages, to go on in them */
    bool older;   /* … upwards; else round to the oldest, once all are there */
    bool failed;
    int pages; /* that it has asked for beyond those, to count in */
    struct editor *line;
    char *former; /* text of the line before; NULL: none */
};

/* Older events that are asked for because turns are counted from the first. */
struct turn_found;
struct turn_search {
    bool listed;   /* for a list of all */
    size_t number; /* of the turn that `take` wants; 0: none */
    void (*take)(struct app *app, const struct turn_found *found);
};

/* Where one was before a jump, and where that led (way_back.h). */
struct place_left {
    char session[UUID_LEN + 1];
    bool read_only;
    bool blank; /* nothing was said or written in it, so there is nothing to open again */
    struct transcript_place view;
    size_t caret; /* of the message */
    bool memory, memory_focused;
};

struct way_back {
    VEC(struct place_left) places; /* the newest last */
    /* Another session was asked for, and is not there yet. */
    enum { WAY_STAYS, WAY_OUT, WAY_HOME } moving;
    struct place_left left; /* OUT: where one was; HOME: where one goes */
    char to[UUID_LEN + 1];  /* of OUT */
};

/* Something that was noted of what the person typed (learned.h). */
struct learned_card {
    char *id, *text;
    bool active; /* it counts already */
};
void learned_card_release(struct learned_card *card);
void app_forget_cards(struct app *app);

struct app {
    const struct ui_options *options;
    const struct config *config;
    struct engine *engine;
    struct transcript *transcript;
    struct editor *editor;
    struct keymap keymap;
    struct theme theme;
    char *theme_name;  /* as it was chosen, "auto" among them */
    bool light_ground; /* the terminal said so */
    enum focus focus;

    struct session_info session;
    char left[UUID_LEN + 1]; /* the conversation that was here before it; "": none was */
    bool read_only;          /* it is open for reading alone */
    bool fresh;              /* nothing was said in it yet */
    bool offline_said;       /* that there is no model, in this session */
    char *provider, *model, *detail;
    enum provider_reason reason;
    struct meters meters;
    bool truncated;  /* the server left out the beginning of a request */
    bool answered;   /* … and answered one since, as far as is known in full */
    char *last_sent; /* newest message of the person's in this session */
    bool replacing;  /* what is being written takes its place (message.h) */

    struct activity activity;
    struct background background; /* it may have the shown one while another was asked for */
    char *waiting;                /* the message that is sent when the turn ends; NULL: none */
    bool waiting_after; /* it was written after the turn's last event: sent even if that failed */
    bool retry_after;   /* /retry was: sent when the engine is free */

    struct approval approval;  /* before whatever else is open */
    struct draft_review draft; /* in the place of the editor, when nothing else is open */
    struct asked asked;
    struct views views;
    struct view_host host;                /* panes_init() */
    struct pane_host pane_host;           /* likewise */
    void (*follow_edit)(struct app *app); /* who completes what is written; completion_init() */
    struct view *memory;                  /* F2; in views */
    struct transcript_place jump;         /* to show once its page has come; seq 0: none */
    struct way_back way_back;
    char *find_next; /* to look for once that session is open; NULL: nothing */
    char find_session[UUID_LEN + 1];
    struct find find;
    struct session_list sessions; /* the last listing */
    struct models_result models;
    bool sessions_known, models_known, inputs_asked;
    uint64_t older_asked;   /* request for older events; 0: none is under way */
    app_answer *take_older; /* who takes them; notices_init() */
    bool stop_asked;        /* by /stop, which tells when nothing runs */
    struct turn_search turns;
    bool completion_wanted; /* Tab waits for a listing */
    bool completion_closed; /* Esc, or a command that was refused, closed the popup */
    VEC(char *) corpora;    /* "corpus:NAME", as they were listed last */
    struct errands *errands;

    VEC(struct learned_card) cards; /* the newest last */
    bool cards_new;                 /* their keys are yet to be told */
    char *reworded;                 /* id of the one that the next /remember changes; NULL: none */

    char *parting;         /* what to say of the session that is gone, in the next; NULL: nothing */
    char *draft_when_left; /* editor's text when another session was asked for */
    bool draft_complained;
    int64_t draft_at, draft_since; /* monotonic; draft_at 0: nothing to save */

    unsigned dirty;
    bool urgent;         /* draw at once */
    bool status_dirty;   /* of the kind that can wait */
    int64_t drawn_ms;    /* the last frame */
    int64_t status_ms;   /* the last status line */
    int64_t tick_at;     /* next second to count; 0: nothing counts */
    int64_t leave_until; /* monotonic; ACTION_CLEAR again before that leaves; 0: nobody asked */
    bool leaving;
    size_t others_told; /* conversations in the background that leaving was said to stop */
    int signal_number;  /* that ended it; 0: none */
};

/* As [ui] reasoning says. */
enum reasoning_view app_reasoning(const struct config *config);

void app_init(struct app *app, const struct ui_options *options);
void app_release(struct app *app);

/* What of the screen is out of date; `now` also draws without waiting for the next frame. */
void app_touch(struct app *app, unsigned parts);
void app_touch_now(struct app *app, unsigned parts);

/* Shows the newest, where a command's answer will stand. */
void app_follow(struct app *app);

/* A note in the transcript. */
void app_note(struct app *app, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One that is of use until the next message alone: that takes it away. */
void app_note_briefly(struct app *app, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Asks the engine for a row of the table and returns the request's id. `take` NULL: only of a
 * failure is told, as where it returns false. */
uint64_t app_ask(struct app *app, const struct operation *o, const void *params, app_answer *take);

/* The answer to session/list is the last listing from now on. */
void app_take_sessions(struct app *app, struct operation_answer *a);

/* Asks that the turn or compaction that runs be stopped. */
void app_interrupt(struct app *app);

/* Leaves the session for a new one / for another one. */
void app_begin_session(struct app *app);
void app_open_session(struct app *app, const char *session, bool read_only);

bool app_is_blank(const char *text); /* nothing is in it that is worth sending */

/* Puts the text before what is being written, so that neither is lost. */
void app_give_back(struct app *app, const char *text);

/* Whether keys go to the message: nothing else is open but a list of completions. */
bool app_writes(const struct app *app);

/* The editor has changed: a draft is due, completion follows. */
void app_edited(struct app *app);
void app_save_draft(struct app *app);

/* Before another session is asked for: its draft stays with it, and its turn goes on. */
void app_leave_session(struct app *app);
/* That could not be opened. */
void app_stay_in_session(struct app *app);

/* The message that waits for the end of the turn comes back into the editor; false: none does. */
bool app_take_waiting(struct app *app);

/* Goes to the next conversation that waits for an answer, or works. */
void app_next_session(struct app *app);

/* Leaves the program, if the person knows of the other conversations that this stops. */
void app_leave(struct app *app);
/* False: they are told now, once. */
bool app_knows_others(struct app *app);

/* Takes a theme; false with a note if there is none of that name. */
bool app_set_theme(struct app *app, const char *name);

/* The terminal told its background: "auto" follows it. */
void app_set_ground(struct app *app, bool light);

/* Asks for the page of older events if the view needs it. */
void app_want_page(struct app *app);

/* The same whatever the view is at. Returns the oldest event that is held, 0 if there are no older
 * ones. */
int64_t app_want_older(struct app *app);

/* What was asked for is of no use any more. */
void app_forget_older(struct app *app);

/* The context's tokens for the meters; *estimated tells whether that is a guess. -1: unknown. */
int64_t app_context(const struct app *app, bool *estimated);

/* Opens a list over the transcript. Takes it. */
void app_open_list(struct app *app, enum list_subject subject, struct list *list,
                   void (*chosen)(struct app *app, const char *value));
void app_close_list(struct app *app);

/* Milliseconds until something is due, -1: nothing is. */
int app_timeout(const struct app *app, int64_t now_ms);

/* Does what is due: counts seconds, saves the draft, lets the status line be drawn. */
void app_timers(struct app *app, int64_t now_ms);

/* Whether a frame is to be drawn now. */
bool app_frame_due(const struct app *app, int64_t now_ms);

#endif
