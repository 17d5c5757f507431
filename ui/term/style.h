/* What a piece of text means; themes say how that looks. One table makes the names in theme files.
 */
#ifndef UI_STYLE_H
#define UI_STYLE_H

#define STYLES(X)                                                                                  \
    X(TEXT, "text")                                                                                \
    X(DIM, "dim")                                                                                  \
    X(TITLE, "title")                                                                              \
    X(USER, "user")                                                                                \
    X(ASSISTANT, "assistant")                                                                      \
    X(HEADING, "heading")                                                                          \
    X(CODE, "code")                                                                                \
    X(CODE_KEYWORD, "code_keyword")                                                                \
    X(CODE_STRING, "code_string")                                                                  \
    X(CODE_COMMENT, "code_comment")                                                                \
    X(CODE_NUMBER, "code_number")                                                                  \
    X(LINK, "link")                                                                                \
    X(QUOTE, "quote")                                                                              \
    X(RULE, "rule")                                                                                \
    X(TOOL, "tool")                                                                                \
    X(DIFF_ADDED, "diff_added")                                                                    \
    X(DIFF_REMOVED, "diff_removed")                                                                \
    X(REASONING, "reasoning")                                                                      \
    X(NOTE, "note")                                                                                \
    X(WARNING, "warning")                                                                          \
    X(ERROR, "error")                                                                              \
    X(STATUS, "status")                                                                            \
    X(GAUGE, "gauge")                                                                              \
    X(GAUGE_HIGH, "gauge_high")                                                                    \
    X(PROMPT, "prompt")                                                                            \
    X(EDITOR, "editor")                                                                            \
    X(OVERLAY, "overlay")                                                                          \
    X(OVERLAY_TITLE, "overlay_title")                                                              \
    X(SELECTED, "selected")                                                                        \
    X(MATCH, "match")

enum style {
#define X(id, name) STYLE_##id,
    STYLES(X)
#undef X
        STYLE_COUNT
};

/* Added to whatever the style looks like. */
enum {
    ATTR_BOLD = 1,
    ATTR_ITALIC = 2,
    ATTR_UNDERLINE = 4,
    ATTR_STRIKE = 8,
    ATTR_REVERSE = 16,
    ATTR_DIM = 32
};

#endif
