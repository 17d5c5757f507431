# Files of tests are linked into one program, tests/suite, which runs the file that it is told (tests/suite.h). For automake a
# file of tests is a test: make -C build check TESTS=tests/test_json.c runs it alone.
# The files that take longest come first, so that none is left running alone at the end.
SUITE_TESTS = \
	tests/test_flood.c \
	tests/test_serve_events.c \
	tests/test_import_text.c \
	tests/test_import_claude.c \
	tests/test_import_deletion.c \
	tests/test_import_scan.c \
	tests/test_import_cli.c \
	tests/test_import_desk.c \
	tests/test_space.c \
	tests/test_import_watch.c \
	tests/test_space_cli.c \
	tests/test_space_desk.c \
	tests/test_import_simple.c \
	tests/test_import_aichat.c \
	tests/test_import_antigravity.c \
	tests/test_import_codex.c \
	tests/test_import_editors.c \
	tests/test_import_exports.c \
	tests/test_import_gemini.c \
	tests/test_import_hostile.c \
	tests/test_import_opencode.c \
	tests/test_import_tables.c \
	tests/test_memory_index.c \
	tests/test_serve_http.c \
	tests/test_screen_compaction.c \
	tests/test_screen_stream.c \
	tests/test_screen_mentions.c \
	tests/test_screen_terminal.c \
	tests/test_screen_memory.c \
	tests/test_follow_crash.c \
	tests/test_store_faults.c \
	tests/test_hostile_documents.c \
	tests/test_task.c \
	tests/test_child.c \
	tests/test_sandbox.c \
	tests/test_completion.c \
	tests/test_damaged_stores.c \
	tests/test_recall_quality.c \
	tests/test_compact_properties.c \
	tests/test_memory_crash.c \
	tests/test_conversations.c \
	tests/test_engine_serves.c \
	tests/test_serve_crash.c \
	tests/test_served_errors.c \
	tests/test_session_directories.c \
	tests/test_crash.c \
	tests/test_tool_mcp.c \
	tests/test_tools.c \
	tests/test_long_run.c \
	tests/test_export_import.c \
	tests/test_sessions_cli.c \
	tests/test_memory_cli.c \
	tests/test_plugin.c \
	tests/test_acp_agent.c \
	tests/test_acp_client.c \
	tests/test_acp_prompt.c \
	tests/test_acp_terminals.c \
	tests/test_acp_odd_client.c \
	tests/test_acp_updates.c \
	tests/test_acp_words.c \
	tests/test_agent.c \
	tests/test_agent_compaction.c \
	tests/test_hooks.c \
	tests/test_trust.c \
	tests/test_trust_question.c \
	tests/test_answers.c \
	tests/test_approval.c \
	tests/test_approval_overlay.c \
	tests/test_authority.c \
	tests/test_base64.c \
	tests/test_budget.c \
	tests/test_buf_vec.c \
	tests/test_capabilities.c \
	tests/test_captures.c \
	tests/test_languages.c \
	tests/test_change.c \
	tests/test_charset.c \
	tests/test_catalog.c \
	tests/test_clipboard.c \
	tests/test_welcome.c \
	tests/test_chunk.c \
	tests/test_choose.c \
	tests/test_cli.c \
	tests/test_compact_extract.c \
	tests/test_compact_ladder.c \
	tests/test_compact_plan.c \
	tests/test_compact_policy.c \
	tests/test_compact_summary.c \
	tests/test_compaction_card.c \
	tests/test_compaction_detail.c \
	tests/test_config.c \
	tests/test_config_set.c \
	tests/test_context_view.c \
	tests/test_demonstration.c \
	tests/test_doctor.c \
	tests/test_directive.c \
	tests/test_document.c \
	tests/test_draft_review.c \
	tests/test_e2e.c \
	tests/test_edit_file.c \
	tests/test_editor.c \
	tests/test_elicitation.c \
	tests/test_embedders.c \
	tests/test_err.c \
	tests/test_errors.c \
	tests/test_event.c \
	tests/test_extraction.c \
	tests/test_extractor.c \
	tests/test_failure.c \
	tests/test_fetch.c \
	tests/test_figure.c \
	tests/test_guard.c \
	tests/test_graph.c \
	tests/test_corpora.c \
	tests/test_corpora_turn.c \
	tests/test_corpora_vectors.c \
	tests/test_corpus_files.c \
	tests/test_corpus_view.c \
	tests/test_instructions.c \
	tests/test_graph_lines.c \
	tests/test_knowledge_operations.c \
	tests/test_knowledge_tools.c \
	tests/test_graph_view.c \
	tests/test_health.c \
	tests/test_footprint.c \
	tests/test_forgotten.c \
	tests/test_fork.c \
	tests/test_first_message.c \
	tests/test_fuzz_seeds.c \
	tests/test_history.c \
	tests/test_http_feed.c \
	tests/test_http_requests.c \
	tests/test_log_messages.c \
	tests/test_hnsw.c \
	tests/test_image_file.c \
	tests/test_input.c \
	tests/test_interrupt.c \
	tests/test_journal_compact.c \
	tests/test_journal_show.c \
	tests/test_json.c \
	tests/test_keymap.c \
	tests/test_link.c \
	tests/test_learned.c \
	tests/test_knowledge_cli.c \
	tests/test_learned_view.c \
	tests/test_list.c \
	tests/test_mcp.c \
	tests/test_mcp_admit.c \
	tests/test_mcp_http.c \
	tests/test_mcp_prompts.c \
	tests/test_mailbox.c \
	tests/test_manual.c \
	tests/test_markdown.c \
	tests/test_mask.c \
	tests/test_memories.c \
	tests/test_memory_desk.c \
	tests/test_memory_entry.c \
	tests/test_memory_tool.c \
	tests/test_memory_content.c \
	tests/test_memory_follow.c \
	tests/test_memory_read.c \
	tests/test_memory_sink.c \
	tests/test_memory_sqlite.c \
	tests/test_mcp_client.c \
	tests/test_mcp_config.c \
	tests/test_mcp_operations.c \
	tests/test_memory_store.c \
	tests/test_memory_tabs.c \
	tests/test_memory_words.c \
	tests/test_places.c \
	tests/test_doclist.c \
	tests/test_random_calls.c \
	tests/test_rank.c \
	tests/test_blend.c \
	tests/test_tokenizer.c \
	tests/test_word_forms.c \
	tests/test_memory_line.c \
	tests/test_memory_pane.c \
	tests/test_message.c \
	tests/test_migrate.c \
	tests/test_models.c \
	tests/test_notices.c \
	tests/test_odd_files.c \
	tests/test_named_sessions.c \
	tests/test_one_session.c \
	tests/test_offline.c \
	tests/test_operations.c \
	tests/test_orphans.c \
	tests/test_paths.c \
	tests/test_permissions.c \
	tests/test_project.c \
	tests/test_probe.c \
	tests/test_plain.c \
	tests/test_plugins.c \
	tests/test_projection.c \
	tests/test_prompt.c \
	tests/test_providers.c \
	tests/test_questions.c \
	tests/test_simple_command.c \
	tests/test_skill_turns.c \
	tests/test_attach.c \
	tests/test_restore.c \
	tests/test_restore_view.c \
	tests/test_skills.c \
	tests/test_rebuild.c \
	tests/test_request_size.c \
	tests/test_recall.c \
	tests/test_removal.c \
	tests/test_requests.c \
	tests/test_responses.c \
	tests/test_rows_wrap.c \
	tests/test_rpc_peer.c \
	tests/test_run_command.c \
	tests/test_screen_basic.c \
	tests/test_screen_sessions.c \
	tests/test_search_files.c \
	tests/test_secrets.c \
	tests/test_sentences.c \
	tests/test_separation.c \
	tests/test_serve_contract.c \
	tests/test_serve_loop.c \
	tests/test_serve_socket.c \
	tests/test_serve_stdio.c \
	tests/test_serve_tails.c \
	tests/test_server_figures.c \
	tests/test_service.c \
	tests/test_service_compaction.c \
	tests/test_service_edges.c \
	tests/test_service_learned.c \
	tests/test_sessions_screen.c \
	tests/test_shape.c \
	tests/test_snapshot.c \
	tests/test_space_keys.c \
	tests/test_space_carrier.c \
	tests/test_space_postgresql.c \
	tests/test_sse.c \
	tests/test_status.c \
	tests/test_store.c \
	tests/test_theme.c \
	tests/test_toolset.c \
	tests/test_transcript.c \
	tests/test_transcripts.c \
	tests/test_two_processes.c \
	tests/test_url.c \
	tests/test_utf8.c \
	tests/test_uuid.c \
	tests/test_web_search.c \
	tests/test_wiring.c \
	tests/test_worker.c \
	tests/test_view.c \
	tests/test_vectors.c \
	tests/test_write_file.c

# These replace functions of the program (engine_start(), getaddrinfo(), unlink()), so each is a program of its own.
SOLE_TESTS = \
	tests/test_recover \
	tests/test_commands \
	tests/test_http

# Minutes each: `make check-long` runs these, `make check` does not. tests/campaign_NAME.c.
CAMPAIGNS = \
	tests/campaign_hostile \
	tests/campaign_kill \
	tests/campaign_torture
tests_campaign_torture_SOURCES = \
	tests/campaign_torture.c \
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
	bench/exam_encoder.c bench/exam_encoder.h \
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
	tests/import_case.c tests/import_case.h \
	tests/kept.h \
	tests/kill_campaign.c tests/kill_campaign.h tests/kill_private.h \
	tests/kill_chat.c \
	tests/kill_commands.c \
	tests/kill_files.c tests/kill_files.h \
	tests/kill_import.c \
	tests/kill_model.c tests/kill_model.h \
	tests/kill_script.c tests/kill_script.h \
	tests/kill_watch.c tests/kill_watch.h \
	tests/memory_store.c tests/memory_store.h \
	tests/default_signals.c tests/default_signals.h \
	tests/model_dialects.c tests/model_dialects.h \
	tests/model_embeddings.c \
	tests/model_listings.c \
	tests/model_server.c tests/model_server.h \
	tests/raw_server.c tests/raw_server.h \
	tests/pg_server.c tests/pg_server.h \
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

tests_suite_SOURCES = $(SUITE_TESTS) tests/acp_client.c tests/acp_client.h $(FUZZ_SOURCES)
tests_suite_LDADD = $(LDADD) $(CURL_LIBS)

# The scripted server on its own, for measuring and for trying the screen by hand.
EXTRA_PROGRAMS += tests/model-server
tests_model_server_SOURCES = tests/model_server_main.c

# The scripted server that the client of MCP is tried with.
tests_mcp_server_SOURCES = tests/mcp_server_main.c

tests_campaign_hostile_SOURCES = \
	tests/campaign_hostile.c \
	tests/hostile/form.c tests/hostile/form.h \
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
	tests/counterparts/mcp_servers.mjs \
	tests/counterparts/package-lock.json \
	tests/counterparts/package.json \
	tests/counterparts/run

EXTRA_DIST += doc/screens/answer.txt doc/screens/compaction.txt doc/screens/context.txt \
	doc/screens/empty.txt doc/screens/memory.txt doc/screens/question.txt doc/screens/tools.txt
EXTRA_DIST += $(SCRIPT_TESTS) doc/record.sh tests/valgrind.sh tests/valgrind.supp
EXTRA_DIST += tests/import/aichat/tax.yaml tests/import/claude/turns.jsonl
EXTRA_DIST += tests/directives/english.txt tests/directives/french.txt tests/directives/german.txt \
	tests/directives/spanish.txt
TEST_EXTENSIONS = .c .sh
C_LOG_COMPILER = $(LOG_COMPILER) $(abs_top_builddir)/tests/suite
SH_LOG_COMPILER = $(SHELL)

if HAVE_TEST_LIBRARIES
check_LIBRARIES += tests/libsupport.a
check_PROGRAMS += tests/suite tests/mcp-server $(SOLE_TESTS)
EXTRA_PROGRAMS += $(CAMPAIGNS)
TESTS += $(SOLE_TESTS) $(SUITE_TESTS) $(SCRIPT_TESTS)
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
soak: tests/suite$(EXEEXT)
	$(AM_TESTS_ENVIRONMENT) SOAK_TURNS=$${SOAK_TURNS-2000} tests/suite test_long_run

# Runs that take too long for every change, each told by its name; with -j several at once. The sizes make
# less than five minutes on two cores: HACKING.md has the variables for more. The visits of hostile servers
# measure how soon Esc is answered, so that they come after the others.
LONG_NEED = $(CAMPAIGNS) tests/suite$(EXEEXT) tests/test_recover$(EXEEXT)
LONG_TOGETHER = long-whole long-torture long-faults long-random long-named long-import long-follow long-kill long-serve long-soak \
	long-space
LONG_RUNS = $(LONG_TOGETHER) long-hostile
check-long:
	@status=0; for runs in '$(LONG_TOGETHER)' long-hostile; do \
		$(MAKE) $(AM_MAKEFLAGS) --no-print-directory -k $$runs || status=1; done; exit $$status
$(LONG_RUNS): $(LONG_NEED) tiro$(EXEEXT) $(TORTURE_LIBRARY)
LONG_RUN = @$(AM_TESTS_ENVIRONMENT) \
	long() { if env "$$@"; then echo "PASS: $$*"; else echo "FAIL: $$*"; return 1; fi; }; long
long-hostile:
	$(LONG_RUN) tests/campaign_hostile
long-torture:
	$(LONG_RUN) TORTURE_TRIALS=$${TORTURE_TRIALS-200} tests/campaign_torture
# The files of tests of which make check runs a sample (suite_sample()).
long-whole:
	$(LONG_RUN) TEST_WHOLE=1 tests/test_recover
	$(LONG_RUN) sh -c 'for f in acp_agent child chunk compact_properties config_set doclist engine_serves export_import \
		flood forgotten history hostile_documents import_hostile journal_compact memory_content memory_crash memory_words migrate \
		projection rank recall_quality removal separation sessions_screen snapshot tokenizer two_processes; do \
		TEST_WHOLE=1 tests/suite test_$$f || exit 1; done'
long-faults:
	$(LONG_RUN) TEST_WHOLE=1 tests/suite test_store_faults
long-random:
	$(LONG_RUN) RANDOM_CALLS=$${RANDOM_CALLS-8000} tests/suite test_random_calls
long-named:
	$(LONG_RUN) NAMED_ROUNDS=$${NAMED_ROUNDS-1000} tests/suite test_named_sessions
long-import:
	$(LONG_RUN) IMPORT_ROUNDS=$${IMPORT_ROUNDS-1000} tests/suite test_import_deletion
long-follow:
	$(LONG_RUN) FOLLOW_ROUNDS=$${FOLLOW_ROUNDS-100} tests/suite test_follow_crash
long-kill:
	$(LONG_RUN) KILL_ROUNDS=$${KILL_ROUNDS-40} tests/campaign_kill
long-serve:
	$(LONG_RUN) SERVE_ROUNDS=$${SERVE_ROUNDS-100} tests/suite test_serve_crash
# A connection to PostgreSQL is cut after each SPACE_STEP-th byte.
long-space:
	$(LONG_RUN) SPACE_STEP=$${SPACE_STEP-1} TEST_WHOLE=1 sh -c 'tests/suite test_space_postgresql || [ $$? = 77 ]'
long-soak:
	$(LONG_RUN) SOAK_TURNS=$${SOAK_TURNS-200} tests/suite test_long_run

# The kill campaign at its full length, and memory killed at each of its writes.
kill: tests/campaign_kill$(EXEEXT) tests/suite$(EXEEXT) tiro$(EXEEXT)
	@$(AM_TESTS_ENVIRONMENT) KILL_ROUNDS=$${ROUNDS-1000} tests/campaign_kill && \
	TEST_WHOLE=1 tests/suite test_memory_crash

# A session from its beginning to its end under valgrind.
valgrind: tests/suite$(EXEEXT) tiro$(EXEEXT)
	@rm -rf valgrind && $(MKDIR_P) valgrind
	@$(AM_TESTS_ENVIRONMENT) TIRO='$(abs_top_srcdir)/tests/valgrind.sh' TEST_PATIENCE=10 tests/suite test_one_session || \
	{ cat valgrind/*.log; exit 1; }

.PHONY: soak check-long $(LONG_RUNS) kill torture valgrind

AM_CPPFLAGS += $(CMOCKA_CFLAGS) $(MICROHTTPD_CFLAGS) $(VTERM_CFLAGS)
LDADD = tests/libsupport.a libtui.a libtiro.a $(LTLIBINTL) $(LIBINTL) $(DEPS_LIBS) \
	$(CMOCKA_LIBS) $(MICROHTTPD_LIBS) $(VTERM_LIBS) -lutil

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
