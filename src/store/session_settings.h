/* What a session is set to by name, where it is not as configured. It goes with the session. */
#ifndef STORE_SESSION_SETTINGS_H
#define STORE_SESSION_SETTINGS_H

#include "store/store.h"

/* NULL: it is as configured. The caller frees. */
bool session_setting_get(struct store *s, const char *session_id, const char *name, char **out,
                         struct error *e);

/* NULL: as configured again. */
bool session_setting_put(struct store *s, const char *session_id, const char *name,
                         const char *value, struct error *e);

/* `to` is set to what `from` is. */
bool session_settings_copy(struct store *s, const char *from, const char *to, struct error *e);

#endif
