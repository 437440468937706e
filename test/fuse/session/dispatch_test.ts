import assert from "node:assert/strict";
import { InitFlag } from "../../../fuse/wire/flags.ts";
import { Opcode } from "../../../fuse/wire/opcodes.ts";
import { Client } from "../support/client.ts";
import { MemoryTree } from "../support/memory_tree.ts";
import { encodeRequest, UNIQUE } from "../support/requests.ts";

const client = () => new Client(MemoryTree.of({ a: "x", b: "yy" }));
/** Longer than any request's body. */
const zeros = new Uint8Array(128);

const errors: Record<
  string,
  [errno: number, opcodes: (keyof typeof Opcode)[]]
> = {
  EROFS: [30, [
    ...["SETATTR", "SYMLINK", "MKNOD", "MKDIR", "UNLINK", "RMDIR"] as const,
    ...["RENAME", "RENAME2", "LINK", "WRITE", "SETXATTR"] as const,
    ...["REMOVEXATTR", "CREATE", "TMPFILE", "FALLOCATE"] as const,
    "COPY_FILE_RANGE",
  ]],
  ENOSYS: [38, [
    ...["FLUSH", "FSYNC", "FSYNCDIR", "ACCESS", "GETXATTR"] as const,
    ...["LISTXATTR", "LSEEK", "IOCTL", "POLL", "STATX", "BMAP"] as const,
    ...["GETLK", "SETLK", "SETLKW", "SYNCFS", "SETUPMAPPING"] as const,
    "REMOVEMAPPING",
  ]],
  EINVAL: [22, ["READLINK"]],
  success: [0, ["RELEASE", "RELEASEDIR", "DESTROY"]],
};

for (const [name, [errno, opcodes]] of Object.entries(errors)) {
  for (const opcode of opcodes) {
    Deno.test(`${opcode} is answered with ${name}`, () => {
      const answer = client().ask(Opcode[opcode], 2, [zeros]);
      assert.equal(answer.errno, errno);
      assert.equal(answer.unique, UNIQUE);
      assert.equal(answer.body.byteLength, 0);
    });
  }
}

Deno.test("unknown requests are ENOSYS", () => {
  for (const opcode of [0, 7, 53, 4096, 0xffff_ffff]) {
    assert.equal(client().ask(opcode, 1, [zeros]).errno, 38);
  }
});

Deno.test("FORGET, BATCH_FORGET, INTERRUPT and NOTIFY_REPLY get no reply", () => {
  for (
    const opcode of [
      Opcode.FORGET,
      Opcode.BATCH_FORGET,
      Opcode.INTERRUPT,
      Opcode.NOTIFY_REPLY,
    ]
  ) {
    assert.equal(client().send(encodeRequest(opcode, 2, [zeros])), undefined);
    assert.equal(client().send(encodeRequest(opcode, 2)), undefined);
  }
});

Deno.test("OPEN and OPENDIR tell the kernel to skip them, where it can", () => {
  const kernel = client();
  kernel.init();
  assert.equal(kernel.ask(Opcode.OPEN, 2, [0, 0]).errno, 38);
  assert.equal(kernel.ask(Opcode.OPENDIR, 1, [0, 0]).errno, 38);
});

Deno.test("OPEN and OPENDIR keep the caches of kernels that cannot skip them", () => {
  const kernel = client();
  kernel.init(InitFlag.ASYNC_READ);
  const opened = kernel.ask(Opcode.OPEN, 2, [0, 0]);
  assert.equal(opened.body.byteLength, 16);
  assert.equal(opened.body.getUint32(8, true), 1 << 1); // FOPEN_KEEP_CACHE
  const directory = kernel.ask(Opcode.OPENDIR, 1, [0, 0]);
  assert.equal(directory.body.getUint32(8, true), 1 << 1 | 1 << 3);
  for (const forWriting of [1, 2]) {
    assert.equal(kernel.ask(Opcode.OPEN, 2, [forWriting, 0]).errno, 30);
  }
});

Deno.test("STATFS describes a full file system", () => {
  const { body } = client().ask(Opcode.STATFS);
  assert.equal(body.byteLength, 80);
  const words = [0, 8, 16, 24, 32].map((at) => body.getBigUint64(at, true));
  assert.deepEqual(words, [1n, 0n, 0n, 3n, 0n]);
  assert.equal(body.getUint32(40, true), 4096);
  assert.equal(body.getUint32(44, true), 255);
});
