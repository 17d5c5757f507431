# One program a module: tests/test_NAME.c. They link what they use out of libsupport.a.
# The longest come first, so that none is left running alone at the end.
LONG_TESTS = \
	tests/test_flood \
	tests/test_follow_crash \
	tests/test_recover \
	tests/test_store_faults \
	tests/test_hostile_documents \
	tests/test_child \
	tests/test_completion \
	tests/test_damaged_stores \
	tests/test_recall_quality \
	tests/test_compact_properties \
	tests/test_memory_crash \
	tests/test_conversations \
	tests/test_engine_serves \
	tests/test_serve_crash \
	tests/test_served_errors \
	tests/test_session_directories \
	tests/test_crash \
	tests/test_tools \
	tests/test_long_run \
	tests/test_export_import \
	tests/test_sessions_cli \
	tests/test_memory_cli

UNIT_TESTS = \
	tests/test_acp_agent \
	tests/test_acp_client \
	tests/test_acp_prompt \
	tests/test_acp_terminals \
	tests/test_acp_odd_client \
	tests/test_acp_updates \
	tests/test_acp_words \
	tests/test_agent \
	tests/test_agent_budget \
	tests/test_agent_compaction \
	tests/test_agent_tools \
	tests/test_answers \
	tests/test_approval \
	tests/test_approval_overlay \
	tests/test_authority \
	tests/test_bare \
	tests/test_base64 \
	tests/test_budget \
	tests/test_buf_vec \
	tests/test_capabilities \
	tests/test_captures \
	tests/test_charset \
	tests/test_catalog \
	tests/test_clipboard \
	tests/test_chunk \
	tests/test_choose \
	tests/test_cli \
	tests/test_commands \
	tests/test_compact_extract \
	tests/test_compact_ladder \
	tests/test_compact_plan \
	tests/test_compact_policy \
	tests/test_compact_prospect \
	tests/test_compact_sections \
	tests/test_compact_summarisers \
	tests/test_compact_summary \
	tests/test_compaction_card \
	tests/test_compaction_detail \
	tests/test_config \
	tests/test_config_set \
	tests/test_context_view \
	tests/test_demonstration \
	tests/test_doctor \
	tests/test_directive \
	tests/test_dispatch \
	tests/test_document \
	tests/test_draft_review \
	tests/test_e2e \
	tests/test_edit_line \
	tests/test_editor \
	tests/test_embedders \
	tests/test_err \
	tests/test_errors \
	tests/test_event \
	tests/test_extraction \
	tests/test_extractor \
	tests/test_failure \
	tests/test_figure \
	tests/test_guard \
	tests/test_graph \
	tests/test_corpora \
	tests/test_corpora_turn \
	tests/test_corpora_vectors \
	tests/test_corpus_cli \
	tests/test_corpus_files \
	tests/test_corpus_operations \
	tests/test_corpus_tools \
	tests/test_corpus_view \
	tests/test_instructions \
	tests/test_graph_cli \
	tests/test_graph_delete \
	tests/test_graph_health \
	tests/test_graph_lines \
	tests/test_graph_operations \
	tests/test_graph_search \
	tests/test_graph_tools \
	tests/test_graph_view \
	tests/test_health \
	tests/test_footprint \
	tests/test_forgotten \
	tests/test_fork \
	tests/test_fuzz_seeds \
	tests/test_history \
	tests/test_http_feed \
	tests/test_http_requests \
	tests/test_log_messages \
	tests/test_hnsw \
	tests/test_http \
	tests/test_http_limits \
	tests/test_image_file \
	tests/test_import_text \
	tests/test_input \
	tests/test_interrupt \
	tests/test_journal_compact \
	tests/test_journal_show \
	tests/test_json \
	tests/test_keymap \
	tests/test_link \
	tests/test_learned \
	tests/test_learned_cli \
	tests/test_learned_prompt \
	tests/test_learned_view \
	tests/test_list \
	tests/test_mcp \
	tests/test_mcp_admit \
	tests/test_mcp_http \
	tests/test_mailbox \
	tests/test_manual \
	tests/test_markdown \
	tests/test_mask \
	tests/test_memories \
	tests/test_memory_desk \
	tests/test_memory_entry \
	tests/test_memory_tool \
	tests/test_memory_content \
	tests/test_memory_follow \
	tests/test_memory_index \
	tests/test_memory_read \
	tests/test_memory_sink \
	tests/test_memory_sqlite \
	tests/test_memory_store \
	tests/test_memory_tabs \
	tests/test_memory_words \
	tests/test_places \
	tests/test_doclist \
	tests/test_random_calls \
	tests/test_rank \
	tests/test_rank_best \
	tests/test_blend \
	tests/test_tokenizer \
	tests/test_word_forms \
	tests/test_memory_line \
	tests/test_memory_pane \
	tests/test_message \
	tests/test_migrate \
	tests/test_model_server \
	tests/test_models \
	tests/test_notices \
	tests/test_notification \
	tests/test_odd_files \
	tests/test_named_sessions \
	tests/test_one_session \
	tests/test_offline \
	tests/test_operations \
	tests/test_orphans \
	tests/test_paths \
	tests/test_project \
	tests/test_probe \
	tests/test_plain \
	tests/test_projection \
	tests/test_prompt \
	tests/test_providers \
	tests/test_rebuild \
	tests/test_request_size \
	tests/test_recall \
	tests/test_removal \
	tests/test_requests \
	tests/test_rows_wrap \
	tests/test_rpc_peer \
	tests/test_run_command \
	tests/test_screen_approval \
	tests/test_screen_basic \
	tests/test_screen_commands \
	tests/test_screen_conversations \
	tests/test_screen_draft \
	tests/test_screen_compaction \
	tests/test_screen_compaction_faults \
	tests/test_screen_context \
	tests/test_screen_faults \
	tests/test_screen_corpora \
	tests/test_screen_graph \
	tests/test_screen_learned \
	tests/test_screen_memory \
	tests/test_screen_meters \
	tests/test_screen_sessions \
	tests/test_screen_signals \
	tests/test_screen_stream \
	tests/test_screen_text \
	tests/test_screen_terminal \
	tests/test_search_files \
	tests/test_secrets \
	tests/test_sentences \
	tests/test_separation \
	tests/test_serve_contract \
	tests/test_serve_events \
	tests/test_serve_http \
	tests/test_serve_loop \
	tests/test_serve_socket \
	tests/test_serve_stdio \
	tests/test_serve_tails \
	tests/test_server_figures \
	tests/test_service \
	tests/test_service_compaction \
	tests/test_service_edges \
	tests/test_service_learned \
	tests/test_sessions_screen \
	tests/test_shape \
	tests/test_snapshot \
	tests/test_sse \
	tests/test_status \
	tests/test_store \
	tests/test_theme \
	tests/test_theme_contrast \
	tests/test_toolset \
	tests/test_transcript \
	tests/test_transcripts \
	tests/test_two_processes \
	tests/test_url \
	tests/test_utf8 \
	tests/test_uuid \
	tests/test_wiring \
	tests/test_worker \
	tests/test_view \
	tests/test_vectors \
	tests/test_write_file

# Minutes each: `make check-long` runs these, `make check` does not. tests/campaign_NAME.c.
CAMPAIGNS = \
	tests/campaign_hostile \
	tests/campaign_kill \
	tests/campaign_torture
tests_campaign_torture_SOURCES = \
	tests/campaign_torture.c \
	tests/torture/steps.c tests/torture/steps.h \
	tests/torture/trial.c tests/torture/trial.h

# Scripts that look at the source and the catalogues.
SCRIPT_TESTS = \
	tests/bootstrap.sh \
	tests/layering.sh \
	tests/catalogues.sh \
	tests/manual.sh \
	tests/map.sh \
	tests/units.sh \
	doc/example-http.sh \
	doc/example-mcp.sh \
	doc/example-acp.sh \
	doc/example-jsonrpc.sh

tests_libsupport_a_SOURCES = \
	bench/exam.c bench/exam.h \
	bench/exam_score.c bench/exam_score.h \
	bench/exam_store.c bench/exam_store.h \
	tests/any_compaction.c tests/any_compaction.h \
	tests/chunk_check.c tests/chunk_check.h \
	tests/conversation.c tests/conversation.h \
	tests/damage.c tests/damage.h \
	tests/documents.c tests/documents.h \
	tests/facts.c tests/facts.h \
	tests/fault_vfs.c tests/fault_vfs.h \
	tests/history_check.c tests/history_check.h \
	tests/http_client.c tests/http_client.h \
	tests/imported.c tests/imported.h \
	tests/kill_campaign.c tests/kill_campaign.h tests/kill_private.h \
	tests/kill_chat.c \
	tests/kill_commands.c tests/kill_commands.h \
	tests/kill_memory.c \
	tests/kill_sessions.c \
	tests/kill_turns.c \
	tests/kill_files.c tests/kill_files.h \
	tests/kill_model.c tests/kill_model.h \
	tests/kill_script.c tests/kill_script.h \
	tests/kill_watch.c tests/kill_watch.h \
	tests/long_run.c tests/long_run.h \
	tests/memory_store.c tests/memory_store.h \
	tests/default_signals.c tests/default_signals.h \
	tests/model_dialects.c tests/model_dialects.h \
	tests/model_embeddings.c \
	tests/model_listings.c \
	tests/model_server.c tests/model_server.h \
	tests/raw_server.c tests/raw_server.h \
	tests/play.c tests/play.h \
	tests/program.c tests/program.h \
	tests/record.c tests/record.h \
	tests/scene.c tests/scene.h \
	tests/scripted_summary.c tests/scripted_summary.h \
	tests/screen.c tests/screen.h \
	tests/seen.c tests/seen.h \
	 \
	tests/stage.c tests/stage.h \
	tests/steps.c tests/steps.h \
	tests/served.c tests/served.h \
	tests/shelf.c tests/shelf.h \
	tests/simple_store.c tests/simple_store.h tests/simple_store_private.h \
	tests/simple_store_read.c \
	tests/still_app.c tests/still_app.h \
	tests/json_schema.c tests/json_schema.h \
	tests/rpc_client.c tests/rpc_client.h \
	tests/suite.c tests/suite.h \
	tests/support.c tests/support.h \
	tests/surface.c tests/surface.h \
	tests/talk.c tests/talk.h \
	tests/told.c tests/told.h \
	tests/workplace.c tests/workplace.h \
	tests/zip_file.c tests/zip_file.h

# Short names, which are theirs alone.
tests_test_acp_agent_SOURCES = tests/test_acp_agent.c tests/acp_client.c tests/acp_client.h
tests_test_acp_client_SOURCES = tests/test_acp_client.c tests/acp_client.c
tests_test_acp_terminals_SOURCES = tests/test_acp_terminals.c tests/acp_client.c
tests_test_acp_odd_client_SOURCES = tests/test_acp_odd_client.c tests/acp_client.c

# The scripted server on its own, for measuring and for trying the screen by hand.
EXTRA_PROGRAMS += tests/model-server
tests_model_server_SOURCES = tests/model_server_main.c

tests_campaign_hostile_SOURCES = \
	tests/campaign_hostile.c \
	tests/hostile/answer.c tests/hostile/answer.h \
	tests/hostile/form.c tests/hostile/form.h \
	tests/hostile/inspect.c tests/hostile/inspect.h \
	tests/hostile/mode.c tests/hostile/mode.h \
	tests/hostile/modes_call.c \
	tests/hostile/modes_connection.c \
	tests/hostile/modes_figure.c \
	tests/hostile/modes_framing.c \
	tests/hostile/modes_head.c \
	tests/hostile/modes_json.c \
	tests/hostile/modes_listing.c \
	tests/hostile/modes_status.c \
	tests/hostile/modes_stream.c \
	tests/hostile/modes_text.c \
	tests/hostile/server.c tests/hostile/server.h \
	tests/hostile/surface.c tests/hostile/surface.h \
	tests/hostile/visit.c tests/hostile/visit.h

EXTRA_DIST += \
	tests/counterparts/acp_acpx.mjs \
	tests/counterparts/acp_client.mjs \
	tests/counterparts/acp_model.mjs \
	tests/counterparts/acp_place.mjs \
	tests/counterparts/acp_sdk.mjs \
	tests/counterparts/acp_wire.mjs \
	tests/counterparts/contract.mjs \
	tests/counterparts/mcp_conformance.mjs \
	tests/counterparts/mcp_expected_2025-11-25.yaml \
	tests/counterparts/mcp_expected_2026-07-28.yaml \
	tests/counterparts/mcp_inspector.mjs \
	tests/counterparts/mcp_place.mjs \
	tests/counterparts/mcp_sdk.mjs \
	tests/counterparts/package-lock.json \
	tests/counterparts/package.json \
	tests/counterparts/run

EXTRA_DIST += doc/screens/answer.txt doc/screens/compaction.txt doc/screens/context.txt \
	doc/screens/empty.txt doc/screens/memory.txt doc/screens/tools.txt
EXTRA_DIST += $(SCRIPT_TESTS) doc/record.sh tests/valgrind.sh tests/valgrind.supp
EXTRA_DIST += tests/directives/english.txt tests/directives/french.txt tests/directives/german.txt \
	tests/directives/spanish.txt
TEST_EXTENSIONS = .sh
SH_LOG_COMPILER = $(SHELL)

if HAVE_TEST_LIBRARIES
check_LIBRARIES += tests/libsupport.a
check_PROGRAMS += $(LONG_TESTS) $(UNIT_TESTS)
EXTRA_PROGRAMS += $(CAMPAIGNS)
TESTS += $(LONG_TESTS) $(UNIT_TESTS) $(SCRIPT_TESTS)
else
check-local:
	@echo 'The tests need libraries that are not here:$(TESTS_MISSING)' >&2
	@echo 'On Debian: apt-get install libcmocka-dev libmicrohttpd-dev libvterm-dev; then run configure again.' >&2
	@exit 1
endif

# What the campaign of failing calls loads before the program.
TORTURE_FILES = tests/torture/calls.c tests/torture/leaks.c tests/torture/point.c
EXTRA_DIST += $(TORTURE_FILES) tests/torture/torture.h
CLEANFILES += tests/torture.so
if HAVE_TORTURE
TORTURE_LIBRARY = tests/torture.so
tests/torture.so: $(TORTURE_FILES) tests/torture/torture.h
	@$(MKDIR_P) tests
	$(AM_V_CCLD)cd $(srcdir) && $(CC) $(OUR_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -I. -fPIC -shared \
		-ftls-model=initial-exec -o '$(abs_top_builddir)/$@' $(TORTURE_FILES) -lgcc_s
endif

# Every call of the scripted session fails once, or more. Hours; TORTURE='file network' STEP=delete
# for some of them (tests/campaign_torture.c).
torture: tests/campaign_torture$(EXEEXT) tiro$(EXEEXT) $(TORTURE_LIBRARY)
	@$(AM_TESTS_ENVIRONMENT) TORTURE_TRIALS=$${TORTURE_TRIALS-all} tests/campaign_torture

# A conversation of 2,000 turns in every mode. Minutes.
soak: tests/test_long_run$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) SOAK_TURNS=$${SOAK_TURNS-2000} tests/test_long_run

# What takes too long for every change, each told by its name; with -j several at once. The sizes make
# less than four minutes on two cores: HACKING.md has the variables for more.
LONG_NEED = $(CAMPAIGNS) \
	tests/test_follow_crash \
	tests/test_long_run \
	tests/test_named_sessions \
	tests/test_random_calls \
	tests/test_serve_crash \
	tests/test_store_faults
LONG_RUNS = long-hostile long-torture long-faults long-random long-named long-follow long-kill long-serve \
	long-soak
check-long:
	@$(MAKE) $(AM_MAKEFLAGS) --no-print-directory -k $(LONG_RUNS)
$(LONG_RUNS): $(LONG_NEED) tiro$(EXEEXT) $(TORTURE_LIBRARY)
LONG_RUN = @$(AM_TESTS_ENVIRONMENT) \
	long() { if env "$$@"; then echo "PASS: $$*"; else echo "FAIL: $$*"; return 1; fi; }; long
long-hostile:
	$(LONG_RUN) tests/campaign_hostile
long-torture:
	$(LONG_RUN) TORTURE_TRIALS=$${TORTURE_TRIALS-200} tests/campaign_torture
long-faults:
	$(LONG_RUN) TIRO_EVERY_FAULT=1 tests/test_store_faults
long-random:
	$(LONG_RUN) RANDOM_CALLS=$${RANDOM_CALLS-8000} tests/test_random_calls
long-named:
	$(LONG_RUN) NAMED_ROUNDS=$${NAMED_ROUNDS-1000} tests/test_named_sessions
long-follow:
	$(LONG_RUN) FOLLOW_ROUNDS=$${FOLLOW_ROUNDS-100} tests/test_follow_crash
long-kill:
	$(LONG_RUN) KILL_ROUNDS=$${KILL_ROUNDS-40} tests/campaign_kill
long-serve:
	$(LONG_RUN) SERVE_ROUNDS=$${SERVE_ROUNDS-100} tests/test_serve_crash
long-soak:
	$(LONG_RUN) SOAK_TURNS=$${SOAK_TURNS-200} tests/test_long_run

# The kill campaign at its full length, and memory killed at each of its writes.
kill: tests/campaign_kill$(EXEEXT) tests/test_memory_crash$(EXEEXT) tiro$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) KILL_ROUNDS=$${ROUNDS-1000} tests/campaign_kill && \
	TIRO_EVERY_FAULT=1 tests/test_memory_crash

# A session from its beginning to its end under valgrind.
valgrind: tests/test_one_session$(EXEEXT) tiro$(EXEEXT)
	@rm -rf valgrind && $(MKDIR_P) valgrind
	@$(AM_TESTS_ENVIRONMENT) TIRO='$(abs_top_srcdir)/tests/valgrind.sh' TEST_PATIENCE=10 tests/test_one_session || \
	{ cat valgrind/*.log; exit 1; }

.PHONY: soak check-long $(LONG_RUNS) kill torture valgrind

AM_CPPFLAGS += $(CMOCKA_CFLAGS) $(MICROHTTPD_CFLAGS) $(VTERM_CFLAGS)
LDADD = tests/libsupport.a libtui.a libtiro.a $(LTLIBINTL) $(LIBINTL) $(DEPS_LIBS) \
	$(CMOCKA_LIBS) $(MICROHTTPD_LIBS) $(VTERM_LIBS) -lutil
tests_test_model_server_LDADD = $(LDADD) $(CURL_LIBS)

# Nothing of the user's account leaks into a test, and nothing of a test into the account.
AM_TESTS_ENVIRONMENT = \
	TIRO='$(abs_top_builddir)/tiro'; export TIRO; \
	SOURCE_DIR='$(abs_top_srcdir)'; export SOURCE_DIR; \
	BUILD_DIR='$(abs_top_builddir)'; export BUILD_DIR; \
	HOME='$(abs_top_builddir)/tests/home'; export HOME; \
	$(MKDIR_P) "$$HOME" || exit 1; \
	LC_ALL=C.UTF-8; export LC_ALL; \
	ASAN_OPTIONS="$${ASAN_OPTIONS-detect_leaks=1}"; export ASAN_OPTIONS; \
	UBSAN_OPTIONS="$${UBSAN_OPTIONS-print_stacktrace=1}"; export UBSAN_OPTIONS; \
	TSAN_OPTIONS="$${TSAN_OPTIONS-halt_on_error=1}"; export TSAN_OPTIONS;

clean-local:
	-rm -rf tests/home valgrind tests/fuzz/findings tests/fuzz/corpus tests/fuzz/log tests/fuzz/found
