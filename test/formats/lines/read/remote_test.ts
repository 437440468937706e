/** Remote files: read once, in few requests; afterwards only the index and single rows. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { openSamples } from "../../../../mod.ts";
import { DataLoader } from "../../../../src/open/data/mod.ts";
import { openDataset } from "../../../../src/open/data/open_dataset.ts";
import { asked, serving } from "../../../support/remote/serving.ts";

/** Longest requested range in bytes. */
const LONGEST = 8 << 20;
const COUNT = 40_000;

const CONTENTS: Record<string, (i: number) => string> = {
  "a.jsonl": (i) => `{"n":${i},"t":"${"x".repeat(300)}"}\n`,
  "a.csv": (i) => `${i},"${"x".repeat(300)},\n"\n`,
};

for (const [name, rowOf] of Object.entries(CONTENTS)) {
  Deno.test(`${name} is streamed once; afterwards its index is cached, and single rows are fetched`, () =>
    serving(async (served) => {
      const { dir, server, remote, directory } = served;
      const header = name === "a.csv" ? "n,t\n" : "";
      const rows = Array.from({ length: COUNT }, (_, i) => rowOf(i));
      fs.writeFileSync(`${dir}/${name}`, header + rows.join(""));
      const { size } = fs.statSync(`${dir}/${name}`);
      const url = `${server.url}/${name}`;
      {
        using samples = await openSamples(url, { remote });
        assert.equal(samples.length, COUNT);
        const { count, bytes } = asked(served, `/${name}`);
        assert.ok(count <= Math.ceil(size / LONGEST) + 2, String(count));
        assert.ok(bytes <= size + LONGEST, String(bytes));
      }
      fs.rmSync(`${directory}/objects`, { recursive: true });
      server.asked.length = 0;
      using samples = await openSamples(url, { remote });
      assert.equal(samples.length, COUNT);
      assert.deepEqual(
        samples.fields!.map(({ name, type }) => [name, type.name]),
        [
          ["n", "int"],
          ["t", "str"],
        ],
      );
      assert.ok(asked(served, `/${name}`).count <= 1);
      const picked = [COUNT - 1, 0, 20_000];
      const values = await samples.get(picked);
      assert.deepEqual(values.map(({ n }) => n), picked);
      const { bytes } = asked(served, `/${name}`);
      assert.ok(bytes < size / 2, String(bytes));
      using dataset = await openDataset(url, { remote, fields: ["n"] });
      await using loader = new DataLoader(dataset, {
        ...{ batchSize: 4, shuffle: true, seed: 1, numWorkers: 1 },
      });
      for await (const { n } of loader) {
        assert.equal((n as ArrayLike<number>).length, 4);
        break;
      }
    }));
}
