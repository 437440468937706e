/** Datasets of generation 3 whose writer is running or was killed, and datasets with missing files. */
import assert from "node:assert/strict";
import { FormatError } from "../../../../src/base/errors.ts";
import {
  DatasetReader,
  ShardedDatasetReader,
} from "../../../../src/formats/bags/mod.ts";
import { checkBags } from "../../../../src/formats/bags/check/check.ts";
import { convert } from "../../../../src/open/convert/convert.ts";
import { open } from "../../../../src/open/open.ts";
import { openSync } from "../../../../src/open/mod.ts";
import { newExtent, ROOT, type Tree } from "../../../../src/tree/tree.ts";
import { decoders } from "../../../support/bags/bag_decoders.ts";
import { reopened } from "../../../support/bags/bag_trees.ts";
import {
  type Records,
  writeBag,
  writeDataset,
} from "../../../support/bags/make_bag.ts";
import { withTempDir } from "../../../support/paths.ts";

const spec = { b: "int", a: "int", c: "int" };
const bytes = (...values: number[]) => values.map((n) => Uint8Array.of(n));
const datapoint: Records = {
  a: Uint8Array.of(1),
  b: Uint8Array.of(2),
  c: Uint8Array.of(3),
};

/** Reads all visible datapoints, and the warnings. */
function read(dir: string): { all: unknown; warnings: string[] } {
  const warnings: string[] = [];
  const answers = [true, false].map((cacheIndex) => {
    using reader = DatasetReader.openSync(dir, {
      decoders,
      cacheIndex,
      onWarning: (message) => warnings.push(message),
    });
    assert.equal(reader.generation, 3);
    assert.deepEqual(reader.spec, spec);
    const all = reader.rangeSync(0, Infinity);
    assert.equal(all.a!.length, reader.length);
    return { all, size: reader.size };
  });
  assert.deepEqual(answers[0], answers[1]);
  assert.equal(warnings.length % 2, 0);
  return {
    all: answers[0]!.all,
    warnings: warnings.slice(warnings.length / 2),
  };
}

Deno.test("only complete datapoints are visible, and surplus records are reported once", async () => {
  await withTempDir((dir) => {
    writeDataset(dir, spec, [datapoint], 3);
    writeBag(`${dir}/a.bag`, bytes(1, 4, 5), 3);
    writeBag(`${dir}/b.bag`, bytes(2, 6), 3);
    const { all, warnings } = read(dir);
    assert.deepEqual(all, { b: [2], a: [1], c: [3] });
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /only 1 datapoints are complete.* 'b', 'a'/);
    assert.ok(warnings[0]!.startsWith(dir));
  });
});

Deno.test("a truncated entry of the index is not a record", async () => {
  await withTempDir((dir) => {
    writeDataset(dir, spec, [datapoint, datapoint], 3);
    Deno.truncateSync(`${dir}/a.idx`, 11);
    const { all, warnings } = read(dir);
    assert.deepEqual(all, { b: [2], a: [1], c: [3] });
    assert.match(
      warnings[0]!,
      /a\.idx: the index is truncated: its last 3 bytes/,
    );
  });
});

Deno.test("a writer that was killed while it created its files leaves an empty dataset", async () => {
  await withTempDir((dir) => {
    writeDataset(dir, spec, [], 3);
    const empty = { b: [], a: [], c: [] };
    assert.deepEqual(read(dir), { all: empty, warnings: [] });
    const files = ["c.idx", "c.bag", "a.idx", "a.bag", "b.idx", "b.bag"];
    for (const file of files) {
      Deno.removeSync(`${dir}/${file}`);
      const { all, warnings } = read(dir);
      assert.deepEqual(all, empty);
      assert.equal(warnings.length, 1);
      assert.match(warnings[0]!, /there is no datapoint yet/);
    }
  });
});

Deno.test("a shard whose writer was killed while it created its files is converted as one without datapoints", async () => {
  await withTempDir(async (dir) => {
    const spec = { text: "utf8", more: "bytes" };
    for (const [shard, points] of [[0, []], [1, [point("x")]]] as const) {
      const path = `${dir}/whole/00000${shard}`;
      await Deno.mkdir(path, { recursive: true });
      writeDataset(path, spec, [...points], 3);
    }
    for (const file of ["more.bag", "more.idx", "text.idx"]) {
      await Deno.remove(`${dir}/whole/000000/${file}`);
    }
    for (const source of ["whole", "whole/000000"]) {
      for (const generation of [1, 2, 3] as const) {
        const target = `${dir}/${source.replace("/", "-")}-${generation}`;
        const { count } = await convert(`${dir}/${source}`, target, {
          to: "bags",
          generation,
          onWarning: () => {},
        });
        assert.equal(count, source === "whole" ? 1 : 0);
      }
    }
  });
});

function point(text: string): Records {
  const bytes = new TextEncoder().encode(text);
  return { text: bytes, more: bytes };
}

Deno.test("a missing file next to others with records is named", async () => {
  const refused = (dir: string, code: string, message: RegExp) =>
    assert.throws(
      () => DatasetReader.openSync(dir, { decoders }),
      (error: unknown) => {
        assert.ok(error instanceof FormatError, String(error));
        assert.equal(error.code, code);
        assert.ok(
          error.message.startsWith(`Cannot open ${dir}`),
          error.message,
        );
        assert.match(error.message, message);
        return true;
      },
    );
  const cases = [
    [["c.bag", "c.idx"], "missing-bag", /c\.bag is missing/],
    [["c.bag"], "missing-bag", /c\.bag is missing/],
    [["c.idx"], "missing-index", /c\.idx is missing/],
    [
      ["a.idx", "b.idx", "c.idx"],
      "missing-bag",
      /refs\.bag is missing.* \.idx/,
    ],
    [["spec.json"], "missing-spec", /spec\.json is missing/],
  ] as const;
  for (const [files, code, message] of cases) {
    await withTempDir((dir) => {
      writeDataset(dir, spec, [datapoint], 3);
      for (const file of files) Deno.removeSync(`${dir}/${file}`);
      refused(dir, code, message);
    });
  }
  await withTempDir((dir) => {
    writeDataset(dir, spec, [datapoint], 3);
    Deno.removeSync(`${dir}/c.idx`);
    Deno.removeSync(`${dir}/c.bag`);
    Deno.writeFileSync(`${dir}/c.bag`, new Uint8Array(0));
    refused(dir, "missing-index", /c\.idx is missing/);
  });
  await withTempDir((dir) => {
    writeDataset(`${dir}/000000`, spec, [datapoint], 3);
    refused(dir, "missing-spec", /Open it with ShardedDatasetReader/);
  });
});

Deno.test("a key of generation 3 may be called refs", async () => {
  await withTempDir((dir) => {
    const refs = { refs: Uint8Array.of(7) };
    writeDataset(dir, { refs: "int" }, [refs], 3);
    using reader = DatasetReader.openSync(dir, { decoders });
    assert.equal(reader.generation, 3);
    assert.deepEqual(reader.getSync(0), { refs: 7 });
  });
});

Deno.test("a growing dataset remains as it was when it was opened", async () => {
  await withTempDir((dir) => {
    writeDataset(dir, spec, [datapoint], 3);
    using reader = DatasetReader.openSync(dir, { decoders, cacheIndex: false });
    writeDataset(dir, spec, [datapoint, datapoint, datapoint], 3);
    assert.equal(reader.length, 1);
    assert.deepEqual(reader.rangeSync(0, 9), { b: [2], a: [1], c: [3] });
    using again = DatasetReader.openSync(dir, { decoders });
    assert.equal(again.length, 3);
  });
});

Deno.test("a spec that is too large is not read", async () => {
  await withTempDir((dir) => {
    writeDataset(dir, spec, [datapoint], 3);
    Deno.truncateSync(`${dir}/spec.json`, 2 ** 40);
    assert.throws(
      () => DatasetReader.openSync(dir, { decoders }),
      { code: "bad-spec", message: /spec\.json: it has 1099511627776 bytes/ },
    );
  });
});

Deno.test("a bag that is too large to be held in memory is rejected", async () => {
  await withTempDir((dir) => {
    writeDataset(dir, spec, [datapoint], 3);
    Deno.truncateSync(`${dir}/a.bag`, 2 ** 40);
    assert.throws(
      () => DatasetReader.openSync(dir, { decoders, cacheKeys: ["a"] }),
      {
        code: "too-large",
        message: /a\.bag in memory: .*remove it from cacheKeys/,
      },
    );
    using reader = DatasetReader.openSync(dir, { decoders });
    assert.deepEqual(reader.getSync(0), { b: 2, a: 1, c: 3 });
  });
});

Deno.test("the last shard is skipped, with a warning, while its writer has not created a file in it", async () => {
  await withTempDir(async (dir) => {
    writeDataset(`${dir}/000000`, spec, [datapoint], 3);
    await Deno.mkdir(`${dir}/000001`);
    await Deno.writeTextFile(`${dir}/000001/.spec.json.part`, "{");
    const warnings: string[] = [];
    const options = { onWarning: (text: string) => void warnings.push(text) };
    {
      using reader = ShardedDatasetReader.openSync(dir, options);
      assert.deepEqual([reader.shards, reader.length], [1, 1]);
    }
    using vfs = openSync(dir, options);
    assert.deepEqual(vfs.listSync(), ["000000"]);
    assert.equal(warnings.length, 2);
    for (const warning of warnings) {
      assert.match(warning, /000001: the last shard is empty and skipped/);
    }
    const onDamage = ({ message }: FormatError) => void warnings.push(message);
    const { samples, damaged } = await checkBags(dir, { onDamage });
    assert.deepEqual([samples, damaged, warnings.length], [1, 1, 3]);
    assert.equal(warnings[2], warnings[0]);
    // An empty shard that is not the last one is damage.
    writeDataset(`${dir}/000002`, spec, [datapoint], 3);
    using reader = ShardedDatasetReader.openSync(dir, options);
    assert.deepEqual([reader.shards, reader.length], [2, 2]);
    assert.match(
      warnings[3]!,
      /000001: spec\.json is missing: .*This shard is skipped/,
    );
  });
});

/** Locates the value of a datapoint, as a mount does on request. */
function locate(tree: Tree, ...names: string[]): boolean {
  const node = names.reduce((parent, name) => {
    const bytes = new TextEncoder().encode(name);
    return tree.lookup(parent, bytes, 0, bytes.length) as number;
  }, ROOT);
  return tree.locate(node, newExtent()) as boolean;
}

Deno.test("a later thread does not use the bag that replaced the opened one", async () => {
  await withTempDir((dir) => {
    for (const generation of [1, 2, 3] as const) {
      for (const isLooked of [false, true]) {
        const path = `${dir}/${generation}-${isLooked}`;
        const sorted = { a: "int", b: "int", c: "int" };
        writeDataset(path, sorted, [datapoint, datapoint], generation);
        const { atime, mtime } = Deno.statSync(`${path}/a.bag`);
        using fs = openSync(path);
        const other = reopened(fs.tree);
        if (isLooked) assert.ok(locate(other, "000001", "b"));
        // A copy with the same time and more records.
        writeBag(`${path}/new.bag`, bytes(7, 8, 9), generation);
        Deno.utimeSync(`${path}/new.bag`, atime!, mtime!);
        Deno.renameSync(`${path}/new.bag`, `${path}/a.bag`);
        if (generation === 3) {
          Deno.renameSync(`${path}/new.idx`, `${path}/a.idx`);
        }
        assert.throws(() => locate(other, "000001", "a"), { code: "changed" });
        if (isLooked) assert.ok(locate(other, "000001", "b"));
        assert.deepEqual(fs.readSync("000001/a"), Uint8Array.of(1)); // was already open
        other.close();
      }
    }
  });
});

Deno.test("a check does not accept a dataset, or a shard of it, that has lost its bags", async () => {
  await withTempDir(async (dir) => {
    const damages: FormatError[] = [];
    const onDamage = (damage: FormatError) => void damages.push(damage);
    const shard = `${dir}/000001`;
    for (const name of ["000000", "000001"]) {
      writeDataset(`${dir}/${name}`, spec, [datapoint], 3);
    }
    for (const key of Object.keys(spec)) {
      await Deno.remove(`${shard}/${key}.bag`);
      await Deno.remove(`${shard}/${key}.idx`);
    }
    for (const [path, samples] of [[dir, 1], [shard, 0]] as const) {
      damages.length = 0;
      const report = await checkBags(path, { onDamage });
      assert.deepEqual([report.samples, report.damaged], [samples, 1]);
      assert.equal(damages[0]!.code, "missing-bag");
      assert.ok(
        damages[0]!.message.startsWith(
          `Cannot read ${shard}: its bags are missing`,
        ),
      );
    }
  });
});

Deno.test("an extracted dataset is a folder, not an empty dataset", async () => {
  await withTempDir(async (dir) => {
    writeDataset(`${dir}/data`, spec, [datapoint], 3);
    await convert(`${dir}/data`, `${dir}/files/`);
    await assert.rejects(open(`${dir}/files`), {
      code: "unknown-format",
      message: /holds a spec\.json and directories of datapoints, and no bags/,
    });
    await convert(`${dir}/files`, `${dir}/back`, { to: "bags" });
    using back = DatasetReader.openSync(`${dir}/back`);
    assert.equal(back.length, 1);
  });
});

Deno.test("a dataset that was closed during a read opens no file again", async () => {
  await withTempDir(async (dir) => {
    writeDataset(dir, { text: "utf8" }, [{ text: new Uint8Array(4) }], 3);
    const container = await open(dir);
    const reading = container.read("000000/text");
    container.close();
    await reading.catch(() => {}); // either may come first
    await assert.rejects(async () => await container.read("000000/text"), {
      code: "closed",
    });
    assert.deepEqual(openBelow(dir), []);
  });
});

/** Returns the open files of this process below a directory. */
function openBelow(dir: string): string[] {
  return [...Deno.readDirSync("/proc/self/fd")].flatMap(({ name }) => {
    try {
      const file = Deno.readLinkSync(`/proc/self/fd/${name}`);
      return file.startsWith(dir) ? [file] : [];
    } catch {
      return []; // the descriptor of the listing
    }
  });
}
