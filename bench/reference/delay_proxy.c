/*
 * Adds latency for bench/remote: forwards TCP connections to another port of this machine, and
 * delays the bytes in either direction, as a long wire would. It does not limit the rate: a
 * connection may have more bytes in flight than the latency needs.
 *
 *   delay_proxy PORT TO_PORT MILLISECONDS
 *
 * A request and its response take MILLISECONDS longer, half of it each. Prints "ready" when it
 * listens.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PIECE (256 * 1024)
#define MOST_QUEUED (16 * 1024 * 1024) /* bytes in flight in one direction */

/* Bytes that arrived at the same time. */
struct piece {
	struct piece *next;
	uint64_t due;
	size_t start, end;
	char bytes[PIECE];
};

/* One direction: read from one socket, write to the other. */
struct way {
	int from, to;
	struct piece *first, *last;
	size_t queued;
	int ended;    /* end of input */
	int is_full;  /* the other side accepts no more */
	int has_more; /* there may be something to read */
};

struct link {
	struct link *next, *previous;
	struct way ways[2];
	int is_dead;
};

/* Data of an epoll event: a socket, and the direction that it is read for. */
struct end {
	struct link *link;
	int way;
};

static struct link *links;
static struct piece *spare;
static uint64_t delay;
static int poller;

static void fail(const char *what)
{
	fprintf(stderr, "delay_proxy: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct piece *take_piece(void)
{
	struct piece *piece = spare;

	if (piece == NULL)
		piece = malloc(sizeof(*piece));
	else
		spare = piece->next;
	if (piece == NULL)
		fail("allocating");
	piece->next = NULL;
	return piece;
}

static void give_back(struct piece *piece)
{
	piece->next = spare;
	spare = piece;
}

static void no_delay(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void receive(struct link *link, struct way *way)
{
	while (way->has_more && !way->ended && way->queued < MOST_QUEUED) {
		struct piece *piece = take_piece();
		ssize_t got = recv(way->from, piece->bytes, PIECE, MSG_DONTWAIT);

		if (got <= 0) {
			give_back(piece);
			way->has_more = got < 0 && errno == EINTR;
			if (got < 0 && (errno == EAGAIN || errno == EINTR))
				return;
			if (got < 0)
				link->is_dead = 1;
			way->ended = 1;
			return;
		}
		piece->start = 0;
		piece->end = (size_t)got;
		piece->due = now() + delay;
		if (way->last == NULL)
			way->first = piece;
		else
			way->last->next = piece;
		way->last = piece;
		way->queued += (size_t)got;
	}
}

/* Writes what is due; returns when the next piece is due. */
static uint64_t deliver(struct link *link, struct way *way, uint64_t time)
{
	while (way->first != NULL && !way->is_full) {
		struct piece *piece = way->first;
		ssize_t put;

		if (piece->due > time)
			return piece->due;
		put = send(way->to, piece->bytes + piece->start, piece->end - piece->start,
			   MSG_DONTWAIT | MSG_NOSIGNAL);
		if (put < 0 && errno == EAGAIN) {
			way->is_full = 1;
			return UINT64_MAX;
		}
		if (put < 0) {
			link->is_dead = 1;
			return UINT64_MAX;
		}
		piece->start += (size_t)put;
		way->queued -= (size_t)put;
		if (piece->start < piece->end)
			continue;
		way->first = piece->next;
		if (way->first == NULL)
			way->last = NULL;
		give_back(piece);
	}
	if (way->first == NULL && way->ended == 1) {
		shutdown(way->to, SHUT_WR);
		way->ended = 2;
	}
	return UINT64_MAX;
}

static void watch(struct link *link, int way)
{
	struct end *end = malloc(sizeof(*end));
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET };

	if (end == NULL)
		fail("allocating");
	*end = (struct end){ link, way };
	event.data.ptr = end;
	if (epoll_ctl(poller, EPOLL_CTL_ADD, link->ways[way].from, &event) < 0)
		fail("watching a connection");
}

static void connect_to(int client, uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct link *link = calloc(1, sizeof(*link));
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (link == NULL || server < 0)
		fail("connecting");
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (connect(server, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(server);
		close(client);
		free(link);
		return;
	}
	no_delay(client);
	no_delay(server);
	link->ways[0] = (struct way){ .from = client, .to = server };
	link->ways[1] = (struct way){ .from = server, .to = client };
	link->next = links;
	if (links != NULL)
		links->previous = link;
	links = link;
	watch(link, 0);
	watch(link, 1);
}

static void end_link(struct link *link)
{
	for (int way = 0; way < 2; way++) {
		while (link->ways[way].first != NULL) {
			struct piece *piece = link->ways[way].first;

			link->ways[way].first = piece->next;
			give_back(piece);
		}
		close(link->ways[way].from);
	}
	if (link->previous != NULL)
		link->previous->next = link->next;
	else
		links = link->next;
	if (link->next != NULL)
		link->next->previous = link->previous;
	/*
	 * Its struct ends leak, sixteen bytes each: epoll may still report them in this batch of
	 * events.
	 */
	free(link);
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 1024) < 0)
		fail("listening");
	return fd;
}

int main(int argc, char **argv)
{
	struct epoll_event event = { .events = EPOLLIN }, events[256];
	uint16_t to;
	int listener;

	if (argc != 4) {
		fprintf(stderr, "usage: %s PORT TO_PORT MILLISECONDS\n", argv[0]);
		return 2;
	}
	to = (uint16_t)atoi(argv[2]);
	delay = (uint64_t)(atof(argv[3]) * 1e6 / 2);
	signal(SIGPIPE, SIG_IGN);
	listener = listen_on((uint16_t)atoi(argv[1]));
	poller = epoll_create1(EPOLL_CLOEXEC);
	if (poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event) < 0)
		fail("listening");
	printf("ready\n");
	fflush(stdout);
	for (uint64_t next = UINT64_MAX;;) {
		struct timespec wait, *timeout = NULL;
		uint64_t time = now();
		int count;

		if (next != UINT64_MAX) {
			uint64_t left = next > time ? next - time : 0;

			wait = (struct timespec){ (time_t)(left / 1000000000u), (long)(left % 1000000000u) };
			timeout = &wait;
		}
		count = epoll_pwait2(poller, events, 256, timeout, NULL);
		if (count < 0 && errno != EINTR)
			fail("waiting");
		for (int i = 0; i < count; i++) {
			struct end *end = events[i].data.ptr;
			int client;

			if (end != NULL) {
				if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
					end->link->ways[end->way].has_more = 1;
				/* A writable socket is the target of the other direction. */
				if (events[i].events & EPOLLOUT)
					end->link->ways[!end->way].is_full = 0;
				continue;
			}
			while ((client = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
				connect_to(client, to);
		}
		/* Visits all links: there are some dozens, and each socket occurs once. */
		next = UINT64_MAX;
		time = now();
		for (struct link *link = links, *following; link != NULL; link = following) {
			following = link->next;
			for (int way = 0; way < 2; way++) {
				uint64_t due;

				receive(link, &link->ways[way]);
				due = deliver(link, &link->ways[way], time);
				if (due < next)
					next = due;
			}
			if (link->is_dead || (link->ways[0].ended == 2 && link->ways[1].ended == 2))
				end_link(link);
		}
	}
}
