#include "base/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool temporary_claim(int fd)
{
    struct stat st;
    flock(fd, LOCK_EX);
    return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

static void remove_abandoned(int directory, const char *name)
{
    struct stat st;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(directory, name, 0);
    close(fd);
}

void temporary_sweep(int directory, const char *beginning, size_t more)
{
    size_t len = strlen(beginning);
    int own = directory < 0 ? -1 : openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;
    while (list && (entry = readdir(list)))
        if (strlen(entry->d_name) == len + more && strncmp(entry->d_name, beginning, len) == 0)
            remove_abandoned(directory, entry->d_name);
    if (list)
        closedir(list);
    else if (own >= 0)
        close(own);
}
