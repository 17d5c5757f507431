/* Keys and what they do. One table of actions makes the dispatch, F1's list and the check of
 * [keys].
 */
#ifndef UI_KEYMAP_H
#define UI_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "ui/term.h"

/* X(ID, name in [keys], default keys, help) */
#define ACTIONS(X)                                                                                 \
    X(SEND, "send", "enter",                                                                       \
      N_("send the message; choose in a list; without a text: open the newest compaction"))        \
    X(NEWLINE, "newline", "ctrl-j alt-enter shift-enter", N_("begin a new line"))                  \
    X(CANCEL, "cancel", "escape", N_("stop the running turn; close what is open"))                 \
    X(CLEAR, "clear", "ctrl-c",                                                                    \
      N_("clear the editor; stop the turn; twice within two seconds: leave"))                      \
    X(LEAVE, "leave", "ctrl-d", N_("delete to the right; leave when the editor is empty"))         \
    X(SUSPEND, "suspend", "ctrl-z", N_("go back to the shell; \"fg\" comes back"))                 \
    X(COMPLETE, "complete", "tab",                                                                 \
      N_("complete a /command or an @path; among sessions: go to the preview"))                    \
    X(HISTORY, "history", "ctrl-r", N_("search what you sent before"))                             \
    X(EXTERNAL, "external_editor", "ctrl-g", N_("write in $EDITOR"))                               \
    X(DRAFT_FOCUS, "draft_focus", "alt-g",                                                         \
      N_("with a draft summary: have it made again, with a focus"))                                \
    X(PALETTE, "palette", "ctrl-p", N_("list of all commands"))                                    \
    X(HELP, "help", "f1", N_("this help"))                                                         \
    X(SESSIONS, "sessions", "f3", N_("earlier sessions"))                                          \
    X(SESSION_READ, "session_read", "alt-v", N_("among sessions: open it to read"))                \
    X(SESSION_FORK, "session_fork", "alt-n", N_("among sessions: go on in a copy of it"))          \
    X(SESSION_RENAME, "session_rename", "alt-r", N_("among sessions: change its title"))           \
    X(SESSION_LABEL, "session_label", "alt-t", N_("among sessions: change its labels"))            \
    X(SESSION_ARCHIVE, "session_archive", "alt-a", N_("among sessions: archive it, or not"))       \
    X(SESSION_EXPORT, "session_export", "alt-e", N_("among sessions: write it to a file"))         \
    X(SESSION_DELETE, "session_delete", "alt-x", N_("among sessions: delete it"))                  \
    X(MEMORY, "memory", "f2", N_("what is remembered of what compactions dropped"))                \
    X(CONTEXT, "context", "f4", N_("what the next request carries"))                               \
    X(FIND, "find", "ctrl-f", N_("find in the transcript"))                                        \
    X(FIND_NEWER, "find_newer", "shift-tab", N_("while finding: the next newer match"))            \
    X(PAGE_UP, "page_up", "pageup", N_("a page towards older"))                                    \
    X(PAGE_DOWN, "page_down", "pagedown", N_("a page towards newer"))                              \
    X(SCROLL_UP, "scroll_up", "wheel-up shift-up", N_("three rows towards older"))                 \
    X(SCROLL_DOWN, "scroll_down", "wheel-down shift-down", N_("three rows towards newer"))         \
    X(TOP, "top", "ctrl-home", N_("to the oldest"))                                                \
    X(BOTTOM, "bottom", "ctrl-end", N_("to the newest"))                                           \
    X(TOGGLE, "toggle", "ctrl-o", N_("open or fold the newest tool call or reasoning"))            \
    X(TOGGLE_ALL, "toggle_all", "alt-o", N_("open or fold all of them"))                           \
    X(BARE, "bare", "alt-l", N_("the bare text, to be selected with the mouse"))                   \
    X(REDRAW, "redraw", "ctrl-l", N_("draw the screen again"))                                     \
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
    X(YANK, "yank", "ctrl-y", N_("put back what was cut"))                                         \
    X(YANK_POP, "yank_pop", "alt-y", N_("after that: what was cut before it"))                     \
    X(TRANSPOSE, "transpose", "ctrl-t", N_("swap two characters"))                                 \
    X(UNDO, "undo", "ctrl-_", N_("undo"))                                                          \
    X(REDO, "redo", "alt-_", N_("redo"))                                                           \
    X(ALLOW_ONCE, "allow_once", "a", N_("when a tool asks: allow this call"))                      \
    X(ALLOW_SESSION, "allow_session", "s", N_("when a tool asks: allow it for this session"))      \
    X(DECLINE, "decline", "d", N_("when a tool asks: decline"))                                    \
    X(CONTEXT_PIN, "context_pin", "p", N_("in the context: pin the message, or no more"))          \
    X(CONTEXT_COMPACT, "context_compact", "c", N_("in the context: shorten it now"))               \
    X(CONTEXT_UNCOMPACT, "context_uncompact", "u",                                                 \
      N_("in the context: take the last compaction back"))                                         \
    X(JUMP, "jump", "o", N_("in the context, in a compaction: go to the message"))                 \
    X(CARD_MEMORY, "card_memory", "m", N_("in a compaction: what of it is remembered"))            \
    X(MEMORY_OPEN, "memory_open", "o", N_("in the memory: read the conversation it came from"))    \
    X(MEMORY_INSERT, "memory_insert", "i", N_("in the memory: quote it in the message"))           \
    X(MEMORY_PIN, "memory_pin", "p", N_("in the memory: pin it, or no more"))                      \
    X(MEMORY_EDIT, "memory_edit", "e", N_("in the memory: change it"))                             \
    X(MEMORY_FORGET, "memory_forget", "d", N_("in the memory: forget it"))                         \
    X(MEMORY_RESTORE, "memory_restore", "u", N_("in the memory: put back what was forgotten"))     \
    X(MEMORY_SCOPE, "memory_scope", "s", N_("in the memory: all, this project, this session"))     \
    X(MEMORY_SORT, "memory_sort", "t", N_("in the memory: by score or by date"))                   \
    X(MEMORY_QUERY, "memory_query", "/", N_("in the memory: back to the search"))                  \
    X(MEMORY_TAB, "memory_tab", "] [", N_("in the memory: what the model asked, and back"))

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

/* Answers to a question of the program's. Their keys may be letters, and mean something else
 * everywhere else. */
bool action_is_answer(enum action action);

/* What can be done where something is only read. Their keys, too, may be letters. */
bool action_is_reading(enum action action);

/* What can be done in the memory pane. The same holds for their keys. */
bool action_is_pane(enum action action);

struct keymap {
    VEC(struct keymap_binding {
        struct key key;
        enum action action;
        bool own; /* from [keys] */
    })
    bindings;
};

void keymap_init(struct keymap *m); /* the defaults */
void keymap_release(struct keymap *m);

/* Gives an action the keys named ("ctrl-x alt-enter f5"; "" or "none": none) in place of its own.
 * They are taken from the actions that had them by default. False, with nothing changed, for an
 * unknown action or key, or a key that [keys] gave to another action before. */
bool keymap_bind(struct keymap *m, const char *action, const char *keys, struct error *e);

/* None of these three kinds. */
enum action keymap_find(const struct keymap *m, const struct key *key);

/* Answers alone. */
enum action keymap_find_answer(const struct keymap *m, const struct key *key);

/* What is done where something is read, alone. */
enum action keymap_find_reading(const struct keymap *m, const struct key *key);

/* What can be done in the memory pane, alone. */
enum action keymap_find_pane(const struct keymap *m, const struct key *key);

/* Appends the action's keys: "Ctrl-J, Alt-Enter"; nothing if it has none. */
void keymap_describe(const struct keymap *m, enum action action, struct buf *out);

/* Appends its first key alone. */
void keymap_describe_first(const struct keymap *m, enum action action, struct buf *out);

/* Names of keys: "ctrl-x", "alt-enter", "f5", "pageup"; case does not matter. */
bool key_parse(const char *name, struct key *out);
void key_describe(const struct key *key, struct buf *out); /* "Ctrl-X" */

#endif
