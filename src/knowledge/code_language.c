#include "knowledge/code_language.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const struct code_language languages[] = {
    {"Ada", "ada adb ads", "--", "end"},
    {"Assembler", "asm s", "# ; //", ""},
    {"Awk", "awk", "#", "}"},
    {"C", "c h inc", "// /* *", "}"},
    {"C#", "cs", "// /* *", "}"},
    {"C++", "cc cpp cxx hh hpp hxx c++ ipp tpp ino", "// /* *", "}"},
    {"Clojure", "clj cljs cljc edn", ";", NULL},
    {"CMake", "cmake cmakelists.txt", "#", "end"},
    {"COBOL", "cob cbl", "*", "end"},
    {"CSS", "css less scss sass", "// /* *", "}"},
    {"D", "d", "// /* *", "}"},
    {"Dart", "dart", "// /* *", "}"},
    {"Dockerfile", "dockerfile containerfile", "#", ""},
    {"Elixir", "ex exs", "#", "end"},
    {"Erlang", "erl hrl", "%", NULL},
    {"F#", "fs fsi fsx", "//", NULL},
    {"Fortran", "f f77 f90 f95 f03 for", "! c", "end"},
    {"Go", "go", "// /* *", "}"},
    {"GraphQL", "graphql gql", "#", "}"},
    {"Groovy", "groovy gradle", "// /* *", "}"},
    {"Haskell", "hs lhs", "-- {-", NULL},
    {"HCL", "hcl tf tfvars", "# //", "}"},
    {"INI", "ini cfg conf properties service desktop", "# ;", ""},
    {"Java", "java", "// /* *", "}"},
    {"JavaScript", "js jsx mjs cjs", "// /* *", "}"},
    {"JSON", "json jsonl ndjson json5", "//", "} ]"},
    {"Julia", "jl", "#", "end"},
    {"Kotlin", "kt kts", "// /* *", "}"},
    {"Lisp", "lisp lsp cl el scm rkt", ";", NULL},
    {"Lua", "lua", "--", "end"},
    {"M4", "m4 ac", "dnl #", "])"},
    {"Makefile", "mk mak am makefile gnumakefile", "#", NULL},
    {"MATLAB", "matlab", "%", "end"},
    {"Nim", "nim nims", "#", NULL},
    {"Nix", "nix", "#", "}"},
    {"Objective-C", "mm", "// /* *", "} @end"},
    {"OCaml", "ml mli", "(*", NULL},
    {"Pascal", "pas pp dpr", "// { (*", "end"},
    {"Perl", "pl pm t", "#", "}"},
    {"PHP", "php", "// # /* *", "}"},
    {"PowerShell", "ps1 psm1", "#", "}"},
    {"Prolog", "pro", "%", NULL},
    {"Protocol Buffers", "proto", "// /* *", "}"},
    {"Python", "py pyi pyw pyx", "#", NULL},
    {"R", "r", "#", "}"},
    {"Ruby", "rb rake gemfile rakefile", "#", "end"},
    {"Rust", "rs", "// /* *", "}"},
    {"Scala", "scala sc", "// /* *", "}"},
    {"Shell", "sh bash zsh ksh fish", "#", "} fi done esac end"},
    {"SQL", "sql", "--", ""},
    {"Starlark", "bzl bazel", "#", NULL},
    {"Swift", "swift", "// /* *", "}"},
    {"Tcl", "tcl tk", "#", "}"},
    {"TOML", "toml", "#", ""},
    {"TypeScript", "ts tsx mts cts", "// /* *", "}"},
    {"Verilog", "v sv svh", "// /* *", "end"},
    {"VHDL", "vhd vhdl", "--", "end"},
    {"Vim script", "vim vimrc", "\"", "end"},
    {"Visual Basic", "vb bas vbs", "'", "end"},
    {"YAML", "yaml yml", "#", NULL},
    {"Zig", "zig", "//", "}"},
};

/* The length of the word of the list that `text` begins with; 0: none. With `whole` nothing may
 * follow it. */
static size_t word_of(const char *list, const char *text, size_t len, bool whole)
{
    for (size_t n; *list; list += n + (list[n] == ' ')) {
        n = strcspn(list, " ");
        if (n <= len && (!whole || n == len) && strncasecmp(list, text, n) == 0)
            return n;
    }
    return 0;
}

bool code_is_word_of(const char *list, const char *word)
{
    return word_of(list, word, strlen(word), true) > 0;
}

const struct code_language *code_language_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const char *dot = strrchr(base, '.');
    const char *extension = dot && dot != base ? dot + 1 : NULL;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        const struct code_language *l = &languages[i];
        if (code_is_word_of(l->files, base) || (extension && code_is_word_of(l->files, extension)))
            return l;
    }
    return NULL;
}

size_t code_indentation(const char *line, size_t len)
{
    size_t i = 0;
    while (i < len && (line[i] == ' ' || line[i] == '\t'))
        i++;
    return i;
}

bool code_is_comment(const struct code_language *l, const char *line, size_t len)
{
    size_t indentation = code_indentation(line, len);
    return word_of(l->comments, line + indentation, len - indentation, false) > 0;
}

bool code_ends_block(const struct code_language *l, const char *line, size_t len, const char *next,
                     size_t next_len)
{
    size_t indentation = code_indentation(line, len);
    if (!l->block_ends)
        return code_indentation(next, next_len) < indentation;
    size_t n = word_of(l->block_ends, line + indentation, len - indentation, false);
    return n > 0 && (indentation + n == len || !isalnum((unsigned char)line[indentation + n]));
}
