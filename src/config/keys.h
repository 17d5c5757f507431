/* The table of configuration keys. The parser's checks, the defaults, `tiro config show`, the names
 * of environment variables and the documentation check of data/tiro.ini are made from it.
 *
 * X(id, section, name, type, default, min, max, choices, help)
 *   type     STRING, SECRET (masked when shown; accepted only from a file of mode 0600), COMMAND,
 *            INTEGER, REAL, BOOLEAN, CHOICE; TERMINAL_STRING and TERMINAL_CHOICE are keys that name
 *            addresses, permissions, files or folders, or a text for a later run: like SECRET and
 *            COMMAND, no other program may set them (config/set)
 *   default  text; "" means unset
 *   min max  bounds of numbers, inclusive; 0 0 is unbounded
 *   choices  of a CHOICE, separated by blanks; of an INTEGER, words that it allows beside numbers
 * A section that ends in " *" takes any name after the blank ([model claude-sonnet-4]); a key with
 * "*" takes any name in place of the "*" ([corpus] handbook.paths). Such keys have no default. The
 * names in [keys] are those of the terminal's table of actions. */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#define CONFIG_KEYS(X)                                                                             \
    X(PROVIDER_NAME, "provider", "name", CHOICE, "", 0, 0, "anthropic openai ollama offline",      \
      "provider of the model; unset: the first for which tiro finds a key or a server")            \
    X(PROVIDER_MODEL, "provider", "model", STRING, "", 0, 0, "",                                   \
      "name of the model; unset: the provider's default model")                                    \
    X(PROVIDER_EFFORT, "provider", "effort", STRING, "", 0, 0, "",                                 \
      "how much the model reasons, in its provider's word; unset, or a word that the model does "  \
      "not have: not sent")                                                                        \
    X(PROVIDER_MAX_OUTPUT, "provider", "max_output_tokens", INTEGER, "0", 0, 1000000, "",          \
      "most tokens in one answer; 0: the model's own limit, but at most 8192, or 32768 with an "   \
      "effort")                                                                                    \
    X(PROVIDER_TEMPERATURE, "provider", "temperature", REAL, "", 0, 2, "",                         \
      "sampling temperature; unset: not sent (newer models reject it)")                            \
    X(PROVIDER_STALL_TIMEOUT, "provider", "stall_timeout", INTEGER, "300", 1, 86400, "",           \
      "give a request up after this many seconds without data")                                    \
    X(PROVIDER_CONNECT_TIMEOUT, "provider", "connect_timeout", INTEGER, "5", 1, 600, "",           \
      "seconds to wait for a connection to the server")                                            \
    X(PROVIDER_MAX_RETRIES, "provider", "max_retries", INTEGER, "3", 0, 10, "",                    \
      "how often to repeat a request that failed before any content arrived")                      \
    X(PROVIDER_CA_FILE, "provider", "ca_file", TERMINAL_STRING, "", 0, 0, "",                      \
      "file of certificates to trust instead of the system's")                                     \
    X(ANTHROPIC_BASE_URL, "anthropic", "base_url", TERMINAL_STRING, "https://api.anthropic.com",   \
      0, 0, "", "address of the API; ANTHROPIC_BASE_URL overrides it")                             \
    X(ANTHROPIC_MODEL, "anthropic", "model", STRING, "claude-sonnet-5-5", 0, 0, "",                \
      "model if [provider] model is unset")                                                        \
    X(ANTHROPIC_API_KEY, "anthropic", "api_key", SECRET, "", 0, 0, "",                             \
      "API key; safer: ANTHROPIC_API_KEY or api_key_command")                                      \
    X(ANTHROPIC_API_KEY_COMMAND, "anthropic", "api_key_command", COMMAND, "", 0, 0, "",            \
      "command whose first line of output is the API key")                                         \
    X(OPENAI_BASE_URL, "openai", "base_url", TERMINAL_STRING, "https://api.openai.com/v1", 0, 0,   \
      "", "address of the API, including /v1; OPENAI_BASE_URL overrides it")                       \
    X(OPENAI_MODEL, "openai", "model", STRING, "", 0, 0, "",                                       \
      "model if [provider] model is unset; both unset: a model that the server lists, else "       \
      "gpt-4.1")                                                                                   \
    X(OPENAI_API_KEY, "openai", "api_key", SECRET, "", 0, 0, "",                                   \
      "API key; safer: OPENAI_API_KEY or api_key_command")                                         \
    X(OPENAI_API_KEY_COMMAND, "openai", "api_key_command", COMMAND, "", 0, 0, "",                  \
      "command whose first line of output is the API key")                                         \
    X(OLLAMA_HOST, "ollama", "host", TERMINAL_STRING, "http://127.0.0.1:11434", 0, 0, "",          \
      "address of the server; scheme and port may be omitted; OLLAMA_HOST overrides it")           \
    X(OLLAMA_MODEL, "ollama", "model", STRING, "", 0, 0, "",                                       \
      "model if [provider] model is unset; both unset: the first model that the server lists, "    \
      "else llama3.2")                                                                             \
    X(OLLAMA_NUM_CTX, "ollama", "num_ctx", INTEGER, "0", 0, 10000000, "",                          \
      "context window to request, in tokens; 0: the window that Ollama has allocated, else 8192 "  \
      "or the model's window if that is smaller")                                                  \
    X(CHAT_SYSTEM, "chat", "system", TERMINAL_STRING, "", 0, 0, "",                                \
      "system prompt; unset: the built-in one")                                                    \
    X(CHAT_TOOLS, "chat", "tools", TERMINAL_CHOICE, "read", 0, 0, "none read full",                \
      "tools that the model may use: none, those that only read, or all (full)")                   \
    X(TOOLS_TIMEOUT, "tools", "timeout", INTEGER, "30", 1, 3600, "",                               \
      "time limit of a tool call, in seconds")                                                     \
    X(TOOLS_MAX_OUTPUT, "tools", "max_output_bytes", INTEGER, "65536", 1024, 4194304, "",          \
      "longest result of a tool call, in bytes; a longer one is cut and marked")                   \
    X(TOOLS_COMMAND_TIMEOUT, "tools", "command_timeout", INTEGER, "120", 1, 86400, "",             \
      "time limit of a command of run_command, in seconds")                                        \
    X(TOOLS_MAX_CALLS, "tools", "max_calls", INTEGER, "200", 1, 1000000, "",                       \
      "most tool calls of a turn; the turn then stops and waits for a message")                    \
    X(TOOLS_ALLOW, "tools", "allow", TERMINAL_STRING, "read", 0, 0, "",                            \
      "tools or classes (read write execute network) that run without asking")                     \
    X(TOOLS_ASK, "tools", "ask", TERMINAL_STRING, "write execute network", 0, 0, "",               \
      "tools or classes that ask before they run; overrides allow. outside-sandbox: a command in " \
      "the sandbox does not ask")                                                                  \
    X(TOOLS_DENY, "tools", "deny", TERMINAL_STRING, "", 0, 0, "",                                  \
      "tools or classes that never run; overrides allow and ask")                                  \
    X(TOOLS_MAX_TOKENS, "tools", "max_tokens", INTEGER, "20000", 0, 10000000, "",                  \
      "warn when tool definitions take more than this many tokens of a request; 0: never")         \
    X(TOOLS_DEFER, "tools", "defer", CHOICE, "auto", 0, 0, "auto off",                             \
      "tools of MCP servers that take over a tenth of the window wait to be found by tool_search") \
    X(TOOLS_ENVIRONMENT, "tools", "environment", TERMINAL_STRING, "", 0, 0, "",                    \
      "more environment variables for commands of run_command, as NAME or NAME_*")                 \
    X(TOOLS_SANDBOX, "tools", "sandbox", TERMINAL_CHOICE, "on", 0, 0, "on off",                    \
      "run commands of run_command in a sandbox, where the kernel can")                            \
    X(TOOLS_SANDBOX_WRITES, "tools", "sandbox_writes", TERMINAL_STRING, "", 0, 0, "",              \
      "more directories that commands in the sandbox may change, such as ~/.cache")                \
    X(TOOLS_WEB_SEARCH, "tools", "web_search", TERMINAL_CHOICE, "off", 0, 0, "on off",             \
      "let the provider, Anthropic or OpenAI, search the web; it charges for each search")         \
    X(TOOLS_FETCH_ALLOW, "tools", "fetch_allow", TERMINAL_STRING, "", 0, 0, "",                    \
      "hosts that fetch_url may reach at private addresses, such as localhost:8080")               \
    X(HOOKS_SESSION_START, "hooks", "session_start", COMMAND, "", 0, 0, "",                        \
      "command that runs before the first message of a session, and when it is resumed")           \
    X(HOOKS_PROMPT, "hooks", "prompt", COMMAND, "", 0, 0, "",                                      \
      "command that runs before each message; may refuse it or add to it")                         \
    X(HOOKS_TOOL_ASK, "hooks", "tool_ask", COMMAND, "", 0, 0, "",                                  \
      "command that runs before each tool call; may allow or refuse it, or ask the user")          \
    X(HOOKS_TOOL_DONE, "hooks", "tool_done", COMMAND, "", 0, 0, "",                                \
      "command that runs after each tool call; may add to its result")                             \
    X(HOOKS_TURN_END, "hooks", "turn_end", COMMAND, "", 0, 0, "",                                  \
      "command that runs after each complete answer")                                              \
    X(HOOKS_PRE_COMPACT, "hooks", "pre_compact", COMMAND, "", 0, 0, "",                            \
      "command that runs before each compaction; may refuse it")                                   \
    X(HOOKS_POST_COMPACT, "hooks", "post_compact", COMMAND, "", 0, 0, "",                          \
      "command that runs after each compaction")                                                   \
    X(BUDGET_TOKENS, "budget", "max_tokens", INTEGER, "0", 0, 1000000000000, "",                   \
      "most input and output tokens of a session; 0: no limit")                                    \
    X(BUDGET_DURATION, "budget", "max_duration", INTEGER, "0", 0, 1000000000000, "",               \
      "time limit of all turns of a session together, in seconds; 0: no limit")                    \
    X(BUDGET_TURN_DURATION, "budget", "max_turn_duration", INTEGER, "0", 0, 1000000000000, "",     \
      "time limit of one turn, in seconds; 0: no limit")                                           \
    X(BUDGET_TOOL_CALLS, "budget", "max_tool_calls", INTEGER, "0", 0, 1000000000000, "",           \
      "most tool calls of a session; 0: no limit")                                                 \
    X(BUDGET_COST, "budget", "max_cost", REAL, "0", 0, 1000000, "",                                \
      "most USD that a session may cost, where prices are known; 0: no limit")                     \
    X(COMPACTION_ENABLED, "compaction", "enabled", BOOLEAN, "true", 0, 0, "",                      \
      "shorten conversations that outgrow the model's context window")                             \
    X(COMPACTION_MODE, "compaction", "mode", CHOICE, "handoff", 0, 0,                              \
      "handoff structured recency_preserving deterministic llm_replace",                           \
      "compaction mode; /compact lists the modes")                                                 \
    X(COMPACTION_AUTO_THRESHOLD, "compaction", "auto_compact_threshold", INTEGER, "100000", 1,     \
      1000000000, "", "compact automatically from this many tokens on")                            \
    X(COMPACTION_PERCENT, "compaction", "threshold_percent", REAL, "0.95", 0, 100, "",             \
      "the same limit as a share of the model's context window, 0.10 to 0.95; the lower limit "    \
      "applies")                                                                                   \
    X(COMPACTION_REQUEST_BYTES, "compaction", "max_request_bytes", INTEGER, "0", 0, 1073741824,    \
      "",                                                                                          \
      "largest request that the server accepts, in bytes; 0: unknown, at most 32 MiB are sent")    \
    X(COMPACTION_RECENT_TURNS, "compaction", "recent_turn_budget", INTEGER, "auto", 0, 10000,      \
      "auto",                                                                                      \
      "newest complete turns that handoff keeps word for word; auto: 4, and as many more as fit "  \
      "40 % of the threshold")                                                                     \
    X(COMPACTION_SUMMARY_TOKENS, "compaction", "max_summary_tokens", INTEGER, "4096", 64, 1000000, \
      "", "most tokens in a summary")                                                              \
    X(COMPACTION_MIN_TURNS, "compaction", "min_turns_between_compactions", INTEGER, "3", 0, 10000, \
      "", "fewest model calls between a compaction and the next automatic one")                    \
    X(COMPACTION_TARGET, "compaction", "compact_target_percent", REAL, "0.50", 0, 1, "",           \
      "stop shortening tool results below this share of the context window, 0 to 1")               \
    X(COMPACTION_MICRO_BYTES, "compaction", "micro_tool_result_bytes", INTEGER, "10000", 1200,     \
      1000000000, "",                                                                              \
      "first shorten tool results of earlier turns that are longer than this many bytes")          \
    X(COMPACTION_PROTECT_HEAD, "compaction", "protect_head", INTEGER, "3", 0, 10000, "",           \
      "number of first messages that recency_preserving and structured keep")                      \
    X(COMPACTION_PROTECT_TAIL, "compaction", "protect_tail_min", INTEGER, "20", 0, 10000, "",      \
      "fewest last messages that recency_preserving and structured keep")                          \
    X(COMPACTION_TAIL_RATIO, "compaction", "tail_budget_ratio", REAL, "0.20", 0, 100, "",          \
      "share of the threshold that recency_preserving and structured leave to the last messages, " \
      "0.05 to 0.80")                                                                              \
    X(COMPACTION_PRUNE_CHARS, "compaction", "tool_prune_char_threshold", INTEGER, "200", 0,        \
      1000000000, "",                                                                              \
      "recency_preserving and structured replace older tool results longer than this many "        \
      "characters with a placeholder")                                                             \
    X(COMPACTION_PROVIDER, "compaction", "summary_provider", CHOICE, "", 0, 0,                     \
      "anthropic openai ollama offline",                                                           \
      "provider of the model that writes summaries; unset: the session's provider")                \
    X(COMPACTION_MODEL, "compaction", "summary_model", STRING, "", 0, 0, "",                       \
      "model that writes summaries, such as a cheaper one; unset: the session's model")            \
    X(COMPACTION_SUMMARY_TIMEOUT, "compaction", "summary_timeout", INTEGER, "60", 1, 86400, "",    \
      "seconds that a turn waits for its summary, all attempts together; a compaction by hand "    \
      "has no limit")                                                                              \
    X(COMPACTION_MAX_FAILURES, "compaction", "max_consecutive_failures", INTEGER, "3", 1, 1000,    \
      "", "stop automatic compaction after this many failures in a row")                           \
    X(COMPACTION_PREVIEW, "compaction", "preview", BOOLEAN, "false", 0, 0, "",                     \
      "show each summary in the editor first, to edit, accept or reject it")                       \
    X(COMPACTION_HINT, "compaction", "show_settings_hint", BOOLEAN, "true", 0, 0, "",              \
      "tell below each compaction how to choose another mode")                                     \
    X(MEMORY_ENABLED, "memory", "enabled", BOOLEAN, "true", 0, 0, "",                              \
      "keep a memory of conversations, and let the model search it")                               \
    X(MEMORY_INDEX, "memory", "index", CHOICE, "sessions", 0, 0, "sessions dropped off",           \
      "sessions: index what compactions drop, and each session when it is left, archived or idle " \
      "for an hour; dropped: index only what compactions drop; off: index nothing new")            \
    X(MEMORY_SCOPE, "memory", "scope", CHOICE, "all", 0, 0, "all project session",                 \
      "sessions that the model searches. all: all sessions; project: those started in this "       \
      "directory; session: this one")                                                              \
    X(MEMORY_RANKING, "memory", "ranking", CHOICE, "auto", 0, 0, "auto words vectors both",        \
      "rank by words, by vectors or by both; auto: both if an embedding endpoint is configured, "  \
      "else words")                                                                                \
    X(MEMORY_RECALL, "memory", "recall", CHOICE, "auto", 0, 0, "auto tool off",                    \
      "auto: each message is sent with what memory has on it, and the model may search; tool: "    \
      "the model may search; off: the model does not search memory")                               \
    X(MEMORY_RECALL_TOKENS, "memory", "recall_tokens", INTEGER, "1000", 100, 1000000, "",          \
      "most tokens of what is sent with a message; at most a fifth of the room in the window")     \
    X(MEMORY_SEARCH_TOKENS, "memory", "search_tokens", INTEGER, "2000", 100, 1000000, "",          \
      "most tokens of the hits that memory_search gives the model, unless it asks for a number; "  \
      "less in a small window")                                                                    \
    X(MEMORY_MIN_SCORE, "memory", "min_score", REAL, "0", 0, 1, "",                                \
      "leave out matches with a score below this one")                                             \
    X(MEMORY_LANGUAGE, "memory", "language", CHOICE, "auto", 0, 0,                                 \
      "auto english german french spanish italian portuguese dutch swedish russian turkish none",  \
      "language of the word index (stems, stop words), auto: that of each text; after a change, "  \
      "run tiro memory reindex")                                                                   \
    X(MEMORY_TOOL_RESULTS, "memory", "index_tool_results", BOOLEAN, "false", 0, 0, "",             \
      "also store the results of tools")                                                           \
    X(MEMORY_K1, "memory", "k1", REAL, "1.2", 0, 10, "", "BM25: weight of repeated words")         \
    X(MEMORY_B, "memory", "b", REAL, "0.75", 0, 1, "", "BM25: penalty for long texts")             \
    X(MEMORY_HNSW_FROM, "memory", "hnsw_from", INTEGER, "50000", 1, 1000000000, "",                \
      "from this many vectors on, search a graph of them (HNSW) instead of comparing all")         \
    X(IMPORT_SOURCES, "import", "sources", TERMINAL_STRING, "ask", 0, 0, "",                       \
      "other agents whose conversations are taken over. ask: offer them once; all; none; or "      \
      "names, "                                                                                    \
      "separated by commas (tiro import --list shows them)")                                       \
    X(IMPORT_TOOL_RESULTS, "import", "tool_results", CHOICE, "short", 0, 0, "short none whole",    \
      "results of tools in conversations of other agents. short: the first and last kilobyte; "    \
      "none: leave them out")                                                                      \
    X(IMPORT_BRANCHES, "import", "branches", CHOICE, "newest", 0, 0, "newest all",                 \
      "where somebody went back and went on differently. newest: keep the last way; all: keep "    \
      "the others as sessions of their own")                                                       \
    X(PROJECT_INSTRUCTIONS, "project", "instructions", BOOLEAN, "true", 0, 0, "",                  \
      "send AGENTS.md files to the model: your own, and those from the project's top directory "   \
      "down")                                                                                      \
    X(PROJECT_MAX_PROMPT_TOKENS, "project", "max_prompt_tokens", INTEGER, "8192", 1, 1000000, "",  \
      "most tokens of each AGENTS.md file, and of the list of skills, in a request; the rest is "  \
      "cut")                                                                                       \
    X(PROJECT_SKILLS, "project", "skills", BOOLEAN, "true", 0, 0, "",                              \
      "offer skills to the model: your own, and those of a project that you trust")                \
    X(LEARNED_ENABLED, "learned", "enabled", BOOLEAN, "true", 0, 0, "",                            \
      "keep what you ask tiro to remember, and tell it to the model")                              \
    X(LEARNED_CAPTURE, "learned", "capture", TERMINAL_CHOICE, "ask", 0, 0, "ask auto off",         \
      "lasting instructions in your messages. ask: ask before keeping one; auto: keep it and say " \
      "so; off: keep none")                                                                        \
    X(LEARNED_PROMPT, "learned", "prompt", CHOICE, "full", 0, 0, "full catalog",                   \
      "full: send the model whole items; catalog: send their beginnings, and a tool that returns " \
      "the rest")                                                                                  \
    X(LEARNED_MAX_PROMPT_TOKENS, "learned", "max_prompt_tokens", INTEGER, "1500", 0, 100000, "",   \
      "most tokens of learned memory in a request; 0: send none")                                  \
    X(LEARNED_HISTORY, "learned", "history", BOOLEAN, "true", 0, 0, "",                            \
      "tell the model about the last three sessions of the project, and how well its tools "       \
      "worked")                                                                                    \
    X(LEARNED_EXTRACT, "learned", "extract", CHOICE, "off", 0, 0, "off on_archive",                \
      "on_archive: when a session is archived, let a model propose what to remember from your "    \
      "messages")                                                                                  \
    X(GRAPH_ENABLED, "graph", "enabled", BOOLEAN, "true", 0, 0, "",                                \
      "keep a graph of facts, and let the model use it")                                           \
    X(GRAPH_MAX_PROMPT_TOKENS, "graph", "max_prompt_tokens", INTEGER, "200", 0, 100000, "",        \
      "most tokens of entity names in a request; 0: send none")                                    \
    X(CORPUS_ENABLED, "corpus", "enabled", BOOLEAN, "true", 0, 0, "",                              \
      "keep corpora of documents, and let the model search those that you name in a message")      \
    X(CORPUS_RANKING, "corpus", "ranking", CHOICE, "auto", 0, 0, "auto words both",                \
      "rank passages by words or by both words and vectors; auto: both if an embedding endpoint "  \
      "is configured")                                                                             \
    X(CORPUS_WEIGHT, "corpus", "hybrid_weight", REAL, "0.3", 0, 1, "",                             \
      "weight of words in a score, 0 to 1; vectors get the rest")                                  \
    X(CORPUS_TOP_K, "corpus", "top_k", INTEGER, "5", 1, 20, "",                                    \
      "number of passages that a search returns")                                                  \
    X(CORPUS_RERANKER_URL, "corpus", "reranker_url", TERMINAL_STRING, "", 0, 0, "",                \
      "full address of a server that reranks the passages found; unset: no reranking")             \
    X(CORPUS_RERANKER_MODEL, "corpus", "reranker_model", STRING, "", 0, 0, "",                     \
      "model name for the reranking server, if it needs one")                                      \
    X(CORPUS_RERANKER_KEY, "corpus", "reranker_api_key", SECRET, "", 0, 0, "",                     \
      "API key for the reranking server, if it needs one")                                         \
    X(CORPUS_RERANKER_KEY_COMMAND, "corpus", "reranker_api_key_command", COMMAND, "", 0, 0, "",    \
      "command whose first line of output is the API key for the reranking server")                \
    X(CORPUS_PATHS, "corpus", "*.paths", TERMINAL_STRING, "", 0, 0, "",                            \
      "files and folders of the corpus NAME, separated by \":\"")                                  \
    X(CORPUS_LOADER, "corpus", "loader.*", COMMAND, "", 0, 0, "",                                  \
      "command that prints the text of a file that ends in .EXT; $1 is the file")                  \
    X(EMBEDDING_PROVIDER, "embedding", "provider", CHOICE, "", 0, 0,                               \
      "builtin hashed openai ollama",                                                              \
      "provider that computes vectors; unset: none, only words are searched")                      \
    X(EMBEDDING_MODEL, "embedding", "model", STRING, "", 0, 0, "",                                 \
      "embedding model; unset: text-embedding-3-small (openai) or nomic-embed-text (ollama)")      \
    X(EMBEDDING_BASE_URL, "embedding", "base_url", TERMINAL_STRING, "", 0, 0, "",                  \
      "address of the API; unset: the address in [openai] or [ollama]")                            \
    X(EMBEDDING_API_KEY, "embedding", "api_key", SECRET, "", 0, 0, "",                             \
      "API key; unset: the key of [openai]")                                                       \
    X(EMBEDDING_API_KEY_COMMAND, "embedding", "api_key_command", COMMAND, "", 0, 0, "",            \
      "command whose first line of output is the API key")                                         \
    X(EMBEDDING_DIMENSIONS, "embedding", "dimensions", INTEGER, "0", 0, 65536, "",                 \
      "dimensions of a vector to request; 0: the model's own")                                     \
    X(EMBEDDING_BATCH, "embedding", "batch", INTEGER, "64", 1, 2048, "", "texts per request")      \
    X(SESSION_PERSIST, "session", "persist", BOOLEAN, "true", 0, 0, "",                            \
      "save conversations in the database")                                                        \
    X(SESSION_TITLES, "session", "titles", CHOICE, "model", 0, 0, "model first_message",           \
      "title of a session: by the model for summaries after the first answer, or the beginning "   \
      "of "                                                                                        \
      "the first message")                                                                         \
    X(SERVE_OPEN_SESSIONS, "serve", "open_sessions", INTEGER, "32", 1, 1000, "",                   \
      "most sessions that tiro serve keeps open; beyond that it closes idle ones")                 \
    X(SERVE_IDLE_MINUTES, "serve", "idle_minutes", INTEGER, "10", 0, 10000, "",                    \
      "tiro serve closes a session that was idle for this many minutes; the next request opens "   \
      "it again")                                                                                  \
    X(SERVE_ADDRESS, "serve", "address", TERMINAL_STRING, "localhost:8476", 0, 0, "",              \
      "address at which tiro serve --http listens, as ADDRESS:PORT")                               \
    X(SERVE_HOSTS, "serve", "hosts", TERMINAL_STRING, "", 0, 0, "",                                \
      "host names that tiro serve --http accepts in requests, besides addresses and localhost")    \
    X(SERVE_ORIGINS, "serve", "origins", TERMINAL_STRING, "", 0, 0, "",                            \
      "origins of other web pages that may send requests, such as https://tiro.example")           \
    X(SERVE_TOKEN_FILE, "serve", "token_file", TERMINAL_STRING, "", 0, 0, "",                      \
      "file of mode 0600 whose first line is the bearer token that clients send")                  \
    X(SERVE_TOKEN_COMMAND, "serve", "token_command", COMMAND, "", 0, 0, "",                        \
      "command whose first line of output is the bearer token that clients send")                  \
    X(SERVE_FOLDERS, "serve", "folders", TERMINAL_STRING, "", 0, 0, "",                            \
      "folders whose files other programs may name, besides the server's working directory, "      \
      "separated by \":\"")                                                                        \
    X(SERVE_TIMEOUT, "serve", "timeout", INTEGER, "30", 1, 3600, "",                               \
      "seconds within which the head of a request must arrive; its body may take four times as "   \
      "long")                                                                                      \
    X(SERVE_HEARTBEAT, "serve", "heartbeat", INTEGER, "15", 1, 3600, "",                           \
      "send a sign of life on an event stream after this many seconds without events")             \
    X(UI_THEME, "ui", "theme", STRING, "auto", 0, 0, "",                                           \
      "auto (dark or light, like the terminal), dark, light, mono, high-contrast, solarized, "     \
      "solarized-light, or the name of a file in themes/ of the configuration directory")          \
    X(UI_MOUSE, "ui", "mouse", BOOLEAN, "true", 0, 0, "", "use the mouse wheel and clicks")        \
    X(UI_REASONING, "ui", "reasoning", CHOICE, "folded", 0, 0, "folded open hidden",               \
      "how to show the model's reasoning")                                                         \
    X(UI_NOTIFY, "ui", "notify", CHOICE, "auto", 0, 0, "auto bell osc9 osc777 osc99 off",          \
      "how to notify you that a turn ended or a tool asks while another window has the keyboard")  \
    X(UI_NOTIFY_AFTER, "ui", "notify_after", INTEGER, "20", 0, 86400, "",                          \
      "notify only after a turn of at least this many seconds; 0: never, not even when a tool "    \
      "asks")                                                                                      \
    X(LOG_LEVEL, "log", "level", CHOICE, "off", 0, 0, "off error info debug",                      \
      "diagnostic log in the state directory; it contains no conversation texts and no API keys")  \
    X(MODEL_WINDOW, "model *", "window", INTEGER, "", 256, 100000000, "",                          \
      "context window in tokens, input and output together")                                       \
    X(MODEL_OUTPUT, "model *", "max_output", INTEGER, "", 1, 10000000, "",                         \
      "most tokens in one answer")                                                                 \
    X(MODEL_PRICE_IN, "model *", "input_price", REAL, "", 0, 100000, "",                           \
      "price in USD per million input tokens")                                                     \
    X(MODEL_PRICE_OUT, "model *", "output_price", REAL, "", 0, 100000, "",                         \
      "price in USD per million output tokens")                                                    \
    X(MODEL_PRICE_CACHED, "model *", "cached_price", REAL, "", 0, 100000, "",                      \
      "price in USD per million input tokens read from the cache")                                 \
    X(MODEL_PRICE_SEARCH, "model *", "search_price", REAL, "", 0, 100000, "",                      \
      "price in USD per 1,000 searches of the web by the provider")                                \
    X(MODEL_PRICE_DATE, "model *", "price_date", STRING, "", 0, 0, "",                             \
      "when these prices were true, for the list of models")                                       \
    X(MODEL_EFFORT, "model *", "effort", STRING, "", 0, 0, "",                                     \
      "the provider's words for how much the model reasons, separated by blanks")                  \
    X(MODEL_IMAGES, "model *", "images", INTEGER, "", 0, 1, "",                                    \
      "1: the model takes images in messages; 0: it does not, and they are refused")

/* The compaction modes with help for the user: for the completion of /compact and lists on the
 * screen. The choices of [compaction] mode and the engine's table (compact/mode.h) have the same
 * names in the same order; a test compares.
 *
 * X(ID, "name", keeps_ends, help): keeps_ends: beginning and end stay as protect_head,
 * protect_tail_min and tail_budget_ratio say, which may be everything. */

#define COMPACTION_MODES(X)                                                                        \
    X(HANDOFF, "handoff", false,                                                                   \
      N_("newest turns stay word for word; a summary replaces the rest"))                          \
    X(STRUCTURED, "structured", true,                                                              \
      N_("beginning and end stay; a summary in sections replaces the middle"))                     \
    X(RECENCY_PRESERVING, "recency_preserving", true,                                              \
      N_("beginning and end stay; the middle is dropped; asks no model"))                          \
    X(DETERMINISTIC, "deterministic", false, N_("an extract replaces everything; asks no model"))  \
    X(LLM_REPLACE, "llm_replace", false, N_("one summary by the model replaces everything"))

#endif
