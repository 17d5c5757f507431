/* The lists over the transcript: what opens them, what fills them, what a choice does. */
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

/* Fill the list with what has come, if it is open. */
void picker_fill_models(struct app *app);

/* Asks for the inputs of earlier sessions, once. */
void picker_want_inputs(struct app *app);

/* Takes the theme, and keeps it for the next start; says what came of it. One of an unknown name
 * changes nothing. */
void picker_choose_theme(struct app *app, const char *name);

/* Changes the model of the session, and keeps it for the next start; says what came of it. */
void picker_choose_model(struct app *app, const struct session_model_params *params);

bool picker_is_provider(const char *name);

/* What NAME, PROVIDER/NAME or PROVIDER chooses. Its texts are in `text` and in what is returned,
 * which the caller frees. */
char *picker_read_model(const char *text, struct session_model_params *out);

/* Takes the answer to models/list; those of another provider are of no use. */
app_answer picker_take_models;
void picker_forget_models(struct app *app);

#endif
