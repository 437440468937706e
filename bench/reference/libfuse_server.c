/*
 * Reference for bench/mount_suite.ts, mount.ts and scale.ts: directories of extents of one archive, served by
 * libfuse 3's low-level API as fast as that API allows.
 *
 *   libfuse_server [--read WAY] [--threads N] [--debug] ARCHIVE INDEX MOUNTPOINT
 *   libfuse_server --defaults [--debug] ARCHIVE INDEX MOUNTPOINT
 *
 * INDEX is described in extents.h. The process serves in the foreground until it is unmounted
 * or receives SIGINT or SIGTERM.
 *
 * The kernel sees the same protocol as from recordfs: no OPEN, OPENDIR, FLUSH or xattr requests
 * after the first of each, entries and attributes valid for a day, READDIRPLUS always, 1 MiB
 * requests. With --defaults, it sees libfuse's defaults: its own choice of capabilities and
 * limits, its own threads, and content given as an offset in a file, which libfuse then reads
 * into a buffer and writes.
 */
#define FUSE_USE_VERSION 314
#define _GNU_SOURCE

#include "extents.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_READ (1024 * 1024)
#define A_DAY 86400.0

/* How the bytes of a READ are sent from the archive to the kernel. */
enum way {
	SPLICE,      /* spliced through a pipe, pages copied by the kernel */
	SPLICE_MOVE, /* the same, the kernel allowed to take whole pages away from the page cache */
	MMAP,        /* written from a memory map of the archive */
	POPULATED,   /* the same, its page tables filled at the start */
	PREAD,       /* read into a buffer, then written */
};

static const char *const way_names[] = {
	"splice", "splice-move", "mmap", "mmap-populated", "pread",
};

static struct {
	struct extents files;
	struct tree tree; /* node number + FUSE_ROOT_ID is the inode number */
	int fd;
	const char *map;
	enum way way;
	int defaults;
	struct stat dir_stat;
	struct stat file_stat;
} fs;

static _Thread_local char buffer[MAX_READ];

static void open_archive(const char *path)
{
	int flags = MAP_SHARED;

	fs.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fs.fd < 0 || fstat(fs.fd, &fs.file_stat) < 0)
		fail("opening", path);
	fs.dir_stat = fs.file_stat;
	fs.dir_stat.st_mode = S_IFDIR | 0555;
	fs.dir_stat.st_nlink = 2;
	fs.dir_stat.st_size = 0;
	fs.dir_stat.st_blocks = 0;
	fs.file_stat.st_mode = S_IFREG | 0444;
	fs.file_stat.st_nlink = 1;
	if (fs.way != MMAP && fs.way != POPULATED)
		return;
	if (fs.way == POPULATED)
		flags |= MAP_POPULATE;
	fs.map = mmap(NULL, (size_t)fs.file_stat.st_size, PROT_READ, flags, fs.fd, 0);
	if (fs.map == MAP_FAILED)
		fail("mapping", path);
}

static const struct node *node_of(fuse_ino_t ino)
{
	if (ino < FUSE_ROOT_ID || ino - FUSE_ROOT_ID >= fs.tree.count)
		return NULL;
	return &fs.tree.nodes[ino - FUSE_ROOT_ID];
}

static struct stat stat_of(fuse_ino_t ino, const struct node *node)
{
	struct stat st = node->file == NULL ? fs.dir_stat : fs.file_stat;

	st.st_ino = ino;
	if (node->file != NULL) {
		st.st_size = node->file->length;
		st.st_blocks = (node->file->length + 511) / 512;
	}
	return st;
}

static struct fuse_entry_param entry_of(uint32_t number)
{
	fuse_ino_t ino = number + FUSE_ROOT_ID;

	return (struct fuse_entry_param){
		.ino = ino,
		.attr = stat_of(ino, &fs.tree.nodes[number]),
		.attr_timeout = A_DAY,
		.entry_timeout = A_DAY,
	};
}

static void on_init(void *userdata, struct fuse_conn_info *conn)
{
	unsigned int want = FUSE_CAP_ASYNC_READ | FUSE_CAP_READDIRPLUS |
			    FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_CACHE_SYMLINKS |
			    FUSE_CAP_NO_OPEN_SUPPORT | FUSE_CAP_NO_OPENDIR_SUPPORT;

	(void)userdata;
	if (fs.defaults)
		return;
	if (fs.way == SPLICE || fs.way == SPLICE_MOVE)
		want |= FUSE_CAP_SPLICE_WRITE;
	if (fs.way == SPLICE_MOVE)
		want |= FUSE_CAP_SPLICE_MOVE;
	conn->want = want & conn->capable;
	/*
	 * MAX_PAGES has no capability bit: libfuse derives 256 pages from the default max_write.
	 * libfuse 3.14 does not pass PARALLEL_DIROPS on to the kernel. It affects only lookups, and
	 * after a listing there are none.
	 */
	conn->max_read = MAX_READ;
	conn->max_background = 64;
	conn->congestion_threshold = 48;
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	const struct node *directory = node_of(parent);
	uint32_t number = 0;
	struct fuse_entry_param entry;

	if (directory != NULL && directory->file == NULL)
		number = find_node(&fs.tree, (uint32_t)(parent - FUSE_ROOT_ID), name);
	if (number == 0) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	entry = entry_of(number);
	fuse_reply_entry(req, &entry);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	const struct node *node = node_of(ino);
	struct stat st;

	(void)fi;
	if (node == NULL) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	st = stat_of(ino, node);
	fuse_reply_attr(req, &st, A_DAY);
}

/*
 * Without a handler, libfuse replies success; the kernel stops sending the request only on
 * ENOSYS.
 */
static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
	fuse_reply_err(req, ENOSYS);
}

static void reply_spliced(fuse_req_t req, off_t at, size_t size)
{
	struct fuse_bufvec data = FUSE_BUFVEC_INIT(size);

	data.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
	data.buf[0].fd = fs.fd;
	data.buf[0].pos = at;
	fuse_reply_data(req, &data, fs.way == SPLICE_MOVE ? FUSE_BUF_SPLICE_MOVE : 0);
}

static void reply_copied(fuse_req_t req, off_t at, size_t size)
{
	size_t have = 0;

	while (have < size) {
		ssize_t n = pread(fs.fd, buffer + have, size - have, at + (off_t)have);

		if (n <= 0) {
			fuse_reply_err(req, n < 0 ? errno : EIO);
			return;
		}
		have += (size_t)n;
	}
	fuse_reply_buf(req, buffer, size);
}

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		    struct fuse_file_info *fi)
{
	const struct node *node = node_of(ino);
	const struct extent *file = node == NULL ? NULL : node->file;

	(void)fi;
	if (file == NULL) {
		fuse_reply_err(req, node == NULL ? ENOENT : EISDIR);
		return;
	}
	if (offset >= file->length) {
		fuse_reply_buf(req, NULL, 0);
		return;
	}
	if ((off_t)size > file->length - offset)
		size = (size_t)(file->length - offset);
	if (size > MAX_READ)
		size = MAX_READ;
	offset += file->offset;
	if (fs.map != NULL) {
		struct iovec bytes = { (void *)(fs.map + offset), size };

		fuse_reply_iov(req, &bytes, 1);
	} else if (fs.way == PREAD) {
		reply_copied(req, offset, size);
	} else {
		reply_spliced(req, offset, size);
	}
}

/* Directory offset k is the entry after the k-th; "." and ".." precede the others. */
static size_t add_entry(fuse_req_t req, const struct node *directory, size_t number, size_t used,
			size_t size, int plus)
{
	static const char *const dots[] = { ".", ".." };
	struct fuse_entry_param entry = { .attr = fs.dir_stat };
	const char *name;

	if (number < 2) {
		name = dots[number];
	} else {
		name = fs.tree.nodes[directory->children[number - 2]].name;
		entry = entry_of(directory->children[number - 2]);
	}
	if (plus)
		return fuse_add_direntry_plus(req, buffer + used, size - used, name, &entry,
					      (off_t)number + 1);
	return fuse_add_direntry(req, buffer + used, size - used, name, &entry.attr,
				 (off_t)number + 1);
}

static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, int plus)
{
	const struct node *directory = node_of(ino);
	size_t used = 0;

	if (directory == NULL || directory->file != NULL) {
		fuse_reply_err(req, directory == NULL ? ENOENT : ENOTDIR);
		return;
	}
	if (size > sizeof(buffer))
		size = sizeof(buffer);
	for (size_t i = (size_t)offset; i < directory->child_count + (size_t)2; i++) {
		size_t needed = add_entry(req, directory, i, used, size, plus);

		if (needed > size - used)
			break;
		used += needed;
	}
	fuse_reply_buf(req, buffer, used);
}

static void on_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, offset, 0);
}

static void on_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
			   struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, offset, 1);
}

static const struct fuse_lowlevel_ops operations = {
	.init = on_init,
	.lookup = on_lookup,
	.getattr = on_getattr,
	.open = on_open,
	.opendir = on_open,
	.read = on_read,
	.readdir = on_readdir,
	.readdirplus = on_readdirplus,
};

static int serve(struct fuse_session *session, unsigned int threads)
{
	struct fuse_loop_config *config;
	int result;

	if (fs.defaults)
		return fuse_session_loop_mt(session, NULL);
	if (threads == 1)
		return fuse_session_loop(session);
	config = fuse_loop_cfg_create();
	fuse_loop_cfg_set_clone_fd(config, 1);
	fuse_loop_cfg_set_max_threads(config, threads);
	fuse_loop_cfg_set_idle_threads(config, threads);
	result = fuse_session_loop_mt(session, config);
	fuse_loop_cfg_destroy(config);
	return result;
}

static enum way parse_way(const char *word)
{
	for (size_t i = 0; i < sizeof(way_names) / sizeof(way_names[0]); i++) {
		if (strcmp(word, way_names[i]) == 0)
			return (enum way)i;
	}
	errno = EINVAL;
	fail("--read", word);
	return SPLICE;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "read", required_argument, NULL, 'r' },
		{ "threads", required_argument, NULL, 't' },
		{ "defaults", no_argument, NULL, 'D' },
		{ "debug", no_argument, NULL, 'd' },
		{ NULL, 0, NULL, 0 },
	};
	char *session_argv[] = {
		argv[0], "-o",
		"ro,nosuid,nodev,default_permissions,fsname=reference,subtype=libfuse_server,max_read=1048576",
		"-d", NULL,
	};
	struct fuse_args args = FUSE_ARGS_INIT(3, session_argv);
	struct fuse_session *session;
	unsigned int threads = 1;
	int option, status;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 'r': fs.way = parse_way(optarg); break;
		case 't':
			threads = (unsigned int)parse_number("--threads", optarg, 64);
			break;
		case 'D': fs.defaults = 1; break;
		case 'd': args.argc = 4; break;
		default: return 2;
		}
	}
	if (argc - optind != 3) {
		fprintf(stderr, "usage: %s [--read WAY] [--threads N] | --defaults [--debug] "
				"ARCHIVE INDEX MOUNTPOINT\n", argv[0]);
		return 2;
	}
	if (fs.defaults) /* the options without max_read */
		session_argv[2] = "ro,nosuid,nodev,fsname=reference,subtype=libfuse_server";
	open_archive(argv[optind]);
	load_extents(&fs.files, argv[optind + 1], fs.file_stat.st_size);
	make_tree(&fs.tree, &fs.files);

	session = fuse_session_new(&args, &operations, sizeof(operations), NULL);
	if (session == NULL || fuse_set_signal_handlers(session) != 0 ||
	    fuse_session_mount(session, argv[optind + 2]) != 0)
		return 1;
	status = serve(session, threads);
	fuse_session_unmount(session);
	fuse_remove_signal_handlers(session);
	fuse_session_destroy(session);
	fuse_opt_free_args(&args);
	return status < 0 ? 1 : 0;
}
