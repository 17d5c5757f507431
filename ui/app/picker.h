/* The lists over the transcript: help, commands, history, models, themes, settings, the report. */
#ifndef UI_PICKER_H
#define UI_PICKER_H

#include "ui/app/app.h"

void picker_help(struct app *app);
void picker_palette(struct app *app);
void picker_history(struct app *app);
void picker_models(struct app *app);
void picker_themes(struct app *app);
void picker_config(struct app *app);
void picker_report(struct app *app);

/* Requests the inputs of earlier sessions, once. */
void picker_want_inputs(struct app *app);

/* Sets the theme, saves the choice and reports the result. An unknown name changes nothing. */
void picker_choose_theme(struct app *app, const char *name);

/* Changes the model of the session, saves the choice and reports the result. */
void picker_choose_model(struct app *app, const struct session_model_params *params);

/* Reads NAME, PROVIDER/NAME or PROVIDER. The strings of `out` point into `text` and into the
 * result, which the caller frees. */
char *picker_read_model(const char *text, struct session_model_params *out);

/* Takes the answer to models/list. */
app_answer picker_take_models;

#endif
