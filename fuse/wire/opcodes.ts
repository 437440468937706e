export interface OpcodeInfo {
  /** Name in `enum fuse_opcode`, without `FUSE_`. */
  readonly name: string;
  /** Minimum bytes after the header: the size of its `fuse_*_in`, or 1 for a name's NUL. */
  readonly bodySize: number;
  /** Whether the kernel waits for a reply. */
  readonly replies: boolean;
}

/** Opcodes by name, from `enum fuse_opcode` in `linux/fuse.h`. */
export const Opcode = {
  LOOKUP: 1,
  FORGET: 2,
  GETATTR: 3,
  SETATTR: 4,
  READLINK: 5,
  SYMLINK: 6,
  MKNOD: 8,
  MKDIR: 9,
  UNLINK: 10,
  RMDIR: 11,
  RENAME: 12,
  LINK: 13,
  OPEN: 14,
  READ: 15,
  WRITE: 16,
  STATFS: 17,
  RELEASE: 18,
  FSYNC: 20,
  SETXATTR: 21,
  GETXATTR: 22,
  LISTXATTR: 23,
  REMOVEXATTR: 24,
  FLUSH: 25,
  INIT: 26,
  OPENDIR: 27,
  READDIR: 28,
  RELEASEDIR: 29,
  FSYNCDIR: 30,
  GETLK: 31,
  SETLK: 32,
  SETLKW: 33,
  ACCESS: 34,
  CREATE: 35,
  INTERRUPT: 36,
  BMAP: 37,
  DESTROY: 38,
  IOCTL: 39,
  POLL: 40,
  NOTIFY_REPLY: 41,
  BATCH_FORGET: 42,
  FALLOCATE: 43,
  READDIRPLUS: 44,
  RENAME2: 45,
  LSEEK: 46,
  COPY_FILE_RANGE: 47,
  SETUPMAPPING: 48,
  REMOVEMAPPING: 49,
  SYNCFS: 50,
  TMPFILE: 51,
  STATX: 52,
} as const;

/** Body sizes that handlers rely on, from the structs of `linux/fuse.h`. Always refused requests need none. */
const bodySizes: Readonly<Record<number, number>> = {
  [Opcode.LOOKUP]: 1,
  [Opcode.GETATTR]: 16, // fuse_getattr_in
  [Opcode.OPEN]: 8, // fuse_open_in
  [Opcode.OPENDIR]: 8,
  [Opcode.READ]: 40, // fuse_read_in
  [Opcode.READDIR]: 40,
  [Opcode.READDIRPLUS]: 40,
  [Opcode.INIT]: 8, // up to fuse_init_in.minor: all that a newer major version shares
};

const withoutReply: ReadonlySet<number> = new Set([
  Opcode.FORGET,
  Opcode.BATCH_FORGET,
  Opcode.INTERRUPT,
  Opcode.NOTIFY_REPLY,
]);

/** Request types by opcode; holes are unassigned opcodes. */
export const OPCODES: readonly (OpcodeInfo | undefined)[] = tableOf();

function tableOf(): (OpcodeInfo | undefined)[] {
  const table: (OpcodeInfo | undefined)[] = [];
  for (const [name, opcode] of Object.entries(Opcode)) {
    table[opcode] = {
      name,
      bodySize: bodySizes[opcode] ?? 0,
      replies: !withoutReply.has(opcode),
    };
  }
  return table;
}
