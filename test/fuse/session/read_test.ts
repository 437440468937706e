import assert from "node:assert/strict";
import { Opcode } from "../../../fuse/wire/opcodes.ts";
import { Client } from "../support/client.ts";
import { MemoryTree } from "../support/memory_tree.ts";
import { readBody } from "../support/requests.ts";

// Nodes: 2 stored (7 bytes after the start of the source), 3 computed, 4 dir, 5 bad, 6 outside, 7 far.
const client = () =>
  new Client(MemoryTree.of({
    stored: "0123456789",
    computed: { kind: "computed", text: "abcdef" },
    dir: {},
    bad: { kind: "damaged", message: "sample 3 is damaged" },
    outside: { kind: "outside" },
    far: { kind: "remote" },
  }));

Deno.test("READ points at the bytes in the source, limited to the file's end", () => {
  const kernel = client();
  const extent = (offset: number, size: number) =>
    kernel.ask(Opcode.READ, 2, readBody(offset, size)).payload;
  assert.deepEqual(extent(0, 4096), [0, 7, 10]);
  assert.deepEqual(extent(3, 4), [0, 10, 4]);
  assert.deepEqual(extent(9, 4), [0, 16, 1]);
  assert.equal(extent(10, 4), undefined);
  assert.equal(extent(2 ** 40, 4), undefined);
  assert.equal(extent(0, 0), undefined);
});

Deno.test("READ copies computed content", () => {
  const kernel = client();
  const read = (offset: number, size: number) => {
    const { body, payload } = kernel.ask(
      Opcode.READ,
      3,
      readBody(offset, size),
    );
    assert.equal(payload, undefined);
    return new TextDecoder().decode(body);
  };
  assert.equal(read(0, 4096), "abcdef");
  assert.equal(read(2, 3), "cde");
  assert.equal(read(6, 3), "");
});

Deno.test("READ of a node without content is an error of its kind", () => {
  const kernel = client();
  const errno = (node: number) =>
    kernel.ask(Opcode.READ, node, readBody(0, 10)).errno;
  assert.equal(errno(4), 21); // EISDIR
  assert.equal(errno(99), 2); // ENOENT
  assert.equal(errno(5), 5); // EIO
  assert.equal(errno(7), 5);
});

Deno.test("READ never sends memory outside the source", () => {
  const kernel = client();
  assert.equal(kernel.ask(Opcode.READ, 6, readBody(0, 10)).errno, 5);
  assert.match(kernel.logs.join(), /out of bounds of its container/);
});
