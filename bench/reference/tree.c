#define _GNU_SOURCE

#include "tree.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash(uint32_t parent, const char *name, size_t length)
{
	uint32_t h = 2166136261u ^ (parent * 2654435761u); /* FNV-1a, seeded */

	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return h;
}

/* Returns the slot that holds the name, or the free one to put it in. */
static uint32_t *find_slot(const struct tree *tree, uint32_t parent, const char *name,
			   size_t length)
{
	size_t i = hash(parent, name, length) & tree->slot_mask;

	for (; tree->slots[i] != 0; i = (i + 1) & tree->slot_mask) {
		const struct node *node = &tree->nodes[tree->slots[i]];

		if (node->parent == parent && node->name_length == length &&
		    memcmp(node->name, name, length) == 0)
			break;
	}
	return &tree->slots[i];
}

uint32_t find_node(const struct tree *tree, uint32_t parent, const char *name)
{
	return *find_slot(tree, parent, name, strlen(name));
}

/* Capacity doubles at each power of two. */
static void *grown(void *items, size_t count, size_t size)
{
	if (count != 0 && (count & (count - 1)) != 0)
		return items;
	items = realloc(items, (count == 0 ? 1 : count * 2) * size);
	if (items == NULL)
		fail("allocating", "the tree");
	return items;
}

static uint32_t add_node(struct tree *tree, uint32_t parent, const char *name, size_t length,
			 const struct extent *file)
{
	uint32_t number = (uint32_t)tree->count;
	struct node *directory;

	tree->nodes = grown(tree->nodes, tree->count++, sizeof(*tree->nodes));
	tree->nodes[number] = (struct node){
		.name = file == NULL ? strndup(name, length) : name,
		.name_length = (uint32_t)length,
		.parent = parent,
		.file = file,
	};
	if (tree->nodes[number].name == NULL)
		fail("remembering", name);
	if (number == 0)
		return number;
	directory = &tree->nodes[parent];
	directory->children = grown(directory->children, directory->child_count,
				    sizeof(*directory->children));
	directory->children[directory->child_count++] = number;
	*find_slot(tree, parent, name, length) = number;
	return number;
}

static void add_path(struct tree *tree, const struct extent *file)
{
	const char *name = file->name;
	const char *slash;
	uint32_t parent = 0;

	for (; (slash = strchr(name, '/')) != NULL; name = slash + 1) {
		size_t length = (size_t)(slash - name);
		uint32_t found = *find_slot(tree, parent, name, length);

		parent = found != 0 ? found : add_node(tree, parent, name, length, NULL);
	}
	add_node(tree, parent, name, strlen(name), file);
}

void make_tree(struct tree *tree, const struct extents *extents)
{
	size_t most = 1, slots = 16;

	/* Allocates a directory for each slash, an upper limit. */
	for (size_t i = 0; i < extents->count; i++) {
		const char *previous = i > 0 ? extents->items[i - 1].name : "";
		const char *name = extents->items[i].name;
		size_t same = 0;

		while (name[same] != '\0' && name[same] == previous[same])
			same++;
		most++;
		for (const char *c = name + same; *c != '\0'; c++)
			most += *c == '/';
	}
	while (slots < most * 2)
		slots *= 2;
	tree->slots = calloc(slots, sizeof(*tree->slots));
	if (tree->slots == NULL)
		fail("allocating", "the table of names");
	tree->slot_mask = slots - 1;
	add_node(tree, 0, "", 0, NULL);
	for (size_t i = 0; i < extents->count; i++)
		add_path(tree, &extents->items[i]);
}
