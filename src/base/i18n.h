/* Gettext's face. Text for the user is translated in ui/, cli/ and serve/; tables, also those of
 * session/ and chat/, mark theirs with N_(). */
#ifndef BASE_I18N_H
#define BASE_I18N_H

#include <libintl.h>

#define _(text) gettext(text)
#define N_(text) text

#endif
