/* The directories that the extents of an archive are in, by their names. */
#ifndef TREE_H
#define TREE_H

#include "extents.h"

#include <stdint.h>

/* A file or directory. Numbers of nodes count from 0, the root. */
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
	uint32_t *slots; /* open addressing by parent and name; number of the node, 0 is free */
	size_t slot_mask;
};

/*
 * Makes the tree of files whose names are paths without empty components, the entries of a
 * directory next to each other. EXTENTS must stay as it is.
 */
void make_tree(struct tree *tree, const struct extents *extents);

/* The entry of directory PARENT of that name, or 0. */
uint32_t find_node(const struct tree *tree, uint32_t parent, const char *name);

#endif
