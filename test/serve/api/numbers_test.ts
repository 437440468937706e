/** Numbers of all types stay numbers in every response. */
import assert from "node:assert/strict";
import { writeMsgpack } from "../../../src/codecs/msgpack/mod.ts";
import { writeNpy } from "../../../src/codecs/numpy/mod.ts";
import type {
  RowsMessage,
  Statistics,
} from "../../../src/serve/api/messages.ts";
import type {
  ArrayValue,
  TreeValue,
} from "../../../src/serve/api/value_messages.ts";
import { MDSWriter } from "../../../src/formats/mds/mod.ts";
import { open } from "../../../src/open/open.ts";
import {
  type ExpectedValue,
  parquetCase,
} from "../../support/parquet/parquet_golden.ts";
import { fromFileUrl, withTempDir } from "../../support/paths.ts";
import {
  linesOf,
  served,
  type ServedFolder,
  serveFolder,
} from "../../support/serve/served_folder.ts";

const GOLDEN = fromFileUrl(new URL("../../golden/", import.meta.url));

/** Cases that differ only in their compression codec. */
const CODEC = /^(brotli|gzip|lz4|none|plain|snappy|zstd)_/;

/** Returns the label that statistics count for a value. */
function labelOf(value: ExpectedValue): string | null | undefined {
  if (value === null) return null;
  if (typeof value !== "object") return String(value);
  if ("float" in value) return String(Number(value.float));
  return "bigint" in value ? value.bigint : undefined;
}

async function statisticsOf(folder: ServedFolder): Promise<Statistics> {
  return (await linesOf<Statistics>(folder, "statistics")).at(-1)!;
}

Deno.test("statistics count numbers of all types of Parquet by value, and nulls apart from texts", async () => {
  const { path, content } = parquetCase("types");
  await using folder = served(await open(path));
  const { labels } = await statisticsOf(folder);
  const names = labels.map(({ label }) => label);
  for (
    const name of ["bool", "int64", "uint64", "float16", "double", "decimal9"]
  ) {
    assert.ok(names.includes(name), name);
  }
  for (const { label, values } of labels) {
    const column = content.columns.find(({ name }) => name === label)!;
    // NumPy shows the float32 `-0.10000000149011612` as `-0.1`.
    const expected = column.values.map(labelOf).map((value) =>
      label === "float" && value === "-0.10000000149011612" ? "-0.1" : value
    );
    const counted = values.flatMap(({ value, count }) =>
      Array<string | null>(count).fill(value)
    );
    // Values of more than 64 bytes are not counted as labels.
    const short = expected.filter((value) => (value?.length ?? 0) < 60);
    assert.deepEqual(counted.toSorted(), short.toSorted(), label);
  }
});

Deno.test("a null is not an empty text: in rows, values and statistics", async () => {
  const { path, content } = parquetCase("odd_names");
  await using folder = served(await open(path));
  const { rows }: RowsMessage = await (await folder.get("api/row")).json();
  let [nulls, empty] = [0, 0];
  for (const [i, { cells }] of rows.entries()) {
    for (const [column, { value, url }] of cells.entries()) {
      const expected = content.columns[column]!.values[i];
      const isNull = value?.kind === "tree" && value.value === null;
      assert.equal(isNull, expected === null, url);
      const alone: TreeValue = await (await folder.get(`api/value?path=${url}`))
        .json();
      assert.equal(alone.kind === "tree" && alone.value === null, isNull, url);
      if (expected === null) nulls++;
      if (expected === "") empty++;
    }
  }
  assert.ok(nulls > 0, "a null is there");
  const { labels } = await statisticsOf(folder);
  const counted = (of: string | null) =>
    labels.flatMap(({ values }) => values).filter(({ value }) => value === of)
      .reduce((sum, { count }) => sum + count, 0);
  assert.equal(counted(null), nulls);
  assert.equal(counted(""), empty);
});

Deno.test("numbers that JSON cannot represent keep their values: -0, infinite and long ones", async () => {
  const float = (text: string) => ({ $: "float", text });
  await using folder = await serveFolder({
    "a.json":
      "[-0.0, NaN, Infinity, -Infinity, 1.0, 1e2, 12345678901234567890]",
    "a.msgpack": Uint8Array.from(
      writeMsgpack([-0, NaN, Infinity, 1, 2n ** 63n, 1.5]),
    ),
    "f2.npy": writeNpy({
      data: Float32Array.of(1, -0, NaN, -Infinity, 0.5),
      dtype: "<f4",
    }),
    "i8.npy": writeNpy({ data: BigInt64Array.of(-1n, 2n ** 62n) }),
  });
  const get = async <T>(path: string): Promise<T> =>
    await (await folder.get(`api/value?path=${path}`)).json();
  assert.deepEqual((await get<TreeValue>("a.json")).value, [
    ...["-0", "NaN", "Infinity", "-Infinity"].map(float),
    1,
    100,
    { $: "integer", digits: "12345678901234567890" },
  ]);
  assert.deepEqual((await get<TreeValue>("a.msgpack")).value, [
    ...["-0", "NaN", "Infinity"].map(float),
    1,
    { $: "integer", digits: String(2n ** 63n) },
    1.5,
  ]);
  assert.deepEqual((await get<ArrayValue>("f2.npy")).data, [
    1,
    "-0",
    "NaN",
    "-Infinity",
    0.5,
  ]);
  assert.deepEqual((await get<ArrayValue>("i8.npy")).data, [
    -1,
    String(2n ** 62n),
  ]);
});

Deno.test("no response for any type of any format contains [object Object]", async () => {
  let looked = 0;
  for (const room of ["parquet", "mds", "tfrecord", "granular", "bags"]) {
    for await (const { name } of Deno.readDir(`${GOLDEN}${room}`)) {
      if (name.startsWith("bad_") || CODEC.test(name)) continue;
      const expect = await readJson(`${GOLDEN}${room}/${name}/expect.json`);
      const target = expect?.target ?? "data";
      const at = `${GOLDEN}${room}/${name}/${target}`;
      const container = await open(
        at,
        { sampleView: true, decoded: true } as never,
      )
        .catch(() => undefined);
      if (container === undefined) continue;
      await using folder = served(container);
      const questions = ["statistics", "row?limit=20", "list"];
      for await (const { path, isFile } of container.walk("")) {
        if (questions.length > 40) break;
        if (isFile) {
          const url = path.split("/").map(encodeURIComponent).join("/");
          questions.push(`value?path=${url}`);
        }
      }
      for (const question of questions) {
        const text = await (await folder.get(`api/${question}`)).text();
        assert.ok(!text.includes("[object "), `${room}/${name}: ${question}`);
        looked++;
      }
    }
  }
  assert.ok(looked > 300, String(looked));
});

async function readJson(
  path: string,
): Promise<{ readonly target?: string } | undefined> {
  try {
    return JSON.parse(await Deno.readTextFile(path));
  } catch {
    return undefined;
  }
}

Deno.test("float32 have the digits that NumPy shows", async () => {
  // By `str(numpy.float32(x))`.
  const known: readonly (readonly [number, string])[] = [
    [0.1, "0.1"],
    [1 / 3, "0.33333334"],
    [-2.7182818284590451, "-2.7182817"],
    [3.4028234663852886e38, "3.4028235e+38"],
    [1e-45, "1e-45"],
    [16_777_216, "16777216"],
  ];
  await withTempDir(async (dir) => {
    const entries = (each: (i: number) => unknown) =>
      Object.fromEntries(known.map((_, i) => [`f${i}`, each(i)]));
    const columns = entries(() => "float32") as Record<string, string>;
    await using writer = await MDSWriter.open(`${dir}/m`, { columns });
    await writer.write(entries((i) => known[i]![0]) as Record<string, number>);
    await writer.close();
    await using folder = served(await open(`${dir}/m`));
    for (const [i, [, digits]] of known.entries()) {
      const response = await folder.get(`api/value?path=000000/f${i}.json`);
      const { value } = await response.json() as TreeValue;
      assert.equal(String(value), digits);
    }
  });
});
