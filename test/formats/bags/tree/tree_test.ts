/** Bags and datasets of the original libraries, as trees; damaged ones as far as they are readable. */
import assert from "node:assert/strict";
import { DatasetWriter } from "../../../../src/formats/bags/mod.ts";
import { FormatError, RecordfsError } from "../../../../src/base/errors.ts";
import { check, open } from "../../../../src/open/open.ts";
import { openSync } from "../../../../src/open/mod.ts";
import {
  assertBytes,
  bagCases,
  datasetCase,
  datasetCases,
  generationOf,
} from "../../../support/bags/bag_golden.ts";
import {
  assertConsistent,
  filesOf,
  numberName,
} from "../../../support/bags/bag_trees.ts";

const quiet = { onWarning: () => {} };

for (const golden of datasetCases.filter(({ valid }) => valid)) {
  Deno.test(`${golden.name}: each value is a file with the bytes that were written`, async () => {
    const { content, path } = golden;
    using fs = await open(path, quiet);
    assert.equal(fs.info.format, "bags");
    assert.equal(fs.info.facts?.generation, generationOf(golden));
    assert.equal(fs.info.facts?.datapoints, content!.length);
    const expected = filesOf(content!);
    const shards = content!.shards.map(({ name }) => name);
    const specs = content!.sharded
      ? shards.map((name) => `${name}/spec.json`)
      : ["spec.json"];
    const walked = await Array.fromAsync(fs.walk());
    const files = walked.filter(({ isFile }) => isFile).map(({ path }) => path);
    assert.deepEqual(
      files.toSorted(),
      [...specs, ...expected.keys()].toSorted(),
    );
    assert.equal(fs.info.files, files.length);
    assert.equal(fs.info.directories, walked.length - files.length);
    for (const spec of specs) {
      assert.deepEqual(
        await fs.read(spec),
        await Deno.readFile(`${path}/${spec}`),
      );
    }
    const paths = [...expected.keys()];
    const contents = await fs.read(paths);
    for (const [i, file] of paths.entries()) {
      assertBytes(contents[i], expected.get(file)!);
      assert.equal((await fs.stat(file)).size, contents[i]!.length);
      assert.deepEqual(fs.readSync(file), contents[i]);
    }
    assert.equal(assertConsistent(fs), walked.length + 1);
    assert.equal(fs.tree.nodeCount, walked.length + 1);
  });
}

for (const golden of bagCases.filter(({ valid }) => valid)) {
  Deno.test(`${golden.name}: each record is a file`, async () => {
    const { records } = golden.content!;
    using fs = await open(golden.path, { ...quiet, ext: "bin" });
    const names = records.map((_, i) => `${numberName(i)}.bin`);
    assert.deepEqual(await fs.list(), names);
    const contents = await fs.read(names);
    for (const [i, record] of records.entries()) {
      assertBytes(contents[i], record);
    }
    assert.equal(assertConsistent(fs), names.length + 1);
    assert.equal(fs.tree.nodeCount, names.length + 1);
  });
}

/** Returns the first error of opening a container, describing all its nodes and reading all its files. */
function firstError(path: string): unknown {
  try {
    using fs = openSync(path, quiet);
    let first: unknown;
    for (const entry of fs.walkSync()) {
      if (!entry.isFile) continue;
      try {
        fs.statSync(entry.path);
        fs.readSync(entry.path);
      } catch (error) {
        first ??= error;
      }
    }
    return first;
  } catch (error) {
    return error;
  }
}

/** Damage that no tree detects, since it decodes nothing, or that depends on a forced generation. */
const NOT_SEEN = ["bad_value_utf8", "bad_first_limit", "bad_no_bytes"];

for (const golden of [...bagCases, ...datasetCases]) {
  if (golden.valid || NOT_SEEN.some((name) => golden.name.endsWith(name))) {
    continue;
  }
  const { name, path, expected } = golden;
  Deno.test(`${name}: the damage is reported at its position`, async () => {
    const warnings: string[] = [];
    const error = firstError(path);
    if (name === "granular3/bad_idx_cut") {
      using _fs = openSync(path, { onWarning: (text) => warnings.push(text) });
      assert.match(warnings.join(), new RegExp(expected.words));
      const found: FormatError[] = [];
      await check(path, { onDamage: (damage) => found.push(damage) });
      assert.deepEqual(found.map(({ code }) => code), ["unfinished"]);
      assert.match(found[0]!.message, new RegExp(expected.words));
      return;
    }
    assert.ok(error instanceof FormatError, String(error));
    assert.ok(error.message.includes(expected.words), error.message);
    assert.ok(error.message.includes(path), error.message);
    const found: string[] = [];
    const checking = check(path, {
      ...quiet,
      onDamage: ({ message }) => found.push(message),
    });
    if (expected.outcome === "error" || name.includes("missing_idx")) {
      await assert.rejects(checking, { message: error.message });
    } else {
      const { damaged } = await checking;
      assert.equal(damaged, found.length);
      assert.ok(found.some((message) => message.includes(expected.words)));
    }
  });
}

for (const golden of datasetCases) {
  if (golden.expected?.outcome !== "partial" || golden.content === undefined) {
    continue;
  }
  if (golden.name.endsWith("utf8")) continue;
  Deno.test(`${golden.name}: undamaged parts are shown next to the damage`, async () => {
    using fs = await open(golden.path, quiet);
    const keys = Object.keys(golden.content!.spec);
    for (const [i, datapoint] of golden.content!.datapoints!.entries()) {
      const directory = numberName(i);
      assert.deepEqual(await fs.list(directory), keys);
      const attempts = keys.map(async (key) => {
        const path = `${directory}/${key}`;
        if (await fs.isFile(path)) return [(await fs.read(path)).length];
        const files = await fs.list(path);
        return files.length;
      });
      const results = await Promise.allSettled(attempts);
      const failed = results.some(({ status }) => status === "rejected");
      assert.equal(failed, "error" in datapoint, `datapoint ${i}`);
    }
  });
}

for (const golden of datasetCases) {
  if (!golden.valid) continue;
  Deno.test(`${golden.name}: a check of all values finds no damage`, async () => {
    const isUnfinished = golden.name.endsWith("killed_writer");
    const found: string[] = [];
    const { samples, damaged } = await check(golden.path, {
      values: true,
      onDamage: ({ code }) => found.push(code),
    });
    assert.deepEqual(found, isUnfinished ? ["unfinished"] : []);
    assert.equal(damaged, found.length);
    assert.equal(samples, golden.content!.length);
  });
}

Deno.test("a check reports which values are too large to be decoded", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const spec = { small: "msgpack", large: "msgpack" };
    using writer = DatasetWriter.openSync(`${directory}/data`, spec);
    const large = new Uint8Array(16 * 1024 * 1024);
    writer.writeSync({ small: large.subarray(0, 9), large });
    writer.closeSync();
    const warnings: string[] = [];
    const { damaged } = await check(`${directory}/data`, {
      values: true,
      onDamage: assert.fail,
      onWarning: (message) => warnings.push(message),
    });
    assert.equal(damaged, 0);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /1 values of .*large\.bag were not decoded/);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

for (const set of ["bags", "granular"]) {
  Deno.test(`${set}: a text that is not UTF-8 is found when values are checked`, async () => {
    const golden = datasetCase(`${set}/bad_value_utf8`);
    for (const values of [false, true]) {
      const found: FormatError[] = [];
      const onDamage = (damage: FormatError) => found.push(damage);
      await check(golden.path, { values, onDamage });
      assert.equal(found.length, values ? 1 : 0);
      if (!values) continue;
      assert.equal(found[0]!.code, "bad-value");
      assert.ok(found[0]!.message.includes(golden.expected.words));
    }
  });
}

Deno.test("other directories are not detected as datasets", async () => {
  const dir = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${dir}/000000`);
    await Deno.writeTextFile(`${dir}/000000/a.txt`, "a");
    await assert.rejects(open(dir), { code: "unknown-format" });
    await Deno.writeTextFile(`${dir}/pack.idx`, "a");
    await assert.rejects(open(dir), { code: "unknown-format" });
    await assert.rejects(open(dir, { format: "bags" }), {
      code: "missing-spec",
    });
    await Deno.writeTextFile(`${dir}/a.ffr`, "a");
    await Deno.writeTextFile(`${dir}/spec.json`, "{}");
    await assert.rejects(open(dir), { message: /a\.ffr/ });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("a dataset that has more records than available ids is named", async () => {
  for (const name of ["bags/lists", "bags/sharded"]) {
    const { path } = datasetCase(name);
    await assert.rejects(
      open(path, { lastNode: 100 }),
      (error) =>
        error instanceof RecordfsError && error.code === "too-large" &&
        error.path!.startsWith(path) &&
        /Cannot show .* as files: .* are more than its \d+ inode numbers/.test(
          error.message,
        ),
    );
    using fs = await open(path, { lastNode: 2 ** 30 });
    for await (const { ino } of fs.walk()) assert.ok(ino <= 2 ** 30);
  }
});
