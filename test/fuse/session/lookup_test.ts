import assert from "node:assert/strict";
import { FormatError } from "../../../src/base/errors.ts";
import { NotLoaded } from "../../../src/tree/not_loaded.ts";
import { Opcode } from "../../../fuse/wire/opcodes.ts";
import { Client } from "../support/client.ts";
import { MemoryTree, MTIME } from "../support/memory_tree.ts";
import { parseAttr, parseEntry } from "../support/replies.ts";
import { getattrBody } from "../support/requests.ts";

const DAY = 24 * 3600;

// Nodes: 1 the root, 2 a.txt, 3 dir, 4 dir/inner, 5 dir/inner/deep, 6 bad, 7 far.
const tree = () =>
  MemoryTree.of({
    "a.txt": "x".repeat(513),
    dir: { inner: { deep: "deep" } },
    bad: { kind: "damaged", message: "sample 4 is damaged" },
    far: { kind: "remote" },
  });

Deno.test("LOOKUP finds a file and describes it", () => {
  const { errno, body } = new Client(tree()).ask(Opcode.LOOKUP, 1, ["a.txt"]);
  assert.equal(errno, 0);
  assert.equal(body.byteLength, 128);
  const { node, entrySeconds, attrSeconds, attr } = parseEntry(body);
  assert.equal(node, 2);
  assert.ok(entrySeconds >= DAY && attrSeconds >= DAY);
  assert.deepEqual(attr, {
    ino: 2,
    size: 513,
    blocks: 2,
    mtime: Math.floor(MTIME / 1000),
    mtimeNanoseconds: 125_000_000,
    mode: 0o100644,
    links: 1,
    uid: 11,
    gid: 22,
    blockSize: 4096,
  });
});

Deno.test("LOOKUP lets the kernel cache that a name does not exist", () => {
  const { errno, body } = new Client(tree()).ask(Opcode.LOOKUP, 1, ["a.tx"]);
  const entry = parseEntry(body);
  assert.equal(errno, 0);
  assert.equal(entry.node, 0);
  assert.ok(entry.entrySeconds >= DAY);
});

Deno.test("LOOKUP follows . and ..", () => {
  const client = new Client(tree());
  const found = (node: number, name: string) =>
    parseEntry(client.ask(Opcode.LOOKUP, node, [name]).body).node;
  assert.equal(found(4, "."), 4);
  assert.equal(found(4, ".."), 3);
  assert.equal(found(3, ".."), 1);
  assert.equal(found(1, ".."), 1);
  assert.equal(found(1, "..."), 0);
});

Deno.test("LOOKUP rejects a parent that is a file or does not exist", () => {
  const client = new Client(tree());
  assert.equal(client.ask(Opcode.LOOKUP, 2, ["x"]).errno, 20); // ENOTDIR
  assert.equal(client.ask(Opcode.LOOKUP, 99, ["x"]).errno, 2); // ENOENT
});

Deno.test("GETATTR describes directories and files, minus the umask", () => {
  const client = new Client(tree(), { uid: 1, gid: 2, umask: 0o027 });
  const attr = (node: number) => {
    const { body } = client.ask(Opcode.GETATTR, node, getattrBody);
    assert.equal(body.byteLength, 104);
    assert.ok(Number(body.getBigUint64(0, true)) >= DAY);
    return parseAttr(body, 16);
  };
  assert.equal(attr(1).mode, 0o040750);
  assert.equal(attr(1).links, 1);
  assert.equal(attr(2).mode, 0o100640);
  assert.deepEqual([attr(2).uid, attr(2).gid], [1, 2]);
  assert.equal(client.ask(Opcode.GETATTR, 99, getattrBody).errno, 2);
});

Deno.test("a damaged node is EIO, logged once, and the next request is answered", () => {
  const client = new Client(tree());
  for (let i = 0; i < 3; i++) {
    assert.equal(client.ask(Opcode.GETATTR, 6, getattrBody).errno, 5);
  }
  assert.equal(client.ask(Opcode.LOOKUP, 1, ["bad"]).errno, 5);
  assert.deepEqual(client.logs, ["sample 4 is damaged"]);
  assert.equal(client.ask(Opcode.GETATTR, 2, getattrBody).errno, 0);
});

Deno.test("a response that requires waiting is EIO, and says what is needed", () => {
  const client = new Client(tree());
  assert.equal(client.ask(Opcode.GETATTR, 7, getattrBody).errno, 5);
  assert.match(
    client.logs.join(),
    /far\.ffr at once: a part of its index is not on a local disk/,
  );
});

Deno.test("a request that needs a part of an index is answered once that is loaded", async () => {
  const client = (load: () => void) => {
    let loaded = 0;
    return new Client(
      Object.assign(tree(), {
        stat(_: number, into: { size: number }) {
          into.size = 7;
          if (loaded < 3) {
            // deno-lint-ignore require-yield
            throw new NotLoaded("far.ffr", function* () {
              load();
              loaded++;
            });
          }
          return true;
        },
      }),
      { canLoad: true },
    );
  };
  const sound = client(() => {});
  const { errno } = await sound.askToLoad(Opcode.GETATTR, 2, getattrBody);
  assert.equal(errno, 0);
  assert.equal(sound.ask(Opcode.GETATTR, 2, getattrBody).errno, 0);
  const damaged = client(() => {
    throw new FormatError("bad-index", "the index is damaged", {});
  });
  const failed = await damaged.askToLoad(Opcode.GETATTR, 2, getattrBody);
  assert.equal(failed.errno, 5);
  assert.deepEqual(damaged.logs, ["the index is damaged"]);
});

Deno.test("a request that never has what it needs is EIO in the end", async () => {
  const client = new Client(tree(), { canLoad: true });
  const { errno } = await client.askToLoad(Opcode.GETATTR, 7, getattrBody);
  assert.equal(errno, 5);
  assert.match(client.logs.join(), /far\.ffr at once/);
});

Deno.test("times before 1970 keep their sign", () => {
  const early = Object.assign(tree(), {
    stat(_: number, into: { mtime: number; size: number }) {
      into.mtime = -1500;
      return true;
    },
  });
  const { body } = new Client(early).ask(Opcode.GETATTR, 1, getattrBody);
  assert.equal(body.getBigInt64(16 + 32, true), -2n);
  assert.equal(parseAttr(body, 16).mtimeNanoseconds, 500_000_000);
});
