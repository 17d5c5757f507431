/* The table of targets: X(NAME, longest input). fuzz_NAME() is in tests/fuzz/NAME.c. */
#ifndef TESTS_FUZZ_TARGETS_H
#define TESTS_FUZZ_TARGETS_H

#define FUZZ_TARGETS(X)                                                                            \
    X(lines, 65536)                                                                                \
    X(sse, 65536)                                                                                  \
    X(anthropic, 65536)                                                                            \
    X(openai, 65536)                                                                               \
    X(ollama, 65536)                                                                               \
    X(embedding, 65536)                                                                            \
    X(server_error, 16384)                                                                         \
    X(key_command, 16384)                                                                          \
    X(json, 65536)                                                                                 \
    X(event, 65536)                                                                                \
    X(event_struct, 8192)                                                                          \
    X(history, 8192)                                                                               \
    X(snapshot, 65536)                                                                             \
    X(transcript, 32768)                                                                           \
    X(http_request, 16384)                                                                         \
    X(import, 65536)                                                                               \
    X(memory, 65536)                                                                               \
    X(graph_lines, 65536)                                                                          \
    X(search, 16384)                                                                               \
    X(config, 16384)                                                                               \
    X(theme, 16384)                                                                                \
    X(keys, 65536)                                                                                 \
    X(markdown, 32768)                                                                             \
    X(wrap, 16384)                                                                                 \
    X(approval, 32768)                                                                             \
    X(acp, 65536)                                                                                  \
    X(acp_answer, 65536)                                                                           \
    X(rpc, 65536)                                                                                  \
    X(schema, 65536)                                                                               \
    X(glob, 4096)                                                                                  \
    X(skill, 65536)                                                                                \
    X(secrets, 65536)                                                                              \
    X(utf8, 65536)                                                                                 \
    X(time, 256)                                                                                   \
    X(pages, 262144)                                                                               \
    X(graph, 65536)                                                                                \
    X(learned, 32768)                                                                              \
    X(doclist, 65536)                                                                              \
    X(document, 16384)                                                                             \
    X(mcp, 16384)

#endif
