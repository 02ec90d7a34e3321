/*
 * A small NVTX v3 tool: it is loaded into any process that uses NVTX, through NVTX_INJECTION64_PATH, and
 *
 *   - writes one JSON line a call to RADIXFLOW_NVTX_OUT ("%p" becomes the process id): what was really emitted;
 *   - or, without that variable, does nothing at each call: what an attached tool costs at least.
 *
 * Build: cc -std=gnu11 -O2 -fPIC -shared -pthread -o libnvtx_tool.so nvtx_tool.c
 * No NVTX header, CUDA or GPU is needed: the part of the stable tool interface that is used is declared below.
 *
 * A line: op (mark, push, pop, start, end), ts (CLOCK_MONOTONIC, ns), pid, tid, domain, text, registered, payload, id.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MODULE_CORE2 = 5, TABLE_CALLBACKS = 1, MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3, PAYLOAD_INT64 = 2 };
enum { MARK = 1, RANGE_START, RANGE_END, RANGE_PUSH, RANGE_POP, REGISTER_STRING = 10, DOMAIN_CREATE = 12 };

typedef void (*function)(void);
typedef struct {
    size_t size;
    int (*module_table)(int module, function ***table, unsigned *length);
} callbacks;
typedef struct { char *name; } domain;
typedef struct { char *text; } string;
typedef struct { /* nvtxEventAttributes_v2 */
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union { uint64_t unsigned64; int64_t signed64; double real; } payload;
    int32_t message_type;
    union { const char *ascii; const string *registered; } message;
} attributes;
_Static_assert(sizeof(attributes) == 48, "the layout of nvtxEventAttributes_t");

static int output = -1;
static pid_t output_of;
static uint64_t next_range;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void open_output(void) /* the caller holds the lock; a forked child gets a file of its own */
{
    if (output >= 0 && output_of == getpid()) return;
    output_of = getpid();
    char path[4096];
    size_t length = 0;
    for (const char *at = getenv("RADIXFLOW_NVTX_OUT"); *at && length < sizeof path - 24; at++) {
        if (at[0] == '%' && at[1] == 'p') { length += (size_t)sprintf(path + length, "%d", (int)output_of); at++; }
        else path[length++] = *at;
    }
    path[length] = 0;
    output = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static void say(const char *op, const domain *of, const attributes *given, uint64_t id)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const char *text = "";
    int registered = 0;
    int64_t payload = 0;
    if (given) {
        registered = given->message_type == MESSAGE_REGISTERED;
        if (registered) text = given->message.registered->text;
        else if (given->message_type == MESSAGE_ASCII) text = given->message.ascii;
        if (given->payload_type == PAYLOAD_INT64) payload = given->payload.signed64;
    }
    char line[1024];
    int length = snprintf(line, sizeof line,
        "{\"op\":\"%s\",\"ts\":%" PRId64 ",\"pid\":%d,\"tid\":%ld,\"domain\":\"%s\",\"text\":\"%s\","
        "\"registered\":%s,\"payload\":%" PRId64 ",\"id\":%" PRIu64 "}\n",
        op, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec, (int)getpid(), syscall(SYS_gettid),
        of ? of->name : "", text, registered ? "true" : "false", payload, id);
    pthread_mutex_lock(&lock);
    open_output();
    ssize_t written = write(output, line, (size_t)length); /* one write a line: whole lines with O_APPEND */
    (void)written;
    pthread_mutex_unlock(&lock);
}

static domain *create_domain(const char *name)
{
    domain *made = calloc(1, sizeof *made);
    made->name = strdup(name ? name : "");
    return made;
}
static string *register_string(domain *of, const char *text)
{
    string *made = calloc(1, sizeof *made);
    made->text = strdup(text ? text : "");
    (void)of;
    return made;
}

static void mark(domain *of, const attributes *given) { say("mark", of, given, 0); }
static int push(domain *of, const attributes *given) { say("push", of, given, 0); return 0; }
static int pop(domain *of) { say("pop", of, NULL, 0); return 0; }
static void end_range(domain *of, uint64_t id) { say("end", of, NULL, id); }
static uint64_t start_range(domain *of, const attributes *given)
{
    uint64_t id = __sync_add_and_fetch(&next_range, 1);
    say("start", of, given, id);
    return id;
}

static void null_mark(domain *of, const attributes *given) { (void)of; (void)given; }
static int null_push(domain *of, const attributes *given) { (void)of; (void)given; return 0; }
static int null_pop(domain *of) { (void)of; return 0; }
static void null_end(domain *of, uint64_t id) { (void)of; (void)id; }
static uint64_t null_start(domain *of, const attributes *given) { (void)of; (void)given; return 1; }

static void set(function **table, unsigned length, unsigned number, function ours)
{
    if (number < length && table[number]) *table[number] = ours;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*tables)(uint32_t number))
{
    const callbacks *given = tables ? tables(TABLE_CALLBACKS) : NULL;
    function **table = NULL;
    unsigned length = 0;
    if (!given || given->size < sizeof *given || !given->module_table(MODULE_CORE2, &table, &length) || !table) return 0;
    int writes = getenv("RADIXFLOW_NVTX_OUT") != NULL;
    set(table, length, MARK, (function)(writes ? mark : null_mark));
    set(table, length, RANGE_PUSH, (function)(writes ? push : null_push));
    set(table, length, RANGE_POP, (function)(writes ? pop : null_pop));
    set(table, length, RANGE_START, (function)(writes ? start_range : null_start));
    set(table, length, RANGE_END, (function)(writes ? end_range : null_end));
    set(table, length, REGISTER_STRING, (function)register_string);
    set(table, length, DOMAIN_CREATE, (function)create_domain);
    return 1;
}
