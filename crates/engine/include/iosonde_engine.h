/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * iosonde_engine.h: the interface of I/O engines from shared objects.
 *
 * An engine is a shared object that exports one symbol,
 *
 *     const struct iosonde_engine iosonde_engine = { IOSONDE_ENGINE_HEAD, .name = "mine", ... };
 *
 * and that a job names by ioengine=external:/path/to/mine.so. Nothing is
 * linked: this header is all that is needed, from C or C++.
 *
 *     cc -O2 -shared -fPIC -o mine.so mine.c
 *
 * Growth: fields are only ever added, at the end of a structure. Every
 * structure begins with how many bytes of it its maker filled; what lies beyond
 * them is not read. IOSONDE_ENGINE_ABI changes when the meaning of something
 * that exists changes, and iosonde then refuses objects of another number.
 *
 * Threads: all calls with one context come from one thread, the job's. Jobs run
 * beside each other, so that two contexts may be used at the same time.
 *
 * Errors: a negative value is minus an errno(3), from -1 to -4095.
 */
#ifndef IOSONDE_ENGINE_H
#define IOSONDE_ENGINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "iosonde\0", the first bytes of what is exported. */
#define IOSONDE_ENGINE_MAGIC UINT64_C(0x0065646e6f736f69)
#define IOSONDE_ENGINE_ABI 1

/* What one I/O does. */
enum iosonde_op {
    IOSONDE_READ = 0,
    IOSONDE_WRITE = 1,
    IOSONDE_TRIM = 2,
    IOSONDE_FSYNC = 3,
    IOSONDE_FDATASYNC = 4,
    IOSONDE_SYNC_FILE_RANGE = 5
};

/* What iosonde_engine.queue says. */
enum iosonde_queued {
    IOSONDE_DONE = 0,   /* it is done; *result says how it went */
    IOSONDE_QUEUED = 1, /* it comes back from getevents */
    IOSONDE_BUSY = 2    /* no room: it is offered again after a completion. Only
                           while something of this job is in flight. */
};

/* iosonde_engine.flags */

/* One I/O at a time: queue says IOSONDE_DONE or an error; getevents may be null
 * and iodepth is held at 1. */
#define IOSONDE_SYNCHRONOUS UINT64_C(1)
/* Files are the engine's own affair: iosonde neither makes nor opens any, fd is
 * -1, and open_file is told their names. */
#define IOSONDE_OWN_FILES UINT64_C(2)
/* IOSONDE_TRIM is understood; without it a job that trims is refused. */
#define IOSONDE_TRIMS UINT64_C(4)
/* fsync and similar come as I/Os; without it iosonde makes the system call
 * itself, or none where files are the engine's own. */
#define IOSONDE_SYNCS UINT64_C(8)

/* A job, as its engine is opened. */
struct iosonde_job {
    uint32_t size;          /* bytes of this structure that are filled */
    uint32_t depth;         /* I/Os in flight at most */
    uint32_t files;         /* how many files the job has */
    uint32_t reserved;      /* 0 */
    void *memory;           /* all buffers lie in this span, for registering */
    uint64_t memory_bytes;
};

/* A file, as it is opened. */
struct iosonde_file {
    uint32_t size;          /* bytes of this structure that are filled */
    uint32_t index;         /* from 0; what iosonde_io.file says */
    int32_t fd;             /* open; -1 with IOSONDE_OWN_FILES */
    uint32_t writes;        /* 1 if the job writes or trims, else 0 */
    uint64_t bytes;         /* from the file's start: no I/O goes beyond */
    const char *name;       /* its path, until open_file returns */
};

/* One I/O. The structure is gone when queue returns; the buffer is the
 * engine's until the I/O is done. */
struct iosonde_io {
    uint32_t size;          /* bytes of this structure that are filled */
    uint32_t op;            /* enum iosonde_op */
    uint64_t id;            /* for its completion */
    uint64_t offset;        /* in the file */
    uint64_t length;        /* bytes */
    void *buffer;           /* length bytes; of no use for trims and syncs */
    uint32_t file;          /* iosonde_file.index */
    int32_t fd;             /* open; -1 with IOSONDE_OWN_FILES */
    void *file_context;     /* what open_file gave; null without it */
};

/* One that is done. */
struct iosonde_completion {
    uint64_t id;            /* iosonde_io.id */
    int64_t result;         /* bytes moved, at most length, fewer if it must be;
                               0 at the end of the file; or minus an errno */
};

/* The engine. What is optional may be null. */
struct iosonde_engine {
    uint64_t magic;         /* IOSONDE_ENGINE_MAGIC */
    uint32_t abi;           /* IOSONDE_ENGINE_ABI */
    uint32_t size;          /* bytes of this structure */
    const char *name;       /* for reports: letters, digits, - and _, 1 to 32 */
    const char *about;      /* optional: a sentence for --enghelp */
    uint64_t flags;

    /* Optional. A job starts: 0, and what it wants to be given in *context. */
    int (*open)(const struct iosonde_job *job, void **context);
    /* Optional. The job has ended. Once it returns, nothing touches the job's
     * buffers any more. Called for every open that returned 0. */
    void (*close)(void *context);

    /* Optional; required with IOSONDE_OWN_FILES. A file was opened: 0, and what
     * its I/Os shall carry in *file_context. */
    int (*open_file)(void *context, const struct iosonde_file *file, void **file_context);
    /* Optional. The file is about to be closed. Nothing on it is in flight. */
    void (*close_file)(void *context, uint32_t index, void *file_context);

    /* Required. Do one I/O, or take it up: enum iosonde_queued, or minus an
     * errno for an I/O that failed. As many as the depth are taken up before
     * one has come back. */
    int (*queue)(void *context, const struct iosonde_io *io, int64_t *result);
    /* Optional. Start what was taken up. 0, or minus an errno: nothing will
     * ever come back. */
    int (*commit)(void *context);
    /* Required without IOSONDE_SYNCHRONOUS. Wait for at least min completions,
     * no longer than timeout_ns; put at most max of them into done. How many,
     * or minus an errno: nothing will ever come back. min may be 0. It may come
     * back early, with fewer. */
    int (*getevents)(void *context, uint32_t min, uint32_t max, uint64_t timeout_ns,
                     struct iosonde_completion *done);
    /* Optional. The job ends without waiting for this I/O, as the engine has
     * failed; close follows. */
    void (*cancel)(void *context, uint64_t id);
    /* Optional. What an error means here, in a few words that outlive the call;
     * null for nothing. The context is null for an error of open. */
    const char *(*error_text)(void *context, int error);
};

/* The first fields, for an initializer that names the others. */
#define IOSONDE_ENGINE_HEAD \
    .magic = IOSONDE_ENGINE_MAGIC, .abi = IOSONDE_ENGINE_ABI, .size = sizeof(struct iosonde_engine)

extern const struct iosonde_engine iosonde_engine;

#ifdef __cplusplus
}
#endif

#endif
