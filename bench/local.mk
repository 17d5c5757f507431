# A program that measures: `make bench`, never part of `make check`. BENCH="start idle" takes some
# of start idle stream bulk resume interrupt scale compaction memory facts recall corpora serve import space;
# MEMORY_ENTRIES=1000000 measures memory at that size alone, GRAPH_ENTITIES=1000 the graph.
EXTRA_PROGRAMS += bench/tiro-bench
CLEANFILES += bench/tiro-bench$(EXEEXT)

bench_tiro_bench_SOURCES = \
	bench/chat.c bench/chat.h \
	bench/command.c bench/command.h \
	bench/facts_probe.c \
	bench/graph_peer.h \
	bench/documents.c bench/documents.h \
	bench/exam.c bench/exam.h \
	bench/exam_encoder.c bench/exam_encoder.h \
	bench/exam_plain.c bench/exam_plain.h \
	bench/exam_score.c bench/exam_score.h \
	bench/exam_store.c bench/exam_store.h \
	bench/main.c \
	bench/make_session.c bench/make_session.h \
	bench/make_store.c bench/make_store.h \
	bench/measure_bulk.c \
	bench/measure_compaction.c \
	bench/measure_corpora.c \
	bench/measure_facts.c \
	bench/measure_idle.c \
	bench/measure_import.c \
	bench/measure_interrupt.c \
	bench/measure_long_sessions.c \
	bench/measure_many_sessions.c \
	bench/measure_memory.c \
	bench/measure_reach.c \
	bench/measure_recall.c \
	bench/measure_resume.c \
	bench/measure_serve.c \
	bench/measure_space.c \
	bench/measure_start.c \
	bench/measure_stream.c \
	bench/measures.h \
	bench/memory_probe.c bench/memory_probe.h \
	bench/memory_probe_plain.c \
	bench/memory_probe_vectors.c \
	bench/memory_texts.c bench/memory_texts.h \
	bench/piped.c bench/piped.h \
	bench/process.c bench/process.h \
	bench/prose.c bench/prose.h \
	bench/source.c bench/source.h \
	bench/served_events.c bench/served_events.h \
	bench/stamped.c bench/stamped.h \
	bench/space_servers.c \
	bench/table.c bench/table.h \
	bench/write_session.c bench/write_session.h \
	tests/default_signals.c tests/default_signals.h \
	tests/model_dialects.c tests/model_dialects.h \
	tests/model_embeddings.c \
	tests/model_listings.c \
	tests/model_server.c tests/model_server.h \
	tests/screen.c tests/screen.h
# hnswlib to compare with, where there is one.
if HAVE_HNSWLIB
bench_tiro_bench_SOURCES += bench/graph_peer.cc
else
bench_tiro_bench_SOURCES += bench/graph_peer_none.c
endif
EXTRA_DIST += bench/graph_peer.cc bench/graph_peer_none.c bench/opencode.sh
# Other programs for `reach` (doc/reach.md).
EXTRA_DIST += bench/adapters/opencode.mjs bench/adapters/pi.mjs
bench_tiro_bench_LDADD = libtiro.a $(LTLIBINTL) $(LIBINTL) $(DEPS_LIBS) $(MICROHTTPD_LIBS) \
	$(VTERM_LIBS) -lutil

# Conversations and questions of ours that `recall` asks (bench/exam.h): assistant is talk of a
# person with a model, friends and recall is short talk, mostly between two people, each by authors
# of its own. bench/tiro-bench recall DIR takes others.
# Documents, the source code and questions of ours (bench/documents.h).
EXTRA_DIST += \
	bench/documents/allotment.md \
	bench/unrelated.txt \
	bench/code.jsonl \
	bench/documents.jsonl \
	bench/documents/backup.md \
	bench/documents/bicycle.md \
	bench/documents/camera.md \
	bench/documents/choir.md \
	bench/documents/espresso.md \
	bench/documents/greenhouse.md \
	bench/documents/heatpump.md \
	bench/documents/insurance.md \
	bench/documents/laboratory.md \
	bench/documents/sailing.md \
	bench/documents/telescope.md
EXTRA_DIST += \
	bench/assistant/coding-c.jsonl \
	bench/assistant/coding-go.jsonl \
	bench/assistant/coding-python.jsonl \
	bench/assistant/coding-rust.jsonl \
	bench/assistant/coding-typescript.jsonl \
	bench/assistant/family-papers.jsonl \
	bench/assistant/health-knee.jsonl \
	bench/assistant/health-sleep.jsonl \
	bench/assistant/held.jsonl \
	bench/assistant/house-renovation.jsonl \
	bench/assistant/kitchen-choir.jsonl \
	bench/assistant/learning-stats.jsonl \
	bench/assistant/money.jsonl \
	bench/assistant/questions.jsonl \
	bench/assistant/sysadmin-home.jsonl \
	bench/assistant/sysadmin-office.jsonl \
	bench/assistant/travel-family.jsonl \
	bench/assistant/travel-japan.jsonl \
	bench/assistant/writing-novel.jsonl \
	bench/friends/delphine-tomasz.jsonl \
	bench/friends/marisol-teodor.jsonl \
	bench/friends/questions.jsonl \
	bench/friends/ruth-emeka.jsonl \
	bench/friends/tamsin-declan.jsonl \
	bench/recall/anna-ben.jsonl \
	bench/recall/hugo-fatima.jsonl \
	bench/recall/ines-walter.jsonl \
	bench/recall/mara-tobias.jsonl \
	bench/recall/nadia-tiro.jsonl \
	bench/recall/oskar-tiro.jsonl \
	bench/recall/priya-leo.jsonl \
	bench/recall/questions.jsonl \
	bench/recall/sam-joan.jsonl \
	bench/recall/yuki-carla.jsonl

bench: tiro$(EXEEXT) bench/tiro-bench$(EXEEXT)
	TIRO='$(abs_top_builddir)/tiro' RECALL_SETS='$(srcdir)/bench' \
		bench/tiro-bench $(BENCH)

.PHONY: bench
