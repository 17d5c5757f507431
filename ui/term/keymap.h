/* Keys: decoded from the terminal's bytes, named, and bound to actions. One table of actions makes
 * the dispatch, F1's list and the check of [keys]. */
#ifndef UI_KEYMAP_H
#define UI_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

enum key_code {
    K_NONE,
    K_CHAR, /* cp; with ctrl: cp is the small letter; with alt: Meta was held */
    K_ENTER,
    K_TAB,
    K_BACKTAB,
    K_ESCAPE,
    K_BACKSPACE,
    K_DELETE,
    K_INSERT,
    K_UP,
    K_DOWN,
    K_LEFT,
    K_RIGHT,
    K_HOME,
    K_END,
    K_PAGE_UP,
    K_PAGE_DOWN,
    K_F, /* cp: the number */
    K_WHEEL_UP,
    K_WHEEL_DOWN,
    K_CLICK, /* row, col */
    K_PASTE, /* text: unchecked bytes, at most INPUT_PASTE_MAX; the caller frees */
    K_FOCUS_IN,
    K_FOCUS_OUT, /* the window has the keyboard, or no more */
    K_GROUND,    /* the background is light (cp 1) or dark (cp 0) */
    K_REPLY      /* from input_next() only: an answer of the terminal, text as in ui/term/probe.h */
};

/* A key, a paste, a mouse event or a report of the terminal. */
struct key {
    enum key_code code;
    uint32_t cp;
    bool ctrl, alt, shift;
    int row, col;
    char *text;
};

/* X(ID, name in [keys], default keys, help), in the order of their places (enum key_place). */
#define ACTIONS(X)                                                                                 \
    X(SEND, "send", "enter",                                                                       \
      N_("send the message, or run it as a command if it begins with \"!\"; choose in a list; "    \
         "with "                                                                                   \
         "an empty editor: open the newest compaction"))                                           \
    X(NEWLINE, "newline", "ctrl-j alt-enter shift-enter", N_("begin a new line"))                  \
    X(CANCEL, "cancel", "escape", N_("stop the running turn; close what is open"))                 \
    X(CLEAR, "clear", "ctrl-c",                                                                    \
      N_("clear the editor; stop the turn; twice within two seconds: leave"))                      \
    X(LEAVE, "leave", "ctrl-d", N_("delete to the right; leave when the editor is empty"))         \
    X(SUSPEND, "suspend", "ctrl-z", N_("suspend tiro; \"fg\" in the shell continues it"))          \
    X(COMPLETE, "complete", "tab",                                                                 \
      N_("complete a /command or an @path; when a tool asks: go to the question; in the session "  \
         "list: go to the preview"))                                                               \
    X(HISTORY, "history", "ctrl-r", N_("search your earlier messages"))                            \
    X(EXTERNAL, "external_editor", "ctrl-g", N_("edit the message in $EDITOR"))                    \
    X(PASTE_IMAGE, "paste_image", "ctrl-v",                                                        \
      N_("send the image on the clipboard with the message"))                                      \
    X(DRAFT_FOCUS, "draft_focus", "alt-g",                                                         \
      N_("with a draft summary: ask for a new one, with a focus"))                                 \
    X(PALETTE, "palette", "ctrl-p", N_("list of all commands"))                                    \
    X(HELP, "help", "f1", N_("this help"))                                                         \
    X(SESSIONS, "sessions", "f3", N_("earlier sessions"))                                          \
    X(NEXT_SESSION, "next_session", "f5",                                                          \
      N_("go to the next conversation that waits for you or works, else back to the previous "     \
         "one"))                                                                                   \
    X(SESSION_READ, "session_read", "alt-v", N_("in the session list: open it read-only"))         \
    X(SESSION_FORK, "session_fork", "alt-n", N_("in the session list: continue in a copy of it"))  \
    X(SESSION_RENAME, "session_rename", "alt-r", N_("in the session list: change its title"))      \
    X(SESSION_LABEL, "session_label", "alt-t", N_("in the session list: change its labels"))       \
    X(SESSION_ARCHIVE, "session_archive", "alt-a",                                                 \
      N_("in the session list: archive or unarchive it"))                                          \
    X(SESSION_ARCHIVED, "session_archived", "alt-z",                                               \
      N_("in the session list: show or hide archived sessions; a search always finds them"))       \
    X(SESSION_PROJECT, "session_project", "alt-p",                                                 \
      N_("in the session list: those of this project alone, or of all; a search finds all"))       \
    X(SESSION_EXPORT, "session_export", "alt-e", N_("in the session list: export it to a file"))   \
    X(SESSION_DELETE, "session_delete", "alt-x", N_("in the session list: delete it"))             \
    X(MEMORY, "memory", "f2",                                                                      \
      N_("memory: earlier conversations, learned items, the graph, documents"))                    \
    X(PANE_NEXT, "pane_next", "f6", N_("in the memory pane: the next tab"))                        \
    X(MEMORY_ACCESS, "memory_access", "alt-m",                                                     \
      N_("memory in this session: read and write, only read, or off"))                             \
    X(LEARNED_ACCEPT, "learned_accept", "alt-k", N_("remember the note made from your message"))   \
    X(LEARNED_EDIT, "learned_edit", "alt-w", N_("change the note made from your message"))         \
    X(LEARNED_REJECT, "learned_reject", "alt-j",                                                   \
      N_("reject the note made from your message, or take it back"))                               \
    X(CONTEXT, "context", "f4", N_("what the next request contains"))                              \
    X(FIND, "find", "ctrl-f", N_("find in the transcript"))                                        \
    X(FIND_NEWER, "find_newer", "shift-tab", N_("while searching: the next newer match"))          \
    X(PAGE_UP, "page_up", "pageup", N_("one page up, to older messages"))                          \
    X(PAGE_DOWN, "page_down", "pagedown", N_("one page down, to newer messages"))                  \
    X(SCROLL_UP, "scroll_up", "wheel-up shift-up", N_("three rows up"))                            \
    X(SCROLL_DOWN, "scroll_down", "wheel-down shift-down", N_("three rows down"))                  \
    X(TOP, "top", "ctrl-home", N_("to the oldest message"))                                        \
    X(BOTTOM, "bottom", "ctrl-end", N_("to the newest message"))                                   \
    X(SELECT_OLDER, "select_older", "alt-up",                                                      \
      N_("select the next older message, to copy, edit, fork or pin it or go back to it"))         \
    X(SELECT_NEWER, "select_newer", "alt-down", N_("select the next newer message"))               \
    X(TOGGLE, "toggle", "ctrl-o",                                                                  \
      N_("open a folded paste in the editor, else open or fold the newest tool call or "           \
         "reasoning"))                                                                             \
    X(TOGGLE_ALL, "toggle_all", "alt-o", N_("open or fold all tool calls and reasoning"))          \
    X(CITATION, "citation", "alt-c",                                                               \
      N_("choose the next citation [n] on the screen; Enter opens its passage"))                   \
    X(BARE, "bare", "alt-l", N_("the bare text, to be selected with the mouse"))                   \
    X(REDRAW, "redraw", "ctrl-l", N_("redraw the screen"))                                         \
    X(UP, "up", "up", N_("a row up; before the first: older messages"))                            \
    X(DOWN, "down", "down", N_("a row down; after the last: newer messages"))                      \
    X(LEFT, "left", "left ctrl-b", N_("a character left"))                                         \
    X(RIGHT, "right", "right", N_("a character right"))                                            \
    X(WORD_LEFT, "word_left", "alt-b ctrl-left alt-left", N_("a word left"))                       \
    X(WORD_RIGHT, "word_right", "alt-f ctrl-right alt-right", N_("a word right"))                  \
    X(LINE_START, "line_start", "ctrl-a home", N_("to the beginning of the line"))                 \
    X(LINE_END, "line_end", "ctrl-e end", N_("to the end of the line"))                            \
    X(TEXT_START, "text_start", "alt-<", N_("to the beginning of the text"))                       \
    X(TEXT_END, "text_end", "alt->", N_("to the end of the text"))                                 \
    X(BACKSPACE, "backspace", "backspace", N_("delete to the left"))                               \
    X(DELETE, "delete", "delete", N_("delete to the right"))                                       \
    X(KILL_END, "kill_to_end", "ctrl-k", N_("cut to the end of the line"))                         \
    X(KILL_START, "kill_to_start", "ctrl-u", N_("cut to the beginning of the line"))               \
    X(KILL_WORD_LEFT, "kill_word_left", "ctrl-w alt-backspace", N_("cut the word to the left"))    \
    X(KILL_WORD_RIGHT, "kill_word_right", "alt-d", N_("cut the word to the right"))                \
    X(YANK, "yank", "ctrl-y", N_("paste what was cut last"))                                       \
    X(YANK_POP, "yank_pop", "alt-y", N_("after pasting: replace it with what was cut before"))     \
    X(TRANSPOSE, "transpose", "ctrl-t", N_("swap two characters"))                                 \
    X(UNDO, "undo", "ctrl-_", N_("undo"))                                                          \
    X(REDO, "redo", "alt-_", N_("redo"))                                                           \
    X(BACKGROUND, "background", "ctrl-b",                                                          \
      N_("while a command runs: let it go on in the background"))                                  \
    X(ALLOW_ONCE, "allow_once", "a", N_("when a tool asks: allow this call"))                      \
    X(ALLOW_SESSION, "allow_session", "s", N_("when a tool asks: allow it for this session"))      \
    X(ALLOW_PROJECT, "allow_project", "p",                                                         \
      N_("when a tool asks: allow it always in this project"))                                     \
    X(DECLINE, "decline", "d", N_("when a tool asks: decline"))                                    \
    X(DECLINE_WHY, "decline_why", "r", N_("when a tool asks: decline, with a reason"))             \
    X(SELECT_COPY, "select_copy", "c", N_("in selected messages: copy the message"))               \
    X(SELECT_EDIT, "select_edit", "e",                                                             \
      N_("in selected messages: edit yours and send it in place of the old one"))                  \
    X(SELECT_FORK, "select_fork", "f", N_("in selected messages: continue in a copy up to there")) \
    X(SELECT_REWIND, "select_rewind", "w", N_("in selected messages: go back to before yours"))    \
    X(SELECT_PIN, "select_pin", "p", N_("in selected messages: pin or unpin yours"))               \
    X(CONTEXT_PIN, "context_pin", "p", N_("in the context: pin or unpin the message"))             \
    X(CONTEXT_COMPACT, "context_compact", "c", N_("in the context: compact the conversation now")) \
    X(CONTEXT_UNCOMPACT, "context_uncompact", "u", N_("in the context: undo the last compaction")) \
    X(JUMP, "jump", "o", N_("in the context, in a compaction: go to the message"))                 \
    X(CARD_MEMORY, "card_memory", "m", N_("in a compaction: show its memory entries"))             \
    X(MEMORY_OPEN, "memory_open", "o", N_("in the memory: open the conversation of the entry"))    \
    X(MEMORY_INSERT, "memory_insert", "i", N_("in the memory: quote the entry in the message"))    \
    X(MEMORY_PIN, "memory_pin", "p", N_("in the memory: pin or unpin the entry"))                  \
    X(MEMORY_EDIT, "memory_edit", "e", N_("in the memory: edit the entry"))                        \
    X(MEMORY_FORGET, "memory_forget", "d", N_("in the memory: forget (delete) the entry"))         \
    X(MEMORY_RESTORE, "memory_restore", "u",                                                       \
      N_("in the memory: restore the entry that was forgotten last"))                              \
    X(MEMORY_LEAVE_OUT, "memory_leave_out", "x",                                                   \
      N_("in the memory: do not send the entry with messages of this session, or send it again"))  \
    X(MEMORY_SCOPE, "memory_scope", "s",                                                           \
      N_("in the memory: search all sessions, this project or this session"))                      \
    X(MEMORY_ORIGIN, "memory_origin", "v",                                                         \
      N_("in the memory: show all, imported or compacted entries, or those of left sessions"))     \
    X(MEMORY_SORT, "memory_sort", "t", N_("in the memory: sort by score or by date"))              \
    X(MEMORY_FIGURES, "memory_figures", "w", N_("in the memory: show the figures behind a match")) \
    X(MEMORY_QUERY, "memory_query", "/", N_("in the memory: edit the query"))                      \
    X(MEMORY_TAB, "memory_tab", "] [", N_("in the memory: show what was recalled, and back"))      \
    X(ITEM_ACCEPT, "item_accept", "a", N_("in the learned items: remember the item"))              \
    X(ITEM_REJECT, "item_reject", "r", N_("in the learned items: reject the item"))                \
    X(ITEM_HISTORY, "item_history", "h", N_("in the learned items: show what the item replaced"))  \
    X(ITEM_KIND, "item_kind", "f", N_("in the learned items: show only one kind"))                 \
    X(ITEM_SESSION, "item_session", "c",                                                           \
      N_("in the learned items: only those of this session, or all"))                              \
    X(ITEM_UNUSED, "item_unused", "n", N_("in the learned items: only those never used, or all"))  \
    X(PANE_TAB_1, "pane_tab_1", "1", N_("in the memory pane: its first tab"))                      \
    X(PANE_TAB_2, "pane_tab_2", "2", N_("in the memory pane: its second tab"))                     \
    X(PANE_TAB_3, "pane_tab_3", "3", N_("in the memory pane: its third tab"))                      \
    X(PANE_TAB_4, "pane_tab_4", "4", N_("in the memory pane: its fourth tab"))

enum action {
    ACTION_NONE,
#define X(id, name, keys, help) ACTION_##id,
    ACTIONS(X)
#undef X
        ACTION_COUNT
};

struct action_info {
    const char *name, *keys, *help; /* help: for gettext */
};
const struct action_info *action_info(enum action action); /* not of ACTION_NONE */

/* The places where a key means an action. In all but the first two, a key may be a letter, which
 * has its meaning in that place only. */
enum key_place {
    KEYS_EVERYWHERE,
    KEYS_RUNNING, /* while a command of a tool runs; no letters: a person may write */
    KEYS_ANSWER,  /* while a tool asks */
    KEYS_SELECT,  /* while messages are selected */
    KEYS_READING, /* in a view that is only read */
    KEYS_PANE     /* in the memory pane */
};
enum key_place action_place(enum action action);

struct keymap {
    VEC(struct keymap_binding {
        struct key key;
        enum action action;
        bool own; /* set by [keys] */
    })
    bindings;
};

void keymap_init(struct keymap *m); /* the defaults */
void keymap_release(struct keymap *m);

/* Gives an action the named keys ("ctrl-x alt-enter f5"; "" or "none": none) in place of its own,
 * and takes them from the actions that have them by default. False, with nothing changed, for an
 * unknown action or key, or a key that [keys] gave to another action before. */
bool keymap_bind(struct keymap *m, const char *action, const char *keys, struct error *e);

enum action keymap_find(const struct keymap *m, const struct key *key);

/* In this place only. */
enum action keymap_find_in(const struct keymap *m, const struct key *key, enum key_place place);

/* Appends the action's keys: "Ctrl-J, Alt-Enter"; nothing if it has none. */
void keymap_describe(const struct keymap *m, enum action action, struct buf *out);

/* Appends its first key only. */
void keymap_describe_first(const struct keymap *m, enum action action, struct buf *out);

/* Reads the name of a key: "ctrl-x", "alt-enter", "f5", "pageup"; case does not matter. `letters`:
 * a letter alone is a key, as where a question is answered or something is read. */
bool key_parse(const char *name, bool letters, struct key *out);
void key_describe(const struct key *key, struct buf *out); /* "Ctrl-X" */

/* Decodes the bytes of a terminal. Pure: any split of the bytes gives the same keys. Knows the
 * sequences of xterm and its many relatives; input_bind() adds those of other terminals. */
#define INPUT_PASTE_MAX (16u * 1024 * 1024)

struct input_binding {
    char *sequence;
    struct key key;
};

struct input {
    struct buf bytes; /* not decoded yet, from `at` on */
    size_t at;
    bool pasting;
    enum { SKIPS_NOTHING, SKIPS_CSI, SKIPS_STRING } skipping; /* the rest of what is too long */
    struct buf paste;
    VEC(struct input_binding) bindings;
};

void input_init(struct input *in);
void input_release(struct input *in);

/* Makes a sequence mean this key, before all other meanings. */
void input_bind(struct input *in, const char *sequence, struct key key);

/* Adds bytes that have arrived. `late`: so long after the last ones that an answer of the terminal
 * (K_REPLY) whose end did not come is forgotten. No other sequence waits longer than until `final`.
 */
void input_feed(struct input *in, const char *bytes, size_t len, bool late);

/* The next whole key. `final`: nothing more came within the time that tells a lone Esc from the
 * beginning of a sequence. Unknown sequences are skipped. */
bool input_next(struct input *in, bool final, struct key *key);

/* Whether input_next() waits for the rest of an escape sequence (not of a paste or an answer). */
bool input_unfinished(const struct input *in);

#endif
