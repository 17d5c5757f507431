/* The lists over the transcript: help, commands, history, models, themes, settings, the report. */
#ifndef UI_PICKER_H
#define UI_PICKER_H

#include "ui/app/app.h"

void picker_help(struct app *app);
void picker_palette(struct app *app);
void picker_history(struct app *app);
void picker_report(struct app *app);

/* /model, /effort, /theme and /config. A model, an effort or a theme that is named is set, the
 * choice is saved and the result is shown; "" opens the list. The list of settings is filtered by
 * the words. */
void picker_models(struct app *app, const char *arguments);
void picker_efforts(struct app *app, const char *arguments);
void picker_themes(struct app *app, const char *arguments);
void picker_config(struct app *app, const char *arguments);

/* Saves one key of tiro.ini or two (`other_value` NULL: one), and notes so: `what` ("Theme: light")
 * is taken. */
void picker_keep(struct app *app, enum config_key key, const char *value, enum config_key other,
                 const char *other_value, char *what);

/* Requests the inputs of earlier sessions, once. */
void picker_want_inputs(struct app *app);

/* Reads NAME, PROVIDER/NAME or PROVIDER. The strings of `out` point into `text` and into the
 * result, which the caller frees. */
char *picker_read_model(const char *text, struct session_model_params *out);

/* Adds the words of effort that begin with `word`: those of the model, and "default". */
void picker_list_efforts(const struct app *app, struct list *list, const char *word);

/* Adds the models that begin with `word`, those of other providers as PROVIDER/NAME, and the
 * providers that can be chosen. */
void picker_list_models(const struct app *app, struct list *list, const char *word);

/* "1M · $4 in, $20 out · 2026-11-21": window and prices for a million tokens, as far as they are
 * known. The caller frees. */
char *picker_model_text(const struct model_offer *m);

/* After this answer to models/list: the next provider with a server that can be chosen and was not
 * asked, if the first that was asked is `present`. NULL: there is none. */
const char *picker_next_models(const struct operation_answer *a, const char *present);

/* Takes the answer to models/list. */
app_answer picker_take_models;

#endif
