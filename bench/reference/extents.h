/* Shared by libfuse_server.c and reader.c: the extents of an archive, and error reporting. */
#ifndef EXTENTS_H
#define EXTENTS_H

#include <stddef.h>
#include <sys/types.h>

/* A file, and the location of its bytes in the archive. */
struct extent {
	char *name;
	off_t offset;
	off_t length;
};

struct extents {
	struct extent *items;
	size_t count;
};

/* Adds a file; NAME is copied. */
void add_extent(struct extents *extents, const char *name, off_t offset, off_t length);

/*
 * Reads an index: text, one line a file, "OFFSET LENGTH NAME", sorted by name. Every extent must
 * be inside the archive of ARCHIVE_SIZE bytes.
 */
void load_extents(struct extents *extents, const char *index, off_t archive_size);

/* Parses WORD as a whole number from 1 to MAX. */
size_t parse_number(const char *option, const char *word, size_t max);

/* Reports what failed with errno's message, and ends the process. */
_Noreturn void fail(const char *what, const char *name);

#endif
