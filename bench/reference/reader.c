/*
 * The load of bench/mount.ts: reads every file of a directory whole, in a seeded random order,
 * or in the order of names.
 *
 *   reader [--readers N] [--passes N] [--seed N] [--touch MIB] [--files N] [--in-order] DIRECTORY
 *   reader [--readers N] [--passes N] [--seed N] [--touch MIB] --bare ARCHIVE INDEX
 *
 * With --files, reads only the first files of that order. The second form reads the same
 * extents, in the same order, from the archive itself (INDEX as in extents.h): the upper limit
 * of any server. Prints one line of JSON; the listing is timed separately.
 */
#define _GNU_SOURCE

#include "extents.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHUNK (1024 * 1024)

struct reader {
	pthread_t thread;
	size_t first;
	uint64_t bytes;
};

static struct extents files; /* without --bare, only the names are used */
static size_t readers = 1;
static int root; /* the directory, or the archive with --bare */
static int bare;
static int in_order;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void list_directory(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);

	if (dir == NULL)
		fail("listing", path);
	while (errno = 0, (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			add_extent(&files, entry->d_name, 0, 0);
	}
	if (errno != 0)
		fail("listing", path);
	closedir(dir);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct extent *)a)->name, ((const struct extent *)b)->name);
}

/*
 * Shuffles sorted files, so that the order depends on the seed and not on the directory's
 * listing.
 */
static void shuffle(size_t seed)
{
	uint64_t state = seed * 2 + 1;

	for (size_t i = files.count; i > 1; i--) {
		struct extent swap;
		size_t j;

		state ^= state << 13; /* xorshift64 */
		state ^= state >> 7;
		state ^= state << 17;
		j = state % i;
		swap = files.items[i - 1];
		files.items[i - 1] = files.items[j];
		files.items[j] = swap;
	}
}

static uint64_t read_file(const struct extent *item, char *into)
{
	uint64_t bytes = 0;
	ssize_t n;
	int fd = openat(root, item->name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("opening", item->name);
	do {
		n = read(fd, into, CHUNK);
		if (n < 0)
			fail("reading", item->name);
		bytes += (uint64_t)n;
	} while (n == CHUNK); /* a short read is the end of a regular file */
	close(fd);
	return bytes;
}

static uint64_t read_extent(const struct extent *item, char *into)
{
	off_t done = 0;

	while (done < item->length) {
		off_t left = item->length - done;
		ssize_t n = pread(root, into, left < CHUNK ? (size_t)left : CHUNK,
				  item->offset + done);

		if (n <= 0)
			fail("reading the extent of", item->name);
		done += n;
	}
	return (uint64_t)done;
}

static void *run(void *argument)
{
	struct reader *reader = argument;
	char *into = malloc(CHUNK);

	if (into == NULL)
		fail("allocating", "a buffer");
	/* Touched before the clock starts, so that the buffer's page faults do not count. */
	memset(into, 1, CHUNK);
	reader->bytes = 0;
	for (size_t i = reader->first; i < files.count; i += readers)
		reader->bytes += bare ? read_extent(&files.items[i], into) : read_file(&files.items[i], into);
	free(into);
	return NULL;
}

static void pass(int last)
{
	struct reader *all = calloc(readers, sizeof(*all));
	uint64_t bytes = 0;
	double start = now(), seconds;

	if (all == NULL)
		fail("allocating", "readers");
	for (size_t i = 0; i < readers; i++) {
		all[i].first = i;
		if ((errno = pthread_create(&all[i].thread, NULL, run, &all[i])) != 0)
			fail("starting", "a reader");
	}
	for (size_t i = 0; i < readers; i++) {
		pthread_join(all[i].thread, NULL);
		bytes += all[i].bytes;
	}
	seconds = now() - start;
	free(all);
	printf("{\"seconds\":%.6f,\"bytes\":%llu,\"filesPerSecond\":%.1f,"
	       "\"megabytesPerSecond\":%.1f}%s",
	       seconds, (unsigned long long)bytes, (double)files.count / seconds,
	       (double)bytes / 1e6 / seconds, last ? "" : ",");
}

/*
 * A host reclaims free memory from a virtual machine within seconds, and the first use of a
 * page then costs up to ten times as much as later ones. Touching as much memory as the page
 * cache will need, right before the clock starts, keeps that out of the figures.
 */
static void touch_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED || munmap(memory, bytes) != 0)
		fail("touching", "memory");
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "readers", required_argument, NULL, 'r' },
		{ "passes", required_argument, NULL, 'p' },
		{ "seed", required_argument, NULL, 's' },
		{ "touch", required_argument, NULL, 't' },
		{ "files", required_argument, NULL, 'f' },
		{ "bare", no_argument, NULL, 'b' },
		{ "in-order", no_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	size_t passes = 1, seed = 1, touch = 0, most = 0;
	struct stat archive;
	double start, listed;
	int option;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 'r': readers = parse_number("--readers", optarg, 64); break;
		case 'p': passes = parse_number("--passes", optarg, 1000); break;
		case 's': seed = parse_number("--seed", optarg, UINT32_MAX); break;
		case 't': touch = parse_number("--touch", optarg, 1 << 20); break;
		case 'f': most = parse_number("--files", optarg, 1 << 30); break;
		case 'b': bare = 1; break;
		case 'o': in_order = 1; break;
		default: return 2;
		}
	}
	if (argc - optind != (bare ? 2 : 1)) {
		fprintf(stderr, "usage: %s [--readers N] [--passes N] [--seed N] [--touch MIB] "
				"[--files N] [--in-order] DIRECTORY | --bare ARCHIVE INDEX\n", argv[0]);
		return 2;
	}
	root = open(argv[optind], O_RDONLY | O_CLOEXEC);
	if (root < 0 || fstat(root, &archive) < 0)
		fail("opening", argv[optind]);
	start = now();
	if (bare)
		load_extents(&files, argv[optind + 1], archive.st_size);
	else
		list_directory(argv[optind]);
	listed = now() - start;
	qsort(files.items, files.count, sizeof(*files.items), by_name);
	if (!in_order)
		shuffle(seed);
	if (most > 0 && most < files.count)
		files.count = most;
	if (touch > 0)
		touch_memory(touch << 20);
	printf("{\"files\":%zu,\"listSeconds\":%.6f,\"passes\":[", files.count, listed);
	for (size_t i = 1; i <= passes; i++)
		pass(i == passes);
	printf("]}\n");
	return 0;
}
