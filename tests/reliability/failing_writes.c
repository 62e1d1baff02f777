/* Preloaded into a process, makes writes below a folder fail: the FAIL_AT-th, and from then on every one if FAIL_ON.

   FAIL_BELOW: the folder. FAIL_ERRNO: the error's number. FAIL_COUNT: a file that the number of writes is written to. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int count;

static int is_below(int descriptor) {
    const char *folder = getenv("FAIL_BELOW");
    char link[64], path[4096];
    if (!folder) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return !strncmp(path, folder, strlen(folder));
}

static int fails_now(void) {
    const char *at = getenv("FAIL_AT"), *on = getenv("FAIL_ON"), *number = getenv("FAIL_ERRNO");
    int n = __sync_add_and_fetch(&count, 1), limit = at ? atoi(at) : 0;
    if (!limit || !(n == limit || (on && n > limit))) return 0;
    errno = number ? atoi(number) : ENOSPC;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
    if (is_below(fd) && fails_now()) return -1;
    return REAL(write)(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t place) {
    if (is_below(fd) && fails_now()) return -1;
    return REAL(pwrite)(fd, data, size, place);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t place) {
    if (is_below(fd) && fails_now()) return -1;
    return REAL(pwrite64)(fd, data, size, place);
}
int ftruncate(int fd, off_t size) {
    if (is_below(fd) && fails_now()) return -1;
    return REAL(ftruncate)(fd, size);
}
int ftruncate64(int fd, off64_t size) {
    if (is_below(fd) && fails_now()) return -1;
    return REAL(ftruncate64)(fd, size);
}
int posix_fallocate(int fd, off_t place, off_t size) {
    if (is_below(fd) && fails_now()) return errno;
    return REAL(posix_fallocate)(fd, place, size);
}
int fsync(int fd) {
    if (is_below(fd) && fails_now()) return -1;
    return REAL(fsync)(fd);
}
int fdatasync(int fd) {
    if (is_below(fd) && fails_now()) return -1;
    return REAL(fdatasync)(fd);
}

static int creates_below(const char *path, int flags) {
    const char *folder = getenv("FAIL_BELOW");
    return folder && (flags & O_CREAT) && !strncmp(path, folder, strlen(folder));
}

#define OPEN(name)                                              \
    int name(const char *path, int flags, ...) {                \
        va_list rest;                                           \
        va_start(rest, flags);                                  \
        mode_t mode = (flags & O_CREAT) ? va_arg(rest, int) : 0; \
        va_end(rest);                                           \
        if (creates_below(path, flags) && fails_now()) return -1; \
        return REAL(name)(path, flags, mode);                   \
    }
OPEN(open)
OPEN(open64)

__attribute__((destructor)) static void tell(void) {
    const char *file = getenv("FAIL_COUNT");
    FILE *stream = file ? fopen(file, "w") : NULL;
    if (stream) {
        fprintf(stream, "%d", count);
        fclose(stream);
    }
}
