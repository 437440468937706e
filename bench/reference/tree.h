/* Directories of an archive's extents, according to their names. */
#ifndef TREE_H
#define TREE_H

#include "extents.h"

#include <stdint.h>

/* A file or directory. Node numbers start at 0, the root. */
struct node {
	const char *name; /* without its directory */
	const struct extent *file; /* NULL for a directory */
	uint32_t name_length;
	uint32_t parent;
	uint32_t *children; /* of a directory, in the order of the index */
	uint32_t child_count;
};

struct tree {
	struct node *nodes;
	size_t count;
	uint32_t *slots; /* open addressing by parent and name; node number, 0 if free */
	size_t slot_mask;
};

/*
 * Makes the tree of files whose names are paths without empty components, the entries of a
 * directory next to each other. EXTENTS must not change.
 */
void make_tree(struct tree *tree, const struct extents *extents);

/* Returns the entry of this name in directory PARENT, or 0. */
uint32_t find_node(const struct tree *tree, uint32_t parent, const char *name);

#endif
