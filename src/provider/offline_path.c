/* Finds the file or directory that a message wants to see. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "provider/offline_plan.h"
#include "provider/offline_rank.h"

static const char *const endings[] = {
    "md",  "txt",  "c",  "h",  "cc",  "cpp",  "hpp",  "py",  "js",  "ts",  "json", "toml",  "ini",
    "yml", "yaml", "sh", "rs", "go",  "java", "html", "css", "sql", "xml", "csv",  "conf",  "cfg",
    "log", "am",   "ac", "mk", "tex", "rst",  "org",  "lua", "rb",  "pl",  "po",   "patch", "diff"};

static const char *const file_names[] = {"Makefile", "README",  "LICENSE",    "COPYING", "NEWS",
                                         "HACKING",  "INSTALL", "Dockerfile", "AUTHORS"};

static const char *const verbs[] = {"read",  "show",     "open",    "list", "cat",
                                    "print", "contents", "content", "quote"};

static const char *const here[] = {"list the files",    "list files",       "list all files",
                                   "which files",       "what files",       "list the directory",
                                   "list directory",    "this directory",   "this folder",
                                   "current directory", "working directory"};

/* Only a file's name is enough by itself; the others could be "and/or". */
enum kind { NOTHING, FILE_NAME, MAYBE_FILE, MAYBE_DIRECTORY };

static bool has_known_ending(const char *token)
{
    const char *dot = strrchr(token, '.');
    if (!dot || dot == token)
        return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot + 1, endings[i]) == 0)
            return true;
    return false;
}

static bool is_file_name(const char *token)
{
    for (size_t i = 0; i < sizeof file_names / sizeof *file_names; i++)
        if (strcmp(token, file_names[i]) == 0)
            return true;
    return has_known_ending(token);
}

static enum kind kind_of(const char *token)
{
    const char *slash = strrchr(token, '/');
    if (!*token || strstr(token, "://"))
        return NOTHING;
    if (is_file_name(token))
        return FILE_NAME;
    if (!slash || !token[1])
        return NOTHING;
    return slash[1] && strchr(slash + 2, '.') ? MAYBE_FILE : MAYBE_DIRECTORY;
}

/* The word from *at on without what punctuates it; the caller frees. NULL at the end. */
static char *next_token(const char **at)
{
    const char *start = *at + strspn(*at, " \t\n\r");
    size_t len = strcspn(start, " \t\n\r");
    *at = start + len;
    if (len == 0)
        return NULL;
    while (len > 0 && strchr("\"'`(<[@*", *start)) {
        start++;
        len--;
    }
    while (len > 0 && strchr("\"'`)>]?,.!:;*", start[len - 1]))
        len--;
    return mem_strndup(start, len);
}

static bool wants_to_see(const char *text)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (offline_has_word(text, verbs[i]))
            return true;
    return utf8_contains_folded(text, "what is in") || utf8_contains_folded(text, "what's in");
}

static bool means_here(const char *text)
{
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        if (utf8_contains_folded(text, here[i]))
            return true;
    return false;
}

const char *offline_find_path(const char *text, char **path)
{
    bool see = wants_to_see(text);
    const char *at = text;
    char *token;
    while ((token = next_token(&at))) {
        enum kind kind = kind_of(token);
        if (kind == FILE_NAME || (kind != NOTHING && see)) {
            *path = token;
            return kind == MAYBE_DIRECTORY ? "list_directory" : "read_file";
        }
        free(token);
    }
    if (!means_here(text))
        return NULL;
    *path = mem_strdup(".");
    return "list_directory";
}
