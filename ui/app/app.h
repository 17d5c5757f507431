/* The state of the screen surface: the session as the engine reports it, the editor and open views,
 * and the parts of the screen that are out of date. Keys (dispatch.h) and notices (notices.h)
 * change the state, screen.h draws it. */
#ifndef UI_APP_H
#define UI_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/entropy.h"
#include "base/vec.h"
#include "base/worker.h"
#include "session/attach.h"
#include "session/engine.h"
#include "session/import_operations.h"
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

struct app;

/* Takes an answer that belongs to no view; otherwise as view_answer (view.h). */
typedef bool app_answer(struct app *app, struct operation_answer *a, const char *words);

/* A request that runs, and the function that takes its answer; both NULL: only a failure is
 * reported.
 */
struct asked_request {
    uint64_t id;
    struct view *view; /* NULL: the surface itself */
    view_answer *take_view;
    app_answer *take;
    bool lasts; /* operation_lasts() */
};

/* Errands run on a worker thread (base/worker.h), because they may wait for a disk or another
 * program. */
struct errands;

/* The first member of a larger struct, which belongs to the errand alone between start and done. */
struct errand {
    void (*run)(struct errand *e); /* on its thread; knows nothing of the screen */
    void (*done)(struct app *app, struct errand *e); /* on the screen's */
    void (*release)(struct errand *e);               /* frees all of it */
    bool refused;                                    /* no thread was to be had: it was not run */
    struct errands *errands;                         /* errand_start() sets it */
};

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
    int64_t command_ms;    /* when the running command of a tool began; 0: none runs */
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

/* Alt-Up and Alt-Down: a message of the transcript is selected, and letters act on it. */
struct selecting {
    struct view view;
    bool active;
    bool waiting;     /* the next older message is on a page that was asked for */
    struct rows foot; /* keys, or what was told about the last one */
    char *told;       /* NULL: nothing */
};

/* The mentions of files (mentions.h). */
struct mention_looks {
    VEC(struct mention_look {
        char *name;
        struct attach_look look;
        bool known;
    })
    items;
};
void mention_looks_release(struct mention_looks *l);
struct mention_state {
    struct mentions files, folders; /* that can be mentioned, in order */
    char *place;                    /* where they are; NULL: never read */
    int64_t read_ms;                /* monotonic */
    bool reading;
    struct mentions corpora; /* "corpus:NAME" */
    int64_t corpora_ms;      /* monotonic, when they were asked for; 0: never */
    bool corpora_known;
    struct mention_looks looks; /* of the text in the editor */
    bool looking;
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
void app_forget_cards(struct app *app);

/* The facts that the lines of a session without a message tell (welcome.h). */
struct welcome {
    struct session_info newest; /* another one of the project; id "": none */
    int64_t proposals;          /* that wait in the inbox */
    char *files;                /* of instructions in use, the nearest first; NULL: none */
    bool is_first;              /* no message was sent from this installation yet */
    bool looked;                /* that was asked for */
};

/* Histories of other agents (imports.h). */
struct import_state {
    uint64_t run; /* the request that reads them; 0: none */
    int percent;
    struct import_report found; /* those that are offered; no sources: nothing is */
    bool shown;                 /* they are offered on the screen */
    uint64_t unmarked;          /* of them, by place: not to be read */
    bool looked;                /* they were looked for */
};

/* A conversation that goes on while another is shown. */
struct background_session {
    char id[UUID_LEN + 1];
    char *title;
    bool waits;  /* for the person's answer; else it works */
    bool failed; /* its turn ended with an error */
};

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
    char *effort, *efforts; /* as NOTICE_PROVIDER has them */
    enum provider_reason reason;
    struct meters meters;
    bool truncated;   /* the server left out the beginning of a request */
    bool answered;    /* since then a request was answered without such a warning */
    char *last_sent;  /* the person's newest message in this session */
    bool replacing;   /* the text in the editor replaces it (/edit) */
    int64_t replaced; /* number of an older message that it replaces; 0: none */

    struct activity activity;
    /* In the order in which they were left; the shown one, too, while another is being opened. */
    VEC(struct background_session) background;
    char *waiting;      /* the message that is sent when the turn ends; NULL: none */
    bool waiting_after; /* written after the turn's last event: sent even if the turn failed */
    bool retry_after;   /* /retry was typed then: done when the engine is free */

    struct approval approval;  /* covers all other views */
    struct draft_review draft; /* in the place of the editor, when nothing else is open */
    VEC(struct asked_request) asked;
    struct views views;
    struct view_host host;                /* panes_init() */
    struct pane_host pane_host;           /* likewise */
    void (*follow_edit)(struct app *app); /* updates the completion; dispatch_init() */
    void (*listed)(struct app *app);      /* a listing that it waits for has come; likewise */
    struct view *memory;                  /* F2; in views */
    struct transcript_place jump;         /* shown once its page has come; seq 0: none */
    struct way_back way_back;
    struct welcome welcome;
    struct import_state import;
    struct {
        char *name; /* of the space whose lines wait for long */
        int64_t waiting;
    } space;
    char *find_next; /* searched once that session is open; NULL: nothing */
    char find_session[UUID_LEN + 1];
    struct find find;
    struct selecting selecting;
    struct session_list sessions;     /* the last listing */
    VEC(struct models_result) models; /* the last listing of each provider that was asked */
    bool sessions_known, models_known, inputs_asked;
    uint64_t older_asked;   /* the running request for older events; 0: none */
    app_answer *take_older; /* takes their answer; dispatch_init() */
    bool stop_asked;        /* by /stop, which reports that nothing runs */
    bool turns_wanted;      /* a list of all turns waits for older events */
    bool completion_wanted; /* Tab waits for a listing */
    bool completion_closed; /* Esc, or a command that was refused, closed the popup */
    struct mention_state mentions;
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
    size_t tasks_told;  /* likewise, commands in the background */
    int signal_number;  /* that ended the program; 0: none */
};

/* The value of reasoning in [ui]. */
enum reasoning_view app_reasoning(const struct config *config);

void app_init(struct app *app, const struct ui_options *options);
void app_release(struct app *app);

/* Marks parts of the screen as out of date, and draws them without waiting for the next frame. */
void app_touch_now(struct app *app, unsigned parts);

/* Scrolls to the end of the transcript, where a command's answer will appear. */
void app_follow(struct app *app);

/* Adds a note to the transcript; briefly: the next message removes it, and while messages are
 * selected it stands in the foot instead. */
void app_note_as(struct app *app, bool briefly, enum style style, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define app_note(app, ...) app_note_as(app, false, __VA_ARGS__)
#define app_note_briefly(app, ...) app_note_as(app, true, __VA_ARGS__)

/* Starts an operation of the engine and returns the request's id. A failure is reported to the
 * person if `take` is NULL or returns false. */
uint64_t app_ask(struct app *app, const struct operation *o, const void *params, app_answer *take);
/* With the function of `by` that takes the answer. */
uint64_t asked_start(struct app *app, const struct operation *o, const void *params,
                     struct asked_request by);

/* The answer is not wanted any more. A request that was answered may be named. With a view, which
 * is freed: all its requests; those that cannot be withdrawn (lasts) report a failure to the
 * surface. */
void asked_withdraw(struct app *app, const struct view *v, uint64_t id);

/* Gives the answer to the function that takes it; true: the person was told of it. */
bool asked_give(struct app *app, const struct asked_request *r, struct operation_answer *a,
                const char *words);

/* Takes the errand and starts it. */
void errand_start(struct errands *s, struct errand *e);

/* Errands that have returned, to poll and pop; errand_finish() calls done and frees the errand. */
struct mailbox *errands_back(struct errands *s);
void errand_finish(struct app *app, struct errand *e);

/* Replaces the open session by another one. */
void app_open_session(struct app *app, const char *session, bool read_only);

bool app_is_blank(const char *text); /* the text has nothing but white space */

/* Replaces the text in the editor. */
void app_write(struct app *app, const char *text);
/* Puts the text before the text in the editor, so that neither is lost. */
void app_give_back(struct app *app, const char *text);

/* Call after a change of the editor: schedules the draft, updates the completion. */
void app_edited(struct app *app);
void app_save_draft(struct app *app);

/* Call before another session is requested: saves the draft; the turn goes on in the background. */
void app_leave_session(struct app *app);

/* Returns the message that waits for the end of the turn to the editor; false: none waits. */
bool app_take_waiting(struct app *app);

/* Conversations in the background. `put` adds one behind the others if it is not there; its pointer
 * is valid until the next change. `remove`: false if it is not there. */
struct background_session *background_find(const struct app *app, const char *id);
struct background_session *background_put(struct app *app, const char *id, const char *title);
bool background_remove(struct app *app, const char *id);

/* The number of those that wait for an answer, or that work, without the shown session. */
size_t background_count(const struct app *app, bool waits);

/* Opens the next session that waits for an answer, or works. */
void app_next_session(struct app *app);

/* Leaves the program, unless a first warning about background sessions is due. */
void app_leave(struct app *app);
/* False: background sessions or commands go on, and the warning about them was shown now. */
bool app_knows_others(struct app *app);

/* Takes a theme; false with a note if there is none of that name. */
bool app_set_theme(struct app *app, const char *name);

/* Requests the page of older events if the view needs it. */
void app_want_page(struct app *app);

/* Requests it in any case. Returns the oldest event that is loaded; 0: all are loaded. */
int64_t app_want_older(struct app *app);

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
