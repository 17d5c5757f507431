/* The scripted model server on its own, for measuring and for trying the screen by hand:
 *
 *     model-server [--piece N] [--interval MS] [--text-bytes N] [--markdown FILE]
 *
 * prints its URL, gives every request the same answer and ends with its standard input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/paths.h"
#include "tests/model_server.h"

#define MAX_MARKDOWN ((size_t)64 * 1024 * 1024)

struct options {
    const char *markdown;
    long piece, interval, text_bytes;
};

static bool parse_number(const char *text, long *out)
{
    char *end;

    *out = strtol(text, &end, 10);
    return *text && !*end && *out >= 0 && *out <= 100000000;
}

static bool parse_options(int argc, char **argv, struct options *o)
{
    const struct {
        const char *name;
        long *number;
    } numbers[] = {
        {"--piece", &o->piece}, {"--interval", &o->interval}, {"--text-bytes", &o->text_bytes}};

    for (int i = 1; i + 1 < argc; i += 2) {
        bool known = strcmp(argv[i], "--markdown") == 0;

        if (known)
            o->markdown = argv[i + 1];
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
            if (strcmp(argv[i], numbers[n].name) == 0)
                known = parse_number(argv[i + 1], numbers[n].number);
        if (!known)
            return false;
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv)
{
    struct options options = {0};
    struct buf text;
    struct error e;
    struct model_server *server;

    buf_init(&text, MAX_MARKDOWN);
    if (!parse_options(argc, argv, &options)) {
        fprintf(stderr,
                "usage: model-server [--piece N] [--interval MS] [--text-bytes N] "
                "[--markdown FILE]\n");
        return 64;
    }
    if (options.markdown && !paths_read_file(options.markdown, PATHS_FILE, &text, &e)) {
        fprintf(stderr, "model-server: %s\n", e.text);
        return 1;
    }
    /* Prose with some Markdown in it, of exactly `bytes` bytes. */
    size_t bytes = (size_t)options.text_bytes;
    static const char paragraph[] =
        "The *secretary* took dictation in a shorthand of his own, and **kept the letters**.\n"
        "He wrote `scripta manent` above the door:\n\n- one line a letter,\n- one letter a "
        "day.\n\n";

    while (text.len < bytes) {
        size_t rest = bytes - text.len;

        buf_add(&text, paragraph, rest < strlen(paragraph) ? rest : strlen(paragraph));
    }
    server = model_server_start();
    if (text.len > 0)
        model_server_set_default(server, &(struct reply){.text = text.data,
                                                         .piece = (size_t)options.piece,
                                                         .interval_ms = (int)options.interval});
    printf("%s\n", model_server_url(server));
    fflush(stdout);
    while (getchar() != EOF)
        continue;
    model_server_stop(server);
    buf_release(&text);
    return 0;
}
