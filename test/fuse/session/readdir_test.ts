import assert from "node:assert/strict";
import { Opcode } from "../../../fuse/wire/opcodes.ts";
import { Client } from "../support/client.ts";
import { type Folder, MemoryTree } from "../support/memory_tree.ts";
import { type Dirent, parseDirents } from "../support/replies.ts";
import { readBody } from "../support/requests.ts";

const folder: Folder = {
  a: "1",
  "eight-88": "22", // a dirent without padding
  "näme": "333",
  dir: { inner: "x" },
  bad: { kind: "damaged", message: "sample 5 is damaged" },
  [`${"l".repeat(255)}`]: "4444",
};
const names = [".", "..", ...Object.keys(folder)];

for (const plus of [false, true]) {
  const opcode = plus ? Opcode.READDIRPLUS : Opcode.READDIR;
  const title = plus ? "READDIRPLUS" : "READDIR";
  const list = (client: Client, node: number, offset: number, size: number) => {
    const { errno, body } = client.ask(opcode, node, readBody(offset, size));
    assert.equal(errno, 0);
    assert.ok(body.byteLength <= size, "it fits where the kernel wants it");
    return parseDirents(body, plus);
  };

  Deno.test(`${title} lists a directory with stable cookies`, () => {
    const client = new Client(MemoryTree.of(folder));
    const entries = list(client, 1, 0, 1 << 20);
    assert.deepEqual(entries.map((entry) => entry.name), names);
    assert.deepEqual(
      entries.map((entry) => entry.next),
      names.map((_, i) => i + 1),
    );
    assert.deepEqual(entries.map((entry) => entry.node), [
      ...[1, 1, 2, 3, 4, 5, 7, 8],
    ]);
    assert.deepEqual(entries.map((entry) => entry.type), [
      ...[4, 4, 8, 8, 8, 4, 8, 8],
    ]);
  });

  Deno.test(`${title} of a subdirectory knows its parent`, () => {
    const client = new Client(MemoryTree.of({ d: { e: { f: "x" } } }));
    const entries = list(client, 3, 0, 4096);
    assert.deepEqual(
      entries.map(({ name, node }) => [name, node]),
      [[".", 3], ["..", 2], ["f", 4]],
    );
  });

  Deno.test(`${title} resumes at every cookie, with every size`, () => {
    const client = new Client(MemoryTree.of(folder));
    const all = list(client, 1, 0, 1 << 20);
    for (let start = 0; start <= all.length; start++) {
      assert.deepEqual(list(client, 1, start, 1 << 20), all.slice(start));
    }
    const largest = (plus ? 128 : 0) + 24 + 256;
    for (let size = largest; size < 4 * largest; size += 8) {
      assert.deepEqual(page(client, size), all, `in pieces of ${size} bytes`);
    }
  });

  Deno.test(`${title} past the end is empty`, () => {
    const client = new Client(MemoryTree.of(folder));
    assert.deepEqual(list(client, 1, names.length, 4096), []);
    assert.deepEqual(list(client, 1, 2 ** 50, 4096), []);
  });

  Deno.test(`${title} into too small a buffer is EINVAL, not the end`, () => {
    const client = new Client(MemoryTree.of(folder));
    for (const size of [0, 8, plus ? 159 : 31]) {
      const { errno } = client.ask(opcode, 1, readBody(0, size));
      assert.equal(errno, 22);
    }
  });

  Deno.test(`${title} rejects files and unknown nodes`, () => {
    const client = new Client(MemoryTree.of(folder));
    assert.equal(client.ask(opcode, 2, readBody(0, 4096)).errno, 20);
    assert.equal(client.ask(opcode, 99, readBody(0, 4096)).errno, 2);
  });

  Deno.test(`${title} skips names that the kernel would reject, and reports it`, () => {
    const long = "n".repeat(1025);
    const tree = MemoryTree.of({ a: "", [long]: "", b: "" });
    const client = new Client(tree);
    const entries = list(client, 1, 0, 1 << 20);
    assert.deepEqual(entries.map(({ name }) => name), [".", "..", "a", "b"]);
    assert.match(client.logs.join(), /1025/);
  });

  const page = (client: Client, size: number): Dirent[] => {
    const entries: Dirent[] = [];
    while (true) {
      const part = list(client, 1, entries.at(-1)?.next ?? 0, size);
      if (part.length === 0) return entries;
      entries.push(...part);
    }
  };
}

Deno.test("READDIRPLUS describes each entry like LOOKUP", () => {
  const client = new Client(MemoryTree.of(folder));
  const { body } = client.ask(Opcode.READDIRPLUS, 1, readBody(0, 1 << 20));
  const listed = parseDirents(body, true);
  for (const { name, entry } of listed.slice(2)) {
    if (name === "bad") continue;
    const looked = client.ask(Opcode.LOOKUP, 1, [name]);
    assert.equal(looked.errno, 0);
    const bytes = new DataView(looked.body.buffer, 0, 128);
    assert.equal(entry?.node, Number(bytes.getBigUint64(0, true)));
    assert.equal(entry?.attr.size, Number(bytes.getBigUint64(48, true)));
    assert.equal(entry?.attr.mode, bytes.getUint32(100, true));
  }
});

Deno.test("READDIRPLUS lists entries that cannot be described, without attributes", () => {
  const client = new Client(MemoryTree.of(folder));
  const { body } = client.ask(Opcode.READDIRPLUS, 1, readBody(0, 1 << 20));
  const bad = parseDirents(body, true).find(({ name }) => name === "bad");
  assert.equal(bad?.entry?.node, 0);
  assert.equal(bad?.node, 7);
  assert.deepEqual(client.logs, ["sample 5 is damaged"]);
});
