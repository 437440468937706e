import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { LONG } from "../../support/long.ts";
import fc from "../../support/random.ts";
import {
  NameFaultError,
  NameTableBuilder,
} from "../../../src/tree/names/name_table_builder.ts";
import type { NameTable } from "../../../src/tree/names/name_table.ts";
import { type NodeId, ROOT } from "../../../src/tree/tree.ts";

/** Model of a directory, with names in hex, since bytes can't be map keys. */
type Model = Map<string, number | Model>;

const nameBytes = fc.uint8Array({ minLength: 1, maxLength: 12 }).filter((
  name,
) =>
  !name.includes(0x2f) && !name.includes(0) &&
  !(name.length <= 2 && name.every((byte) => byte === 0x2e))
);
const alike = fc.array(fc.constantFrom(0x61, 0x62, 0xc3, 0xa9), {
  minLength: 1,
  maxLength: 6,
})
  .map((codes) => Uint8Array.from(codes));
const { directory } = fc.letrec<
  { directory: Model; entry: [string, number | Model] }
>((tie) => ({
  entry: fc.tuple(
    fc.oneof(nameBytes, alike).map((name) => Buffer.from(name).toString("hex")),
    fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.nat(2 ** 31 - 1),
      tie("directory"),
    ),
  ),
  directory: fc.uniqueArray(tie("entry"), {
    maxLength: 12,
    selector: ([name]) => name,
  })
    .map((entries) => new Map(entries)),
}));

function build(model: Model): NameTable {
  const builder = new NameTableBuilder(100_000, new Uint8Array(0));
  const queue = [model];
  for (let next = 0; next < queue.length; next++) {
    builder.nextDirectory();
    for (const [hex, value] of queue[next]!) {
      const name = Buffer.from(hex, "hex");
      const start = builder.intern(name);
      if (typeof value === "number") {
        builder.addFile(start, start + name.length, value);
      } else {
        builder.addDirectory(start, start + name.length);
        queue.push(value);
      }
    }
  }
  return builder.finish();
}

function readBack(table: NameTable, node: NodeId): Model {
  const model: Model = new Map();
  table.list(node, 0, (names, start, end, child) => {
    const hex = Buffer.from(names.slice(start, end)).toString("hex");
    assert.equal(table.lookup(node, names, start, end), child);
    assert.equal(table.parent(child), node);
    model.set(
      hex,
      table.isDirectory(child) ? readBack(table, child) : table.record(child),
    );
    return true;
  });
  return model;
}

Deno.test("a table returns the directories it was built from, in order", () => {
  fc.assert(
    fc.property(directory, (model) => {
      const table = build(model);
      assert.equal(table.parent(ROOT), ROOT);
      const back = readBack(table, ROOT);
      assert.deepEqual(flat(back), flat(model));
    }),
    { numRuns: LONG ? 500 : 150 },
  );
});

/** Converts maps, which compare regardless of order, to lists. */
function flat(model: Model): unknown[] {
  return [...model].map((
    [name, value],
  ) => [name, typeof value === "number" ? value : flat(value)]);
}

Deno.test("lookup does not find missing names", () => {
  fc.assert(
    fc.property(directory, nameBytes, (model, name) => {
      const table = build(model);
      const there = model.has(Buffer.from(name).toString("hex"));
      assert.equal(table.lookup(ROOT, name, 0, name.length) !== 0, there);
      assert.equal(table.lookup(0, name, 0, name.length), 0);
      assert.equal(table.lookup(99_999, name, 0, name.length), 0);
    }),
    { numRuns: LONG ? 300 : 100 },
  );
});

Deno.test("a listing continues at every cursor", () => {
  const model: Model = new Map(
    Array.from({ length: 50 }, (_, i) => [`61${(i + 0x30).toString(16)}`, i]),
  );
  const table = build(model);
  for (let cursor = 0; cursor <= 50; cursor++) {
    const seen: number[] = [];
    table.list(ROOT, cursor, (_names, _start, _end, node, next) => {
      assert.equal(next, cursor + seen.length + 1);
      seen.push(table.record(node));
      return seen.length < 7;
    });
    assert.deepEqual(
      seen,
      Array.from({ length: 50 }, (_, i) => i).slice(cursor, cursor + 7),
    );
  }
});

Deno.test("names that no directory can hold are rejected", () => {
  const cases = {
    empty: [""],
    dots: [".", "2e2e"].map((name) => name === "." ? "2e" : name),
    slash: ["2f", "612f62"],
    nul: ["00", "610062"],
    long: ["61".repeat(1025)],
    twice: ["6161"],
  };
  for (const [fault, names] of Object.entries(cases)) {
    for (const hex of names) {
      const builder = new NameTableBuilder(3, new Uint8Array(0));
      builder.nextDirectory();
      const add = () => {
        for (const name of [Buffer.from("aa"), Buffer.from(hex, "hex")]) {
          const start = builder.intern(name);
          builder.addFile(start, start + name.length, 0);
        }
        builder.finish();
      };
      assert.throws(
        add,
        (error) => error instanceof NameFaultError && error.fault === fault,
        hex,
      );
    }
  }
});
