/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * plain.c: a synchronous engine on the files that iosonde opens: pread(2),
 * pwrite(2), holes for trims, and its own syncs.
 *
 *     cc -O2 -shared -fPIC -I crates/engine/include -o plain.so crates/engine/examples/external/plain.c
 *     iosonde --name=a --ioengine=external:./plain.so --rw=randrw --bs=4k --size=1m --filename=a.dat
 */
#define _GNU_SOURCE
#include "iosonde_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static int plain_queue(void *context, const struct iosonde_io *io, int64_t *result)
{
    (void)context;
    const int holes = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    int64_t done;

    switch (io->op) {
    case IOSONDE_READ:
        done = pread(io->fd, io->buffer, io->length, (off_t)io->offset);
        break;
    case IOSONDE_WRITE:
        done = pwrite(io->fd, io->buffer, io->length, (off_t)io->offset);
        break;
    case IOSONDE_TRIM:
        done = fallocate(io->fd, holes, (off_t)io->offset, (off_t)io->length);
        break;
    case IOSONDE_FSYNC:
        done = fsync(io->fd);
        break;
    case IOSONDE_FDATASYNC:
        done = fdatasync(io->fd);
        break;
    default:
        return -EOPNOTSUPP;
    }
    if (done < 0)
        return -errno;
    /* fallocate(2) and the syncs say 0: of a trim that is all of it. */
    *result = done;
    return IOSONDE_DONE;
}

static const char *plain_error_text(void *context, int error)
{
    (void)context;
    return error == EOPNOTSUPP ? "plain.so has no such operation here" : 0;
}

const struct iosonde_engine iosonde_engine = {
    IOSONDE_ENGINE_HEAD,
    .name = "plain",
    .about = "pread(2) and pwrite(2), holes for trims: an example.",
    .flags = IOSONDE_SYNCHRONOUS | IOSONDE_TRIMS | IOSONDE_SYNCS,
    .queue = plain_queue,
    .error_text = plain_error_text,
};
