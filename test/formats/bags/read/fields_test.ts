/** Fields of datapoints: the keys of all shards, if their types are the same. */
import assert from "node:assert/strict";
import { open } from "../../../../src/open/open.ts";
import { writeDataset } from "../../../support/bags/make_bag.ts";
import { REPOSITORY, withTempDir } from "../../../support/paths.ts";

Deno.test("fields are the keys of spec.json, with their kinds, including lists", async () => {
  using fs = await open(`${REPOSITORY}test/golden/granular2/lists/data`);
  const fields = fs.samples!.fields!.map(({ name, type, isList }) =>
    [name, type.name, type.kind, isList] as const
  );
  assert.deepEqual(
    fields.toSorted(([a], [b]) => a < b ? -1 : 1),
    fs.info.keys!.map(({ name, type }) => {
      const word = type.replace(/\[\]$/, "");
      const kind = fields.find(([own]) => own === name)![2];
      return [name, word, kind, word !== type];
    }).toSorted(([a], [b]) => a! < b! ? -1 : 1),
  );
  const kinds = new Map(fields.map(([name, , kind]) => [name, kind]));
  assert.equal(kinds.get("bar"), "text");
});

Deno.test("shards whose types differ have no common fields", () =>
  withTempDir(async (dir) => {
    const bytes = new TextEncoder().encode("1");
    writeDataset(`${dir}/d/000000`, { a: "utf8" }, [{ a: bytes }], 3);
    writeDataset(`${dir}/d/000001`, { a: "utf8" }, [{ a: bytes }], 3);
    using same = await open(`${dir}/d`);
    assert.deepEqual(same.samples!.fields!.map(({ name }) => name), ["a"]);
    writeDataset(`${dir}/e/000000`, { a: "utf8" }, [{ a: bytes }], 3);
    writeDataset(`${dir}/e/000001`, { a: "bytes" }, [{ a: bytes }], 3);
    using other = await open(`${dir}/e`);
    assert.equal(other.samples!.fields, undefined);
  }));
