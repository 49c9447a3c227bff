/* The baseline of "orbitkv bench transfer": READs over a raw TCP socket, without grants, tickets or receipts.
 *
 *   socket_loop server IP POOL_BYTES          prints "ready PORT", then one line of CPU nanoseconds for each line it reads
 *   socket_loop client IP PORT POOL_BYTES     prints "ready", then one line of JSON for each line
 *                                             BLOCK BATCH STRIDE THREADS WARM_UP SECONDS poll|block CONGESTION|-
 *                                             and "yes" or "no" for a line "allows CONGESTION"
 *
 * A thread is one connection with one READ under way: a list of ranges out, the bytes of all of them back, straight
 * from and into the pools, in as few system calls as the kernel's 1,024 iovecs allow. Polling: both ends ask the socket
 * without sleeping until something is there. With SOCKET_LOOP_HUGE_PAGES=1 in the environment the pools are of huge
 * pages (Linux 6.1, shared memory), as a Manager's. Blocks are random (STRIDE 0), or STRIDE bytes apart from a random
 * start. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MAX_BLOCKS 16384
#define MAX_SAMPLES 1000000
#define MAX_THREADS 64
#define IOVECS 1024
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define WORD 8
#define GAMMA 0x9E3779B97F4A7C15ULL

typedef struct { uint64_t offset, length; } Range;
typedef struct { uint64_t count; Range ranges[MAX_BLOCKS]; } Request;
typedef struct { char congestion[16]; uint64_t polls; } Greeting;

typedef struct {
  const struct addrinfo *at;
  Greeting greeting;
  uint64_t block, stride, first_slot, slots, all_slots, seed;
  int batch;
  double warm_up, seconds;
  pthread_barrier_t *start;
  Request request;
  Range local[MAX_BLOCKS];
  float *micros;
  long reads, errors;
  double bytes, elapsed;
  char congestion[16];
} Loop;

static char *pool;
static uint64_t pool_bytes;

static void fail(const char *what) {
  fprintf(stderr, "socket_loop: %s: %s\n", what, strerror(errno));
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static long long cpu_nanos(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* What the source holds at an offset; a wrong, shifted or stale word differs. */
static uint64_t word_at(uint64_t offset) { return (offset / WORD + 1) * GAMMA; }

static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += GAMMA;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

static void configure(int fd, const char *congestion) {
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (*congestion && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion, strlen(congestion)) < 0)
    fail("congestion control");
}

/* False at the end of the stream. */
static int receive(int fd, void *to, size_t n, int polls) {
  char *p = to, peeked;
  if (polls)
    while (recv(fd, &peeked, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN) { }
  while (n) {
    ssize_t k = recv(fd, p, n, MSG_WAITALL);
    if (k == 0) return 0;
    if (k < 0 && errno == EINTR) continue;
    if (k < 0) return 0;
    p += k;
    n -= k;
  }
  return 1;
}

static int transmit(int fd, const void *from, size_t n) {
  const char *p = from;
  while (n) {
    ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return 0;
    p += k;
    n -= k;
  }
  return 1;
}

static int move_ranges(int fd, const Range *r, int n, int receiving) {
  struct iovec v[IOVECS];
  int i = 0;
  size_t done = 0;
  while (i < n) {
    int c = 0;
    for (int j = i; j < n && c < IOVECS; j++, c++) {
      size_t skip = j == i ? done : 0;
      v[c].iov_base = pool + r[j].offset + skip;
      v[c].iov_len = r[j].length - skip;
    }
    struct msghdr m = {.msg_iov = v, .msg_iovlen = c};
    ssize_t k = receiving ? recvmsg(fd, &m, MSG_WAITALL) : sendmsg(fd, &m, MSG_NOSIGNAL);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return 0;
    while (k > 0) {
      size_t left = r[i].length - done;
      if ((size_t)k < left) {
        done += k;
        k = 0;
      } else {
        k -= left;
        i++;
        done = 0;
      }
    }
  }
  return 1;
}

static void *serve(void *argument) {
  int fd = (int)(intptr_t)argument;
  Greeting greeting;
  Request *request = malloc(sizeof *request);
  if (request && receive(fd, &greeting, sizeof greeting, 0)) {
    greeting.congestion[15] = 0;
    configure(fd, greeting.congestion);
    for (;;) {
      uint64_t head[2] = {0, 0};
      if (!receive(fd, &request->count, sizeof request->count, greeting.polls != 0)) break;
      if (request->count > MAX_BLOCKS) break;
      if (!receive(fd, request->ranges, request->count * sizeof(Range), 0)) break;
      int fits = 1;
      for (uint64_t i = 0; i < request->count; i++) {
        Range r = request->ranges[i];
        fits &= r.length > 0 && r.length <= pool_bytes && r.offset <= pool_bytes - r.length;
      }
      if (!fits) break;
      head[1] = request->count;
      if (!transmit(fd, head, sizeof head)) break;
      if (!move_ranges(fd, request->ranges, (int)request->count, 0)) break;
    }
  }
  free(request);
  close(fd);
  return NULL;
}

static void *answer_lines(void *unused) {
  char line[64];
  (void)unused;
  while (fgets(line, sizeof line, stdin)) {
    printf("%lld\n", cpu_nanos());
    fflush(stdout);
  }
  exit(0);
}

static void choose(Loop *l) {
  uint64_t step = l->stride ? l->stride / l->block : 1;
  uint64_t span = (l->batch - 1) * step + 1;
  uint64_t to = next_random(&l->seed) % (l->stride ? l->slots - span + 1 : l->slots);
  uint64_t from = next_random(&l->seed) % (l->stride ? l->all_slots - span + 1 : l->all_slots);
  /* Random blocks: a walk with a step that has no divisor in common with the number of slots meets no slot twice. */
  uint64_t to_step = 1, from_step = 1;
  if (!l->stride && l->batch > 1) {
    uint64_t pick[2], of[2] = {l->slots, l->all_slots};
    for (int side = 0; side < 2; side++) {
      uint64_t a, b;
      do {
        pick[side] = next_random(&l->seed) % of[side];
        for (a = of[side], b = pick[side]; b;) {
          uint64_t rest = a % b;
          a = b;
          b = rest;
        }
      } while (a != 1 && of[side] > 1);
    }
    to_step = pick[0];
    from_step = pick[1];
  }
  for (int i = 0; i < l->batch; i++) {
    uint64_t t = l->stride ? to + i * step : (to + i * to_step) % l->slots;
    uint64_t f = l->stride ? from + i * step : (from + i * from_step) % l->all_slots;
    l->local[i] = (Range){(l->first_slot + t) * l->block, l->block};
    l->request.ranges[i] = (Range){f * l->block, l->block};
  }
  l->request.count = l->batch;
}

static int right(const Loop *l, int i, uint64_t offset) {
  uint64_t found;
  memcpy(&found, pool + l->local[i].offset + offset, WORD);
  return found == word_at(l->request.ranges[i].offset + offset);
}

/* The ends of one block of each READ; all of every block of the first. */
static int checked(Loop *l, int all) {
  if (!all) {
    int i = next_random(&l->seed) % l->batch;
    return right(l, i, 0) && right(l, i, l->block - WORD);
  }
  for (int i = 0; i < l->batch; i++)
    for (uint64_t o = 0; o < l->block; o += WORD)
      if (!right(l, i, o)) return 0;
  return 1;
}

static void *run(void *argument) {
  Loop *l = argument;
  int fd = socket(l->at->ai_family, SOCK_STREAM, 0), polls = l->greeting.polls != 0;
  socklen_t size = sizeof l->congestion;
  if (fd < 0) fail("socket");
  configure(fd, l->greeting.congestion);
  if (connect(fd, l->at->ai_addr, l->at->ai_addrlen) < 0) fail("connect");
  if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, l->congestion, &size) < 0) fail("congestion control");
  if (!transmit(fd, &l->greeting, sizeof l->greeting)) fail("greeting");
  for (int phase = 0; phase < 2; phase++) {
    if (phase) pthread_barrier_wait(l->start);
    double start = now(), limit = phase ? l->seconds : l->warm_up, t = start;
    uint64_t head[2];
    l->reads = 0;
    l->bytes = 0;
    do {
      choose(l);
      if (!transmit(fd, &l->request, sizeof l->request.count + l->batch * sizeof(Range))) fail("send");
      if (!receive(fd, head, sizeof head, polls)) fail("receive");
      if (!move_ranges(fd, l->local, l->batch, 1)) fail("receive");
      l->errors += !checked(l, !phase && !l->reads);
      double end = now();
      if (phase) l->micros[l->reads] = (float)((end - t) * 1e6);
      t = end;
      l->reads++;
      l->bytes += (double)l->batch * l->block;
    } while (t - start < limit && l->reads < MAX_SAMPLES);
    l->elapsed = t - start;
    if (phase) pthread_barrier_wait(l->start);
  }
  close(fd);
  return NULL;
}

static int ascending(const void *x, const void *y) {
  float a = *(const float *)x, b = *(const float *)y;
  return (a > b) - (a < b);
}

static void report(Loop **loops, int threads, double cpu) {
  long reads = 0, errors = 0;
  double bytes = 0, rate = 0, sum = 0;
  for (int i = 0; i < threads; i++) {
    reads += loops[i]->reads;
    errors += loops[i]->errors;
    bytes += loops[i]->bytes;
    rate += loops[i]->bytes / loops[i]->elapsed;
  }
  float *all = malloc(reads * sizeof *all);
  if (!all) fail("malloc");
  for (long i = 0, k = 0; i < threads; i++)
    for (long j = 0; j < loops[i]->reads; j++) sum += all[k++] = loops[i]->micros[j];
  qsort(all, reads, sizeof *all, ascending);
  printf("{\"gbps\":%.6f,\"mean_us\":%.3f,\"p50_us\":%.3f,\"p99_us\":%.3f,\"p999_us\":%.3f,\"cpu_nanos\":%.0f,\"bytes\":%.0f,"
         "\"operations\":%ld,\"errors\":%ld,\"batch\":%d,\"congestion\":\"%s\",\"thread_gbps\":[",
         rate / 1e9, sum / reads, all[reads / 2], all[(long)(reads * .99)], all[(long)(reads * .999)], cpu, bytes, reads, errors,
         loops[0]->batch, loops[0]->congestion);
  for (int i = 0; i < threads; i++) printf("%s%.6f", i ? "," : "", loops[i]->bytes / loops[i]->elapsed / 1e9);
  puts("]}");
  fflush(stdout);
  free(all);
}

static void measure(const struct addrinfo *at, const char *line) {
  unsigned long block, stride;
  int batch, threads;
  double warm_up, seconds;
  char mode[16], congestion[16];
  if (sscanf(line, "%lu %d %lu %d %lf %lf %15s %15s", &block, &batch, &stride, &threads, &warm_up, &seconds, mode, congestion) != 8 ||
      block < WORD || block % WORD || stride % block || batch < 1 || batch > MAX_BLOCKS || threads < 1 || threads > MAX_THREADS ||
      pool_bytes / block < (uint64_t)threads) {
    fprintf(stderr, "socket_loop: can not measure: %s", line);
    exit(2);
  }
  static Loop *loops[MAX_THREADS];
  pthread_t ids[MAX_THREADS];
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, threads + 1);
  for (int i = 0; i < threads; i++) {
    Loop *l = loops[i] = calloc(1, sizeof *l);
    if (!l || !(l->micros = malloc(MAX_SAMPLES * sizeof *l->micros))) fail("malloc");
    l->at = at;
    l->greeting.polls = !strcmp(mode, "poll");
    if (strcmp(congestion, "-")) strcpy(l->greeting.congestion, congestion);
    l->block = block;
    l->stride = stride;
    l->all_slots = pool_bytes / block;
    l->slots = l->all_slots / threads;
    l->first_slot = i * l->slots;
    uint64_t most = stride ? (l->slots - 1) / (stride / block) + 1 : l->slots;
    l->batch = (uint64_t)batch < most ? batch : (int)most;
    l->warm_up = warm_up;
    l->seconds = seconds;
    l->seed = 7919 * (i + 1) + batch;
    l->start = &start;
    if (pthread_create(&ids[i], NULL, run, l)) fail("thread");
  }
  pthread_barrier_wait(&start);
  long long cpu = cpu_nanos();
  printf("measuring\n");
  fflush(stdout);
  pthread_barrier_wait(&start);
  double used = cpu_nanos() - cpu;
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  report(loops, threads, used);
  for (int i = 0; i < threads; i++) {
    free(loops[i]->micros);
    free(loops[i]);
  }
  pthread_barrier_destroy(&start);
}

/* Whether this user may have a congestion control. */
static void allows(char *name) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  name[strcspn(name, "\n")] = 0;
  puts(fd >= 0 && !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name)) ? "yes" : "no");
  fflush(stdout);
  if (fd >= 0) close(fd);
}

static void make_huge_pool(void) {
  uint64_t huge = 0;
  FILE *size = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "r");
  if (!size || fscanf(size, "%" SCNu64, &huge) != 1 || huge == 0 || pool_bytes < huge) fail("size of huge pages");
  fclose(size);
  char *room = mmap(NULL, pool_bytes + huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) fail("pool");
  char *at = room + (huge - (uintptr_t)room % huge) % huge;
  pool = mmap(at, pool_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (pool == MAP_FAILED) fail("pool");
  if (madvise(pool, pool_bytes, MADV_POPULATE_WRITE) || madvise(pool, pool_bytes, MADV_COLLAPSE)) fail("huge pages");
}

static void make_pool(const char *bytes, int filled) {
  pool_bytes = strtoull(bytes, NULL, 10);
  const char *huge = getenv("SOCKET_LOOP_HUGE_PAGES");
  if (huge && *huge == '1')
    make_huge_pool();
  else
    pool = mmap(NULL, pool_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (pool == MAP_FAILED) fail("pool");
  if (filled)
    for (uint64_t o = 0; o + WORD <= pool_bytes; o += WORD) *(uint64_t *)(pool + o) = word_at(o);
}

static void serve_all(const struct addrinfo *at) {
  int one = 1, fd = socket(at->ai_family, SOCK_STREAM, 0);
  struct sockaddr_storage bound;
  socklen_t size = sizeof bound;
  char port[NI_MAXSERV];
  pthread_t id;
  if (fd < 0) fail("socket");
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd, at->ai_addr, at->ai_addrlen) < 0 || listen(fd, MAX_THREADS) < 0) fail("listen");
  if (getsockname(fd, (void *)&bound, &size) < 0) fail("listen");
  if (getnameinfo((void *)&bound, size, NULL, 0, port, sizeof port, NI_NUMERICSERV)) fail("listen");
  printf("ready %s\n", port);
  fflush(stdout);
  if (pthread_create(&id, NULL, answer_lines, NULL)) fail("thread");
  for (;;) {
    int connected = accept(fd, NULL, NULL);
    if (connected < 0) continue;
    if (pthread_create(&id, NULL, serve, (void *)(intptr_t)connected)) fail("thread");
    pthread_detach(id);
  }
}

int main(int argc, char **argv) {
  struct addrinfo wanted = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *at;
  int serving = argc == 4 && !strcmp(argv[1], "server"), asking = argc == 5 && !strcmp(argv[1], "client");
  if ((!serving && !asking) || getaddrinfo(argv[2], asking ? argv[3] : "0", &wanted, &at)) {
    fprintf(stderr, "usage: socket_loop server IP POOL_BYTES | client IP PORT POOL_BYTES\n");
    return 2;
  }
  make_pool(argv[argc - 1], serving);
  if (serving) serve_all(at);
  puts("ready");
  fflush(stdout);
  char line[256];
  while (fgets(line, sizeof line, stdin))
    if (!strncmp(line, "allows ", 7)) allows(line + 7);
    else measure(at, line);
  return 0;
}
