/*
 * The baseline of `orbitkv bench channel`: two processes, 64 bytes there and 64 bytes back in shared memory, each side woken by
 * an eventfd on which the other one blocks.
 *
 * Prints "ready CLIENT SERVER", the ids of its processes. Then takes lines:
 *   PACE_US SECONDS   one round trip every PACE_US microseconds (0: one after the other); prints
 *                     {"operations":N,"p50_us":X,"p99_us":X,"p999_us":X}
 *   idle              prints "idle"
 * Ends with its standard input.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_BYTES 64
#define NANOS 1000000000LL
/* 256 steps in each power of two: 0.4 %. */
#define STEP_BITS 8
#define STEPS (1 << STEP_BITS)

struct shared {
    _Alignas(128) unsigned char request[MESSAGE_BYTES];
    _Alignas(128) unsigned char response[MESSAGE_BYTES];
};

static uint64_t counts[64 * STEPS];

static void die(const char *what) {
    fprintf(stderr, "channel_loop: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * NANOS + t.tv_nsec;
}

static void sleep_until(int64_t nanos) {
    struct timespec t = {nanos / NANOS, nanos % NANOS};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

static void record(uint64_t nanos) {
    unsigned shift = nanos < STEPS ? 0 : 63 - STEP_BITS - __builtin_clzll(nanos) + 1;
    counts[shift * STEPS + (nanos >> shift)]++;
}

static double percentile(uint64_t operations, double share) {
    uint64_t rank = (uint64_t)(operations * share), seen = 0;
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        seen += counts[i];
        if (seen > rank) {
            return (double)((uint64_t)(i % STEPS) << (i / STEPS)) / 1e3;
        }
    }
    return 0;
}

static void signal_event(int event) {
    uint64_t one = 1;
    if (write(event, &one, sizeof one) != sizeof one) {
        die("write of an eventfd");
    }
}

static void await_event(int event) {
    uint64_t count;
    if (read(event, &count, sizeof count) != sizeof count) {
        die("read of an eventfd");
    }
}

static void serve(struct shared *memory, int requested, int answered) {
    unsigned char message[MESSAGE_BYTES];
    for (;;) {
        await_event(requested);
        memcpy(message, memory->request, MESSAGE_BYTES);
        message[0]++;
        memcpy(memory->response, message, MESSAGE_BYTES);
        signal_event(answered);
    }
}

static void measure(struct shared *memory, int requested, int answered, long pace_us, double seconds) {
    unsigned char message[MESSAGE_BYTES] = {0}, answer[MESSAGE_BYTES];
    uint64_t operations = 0;
    memset(counts, 0, sizeof counts);
    int64_t start = now(), next = start, end = start + (int64_t)(seconds * NANOS), begun, ended;
    do {
        if (pace_us > 0) {
            sleep_until(next);
            next += pace_us * 1000;
        }
        begun = now();
        message[0] = (unsigned char)operations;
        memcpy(memory->request, message, MESSAGE_BYTES);
        signal_event(requested);
        await_event(answered);
        memcpy(answer, memory->response, MESSAGE_BYTES);
        ended = now();
        if (answer[0] != (unsigned char)(operations + 1)) {
            fprintf(stderr, "channel_loop: a wrong answer came\n");
            exit(1);
        }
        record((uint64_t)(ended - begun));
        operations++;
        if (next < ended) {
            next = ended;
        }
    } while (ended < end);
    printf("{\"operations\":%llu,\"p50_us\":%.3f,\"p99_us\":%.3f,\"p999_us\":%.3f}\n", (unsigned long long)operations,
           percentile(operations, 0.5), percentile(operations, 0.99), percentile(operations, 0.999));
}

int main(void) {
    struct shared *memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int requested = eventfd(0, EFD_CLOEXEC), answered = eventfd(0, EFD_CLOEXEC);
    if (memory == MAP_FAILED || requested < 0 || answered < 0) {
        die("set-up");
    }
    pid_t server = fork();
    if (server < 0) {
        die("fork");
    }
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(memory, requested, answered);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("ready %d %d\n", (int)getpid(), (int)server);
    char line[128];
    long pace_us;
    double seconds;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "%ld %lf", &pace_us, &seconds) == 2) {
            measure(memory, requested, answered, pace_us, seconds);
        } else {
            printf("idle\n");
        }
    }
    kill(server, SIGKILL);
    return 0;
}
