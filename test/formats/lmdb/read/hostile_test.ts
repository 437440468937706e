/** Databases that lie: what cannot be read is named, the rest is read, and nothing hangs or takes memory by a number that lies. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import fc from "fast-check";
import { openSamples } from "../../../../mod.ts";
import { FormatError, RecordfsError } from "../../../../src/base/errors.ts";
import { check, open } from "../../../../src/open/open.ts";
import {
  At,
  lmdbBytes,
  MadePages,
  PAGE,
  recordBytes,
  rootOf,
} from "../../../support/lmdb/make_lmdb.ts";
import { lmdbCase } from "../../../support/lmdb/lmdb_golden.ts";
import { withTempDir } from "../../../support/paths.ts";

const FEW: [string, string][] = [["a", "1"], ["b", "2"], ["c", "3"]];
/** Of three levels: the root's children are branch pages. */
const MANY = Array.from(
  { length: 2000 },
  (_, i): [string, string] => [`${i}`.padStart(6, "0"), `value ${i}`],
);

/** Where the newer meta page is. */
const META = PAGE;

function changed(
  entries: readonly [string, string][],
  change: (view: DataView, bytes: Uint8Array) => void,
): Uint8Array {
  const bytes = lmdbBytes(entries);
  change(new DataView(bytes.buffer), bytes);
  return bytes;
}

async function refused(
  bytes: Uint8Array,
  code: string,
  message: RegExp,
): Promise<void> {
  const refusal = (error: unknown) => {
    assert.ok(error instanceof FormatError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  };
  const options = { format: "lmdb", onWarning() {} };
  await assert.rejects(open(bytes, options), refusal);
  await assert.rejects(openSamples(bytes, options), refusal);
}

/** What is seen of a database that opens. */
async function seen(bytes: Uint8Array) {
  const warnings: string[] = [];
  const onWarning = (message: string) => void warnings.push(message);
  using container = await open(bytes, { format: "lmdb", onWarning });
  const keys = await container.list("");
  const damage: string[] = [];
  await check(bytes, {
    format: "lmdb",
    onWarning,
    onDamage: ({ message }) => void damage.push(message),
  });
  return { keys, warnings, damage, info: container.info };
}

Deno.test("trees of several levels are read", async () => {
  const { keys, warnings, damage } = await seen(lmdbBytes(MANY));
  assert.deepEqual(keys, MANY.map(([key]) => key));
  assert.deepEqual([...warnings, ...damage], []);
  for (const size of [512, 1024, 4096, 16_384, 32_768]) {
    using samples = await openSamples(lmdbBytes(MANY, size));
    assert.equal(samples.length, MANY.length);
    const { content } = await samples.read(1999);
    assert.equal(new TextDecoder().decode(content as Uint8Array), "value 1999");
    assert.equal(samples.keyOf(1999), "001999");
  }
});

Deno.test("what begins otherwise is refused by what it is", async () => {
  const meta = (at: number, value: number) =>
    changed(FEW, (view) => {
      for (const start of [0, META]) view.setUint32(start + at, value, true);
    });
  await refused(
    meta(At.MAGIC, 1),
    "bad-structure",
    /does not begin with a meta/,
  );
  await refused(meta(At.MAGIC, 0xdec0efbe), "unsupported", /big-endian/);
  await refused(meta(12, 0xbeefc0de), "unsupported", /32-bit/);
  await refused(meta(At.VERSION, 2), "unsupported", /version 2 of LMDB's data/);
  for (const size of [0, 1, 256, 513, 4095, 131_072, 0xffffffff]) {
    await refused(
      meta(At.PAGE_SIZE, size),
      "bad-structure",
      /not a power of two from 512 to 65536/,
    );
  }
  await refused(meta(At.PAGE_SIZE, 65_536), "truncated", /it was truncated/);
  await refused(lmdbBytes(FEW).subarray(0, 100), "truncated", /shorter than/);
  await refused(lmdbBytes(FEW).subarray(0, 600), "truncated", /600 of/);
});

Deno.test("of two meta pages, the other is used if the newer is damaged, and that is said", async () => {
  const damaged = changed(FEW, (view) => view.setUint16(META + 10, 2, true));
  await refused(damaged, "bad-structure", /its meta page 1 is damaged/);
  // The first one has the same state, of an earlier transaction.
  const both = changed(FEW, (view, bytes) => {
    bytes.copyWithin(88, META + 88, META + 144);
    view.setUint16(META + 10, 2, true);
  });
  const { keys, warnings, damage } = await seen(both);
  assert.deepEqual(keys, ["a", "b", "c"]);
  assert.match(warnings.join(), /its meta page 1 is damaged/);
  assert.equal(damage.length, 1);
  const older = changed(FEW, (view, bytes) => {
    bytes.copyWithin(88, META + 88, META + 144);
    view.setUint16(10, 2, true);
  });
  assert.deepEqual((await seen(older)).keys, ["a", "b", "c"]);
});

Deno.test("pages that are not the tree's are named, and the others are read", async () => {
  const root = rootOf(lmdbBytes(MANY));
  const child = (view: DataView) =>
    root * PAGE + view.getUint16(root * PAGE + 16 + 2, true);
  const cases: Record<string, [(view: DataView) => void, RegExp]> = {
    cycle: [
      (view) => view.setUint32(child(view), root, true),
      /page \d+ .* it is used twice/,
    ],
    twice: [
      (view) => {
        const first = root * PAGE + view.getUint16(root * PAGE + 16, true);
        view.setUint32(child(view), view.getUint32(first, true), true);
      },
      /it is used twice/,
    ],
    outside: [
      (view) => view.setUint32(child(view), 0x7fffffff, true),
      /page 2147483647 .* it is not a page of the database/,
    ],
    meta: [
      (view) => view.setUint32(child(view), 1, true),
      /page 1 .* it is not a page of the database/,
    ],
    leaf: [
      (view) => view.setUint32(child(view), 2, true),
      /page 2 .* it is not a branch page, as its parent says/,
    ],
  };
  for (const [name, [change, message]] of Object.entries(cases)) {
    const bytes = changed(MANY, change);
    const { keys, warnings, damage, info } = await seen(bytes);
    assert.ok(keys.length > 0 && keys.length < MANY.length, name);
    assert.ok(keys.every((key) => /^\d{6}$/.test(key)), name);
    assert.match(warnings.join("\n"), message, name);
    assert.match(damage.join("\n"), message, name);
    assert.ok(info.facts!["unreadable"]! > 0, name);
  }
});

Deno.test("wrong depths, counts and lists of nodes are refused", async () => {
  const main = (at: number, value: number) => (view: DataView) =>
    view.setUint16(META + at, value, true);
  const depth = (value: number) => changed(FEW, main(At.MAIN_DEPTH, value));
  await refused(depth(2), "bad-structure", /is not a branch page/);
  await refused(depth(0), "bad-structure", /meta page 1 is damaged/);
  await refused(depth(33), "bad-structure", /meta page 1 is damaged/);
  await refused(depth(65_535), "bad-structure", /meta page 1 is damaged/);
  const { damage } = await seen(changed(FEW, main(At.MAIN_ENTRIES, 7)));
  assert.match(damage.join(), /is the root of 3 values, not of 7/);
  const leaf = 2 * PAGE;
  const page = (at: number, value: number) =>
    changed(FEW, (view) => view.setUint16(leaf + at, value, true));
  await refused(page(12, 15), "bad-structure", /a list of -1 nodes/);
  await refused(page(12, 0xffff), "bad-structure", /a list of 32759 nodes/);
  await refused(page(16, 8), "bad-structure", /a node at byte 8/);
  await refused(page(16, 65_000), "bad-structure", /a node at byte 65000/);
  // Two nodes are one: a page of them would have more keys than bytes.
  const same = changed(FEW, (view) => {
    view.setUint16(leaf + 18, view.getUint16(leaf + 16, true), true);
    view.setUint16(leaf + 20, view.getUint16(leaf + 16, true), true);
    view.setUint16(leaf + 14, view.getUint16(leaf + 16, true), true);
  });
  await refused(same, "bad-structure", /has a node of \d+ bytes at byte/);
});

Deno.test("values that lie elsewhere than in the file are listed, and cannot be read", async () => {
  const large = "large ".repeat(300);
  const entries: [string, string][] = [["a", large], ["b", large], ["c", "3"]];
  const leaf = rootOf(lmdbBytes(entries)) * PAGE;
  const node = (view: DataView, i: number) =>
    leaf + view.getUint16(leaf + 16 + 2 * i, true);
  const page = (value: number) =>
    changed(entries, (view) => {
      view.setBigUint64(node(view, 1) + 9, BigInt(value), true);
    });
  const cases: [Uint8Array, string, RegExp][] = [
    [page(1), "bad-structure", /its location is not in the database/],
    [page(2 ** 40), "bad-structure", /its location is not in the database/],
    [page(2), "bad-structure", /its bytes belong to something else as well/],
    [
      changed(
        entries,
        (view) => view.setUint32(node(view, 1), 0xffffffff, true),
      ),
      "bad-structure",
      /its location is not in the database/,
    ],
  ];
  for (const [bytes, code, message] of cases) {
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    using container = await open(bytes, { onWarning });
    assert.deepEqual(await container.list(""), ["a", "b", "c"]);
    await assert.rejects(container.read("b"), (error) => {
      assert.ok(error instanceof FormatError);
      assert.equal(error.code, code);
      assert.equal(error.member, "b");
      assert.match(error.message, message);
      return true;
    });
    assert.match(warnings.join(), message);
    const whole = await container.read(["a", "c"]);
    assert.deepEqual(
      whole.map((bytes) => new TextDecoder().decode(bytes)),
      [large, "3"],
    );
    const { damage } = await seen(bytes);
    assert.equal(damage.length, 1);
  }
  const header = changed(
    entries,
    (view) => view.setUint16(2 * PAGE + 10, 2, true),
  );
  const { damage, warnings } = await seen(header);
  assert.deepEqual(warnings, []); // it is not read for the value
  assert.match(damage.join(), /page 2 .* it does not begin a value of 1800/);
});

Deno.test("databases that share pages are no more than their pages", async () => {
  const pages = new MadePages();
  const inner = pages.tree(MANY);
  const record = recordBytes(inner);
  const names = Array.from({ length: 500 }, (_, i) => `${i}`.padStart(4, "0"));
  const main = pages.tree(names.map((name) => [name, record]));
  const bytes = pages.file(main);
  const view = new DataView(bytes.buffer);
  for (let at = 2 * PAGE; at < bytes.length; at += PAGE) {
    if (view.getUint16(at + 10, true) !== 2) continue;
    const count = view.getUint16(at + 12, true) - 16 >> 1;
    for (let i = 0; i < count; i++) {
      const node = at + view.getUint16(at + 16 + 2 * i, true);
      const isRecord = view.getUint32(node, true) === 48;
      if (isRecord) view.setUint16(node + 4, 2, true);
    }
  }
  const { keys, info, damage } = await seen(bytes);
  assert.equal(keys.length, 500);
  assert.equal(info.files, MANY.length);
  assert.equal(info.facts!["databases"], 500);
  assert.equal(damage.length, 499);
});

Deno.test("values that overlap are no more than the file", async () => {
  const large = "large ".repeat(300);
  const names = Array.from({ length: 40 }, (_, i) => `${i}`.padStart(4, "0"));
  const bytes = lmdbBytes(names.map((name) => [name, large]));
  const view = new DataView(bytes.buffer);
  let page = 2;
  for (let at = 2 * PAGE; at < bytes.length; at += PAGE) {
    if (view.getUint16(at + 10, true) !== 2) continue;
    const count = view.getUint16(at + 12, true) - 16 >> 1;
    for (let i = 0; i < count; i++) {
      const node = at + view.getUint16(at + 16 + 2 * i, true);
      view.setUint32(node, 70_000, true); // nearly all of the file, from each page
      view.setBigUint64(node + 12, BigInt(page++), true);
    }
  }
  const { keys, info, damage } = await seen(bytes);
  assert.equal(keys.length, 40);
  assert.equal(info.facts!["unreadable"], 39);
  assert.ok(damage.length >= 39);
});

Deno.test("trees without levels are refused", async () => {
  for (const depth of [0, 33, 65_535]) {
    const pages = new MadePages();
    const inner = pages.tree(MANY);
    const record = recordBytes({ ...inner, depth });
    const bytes = pages.file(pages.tree([["name", record]]));
    const view = new DataView(bytes.buffer);
    const leaf = rootOf(bytes) * PAGE;
    view.setUint16(leaf + view.getUint16(leaf + 16, true) + 4, 2, true);
    const { keys, warnings } = await seen(bytes).catch((error) => {
      return { keys: ["name"], warnings: [String(error)] };
    });
    assert.deepEqual(keys, ["name"]);
    assert.match(warnings.join(), new RegExp(`is the root of ${depth} levels`));
  }
});

Deno.test("a database of names that are too long shows the others", async () => {
  const long = "/".repeat(400); // three bytes each in a name
  const warnings: string[] = [];
  const bytes = lmdbBytes([[long, "1"], ["a", "2"]], 4096);
  using container = await open(bytes, {
    onWarning: (message) => void warnings.push(message),
  });
  assert.deepEqual(await container.list(""), ["a"]);
  assert.match(warnings.join(), /has a name of 1200 bytes, more than 1024/);
  assert.equal(container.info.facts!["skipped"], 1);
});

Deno.test("of a file of holes, nothing is read by its numbers", () =>
  withTempDir(async (dir) => {
    const path = `${dir}/x.lmdb`;
    const bytes = changed(FEW, (view) => {
      view.setBigUint64(META + At.LAST_PAGE, 2n ** 33n, true);
      view.setBigUint64(META + At.MAIN_ROOT, 2n ** 32n, true);
    });
    fs.writeFileSync(path, bytes);
    fs.truncateSync(path, 2 ** 42);
    await assert.rejects(open(path, { onWarning() {} }), {
      name: "FormatError",
      message: /page 4294967296 .* it is not a leaf page/,
    });
  }));

Deno.test("whatever a byte becomes, the errors are the project's", () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom("named", "duplicates", "integers", "rewritten"),
      fc.array(
        fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(255)),
        {
          minLength: 1,
          maxLength: 8,
        },
      ),
      async (name, changes) => {
        const { path } = lmdbCase(name);
        const file = fs.statSync(path).isFile() ? path : `${path}/data.mdb`;
        const bytes = new Uint8Array(fs.readFileSync(file));
        for (const [part, value] of changes) {
          bytes[Math.floor(part * (bytes.length - 1))] = value;
        }
        try {
          using container = await open(bytes, {
            format: "lmdb",
            onWarning() {},
          });
          for await (const entry of container.walk("")) {
            if (!entry.isFile) continue;
            await container.read(entry).catch((error) => {
              if (!(error instanceof RecordfsError)) throw error;
            });
          }
          await check(bytes, { format: "lmdb", onDamage() {}, onWarning() {} });
        } catch (error) {
          if (!(error instanceof RecordfsError)) throw error;
        }
      },
    ),
    { numRuns: 30 },
  ));
