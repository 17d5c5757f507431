libtiro_a_SOURCES += \
	src/space/carrier.c src/space/carrier.h \
	src/space/folder.c \
	src/space/invitation.c src/space/invitation.h \
	src/space/keys.c src/space/keys.h src/space/keys_private.h \
	src/space/members.c \
	src/space/postgresql.c \
	src/space/postgresql_link.c src/space/postgresql_link.h \
	src/space/postgresql_schema.c src/space/postgresql_schema.h \
	src/space/replica.c \
	src/space/space.c src/space/space.h
