/* Invitations to a shared space: a text without blanks that one person sends to another. The text
 * opens nothing: who has it still needs the carrier to let him in, and, for a sealed space, an
 * owner's program, which gives the keys to the first one who proves that he has it. */
#ifndef SPACE_INVITATION_H
#define SPACE_INVITATION_H

#include "space/carrier.h"

struct space_invitation {
    char id[UUID_LEN + 1]; /* of the space */
    char *name;
    char *url; /* as the inviting machine has it, without name and password */
    enum space_role role;
    char *owner; /* public key of the inviting machine, Base64; NULL: the space is not sealed */
    char *token; /* random, Base64; NULL: likewise */
};
void space_invitation_release(struct space_invitation *i);

/* The caller frees. Person and password are left out of the URL. */
char *space_invitation_write(const struct space_invitation *i);

/* USAGE for a text that is damaged or not whole. */
bool space_invitation_read(const char *code, struct space_invitation *out, struct error *e);

#endif
