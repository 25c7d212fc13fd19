/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 ringfence maintainers */
/*
 * peers.c - our lock and other people's, each in a process of its own
 *
 *   peers ROUNDS NAME COMMAND [NAME COMMAND...]   ours is the first
 *   peers --ourselves PORT                        the command that is ours
 *   peers --least PORT                            what every lock needs
 *
 * A contestant is told the port of a Redis.  For each number that it reads it
 * takes a lock and gives it back as often, one after the other, and writes the
 * microseconds that this took and those of processor time of its process.  They
 * take turns, in another order each round; the first turns, in which
 * interpreters warm up, do not count.  One that ends early is told as not had,
 * and the others go on.
 *
 * A client and Redis take turns, so all share one processor, which is all that
 * two of them can use.  On two it is chance which of them share one, and a pair
 * takes twice as long when they do not.
 */
#define _GNU_SOURCE /* pipe2 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bind.h"
#include "die.h"
#include "redis_server.h"
#include "ringfence.h"
#include "sample.h"
#include "stopwatch.h"

enum { PEERS_MAX = 8, ROUNDS_MAX = 1000, PAIRS = 300, WARM_UP = 8 };

typedef struct peer {
    const char *name, *command;
    pid_t pid;
    FILE *ask, *answer;
    bool ended;                                /* before its time */
    double us[ROUNDS_MAX], cpu_us[ROUNDS_MAX]; /* of one pair */
} peer;

/* For each number that is read, so many pairs; then how long they took. */
static void serve(void (*one)(void *), void *with)
{
    char line[32];

    while (fgets(line, sizeof(line), stdin) != NULL) {
        double cpu = stopwatch_cpu_us(), begin = stopwatch_us();

        for (long left = strtol(line, NULL, 10); left > 0; left--)
            one(with);
        printf("%f %f\n", stopwatch_us() - begin, stopwatch_cpu_us() - cpu);
        fflush(stdout);
    }
}

/* ---- Ourselves --------------------------------------------------------------- */

static void pair(void *opened)
{
    rf_client *client = opened;
    rf_lock *lock;

    if (rf_acquire(client, "peer", NULL, &lock) != RF_OK ||
        rf_release(lock) != RF_OK)
        die("ringfence", rf_message(client));
}

static int ourselves(const char *port)
{
    char url[64];
    rf_client *client;

    snprintf(url, sizeof(url), "redis://127.0.0.1:%s", port);
    if (rf_open(url, NULL, &client) != RF_OK)
        die(url, rf_message(NULL));
    serve(pair, client);
    rf_close(client);
    return 0;
}

/* ---- The least --------------------------------------------------------------- */

/* Two requests of which Redis has no work, without any library. */
static void two_pings(void *connected)
{
    static const char ping[] = "PING\r\n";
    int fd = *(int *)connected;
    char pong[16];

    for (int i = 0; i < 2; i++) {
        if (send(fd, ping, sizeof(ping) - 1, 0) < 0 ||
            recv(fd, pong, sizeof(pong), 0) <= 0)
            die("no answer", NULL);
    }
}

static int least(const char *port)
{
    struct sockaddr_in to = { .sin_family = AF_INET };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    to.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        die("cannot connect", NULL);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    serve(two_pings, &fd);
    close(fd);
    return 0;
}

/* ---- The contest ------------------------------------------------------------- */

static void start(peer *p, int port)
{
    int asks[2], answers[2];
    char command[512];

    snprintf(command, sizeof(command), "exec %s %d", p->command, port);
    /* None of them may keep another's end open. */
    if (pipe2(asks, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0)
        die("no pipe", NULL);
    p->pid = fork();
    if (p->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(asks[0], STDIN_FILENO);
        dup2(answers[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(asks[0]);
    close(answers[1]);
    p->ask = fdopen(asks[1], "w");
    p->answer = fdopen(answers[0], "r");
    if (p->pid < 0 || p->ask == NULL || p->answer == NULL)
        die("cannot start", p->command);
}

static void turn(peer *p, size_t round)
{
    double us, cpu_us;

    if (p->ended)
        return;
    if (fprintf(p->ask, "%d\n", PAIRS) < 0 || fflush(p->ask) != 0 ||
        fscanf(p->answer, "%lf %lf", &us, &cpu_us) != 2) {
        p->ended = true;
        return;
    }
    p->us[round] = us / PAIRS;
    p->cpu_us[round] = cpu_us / PAIRS;
}

static void end(peer *p)
{
    fclose(p->ask);
    fclose(p->answer);
    waitpid(p->pid, NULL, 0);
}

static void play(peer *all, size_t n, size_t rounds)
{
    for (size_t round = 0; round < WARM_UP; round++)
        for (size_t i = 0; i < n; i++)
            turn(&all[i], 0);
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < n; i++)
            turn(&all[(i + round) % n], round);
}

static void tell_ended(const peer *p)
{
    printf("peers.%s\tnot had\tit ended early\t\t\t\t\n", p->name);
}

static void tell_ours(const peer *us, const peer *them, size_t rounds)
{
    sample_ratio speed = sample_compare(them->us, us->us, rounds);
    sample_ratio cpu = sample_compare(us->cpu_us, them->cpu_us, rounds);

    printf("peers.%s\t%.0f\tpairs/s\t%s\t%.3f\t%.3f\t%.3f\n", us->name,
           1e6 / sample_median(us->us, rounds), them->name, speed.ratio,
           speed.low, speed.high);
    printf("peers.%s.cpu\t%.1f\tus per pair\t%s\t%.3f\t%.3f\t%.3f\n", us->name,
           sample_median(us->cpu_us, rounds), them->name, cpu.ratio, cpu.low,
           cpu.high);
}

static void tell(const peer *p, size_t rounds)
{
    printf("peers.%s\t%.0f\tpairs/s\t\t\t\t\n", p->name,
           1e6 / sample_median(p->us, rounds));
    printf("peers.%s.cpu\t%.1f\tus per pair\t\t\t\t\n", p->name,
           sample_median(p->cpu_us, rounds));
}

int main(int argc, char **argv)
{
    static peer all[PEERS_MAX];
    redis_server *redis;
    size_t rounds, n = argc > 2 ? (size_t)(argc - 2) / 2 : 0;

    if (argc == 3 && strcmp(argv[1], "--ourselves") == 0)
        return ourselves(argv[2]);
    if (argc == 3 && strcmp(argv[1], "--least") == 0)
        return least(argv[2]);
    rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (rounds < 1 || rounds > ROUNDS_MAX || n < 1 || n > PEERS_MAX)
        die("usage: peers ROUNDS NAME COMMAND...", NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* of who is gone */
    bind_to(1, 0);
    redis = redis_server_start(NULL);
    for (size_t i = 0; i < n; i++) {
        all[i].name = argv[2 + 2 * i];
        all[i].command = argv[3 + 2 * i];
        start(&all[i], redis_server_port(redis));
    }
    play(all, n, rounds);
    if (all[0].ended)
        die("ended early", all[0].name);
    for (size_t i = 1; i < n; i++) {
        if (!all[i].ended)
            tell_ours(&all[0], &all[i], rounds);
    }
    for (size_t i = n > 1; i < n; i++)
        all[i].ended ? tell_ended(&all[i]) : tell(&all[i], rounds);
    for (size_t i = 0; i < n; i++)
        end(&all[i]);
    redis_server_stop(redis);
    return 0;
}
