libtui_a_SOURCES += \
	ui/app.c ui/app.h \
	ui/approval.c ui/approval.h \
	ui/approval_rows.c \
	ui/attention.c ui/attention.h \
	ui/bare.c ui/bare.h \
	ui/clipboard.c ui/clipboard.h \
	ui/characters.c ui/characters.h \
	ui/cluster.c ui/cluster.h \
	ui/commands.c ui/commands.h \
	ui/compact.c ui/compact.h \
	ui/compaction_card.c ui/compaction_card.h \
	ui/compaction_card_rows.c \
	ui/compaction_detail.c ui/compaction_detail.h \
	ui/compaction_detail_private.h \
	ui/compaction_detail_rows.c \
	ui/compaction_screen.c ui/compaction_screen.h \
	ui/completion.c ui/completion.h \
	ui/context_private.h \
	ui/context_rows.c \
	ui/context_screen.c ui/context_screen.h \
	ui/context_view.c ui/context_view.h \
	ui/cover.c ui/cover.h \
	ui/dispatch.c ui/dispatch.h \
	ui/draft_review.c ui/draft_review.h \
	ui/draft_review_rows.c \
	ui/draft_screen.c ui/draft_screen.h \
	ui/dropped.c ui/dropped.h \
	ui/edit_keys.c ui/edit_keys.h \
	ui/edit_line.c ui/edit_line.h \
	ui/editor.c ui/editor.h \
	ui/editor_history.c \
	ui/editor_layout.c \
	ui/editor_private.h \
	ui/editor_undo.c \
	ui/errand.c ui/errand.h \
	ui/external_editor.c ui/external_editor.h \
	ui/faults.c ui/faults.h \
	ui/find.c ui/find.h \
	ui/fork.c ui/fork.h \
	ui/format.c ui/format.h \
	ui/glyph.c ui/glyph.h \
	ui/help.c ui/help.h \
	ui/highlight.c ui/highlight.h \
	ui/hints.c ui/hints.h \
	ui/input.c ui/input.h \
	ui/item.c ui/item.h \
	ui/item_layout.c ui/item_layout.h \
	ui/jump.c ui/jump.h \
	ui/keymap.c ui/keymap.h \
	ui/languages.c \
	ui/link.c ui/link.h \
	ui/link_cells.c ui/link_cells.h \
	ui/list.c ui/list.h \
	ui/markdown.c ui/markdown.h \
	ui/markdown_blocks.c ui/markdown_blocks.h \
	ui/markdown_code.c ui/markdown_code.h \
	ui/markdown_entity.c ui/markdown_entity.h \
	ui/markdown_split.c ui/markdown_split.h \
	ui/markdown_table.c ui/markdown_table.h \
	ui/memory_line.c ui/memory_line.h \
	ui/memory_pane.c ui/memory_pane.h \
	ui/memory_pane_ahead.c \
	ui/memory_pane_asked.c \
	ui/memory_pane_edit.c \
	ui/memory_pane_head.c \
	ui/memory_pane_keys.c \
	ui/memory_pane_list.c \
	ui/memory_pane_preview.c \
	ui/memory_pane_private.h \
	ui/memory_pane_rows.c \
	ui/memory_screen.c ui/memory_screen.h \
	ui/message_row.c ui/message_row.h \
	ui/notices.c ui/notices.h \
	ui/notification.c ui/notification.h \
	ui/outline.c ui/outline.h \
	ui/outline_keys.c \
	ui/path_lister.c ui/path_lister.h \
	ui/picker.c ui/picker.h \
	ui/pin.c ui/pin.h \
	ui/probe.c ui/probe.h \
	ui/reader.c ui/reader.h \
	ui/recalled.c ui/recalled.h \
	ui/plain.c ui/plain.h \
	ui/plain_commands.c \
	ui/plain_notices.c \
	ui/plain_private.h \
	ui/plain_questions.c \
	ui/plain_reader.c ui/plain_reader.h \
	ui/plain_writer.c ui/plain_writer.h \
	ui/remark.c ui/remark.h \
	ui/replace.c ui/replace.h \
	ui/rows.c ui/rows.h \
	ui/screen.c ui/screen.h \
	ui/sessions.c ui/sessions.h \
	ui/sessions_done.c \
	ui/sessions_fields.c \
	ui/sessions_hints.c \
	ui/sessions_input.c \
	ui/sessions_keys.c \
	ui/sessions_list.c \
	ui/sessions_private.h \
	ui/sessions_rows.c \
	ui/sessions_screen.c ui/sessions_screen.h \
	ui/signals.c ui/signals.h \
	ui/status.c ui/status.h \
	ui/style.h \
	ui/styled.c \
	ui/term.c ui/term.h \
	ui/theme.c ui/theme.h \
	ui/theme_choice.c ui/theme_choice.h \
	ui/tool_row.c ui/tool_row.h \
	ui/transcript.c ui/transcript.h \
	ui/transcript_compactions.c \
	ui/transcript_find.c \
	ui/transcript_items.c ui/transcript_items.h ui/transcript_items_private.h \
	ui/transcript_pages.c \
	ui/transcript_private.h \
	ui/transcript_runs.c \
	ui/transcript_source.c \
	ui/transcript_spoken.c \
	ui/transcript_turns.c \
	ui/tty.c ui/tty.h \
	ui/turns.c ui/turns.h \
	ui/ui.c ui/ui.h \
	ui/way_back.c ui/way_back.h \
	ui/welcome.c ui/welcome.h \
	ui/wrap.c ui/wrap.h
