/* The state of the screen surface: the session as the engine reports it, the editor and open views,
 * and the parts of the screen that are out of date. Keys (dispatch.h) and notices (notices.h)
 * change the state, screen.h draws it. */
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

/* The estimate of the engine. */
enum { BYTES_PER_TOKEN = 4 };

/* The running turn. */
struct activity {
    bool busy;             /* a turn runs, or was requested and not refused */
    bool over;             /* its last event was seen; the engine reports its end soon */
    bool failed;           /* the last turn ended with an error */
    int64_t started_ms;    /* monotonic, as all of these */
    int64_t streaming_ms;  /* first delta of this model call; 0: none yet */
    int64_t streamed;      /* bytes since then */
    int64_t unmeasured;    /* bytes sent since the provider last reported a request's tokens */
    int64_t compacting_ms; /* when the running compaction began; 0: none runs */
    int retry, retries;
    int64_t retry_at;
    char *retry_reason;
};

struct find {
    struct view view;
    bool active;
    bool stepped; /* the matches are those of the text in the line */
    bool waiting; /* the search continues when older pages have come */
    bool older;   /* … towards older matches; else it wraps to the oldest */
    bool failed;
    int pages; /* requested only to count matches in them */
    struct editor *line;
    char *former; /* the text that was searched before; NULL: none */
};

/* A search for turns that waits for older events, because turns are counted from the first. */
struct turn_found;
struct turn_search {
    bool listed;   /* a list of all turns waits */
    size_t number; /* of the turn for `take`; 0: none */
    void (*take)(struct app *app, const struct turn_found *found);
};

/* The view before a jump (way_back_go() in turns.h). */
struct place_left {
    char session[UUID_LEN + 1];
    bool read_only;
    bool blank; /* a new session without a message or draft: it is not opened again */
    struct transcript_place view;
    size_t caret; /* of the message */
    bool memory, memory_focused;
};

struct way_back {
    VEC(struct place_left) places; /* the newest last */
    /* Another session was requested and is not open yet. */
    enum { WAY_STAYS, WAY_OUT, WAY_HOME } moving;
    struct place_left left; /* OUT: the view before; HOME: the view to restore */
    char to[UUID_LEN + 1];  /* of OUT */
};

/* A text that was noted from the person's messages (cards.h). */
struct learned_card {
    char *id, *text;
    bool active; /* it is used already, and needs no answer */
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
    char *theme_name;  /* as it was chosen, which may be "auto" */
    bool light_ground; /* the terminal reported a light background */
    enum focus focus;

    struct session_info session;
    char left[UUID_LEN + 1]; /* the session that was open before; "": none */
    bool read_only;          /* the session is open for reading only */
    bool fresh;              /* the session has no message yet */
    bool offline_said;       /* the note that there is no model was shown in this session */
    char *provider, *model, *detail;
    enum provider_reason reason;
    struct meters meters;
    bool truncated;  /* the server left out the beginning of a request */
    bool answered;   /* … and has since answered one that was not cut, as far as is known */
    char *last_sent; /* the person's newest message in this session */
    bool replacing;  /* the text in the editor replaces it (/edit) */

    struct activity activity;
    struct background background; /* has the shown session, too, while another is being opened */
    char *waiting;                /* the message that is sent when the turn ends; NULL: none */
    bool waiting_after; /* written after the turn's last event: sent even if the turn failed */
    bool retry_after;   /* /retry was typed then: done when the engine is free */

    struct approval approval;  /* covers all other views */
    struct draft_review draft; /* in the place of the editor, when nothing else is open */
    struct asked asked;
    struct views views;
    struct view_host host;                /* panes_init() */
    struct pane_host pane_host;           /* likewise */
    void (*follow_edit)(struct app *app); /* updates the completion; completion_init() */
    struct view *memory;                  /* F2; in views */
    struct transcript_place jump;         /* shown once its page has come; seq 0: none */
    struct way_back way_back;
    char *find_next; /* searched once that session is open; NULL: nothing */
    char find_session[UUID_LEN + 1];
    struct find find;
    struct session_list sessions; /* the last listing */
    struct models_result models;
    bool sessions_known, models_known, inputs_asked;
    uint64_t older_asked;   /* the running request for older events; 0: none */
    app_answer *take_older; /* takes their answer; notices_init() */
    bool stop_asked;        /* by /stop, which reports that nothing runs */
    struct turn_search turns;
    bool completion_wanted; /* Tab waits for a listing */
    bool completion_closed; /* Esc, or a command that was refused, closed the popup */
    VEC(char *) corpora;    /* "corpus:NAME" of the last listing */
    struct errands *errands;

    VEC(struct learned_card) cards; /* the newest last */
    bool cards_new;                 /* the note with their keys is due */
    char *reworded;                 /* id of the item that the next /remember changes; NULL: none */

    char *parting;         /* note about the closed session, shown in the next; NULL: none */
    char *draft_when_left; /* the editor's text when another session was requested */
    bool draft_complained;
    int64_t draft_at, draft_since; /* monotonic; draft_at 0: nothing to save */

    unsigned dirty;
    bool urgent;         /* draw at once */
    bool status_dirty;   /* the status line changed in a way that can wait */
    int64_t drawn_ms;    /* the last frame */
    int64_t status_ms;   /* the last status line */
    int64_t tick_at;     /* the next second to show; 0: nothing is counted */
    int64_t leave_until; /* monotonic; ACTION_CLEAR before then leaves; 0: it was not pressed */
    bool leaving;
    size_t others_told; /* background sessions that the warning about leaving counted */
    int signal_number;  /* that ended the program; 0: none */
};

/* The value of reasoning in [ui]. */
enum reasoning_view app_reasoning(const struct config *config);

void app_init(struct app *app, const struct ui_options *options);
void app_release(struct app *app);

/* Marks parts of the screen as out of date; `now` also draws without waiting for the next frame. */
void app_touch(struct app *app, unsigned parts);
void app_touch_now(struct app *app, unsigned parts);

/* Scrolls to the end of the transcript, where a command's answer will appear. */
void app_follow(struct app *app);

/* Adds a note to the transcript. */
void app_note(struct app *app, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a note that the next message removes. */
void app_note_briefly(struct app *app, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Starts an operation of the engine and returns the request's id. A failure is reported to the
 * person if `take` is NULL or returns false. */
uint64_t app_ask(struct app *app, const struct operation *o, const void *params, app_answer *take);

/* Takes the answer to session/list as the last listing. */
void app_take_sessions(struct app *app, struct operation_answer *a);

/* Requests that the running turn or compaction be stopped. */
void app_interrupt(struct app *app);

/* Replaces the open session by a new one, or by another one. */
void app_begin_session(struct app *app);
void app_open_session(struct app *app, const char *session, bool read_only);

bool app_is_blank(const char *text); /* the text has nothing but white space */

/* Puts the text before the text in the editor, so that neither is lost. */
void app_give_back(struct app *app, const char *text);

/* Whether keys go to the editor: no view is open but the list of completions. */
bool app_writes(const struct app *app);

/* Call after a change of the editor: schedules the draft, updates the completion. */
void app_edited(struct app *app);
void app_save_draft(struct app *app);

/* Call before another session is requested: saves the draft; the turn goes on in the background. */
void app_leave_session(struct app *app);
/* The other session could not be opened. */
void app_stay_in_session(struct app *app);

/* Returns the message that waits for the end of the turn to the editor; false: none waits. */
bool app_take_waiting(struct app *app);

/* Opens the next session that waits for an answer, or works. */
void app_next_session(struct app *app);

/* Leaves the program, unless a first warning about background sessions is due. */
void app_leave(struct app *app);
/* False: background sessions go on, and the warning about them was shown now. */
bool app_knows_others(struct app *app);

/* Takes a theme; false with a note if there is none of that name. */
bool app_set_theme(struct app *app, const char *name);

/* The terminal reported its background, which the theme "auto" follows. */
void app_set_ground(struct app *app, bool light);

/* Requests the page of older events if the view needs it. */
void app_want_page(struct app *app);

/* Requests it in any case. Returns the oldest event that is loaded; 0: all are loaded. */
int64_t app_want_older(struct app *app);

/* Withdraws that request. */
void app_forget_older(struct app *app);

/* The tokens of the context for the meters, *estimated: a guess. -1: unknown. */
int64_t app_context(const struct app *app, bool *estimated);

/* Opens a list over the transcript and takes ownership of it. */
void app_open_list(struct app *app, enum list_subject subject, struct list *list,
                   void (*chosen)(struct app *app, const char *value));
void app_close_list(struct app *app);

/* Milliseconds until the next timer is due; -1: none. */
int app_timeout(const struct app *app, int64_t now_ms);

/* Runs the timers that are due: seconds, draft, status line. */
void app_timers(struct app *app, int64_t now_ms);

/* Whether a frame is to be drawn now. */
bool app_frame_due(const struct app *app, int64_t now_ms);

#endif
