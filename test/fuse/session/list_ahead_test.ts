import assert from "node:assert/strict";
import { newListAheadMemory } from "../../../fuse/session/list_ahead.ts";
import { Opcode } from "../../../fuse/wire/opcodes.ts";
import type { NodeId } from "../../../src/tree/tree.ts";
import { Client } from "../support/client.ts";
import { type Folder, MemoryTree } from "../support/memory_tree.ts";
import { type Dirent, parseDirents } from "../support/replies.ts";
import { readBody } from "../support/requests.ts";

/** Size of a page of some 20 entries with attributes. */
const PAGE = 4096;

const files = (count: number): Folder =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`file ${i}`, `${i}`]),
  );

/** A thread of a mount, which records the directories that its tree lists. */
class Thread {
  readonly listed: NodeId[] = [];
  readonly client: Client;
  /** Number of readable entries per directory. */
  sound = Infinity;

  constructor(folder: Folder, listAhead = newListAheadMemory()) {
    const tree = MemoryTree.of(folder);
    const list = tree.list.bind(tree);
    tree.list = (dir, cursor, visit) => {
      this.listed.push(dir);
      if (cursor >= this.sound) throw new Error("the index is damaged");
      list(dir, cursor, visit);
    };
    this.client = new Client(tree, { listAhead });
  }

  /** Requests a page. Returns the reply, and the directories that were listed for it. */
  page(
    node: NodeId,
    offset: number,
    size = PAGE,
    opcode: number = Opcode.READDIRPLUS,
  ) {
    const before = this.listed.length;
    const { errno, unique, body } = this.client.ask(
      opcode,
      node,
      readBody(offset, size),
    );
    const listed = this.listed.slice(before);
    this.client.session.prepareNext();
    const plus = opcode === Opcode.READDIRPLUS;
    const entries = errno === 0 ? parseDirents(body, plus) : [];
    return { errno, unique, entries, listed };
  }
}

for (const opcode of [Opcode.READDIR, Opcode.READDIRPLUS]) {
  const title = opcode === Opcode.READDIR ? "READDIR" : "READDIRPLUS";

  Deno.test(`${title}: alternating threads answer from what one of them prepared`, () => {
    const shared = newListAheadMemory();
    const folder = files(500);
    const threads = [1, 2, 3].map(() => new Thread(folder, shared));
    const entries: Dirent[] = [];
    for (let turn = 0;; turn++) {
      const thread = threads[turn % threads.length]!;
      const page = thread.page(1, entries.at(-1)?.next ?? 0, PAGE, opcode);
      assert.equal(page.errno, 0);
      assert.equal(page.unique, 0x0102_0304_0506_0708n, "it names its request");
      if (page.entries.length === 0) break;
      assert.deepEqual(page.listed, turn === 0 ? [1] : []);
      entries.push(...page.entries);
    }
    const alone = new Thread(folder).page(1, 0, 1 << 20, opcode);
    assert.equal(alone.entries.length, 502);
    assert.deepEqual(entries, alone.entries);
  });
}

Deno.test("a walk finds the first page of the next directory ready", () => {
  // Nodes: the root 1, a 2, a/b 3, their files after them.
  const thread = new Thread({ a: { b: files(30) } });
  assert.deepEqual(thread.page(1, 0).listed, [1]);
  assert.deepEqual(thread.page(2, 0).listed, [2]);
  const ready = thread.page(3, 0);
  assert.deepEqual(ready.listed, []);
  const names = ready.entries.map(({ name }) => name);
  assert.deepEqual(names.slice(0, 4), [".", "..", "file 0", "file 1"]);
  assert.equal(ready.entries[1]?.node, 2);
});

Deno.test("no other directory is prepared for a single one", () => {
  const thread = new Thread({ a: { b: files(3) } });
  thread.page(2, 0);
  assert.deepEqual(thread.listed, [2]);
  thread.page(2, 0);
  assert.deepEqual(thread.listed, [2, 2]);
});

Deno.test("only the requested page is sent: same directory, offset, size and kind", () => {
  const thread = new Thread({ a: files(100), b: files(100) });
  const first = thread.page(2, 0);
  const next = first.entries.at(-1)!.next;
  const requests: [NodeId, number, number, number][] = [
    [2, next + 1, PAGE, Opcode.READDIRPLUS],
    [2, next, PAGE - 512, Opcode.READDIRPLUS],
    [2, next, PAGE, Opcode.READDIR],
    [103, next, PAGE, Opcode.READDIRPLUS],
  ];
  for (const [node, offset, size, opcode] of requests) {
    const other = thread.page(node, offset, size, opcode);
    assert.deepEqual(other.listed, [node]);
    const alone = new Thread({ a: files(100), b: files(100) })
      .page(node, offset, size, opcode);
    assert.deepEqual(other.entries, alone.entries);
  }
});

Deno.test("several readers of large directories all get every entry", () => {
  const folder = { a: files(300), b: files(300), c: files(300) };
  const shared = newListAheadMemory();
  const threads = [1, 2, 3].map(() => new Thread(folder, shared));
  const readers = [2, 303, 604].map((node) => ({
    node,
    entries: [] as Dirent[],
    done: false,
  }));
  for (let turn = 0; readers.some(({ done }) => !done); turn++) {
    for (const reader of readers) {
      const { node, entries } = reader;
      const thread = threads[(turn * 5 + node) % threads.length]!;
      const page = thread.page(node, entries.at(-1)?.next ?? 0);
      entries.push(...page.entries);
      reader.done = page.entries.length === 0;
    }
  }
  for (const { node, entries } of readers) {
    const alone = new Thread(folder).page(node, 0, 1 << 20);
    assert.deepEqual(entries, alone.entries);
  }
});

Deno.test("a failure during preparation is reported on the request, and a later success works", () => {
  const thread = new Thread(files(100));
  thread.sound = 1;
  const { errno, entries } = thread.page(1, 0);
  assert.equal(errno, 0);
  const { next } = entries.at(-1)!;
  assert.equal(thread.page(1, next).errno, 5);
  thread.sound = Infinity;
  const again = thread.page(1, next);
  assert.equal(again.errno, 0);
  assert.equal(again.entries[0]?.name, `file ${next - 2}`);
});

Deno.test("pages larger than the buffer are written on request", () => {
  const thread = new Thread(files(1000));
  const { entries } = thread.page(1, 0, 1 << 16);
  assert.deepEqual(thread.listed, [1]);
  assert.deepEqual(thread.page(1, entries.at(-1)!.next, 1 << 16).listed, [1]);
});

Deno.test("when the thread that prepares ends, another one does it", () => {
  const shared = newListAheadMemory();
  const [first, second] = [1, 2].map(() => new Thread(files(500), shared));
  const { entries } = first!.page(1, 0);
  first!.client.session.end();
  let offset = entries.at(-1)!.next;
  // The second thread first sends the prepared page, then lists a page itself, and prepares from then on.
  let page = second!.page(1, offset);
  while (page.listed.length === 0) {
    offset = page.entries.at(-1)!.next;
    page = second!.page(1, offset);
  }
  assert.deepEqual(second!.page(1, page.entries.at(-1)!.next).listed, []);
});
