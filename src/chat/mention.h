/* Mentions in a message: "@notes.md", "@notes.md:10-40", "@src/", "@corpus:NAME", "@skill:NAME".
 * The @ begins a word: an address such as a@b.c is no mention. A name with blanks is quoted, as in
 * @"my file.md":3, where \ takes a character as it is. Pure. */
#ifndef CHAT_MENTION_H
#define CHAT_MENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

#define MENTION_SKILL "skill:"
#define MENTION_CORPUS "corpus:"
#define MENTION_CLIPBOARD "clipboard:"
enum { MENTIONS_MOST = 100 /* of one message */ };

/* Names without the @ and quotes. */
struct mentions {
    VEC(char *) items;
};
void mentions_release(struct mentions *m);
bool mentions_have(const struct mentions *m, const char *name);

/* Finds the next mention from the byte `at` on, which begins a word. False: there is none. The
 * mention is text[*from] to text[*end - 1]; the caller frees its name. A mark of punctuation behind
 * an unquoted name is not part of it. */
bool mention_next(const char *text, size_t at, size_t *from, size_t *end, char **name);

/* The first MENTIONS_MOST different names, in their order. */
void mentions_find(const char *text, struct mentions *out);

/* Appends the mention of a name, quoted if needed. A name that ends in ":3" or ":10-40" keeps that
 * behind the quotes. */
void mention_add(struct buf *out, const char *name);

/* Appends the mentions of all, with a blank between them. */
void mentions_add(struct buf *out, const struct mentions *names);

/* The path that a terminal writes where a file is dropped, or that was copied: quoted, with
 * \ before blanks, or as file:// URL; else the text itself. Blanks around it are not part of it.
 * The caller frees; NULL: the text is not one path. */
char *mention_of_path(const char *text);

/* The lines that a name ends with: "notes.md:10-40", ":10-" to the end, ":10" one line. Returns the
 * length of the name without them; *last is INT32_MAX for the end of the file. Without such an end,
 * *first is 0 and *last INT32_MAX. */
size_t mention_lines(const char *name, int64_t *first, int64_t *last);

#endif
