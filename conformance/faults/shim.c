/* Faults between a process and the system: LD_PRELOAD this, see control.py.
 *
 * Calls on files below FARO_FAULT_FOLDER are counted by kind in the mapped file FARO_FAULT_CONTROL, and the one that the
 * control names goes wrong. Everything else is passed on to the kernel.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The fields and numbers of control.py. */
enum kind { OPEN, READ, WRITE, SYNC, CUT, RENAME, LINK, LOCK, UNLINK, SIZE, SEEK, KINDS, ANY = KINDS };
enum action { NOTHING, ERRNO, SHORT, SHORT_THEN_ERRNO, KILL_BEFORE, KILL_AFTER, KILL_SHORT, VANISH, SHRINK, CHANGE };

struct control {
    uint32_t armed;
    uint32_t kind;
    uint32_t action;
    uint32_t number; /* which call of the kind, counted from 0 */
    uint32_t period; /* 0: that one only; else every period-th call from it on */
    int32_t error;   /* errno */
    int64_t amount;  /* bytes of a short call, -1 for half; new size; offset of a change */
    uint32_t keep;   /* 1: nothing can be unlinked */
    uint32_t fired;
    uint32_t counts[KINDS + 1];
    char fired_path[PATH_MAX];
    char from[PATH_MAX];
    char to[PATH_MAX];
};

#define DESCRIPTORS 65536
static struct control *control;
static char folder[PATH_MAX];
static size_t folder_length;
static unsigned char watched[DESCRIPTORS];

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FARO_FAULT_CONTROL");
    const char *below = getenv("FARO_FAULT_FOLDER");
    if (name == NULL || below == NULL || strlen(below) >= sizeof folder)
        return;
    strcpy(folder, below);
    folder_length = strlen(folder);
    int descriptor = (int)syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC, 0);
    if (descriptor < 0)
        return;
    void *map = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    syscall(SYS_close, descriptor);
    if (map != MAP_FAILED)
        control = map;
}

static int is_watched_path(const char *path) {
    return control != NULL && path != NULL && strncmp(path, folder, folder_length) == 0;
}

static int is_watched(int descriptor) {
    return control != NULL && descriptor >= 0 && descriptor < DESCRIPTORS && watched[descriptor];
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;)
        pause();
}

static void link_of(int descriptor, char *text) { sprintf(text, "/proc/self/fd/%d", descriptor); }

static void note(int descriptor, const char *path) {
    char link[64];
    memset(control->fired_path, 0, sizeof control->fired_path);
    if (path != NULL) {
        strncpy(control->fired_path, path, sizeof control->fired_path - 1);
    } else {
        link_of(descriptor, link);
        syscall(SYS_readlinkat, AT_FDCWD, link, control->fired_path, sizeof control->fired_path - 1);
    }
    control->fired++;
}


/* Cuts the file of the descriptor or path, or changes one of its bytes. */
static void damage(int descriptor, const char *path) {
    char link[64];
    if (path == NULL) {
        link_of(descriptor, link);
        path = link;
    }
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (file < 0)
        return;
    if (control->action == SHRINK) {
        if (syscall(SYS_lseek, file, (off_t)0, SEEK_END) > control->amount)
            syscall(SYS_ftruncate, file, control->amount);
    } else {
        unsigned char byte = 0;
        if (syscall(SYS_pread64, file, &byte, (size_t)1, control->amount) == 1) {
            byte ^= 0x55;
            syscall(SYS_pwrite64, file, &byte, (size_t)1, control->amount);
        }
    }
    syscall(SYS_close, file);
}

enum verdict { PASS, FAIL, LESS, LESS_AND_DIE, PASS_AND_DIE };

/* Counts a call and decides its outcome. Sets errno if it fails. */
static enum verdict judge(enum kind kind, int descriptor, const char *path) {
    if (!control->armed)
        return PASS;
    uint32_t of_kind = __atomic_fetch_add(&control->counts[kind], 1, __ATOMIC_SEQ_CST);
    uint32_t of_any = __atomic_fetch_add(&control->counts[ANY], 1, __ATOMIC_SEQ_CST);
    if (kind == UNLINK && control->keep) {
        errno = EACCES;
        return FAIL;
    }
    if (control->action == NOTHING || (control->kind != ANY && control->kind != kind))
        return PASS;
    uint32_t at = control->kind == ANY ? of_any : of_kind;
    uint32_t number = control->number;
    if (control->action == SHORT_THEN_ERRNO && at > number) {
        errno = control->error;
        return FAIL;
    }
    if (at < number || (control->period == 0 ? at != number : (at - number) % control->period != 0))
        return PASS;
    note(descriptor, path);
    switch (control->action) {
    case ERRNO:
        errno = control->error;
        return FAIL;
    case SHORT:
    case SHORT_THEN_ERRNO:
        return LESS;
    case KILL_BEFORE:
        die();
        return FAIL;
    case KILL_AFTER:
        return PASS_AND_DIE;
    case KILL_SHORT:
        return LESS_AND_DIE;
    case VANISH:
        syscall(SYS_renameat2, AT_FDCWD, control->from, AT_FDCWD, control->to, 0);
        return PASS;
    default:
        damage(descriptor, path);
        return PASS;
    }
}

/* Half of one byte is one byte: zero bytes would mean the end of the file. */
static size_t less(size_t count) {
    if (control->amount < 0)
        return count - count / 2;
    return (size_t)control->amount < count ? (size_t)control->amount : count;
}

/* A call without bytes: it fails or not; it cannot be short. */
#define PLAIN(kind, watch, descriptor, path, call)                                                                     \
    do {                                                                                                               \
        enum verdict verdict = (watch) ? judge(kind, descriptor, path) : PASS;                                         \
        if (verdict == FAIL)                                                                                           \
            return -1;                                                                                                 \
        int result = (int)(call);                                                                                      \
        if (verdict == PASS_AND_DIE || verdict == LESS_AND_DIE)                                                        \
            die();                                                                                                     \
        return result;                                                                                                 \
    } while (0)

/* A call of `count` bytes at `buffer`. */
#define BYTES(kind, descriptor, count, call)                                                                           \
    do {                                                                                                               \
        size_t wanted = (count);                                                                                       \
        enum verdict verdict = is_watched(descriptor) ? judge(kind, descriptor, NULL) : PASS;                          \
        if (verdict == FAIL)                                                                                           \
            return -1;                                                                                                 \
        if (verdict == LESS || verdict == LESS_AND_DIE) {                                                              \
            wanted = less(wanted);                                                                                     \
            if (wanted == 0 && verdict == LESS)                                                                        \
                return 0;                                                                                              \
        }                                                                                                              \
        ssize_t result = (call);                                                                                       \
        if (verdict == PASS_AND_DIE || verdict == LESS_AND_DIE)                                                        \
            die();                                                                                                     \
        return result;                                                                                                 \
    } while (0)

static int opened(int descriptor, const char *path) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS)
        watched[descriptor] = (unsigned char)is_watched_path(path);
    return descriptor;
}

static int open_at(int at, const char *path, int flags, mode_t mode) {
    PLAIN(OPEN, is_watched_path(path), -1, path, opened((int)syscall(SYS_openat, at, path, flags, mode), path));
}

#define MODE                                                                                                           \
    mode_t mode = 0;                                                                                                   \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                                             \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode = va_arg(more, mode_t);                                                                                   \
        va_end(more);                                                                                                  \
    }

int open(const char *path, int flags, ...) {
    MODE
    return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE
    return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int at, const char *path, int flags, ...) {
    MODE
    return open_at(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
    MODE
    return open_at(at, path, flags | O_LARGEFILE, mode);
}
int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags | O_LARGEFILE, 0); }

int close(int descriptor) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS)
        watched[descriptor] = 0;
    return (int)syscall(SYS_close, descriptor);
}

ssize_t read(int d, void *b, size_t n) { BYTES(READ, d, n, syscall(SYS_read, d, b, wanted)); }
ssize_t pread(int d, void *b, size_t n, off_t at) { BYTES(READ, d, n, syscall(SYS_pread64, d, b, wanted, at)); }
ssize_t pread64(int d, void *b, size_t n, off64_t at) { return pread(d, b, n, at); }
ssize_t __read_chk(int d, void *b, size_t n, size_t room) { (void)room; return read(d, b, n); }
ssize_t __pread_chk(int d, void *b, size_t n, off_t at, size_t room) { (void)room; return pread(d, b, n, at); }
ssize_t __pread64_chk(int d, void *b, size_t n, off64_t at, size_t room) { (void)room; return pread(d, b, n, at); }
ssize_t write(int d, const void *b, size_t n) { BYTES(WRITE, d, n, syscall(SYS_write, d, b, wanted)); }
ssize_t pwrite(int d, const void *b, size_t n, off_t at) { BYTES(WRITE, d, n, syscall(SYS_pwrite64, d, b, wanted, at)); }
ssize_t pwrite64(int d, const void *b, size_t n, off64_t at) { return pwrite(d, b, n, at); }

static size_t size_of(const struct iovec *parts, int count) {
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    return size;
}

/* A vectored call, its parts cut to `wanted` bytes. */
static ssize_t vectored(long number, int d, const struct iovec *parts, int count, size_t wanted, off_t at) {
    struct iovec some[IOV_MAX];
    int used = 0;
    if (count > IOV_MAX) {
        errno = EINVAL;
        return -1;
    }
    for (; used < count && wanted > 0; used++) {
        some[used] = parts[used];
        if (some[used].iov_len > wanted)
            some[used].iov_len = wanted;
        wanted -= some[used].iov_len;
    }
    return syscall(number, d, some, used, at, 0);
}

ssize_t readv(int d, const struct iovec *p, int n) {
    BYTES(READ, d, size_of(p, n), vectored(SYS_readv, d, p, n, wanted, 0));
}
ssize_t preadv(int d, const struct iovec *p, int n, off_t at) {
    BYTES(READ, d, size_of(p, n), vectored(SYS_preadv, d, p, n, wanted, at));
}
ssize_t preadv64(int d, const struct iovec *p, int n, off64_t at) { return preadv(d, p, n, at); }
ssize_t writev(int d, const struct iovec *p, int n) {
    BYTES(WRITE, d, size_of(p, n), vectored(SYS_writev, d, p, n, wanted, 0));
}
ssize_t pwritev(int d, const struct iovec *p, int n, off_t at) {
    BYTES(WRITE, d, size_of(p, n), vectored(SYS_pwritev, d, p, n, wanted, at));
}
ssize_t pwritev64(int d, const struct iovec *p, int n, off64_t at) { return pwritev(d, p, n, at); }

int fsync(int d) { PLAIN(SYNC, is_watched(d), d, NULL, syscall(SYS_fsync, d)); }
int fdatasync(int d) { PLAIN(SYNC, is_watched(d), d, NULL, syscall(SYS_fdatasync, d)); }
int ftruncate(int d, off_t size) { PLAIN(CUT, is_watched(d), d, NULL, syscall(SYS_ftruncate, d, size)); }
int ftruncate64(int d, off64_t size) { return ftruncate(d, size); }
int truncate(const char *path, off_t size) {
    PLAIN(CUT, is_watched_path(path), -1, path, syscall(SYS_truncate, path, size));
}
int truncate64(const char *path, off64_t size) { return truncate(path, size); }
/* Reserving room ahead is a hint. A caller that is refused continues without it, so a fault there would have no effect.
 * While faults are counted, it is always refused; the result is the same with and without it. */
int fallocate(int d, int mode, off_t at, off_t size) {
    if (is_watched(d) && control->armed) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_fallocate, d, mode, at, size);
}
int fallocate64(int d, int mode, off64_t at, off64_t size) { return fallocate(d, mode, at, size); }
int rename(const char *from, const char *to) {
    PLAIN(RENAME, is_watched_path(to), -1, to, syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int renameat(int a, const char *from, int b, const char *to) {
    PLAIN(RENAME, is_watched_path(to), -1, to, syscall(SYS_renameat2, a, from, b, to, 0));
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    PLAIN(RENAME, is_watched_path(to), -1, to, syscall(SYS_renameat2, a, from, b, to, flags));
}
int link(const char *from, const char *to) {
    PLAIN(LINK, is_watched_path(to), -1, to, syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
    PLAIN(LINK, is_watched_path(to), -1, to, syscall(SYS_linkat, a, from, b, to, flags));
}
/* Only record locks are counted. The argument after the command is a number or a pointer, of the same size here. */
int fcntl64(int d, int command, ...) {
    va_list more;
    va_start(more, command);
    long argument = va_arg(more, long);
    va_end(more);
    int locks = command == F_SETLK || command == F_SETLKW;
    PLAIN(LOCK, locks && is_watched(d), d, NULL, syscall(SYS_fcntl, d, command, argument));
}
int fcntl(int d, int command, ...) {
    va_list more;
    va_start(more, command);
    long argument = va_arg(more, long);
    va_end(more);
    return fcntl64(d, command, argument);
}
int unlink(const char *path) {
    PLAIN(UNLINK, is_watched_path(path), -1, path, syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
int unlinkat(int at, const char *path, int flags) {
    PLAIN(UNLINK, is_watched_path(path), -1, path, syscall(SYS_unlinkat, at, path, flags));
}
int remove(const char *path) { return unlink(path); }
off_t lseek(int d, off_t at, int from) {
    if (is_watched(d) && judge(SEEK, d, NULL) == FAIL)
        return -1;
    return syscall(SYS_lseek, d, at, from);
}
off64_t lseek64(int d, off64_t at, int from) { return lseek(d, at, from); }

/* The kernel's struct may differ from the one of the C library, so the C library's function is called. */
#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))
typedef int (*stat_call)(int, void *);
int fstat(int d, struct stat *to) { PLAIN(SIZE, is_watched(d), d, NULL, NEXT("fstat", stat_call)(d, to)); }
int fstat64(int d, struct stat64 *to) { PLAIN(SIZE, is_watched(d), d, NULL, NEXT("fstat64", stat_call)(d, to)); }
typedef int (*old_stat_call)(int, int, void *);
int __fxstat(int version, int d, struct stat *to) {
    PLAIN(SIZE, is_watched(d), d, NULL, NEXT("__fxstat", old_stat_call)(version, d, to));
}
int __fxstat64(int version, int d, struct stat64 *to) {
    PLAIN(SIZE, is_watched(d), d, NULL, NEXT("__fxstat64", old_stat_call)(version, d, to));
}
int statx(int d, const char *restrict path, int flags, unsigned mask, struct statx *restrict to) {
    int by_descriptor = is_watched(d) && *path == 0;
    PLAIN(SIZE, by_descriptor, d, NULL, syscall(SYS_statx, d, path, flags, mask, to));
}
