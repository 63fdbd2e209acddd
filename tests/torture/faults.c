/* Stands between a process and the calls that change files: counts them, and lets the N-th one go wrong.
 *
 * Preloaded into the process. Nothing happens before arm(); each child that is forked arms itself. Calls on anything but
 * regular files and folders are not counted.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum mode {
    OFF,
    COUNT,
    KILL_BEFORE,  /* the process dies right before the call */
    KILL_AFTER,   /* ... and right after it */
    ERROR_ONCE,   /* the call fails, later ones work */
    ERROR_ALL,    /* this call and all later ones fail: a disk that died */
    FULL,         /* a write takes a part of its bytes, then nothing more can be stored; removing works */
    SHORT_ONCE,   /* a write takes a part of its bytes; all later ones work */
    SHORT_KILL,   /* a write takes a part of its bytes, and the process dies at the next call */
    MEANWHILE,    /* an agent appends a line right before the call */
    FULL_STUCK,   /* FULL, and no file can be made shorter */
    FULL_MEANWHILE /* FULL, and an agent appends right behind the part that was taken */
};

enum kind { WRITES, CREATES, REMOVES, OTHER };

static enum mode mode;
static long target, seen;
static int error, full;
static const char *agent_path, *agent_line;
static char names[4096];

__attribute__((visibility("default"))) void arm(int wanted, long number, int code, const char *path, const char *line) {
    mode = wanted;
    target = number;
    error = code;
    seen = 0;
    full = 0;
    agent_path = path;
    agent_line = line;
    names[0] = 0;
}

__attribute__((visibility("default"))) long disarm(void) {
    mode = OFF;
    return seen;
}

/* The names of the calls that were counted, one letter sequence each, separated by spaces. */
__attribute__((visibility("default"))) const char *counted(void) { return names; }

#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static void agent_appends(void) {
    int descriptor = REAL(open)(agent_path, O_WRONLY | O_APPEND);
    if (descriptor < 0) return;
    size_t size = strlen(agent_line);
    if (REAL(write)(descriptor, agent_line, size) != (ssize_t)size) abort();
    close(descriptor);
}

/* What to do at a call: 0 let it through, 1 fail with errno set, 2 take a part of it. */
static int at_call(const char *name, enum kind kind) {
    if (mode == OFF) return 0;
    ++seen;
    if (mode == COUNT) {
        size_t used = strlen(names);
        if (used + strlen(name) + 2 < sizeof names) {
            strcat(names, name);
            strcat(names, " ");
        }
        return 0;
    }
    if (full && mode == SHORT_KILL) raise(SIGKILL);
    if (full && (kind == WRITES || kind == CREATES)) {
        errno = ENOSPC;
        return 1;
    }
    if (full && mode == FULL_STUCK && strncmp(name, "ftruncate", 9) == 0) {
        errno = EIO;
        return 1;
    }
    if (seen < target) return 0;
    if (mode == ERROR_ALL) {
        errno = error;
        return 1;
    }
    if (seen != target) return 0;
    switch (mode) {
    case KILL_BEFORE:
        raise(SIGKILL);
        return 0;
    case ERROR_ONCE:
        errno = error;
        return 1;
    case FULL:
    case FULL_STUCK:
    case FULL_MEANWHILE:
    case SHORT_KILL:
        full = 1;
        if (kind == WRITES) return 2;
        if (kind == CREATES) {
            errno = ENOSPC;
            return 1;
        }
        return 0;
    case SHORT_ONCE:
        return kind == WRITES ? 2 : 0;
    case MEANWHILE:
        agent_appends();
        return 0;
    default:
        return 0;
    }
}

static void after_call(void) {
    if (seen != target) return;
    if (mode == KILL_AFTER) raise(SIGKILL);
    if (mode == FULL_MEANWHILE) agent_appends();
}

static int is_file(int descriptor) {
    struct stat found;
    return mode != OFF && fstat(descriptor, &found) == 0 && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode));
}

/* Bytes that are there already can be written over on a full disk. */
static enum kind inside(int descriptor, size_t size, off64_t at) {
    struct stat found;
    return fstat(descriptor, &found) == 0 && at + (off64_t)size <= found.st_size ? OTHER : WRITES;
}

/* The part of a write that is taken: its first byte, all but its last one, or half of it. */
static size_t part(size_t size) {
    if (size < 2) return size;
    return error == 1 ? 1 : error == 2 ? size - 1 : size / 2;
}

#define GUARDED(type, name, kind, ...)                      \
    if (at_call(#name, kind) == 1) return (type)-1;         \
    type result = REAL(name)(__VA_ARGS__);                  \
    int kept = errno;                                       \
    after_call();                                           \
    errno = kept;                                           \
    return result;

#define WRITING(name, size, kind, ...)                      \
    if (!is_file(descriptor)) return REAL(name)(__VA_ARGS__); \
    int what = at_call(#name, kind);                        \
    if (what == 1) return -1;                               \
    if (what == 2) size = part(size);                       \
    ssize_t result = REAL(name)(__VA_ARGS__);               \
    int kept = errno;                                       \
    after_call();                                           \
    errno = kept;                                           \
    return result;

ssize_t write(int descriptor, const void *data, size_t size) { WRITING(write, size, WRITES, descriptor, data, size) }
ssize_t pwrite(int descriptor, const void *data, size_t size, off_t at) {
    WRITING(pwrite, size, inside(descriptor, size, at), descriptor, data, size, at)
}
ssize_t pwrite64(int descriptor, const void *data, size_t size, off64_t at) {
    WRITING(pwrite64, size, inside(descriptor, size, at), descriptor, data, size, at)
}
ssize_t sendfile(int descriptor, int from, off_t *at, size_t size);
ssize_t sendfile(int descriptor, int from, off_t *at, size_t size) {
    WRITING(sendfile, size, WRITES, descriptor, from, at, size)
}
ssize_t sendfile64(int descriptor, int from, off64_t *at, size_t size);
ssize_t sendfile64(int descriptor, int from, off64_t *at, size_t size) {
    WRITING(sendfile64, size, WRITES, descriptor, from, at, size)
}

#define OPENING(name, ...)                                  \
    int rights = 0;                                         \
    if (flags & (O_CREAT | O_TMPFILE)) {                    \
        va_list rest;                                       \
        va_start(rest, flags);                              \
        rights = va_arg(rest, int);                         \
        va_end(rest);                                       \
    }                                                       \
    if (!(flags & O_CREAT)) return REAL(name)(__VA_ARGS__); \
    GUARDED(int, name, CREATES, __VA_ARGS__)

int open(const char *path, int flags, ...) { OPENING(open, path, flags, rights) }
int open64(const char *path, int flags, ...) { OPENING(open64, path, flags, rights) }
int openat(int folder, const char *path, int flags, ...) { OPENING(openat, folder, path, flags, rights) }
int openat64(int folder, const char *path, int flags, ...) { OPENING(openat64, folder, path, flags, rights) }

int fsync(int descriptor) { GUARDED(int, fsync, OTHER, descriptor) }
int fdatasync(int descriptor) { GUARDED(int, fdatasync, OTHER, descriptor) }
int ftruncate(int descriptor, off_t size) { GUARDED(int, ftruncate, OTHER, descriptor, size) }
int ftruncate64(int descriptor, off64_t size) { GUARDED(int, ftruncate64, OTHER, descriptor, size) }
int rename(const char *from, const char *to) { GUARDED(int, rename, OTHER, from, to) }
int renameat(int one, const char *from, int other, const char *to) { GUARDED(int, renameat, OTHER, one, from, other, to) }
int link(const char *from, const char *to) { GUARDED(int, link, CREATES, from, to) }
int linkat(int one, const char *from, int other, const char *to, int flags) {
    GUARDED(int, linkat, CREATES, one, from, other, to, flags)
}
int unlink(const char *path) { GUARDED(int, unlink, REMOVES, path) }
int unlinkat(int folder, const char *path, int flags) { GUARDED(int, unlinkat, REMOVES, folder, path, flags) }
int rmdir(const char *path) { GUARDED(int, rmdir, REMOVES, path) }
int mkdir(const char *path, mode_t rights) { GUARDED(int, mkdir, CREATES, path, rights) }
int mkdirat(int folder, const char *path, mode_t rights) { GUARDED(int, mkdirat, CREATES, folder, path, rights) }
int chmod(const char *path, mode_t rights) { GUARDED(int, chmod, OTHER, path, rights) }
int fchmod(int descriptor, mode_t rights) { GUARDED(int, fchmod, OTHER, descriptor, rights) }
int fchmodat(int folder, const char *path, mode_t rights, int flags) {
    GUARDED(int, fchmodat, OTHER, folder, path, rights, flags)
}
int utimensat(int folder, const char *path, const struct timespec times[2], int flags) {
    GUARDED(int, utimensat, OTHER, folder, path, times, flags)
}
int futimens(int descriptor, const struct timespec times[2]) { GUARDED(int, futimens, OTHER, descriptor, times) }
int flock(int descriptor, int operation);
int flock(int descriptor, int operation) { GUARDED(int, flock, OTHER, descriptor, operation) }
