/** Records and datapoints as views of memory-mapped bags. */
import assert from "node:assert/strict";
import {
  BagReader,
  DatasetReader,
  ShardedDatasetReader,
} from "../../../../src/formats/bags/mod.ts";
import {
  FormatError,
  IndexError,
  RecordfsError,
} from "../../../../src/base/errors.ts";
import { REPOSITORY } from "../../../support/paths.ts";

const GOLDEN = `${REPOSITORY}test/golden`;

for (
  const dataset of [
    "bags/lists/data",
    "granular2/types/data",
    "granular3/types/data",
    "granular3/killed_writer/data",
  ]
) {
  Deno.test(`views of ${dataset} equal the read values`, () => {
    const path = `${GOLDEN}/${dataset}`;
    const options = { decoders: null, onWarning() {} };
    using reader = DatasetReader.openSync(path, options);
    assert.ok(reader.length > 0);
    for (let i = 0; i < reader.length; i++) {
      assert.deepEqual(reader.unsafeView(i), reader.getSync(i));
    }
    const [key] = reader.keys;
    assert.deepEqual(Object.keys(reader.unsafeView(0, [key!])), [key]);
  });
}

Deno.test("views of shards equal the read values, and outlive their reader", () => {
  const path = `${GOLDEN}/granular2/sharded/data`;
  const reader = ShardedDatasetReader.openSync(path, { decoders: null });
  const last = reader.length - 1;
  const views = reader.unsafeView(last);
  const read = reader.getSync(last);
  assert.throws(() => reader.unsafeView(reader.length), IndexError);
  reader.close();
  assert.deepEqual(views, read);
  assert.throws(
    () => reader.unsafeView(last),
    (error) => error instanceof RecordfsError && error.code === "closed",
  );
});

Deno.test("a view of a truncated bag is an error, not the end of the process", async () => {
  const path = await Deno.makeTempFile({ suffix: ".bag" });
  try {
    await Deno.copyFile(`${GOLDEN}/bag/large_records/alpha_54.bag`, path);
    using bag = BagReader.openSync(path);
    const before = bag.unsafeView(0).slice();
    assert.deepEqual(before, bag.getSync(0));
    await Deno.truncate(path, 10);
    assert.throws(
      () => bag.unsafeView(1),
      (error) =>
        error instanceof FormatError && error.code === "out-of-bounds" &&
        error.message.includes(path),
    );
  } finally {
    await Deno.remove(path);
  }
});
