libtiro_a_SOURCES += \
	src/compact/compact.c \
	src/compact/compact.h \
	src/compact/discard.h \
	src/compact/extract.c \
	src/compact/extract.h \
	src/compact/mode.c \
	src/compact/mode.h \
	src/compact/plan.c \
	src/compact/plan.h \
	src/compact/policy.c \
	src/compact/policy.h \
	src/compact/summary.c \
	src/compact/summary.h
