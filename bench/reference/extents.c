#define _GNU_SOURCE

#include "extents.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *what, const char *name)
{
	fprintf(stderr, "%s: %s %s: %s\n", program_invocation_short_name, what, name,
		strerror(errno));
	exit(1);
}

void add_extent(struct extents *extents, const char *name, off_t offset, off_t length)
{
	struct extent *added;

	/* Capacity doubles at each power of two from 1024 on. */
	if (extents->count == 0 ||
	    (extents->count >= 1024 && (extents->count & (extents->count - 1)) == 0)) {
		size_t room = extents->count == 0 ? 1024 : extents->count * 2;

		extents->items = realloc(extents->items, room * sizeof(*extents->items));
		if (extents->items == NULL)
			fail("remembering", name);
	}
	added = &extents->items[extents->count++];
	added->name = strdup(name);
	if (added->name == NULL)
		fail("remembering", name);
	added->offset = offset;
	added->length = length;
}

void load_extents(struct extents *extents, const char *index, off_t archive_size)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	FILE *in = fopen(index, "r");

	if (in == NULL)
		fail("opening", index);
	while ((length = getline(&line, &room, in)) > 0) {
		long long offset, size;
		int name_at = 0;

		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (sscanf(line, "%lld %lld %n", &offset, &size, &name_at) != 2 ||
		    line[name_at] == '\0' || offset < 0 || size < 0 ||
		    offset > archive_size || size > archive_size - offset) {
			errno = EINVAL;
			fail("line that names no extent of the archive in", index);
		}
		add_extent(extents, line + name_at, offset, size);
	}
	if (ferror(in))
		fail("reading", index);
	free(line);
	fclose(in);
}

size_t parse_number(const char *option, const char *word, size_t max)
{
	char *end;
	unsigned long number = strtoul(word, &end, 10);

	/* Checks the first digit because strtoul accepts signs and spaces. */
	if (*word < '1' || *word > '9' || *end != '\0' || number > max) {
		errno = EINVAL;
		fail(option, word);
	}
	return number;
}
