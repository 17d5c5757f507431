/* Gettext's face. Text for the user lives in ui/, cli/ and serve/; tables mark theirs with N_(). */
#ifndef BASE_I18N_H
#define BASE_I18N_H

#include <libintl.h>

#define _(text) gettext(text)
#define N_(text) text

#endif
