/**
 * Whatever bytes arrive as a request, the session replies with a valid message, or not at all where the protocol has no
 * reply, and continues. `RECORDFS_SEED=N` repeats the seed that a failure names.
 */
import assert from "node:assert/strict";
import { Errno } from "../../../fuse/wire/errno.ts";
import { MAX_TRANSFER } from "../../../fuse/limits.ts";
import { Mapping } from "../../../fuse/content/mapping.ts";
import { newSampleChecks } from "../../../fuse/checksums/sample_checks_memory.ts";
import { Opcode, OPCODES } from "../../../fuse/wire/opcodes.ts";
import { areOpen, ROOT, type Tree } from "../../../src/tree/tree.ts";
import { openDeferred } from "../../../src/open/open_deferred.ts";
import { datasetCase } from "../../support/bags/bag_golden.ts";
import { goldenCase } from "../../support/golden.ts";
import { gulpCase } from "../../support/gulp/gulp_golden.ts";
import { type Answer, Client } from "../support/client.ts";
import { checkedTree } from "../support/checked_tree.ts";
import { linked } from "../support/linked_tree.ts";
import { MemoryTree } from "../support/memory_tree.ts";
import { parseDirents } from "../support/replies.ts";
import { RequestFuzzer } from "../support/request_fuzzer.ts";

/** Number of requests per tree, 48,000 in all; `deno task test:faults` sends sixty times as many. */
const MANY = Deno.env.get("RECORDFS_FAULTS") === "1";
const CASES = MANY ? 360_000 : 6_000;

const SEED = Number(
  Deno.env.get("RECORDFS_SEED") ??
    (MANY ? Math.floor(Math.random() * 2 ** 32) : 1),
);

const HEADER = 40;
const ERRORS: ReadonlySet<number> = new Set([0, ...Object.values(Errno)]);

/** Sizes of successful replies of fixed size, in bytes: `fuse_*_out` of `linux/fuse.h`. */
const SIZES: Readonly<Record<number, readonly number[]>> = {
  [Opcode.INIT]: [24, 64],
  [Opcode.LOOKUP]: [128],
  [Opcode.GETATTR]: [104],
  [Opcode.OPEN]: [16],
  [Opcode.OPENDIR]: [16],
  [Opcode.STATFS]: [80],
  [Opcode.RELEASE]: [0],
  [Opcode.RELEASEDIR]: [0],
  [Opcode.DESTROY]: [0],
};

/** Opcodes that must succeed at least once, as a check that the requests reach the handlers. */
const GET_THROUGH = [
  ...[Opcode.INIT, Opcode.LOOKUP, Opcode.GETATTR, Opcode.STATFS],
  ...[Opcode.READ, Opcode.READDIR, Opcode.READDIRPLUS],
];

const oddTree = () =>
  MemoryTree.of({
    a: "some text",
    d: { e: { kind: "computed", text: "computed" }, f: { g: "deep" } },
    empty: {},
    ["n".repeat(1024)]: "long name",
    bad: { kind: "damaged", message: "damaged" },
    far: { kind: "remote" },
    out: { kind: "outside" },
  });

async function opened(path: string): Promise<Tree> {
  const { tree, complete } = await openDeferred(path);
  await complete();
  return tree;
}

const trees: Record<string, () => Tree | Promise<Tree>> = {
  "a tree of odd nodes": oddTree,
  "files with checksums, small and large": checkedTree,
  "files and links to them": () =>
    linked({ d: { a: "a", b: "b" }, c: "c", ["n".repeat(255)]: "long" }),
  "a packed folder": () => opened(goldenCase("ffrecord/packed_tree").path),
  "numbered samples": () => opened(goldenCase("ffrecord/plain_sizes").path),
  "videos": () => opened(gulpCase("v2_odd_ids").path),
  "datapoints": () => opened(datasetCase("bags/lists").path),
  "sharded datapoints": () => opened(datasetCase("bags/sharded").path),
};

for (const [title, open] of Object.entries(trees)) {
  Deno.test({
    name: `${CASES} malformed requests to ${title} crash nothing`,
    ignore: Deno.build.os !== "linux", // where checksums are compared
    async fn() {
      const tree = await open();
      try {
        using mapping = areOpen(tree.sources)
          ? Mapping.of(tree.sources)
          : undefined;
        const sources = mapping?.sources;
        const checks = newSampleChecks(tree);
        const client = new Client(tree, {
          ...(sources && { sources }),
          ...(checks && { checks }),
        });
        bombard(client, tree);
      } finally {
        tree.close();
      }
    },
  });
}

function bombard(client: Client, tree: Tree): void {
  const names = namesOf(tree);
  const fuzzer = new RequestFuzzer(SEED, tree.nodeCount, names);
  const before = soundAnswers(client, names);
  const succeeded = new Set<number>();
  for (let i = 0; i < CASES; i++) {
    const request = fuzzer.next();
    try {
      succeeded.add(check(client, tree, request));
      client.session.prepareNext();
    } catch (cause) {
      throw new Error(
        `RECORDFS_SEED=${SEED}, request ${i}: ${request.toHex()}`,
        { cause },
      );
    }
    client.logs.length = 0;
  }
  assert.deepEqual(soundAnswers(client, names), before);
  for (const opcode of GET_THROUGH) {
    assert.ok(succeeded.has(opcode), `${OPCODES[opcode]!.name} never succeeds`);
  }
}

/** Returns the replies to valid LOOKUP and READDIR requests about the root. */
function soundAnswers(client: Client, names: readonly string[]): unknown {
  const found = names.map((name) => {
    const { errno, body } = client.ask(Opcode.LOOKUP, ROOT, [name]);
    return [name, errno, errno === 0 ? body.getBigUint64(0, true) : undefined];
  });
  const { errno } = client.ask(Opcode.GETATTR, ROOT, [0, 0, 0n]);
  return [found, errno];
}

/** Returns some names of a tree's entries. */
function namesOf(tree: Tree): string[] {
  const names: string[] = [];
  const directories = [ROOT];
  for (const directory of directories) {
    if (names.length > 100) break;
    tree.list(directory, 0, (name, start, end, node) => {
      names.push(new TextDecoder().decode(name.subarray(start, end)));
      if (tree.isDirectory(node)) directories.push(node);
      return names.length % 40 !== 0;
    });
  }
  return names;
}

/**
 * Sends a request and checks the reply.
 *
 * @returns The opcode of a successful request, or -1.
 */
function check(client: Client, tree: Tree, request: Uint8Array): number {
  let answer = client.send(request);
  const view = new DataView(
    request.buffer,
    request.byteOffset,
    request.length,
  );
  if (request.length >= HEADER) {
    assert.equal(typeof client.trace(), "string");
  }
  if (!isAnswered(view)) {
    assert.equal(answer, undefined, "it is answered");
    return -1;
  }
  answer ??= client.wait(); // after a large file was checked
  assert.ok(answer, "it is not answered");
  assert.equal(answer.unique, view.getBigUint64(8, true));
  assert.ok(ERRORS.has(answer.errno), `errno ${answer.errno}`);
  if (answer.errno !== 0) return -1;
  checkBody(tree, view, answer);
  return view.getUint32(4, true);
}

/** Whether the protocol has a reply to a request. */
function isAnswered(view: DataView): boolean {
  return view.byteLength >= HEADER && view.getBigUint64(8, true) !== 0n &&
    OPCODES[view.getUint32(4, true)]?.replies !== false;
}

function checkBody(
  tree: Tree,
  view: DataView,
  { body, payload }: Answer,
): void {
  const opcode = view.getUint32(4, true);
  const sizes = SIZES[opcode];
  if (sizes !== undefined) {
    assert.ok(sizes.includes(body.byteLength), `${body.byteLength} bytes`);
    if (opcode === Opcode.LOOKUP) {
      const rest = new Uint8Array(view.buffer, view.byteOffset + HEADER);
      assert.ok(
        rest.subarray(0, view.byteLength - HEADER).includes(0),
        "a name without end",
      );
    }
    return;
  }
  if (opcode === Opcode.READLINK) {
    assert.ok(body.byteLength > 0 && body.byteLength < 4096, "PATH_MAX");
    return;
  }
  const wanted = view.getUint32(HEADER + 16, true); // fuse_read_in.size
  const most = Math.min(wanted, MAX_TRANSFER);
  if (opcode === Opcode.READ) {
    assert.ok(body.byteLength + (payload?.[2] ?? 0) <= most);
    if (payload === undefined) return;
    const [index, offset, length] = payload;
    assert.ok(areOpen(tree.sources) && offset >= 0 && length > 0);
    assert.ok(offset + length <= tree.sources[index]!.size, "out of bounds");
    return;
  }
  const isPlus = opcode === Opcode.READDIRPLUS;
  assert.ok(isPlus || opcode === Opcode.READDIR, `opcode ${opcode} succeeded`);
  assert.ok(body.byteLength <= most);
  for (const { name, node } of parseDirents(body, isPlus)) {
    assert.ok(name.length > 0 && node > 0);
  }
}
