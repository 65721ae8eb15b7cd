/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * late_memory.c: an engine with a queue on files of its own, which are memory.
 * Each I/O is done when half a millisecond has passed since it was taken up; at
 * most 16 fit in. When it is closed it says on stderr how deep the queue was.
 *
 *     cc -O2 -shared -fPIC -I crates/engine/include -o late_memory.so crates/engine/examples/external/late_memory.c
 *     iosonde --name=a --ioengine=external:./late_memory.so --rw=randwrite --bs=4k --size=1m --iodepth=32
 */
#define _GNU_SOURCE
#include "iosonde_engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROOM 16
#define LATE_NS 500000

struct file {
    uint64_t bytes;
    char *memory;
};

struct flight {
    uint64_t id;
    int64_t result;
    uint64_t due_ns;
};

struct memory {
    struct flight flights[ROOM]; /* in the order of their ends */
    unsigned count, most;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t due_ns)
{
    struct timespec due = { (time_t)(due_ns / 1000000000u), (long)(due_ns % 1000000000u) };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, 0);
}

static int memory_open(const struct iosonde_job *job, void **context)
{
    (void)job;
    *context = calloc(1, sizeof(struct memory));
    return *context ? 0 : -ENOMEM;
}

static void memory_close(void *context)
{
    struct memory *memory = context;
    fprintf(stderr, "late_memory: at most %u in flight, %u at the end\n", memory->most, memory->count);
    free(memory);
}

static int memory_open_file(void *context, const struct iosonde_file *told, void **file_context)
{
    (void)context;
    struct file *file = malloc(sizeof *file);
    if (!file)
        return -ENOMEM;
    file->bytes = told->bytes;
    file->memory = calloc(1, told->bytes);
    if (!file->memory) {
        free(file);
        return -ENOMEM;
    }
    *file_context = file;
    return 0;
}

static void memory_close_file(void *context, uint32_t index, void *file_context)
{
    (void)context, (void)index;
    struct file *file = file_context;
    free(file->memory);
    free(file);
}

static int memory_queue(void *context, const struct iosonde_io *io, int64_t *result)
{
    (void)result;
    struct memory *memory = context;
    struct file *file = io->file_context;

    if (memory->count == ROOM)
        return IOSONDE_BUSY;
    if (io->offset + io->length > file->bytes)
        return -ENOSPC;
    switch (io->op) {
    case IOSONDE_READ:
        memcpy(io->buffer, file->memory + io->offset, io->length);
        break;
    case IOSONDE_WRITE:
        memcpy(file->memory + io->offset, io->buffer, io->length);
        break;
    case IOSONDE_TRIM:
        memset(file->memory + io->offset, 0, io->length);
        break;
    default: /* Memory needs no syncs; they are done when the others are. */
        break;
    }
    memory->flights[memory->count++] =
        (struct flight){ io->id, (int64_t)io->length, now_ns() + LATE_NS };
    if (memory->count > memory->most)
        memory->most = memory->count;
    return IOSONDE_QUEUED;
}

static int memory_getevents(void *context, uint32_t min, uint32_t max, uint64_t timeout_ns,
                            struct iosonde_completion *done)
{
    struct memory *memory = context;
    uint64_t start = now_ns(), end = timeout_ns > UINT64_MAX - start ? UINT64_MAX : start + timeout_ns;
    uint32_t count = 0;

    while (count < max && count < memory->count) {
        struct flight *flight = &memory->flights[count];
        if (flight->due_ns > now_ns()) {
            if (count >= min)
                break;
            sleep_until(flight->due_ns < end ? flight->due_ns : end);
            if (flight->due_ns > now_ns())
                break;
        }
        done[count++] = (struct iosonde_completion){ flight->id, flight->result };
    }
    memory->count -= count;
    memmove(memory->flights, memory->flights + count, memory->count * sizeof *memory->flights);
    return (int)count;
}

const struct iosonde_engine iosonde_engine = {
    IOSONDE_ENGINE_HEAD,
    .name = "late-memory",
    .about = "Memory that answers half a millisecond late: an example.",
    .flags = IOSONDE_OWN_FILES | IOSONDE_TRIMS | IOSONDE_SYNCS,
    .open = memory_open,
    .close = memory_close,
    .open_file = memory_open_file,
    .close_file = memory_close_file,
    .queue = memory_queue,
    .getevents = memory_getevents,
};
