/* What libfuse_server.c and reader.c share: the extents of an archive, and how they fail. */
#ifndef EXTENTS_H
#define EXTENTS_H

#include <stddef.h>
#include <sys/types.h>

/* A file, and where its bytes are in the archive. */
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
 * lie in the archive of ARCHIVE_SIZE bytes.
 */
void load_extents(struct extents *extents, const char *index, off_t archive_size);

/* Takes WORD for a whole number from 1 to MAX. */
size_t parse_number(const char *option, const char *word, size_t max);

/* Says what failed, for errno's reason, and ends the process. */
_Noreturn void fail(const char *what, const char *name);

#endif
