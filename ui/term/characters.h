/* The characters of a surface: in what it is translated, and what the locale cannot show. */
#ifndef UI_CHARACTERS_H
#define UI_CHARACTERS_H

/* After charset_start(), before any text. */
void characters_set_up(void);

/* What the locale costs and how to get all characters, in one line; NULL: nothing. The caller
 * frees. */
char *characters_note(void);

#endif
