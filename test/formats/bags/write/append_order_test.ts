import assert from "node:assert/strict";
import { DatasetWriter } from "../../../../src/formats/bags/write/dataset_writer.ts";
import { withTempDir } from "../../../support/paths.ts";

const RAW = { encoders: null };
const BYTE = Uint8Array.of(1);

Deno.test("appends that are not awaited fail after one that fails at once", async () => {
  await withTempDir(async (dir) => {
    await using writer = await DatasetWriter.open(dir, { a: "bytes" }, RAW);
    const ends = await Promise.allSettled([
      writer.write({ a: BYTE }),
      writer.write({ b: BYTE }),
      writer.write({ a: BYTE }),
    ]);
    assert.deepEqual(
      ends.map((end) =>
        end.status === "rejected" ? end.reason.code : end.value
      ),
      [0, "bad-datapoint", "earlier-write-failed"],
    );
    assert.equal(await writer.write({ a: BYTE }), 1);
    await writer.close();
  });
});

Deno.test("an encoder cannot append to the dataset it encodes for", async () => {
  await withTempDir(async (dir) => {
    let inner: Promise<unknown> | undefined;
    const encoders = {
      own(value: string) {
        if (value === "write") inner = writer.write({ a: "", b: "" });
        if (value === "writeSync") writer.writeSync({ a: "", b: "" });
        return BYTE;
      },
    };
    const spec = { a: "own", b: "own" };
    await using writer = await DatasetWriter.open(dir, spec, { encoders });
    assert.equal(await writer.write({ a: "write", b: "" }), 0);
    await assert.rejects(inner!, { code: "busy" });
    await assert.rejects(writer.write({ a: "", b: "writeSync" }), {
      code: "bad-value",
    });
    assert.throws(() => writer.writeSync({ a: "", b: "writeSync" }), {
      code: "bad-value",
    });
    assert.equal(await writer.write({ a: "", b: "" }), 1);
    await writer.close();
  });
});
