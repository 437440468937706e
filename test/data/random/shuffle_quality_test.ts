/** The table of `docs/promised.md` on how well orders mix agrees with the measured figures. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { REPOSITORY } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { LENGTH, ORDERS, qualityOf } from "./shuffle_quality.ts";

Deno.test({
  name:
    "orders are as random as documented, and blocks mix better than windows of as many samples",
  ...needs("webdataset"),
  async fn() {
    const page = fs.readFileSync(`${REPOSITORY}docs/promised.md`, "utf8");
    const classesOf = new Map<string, number>();
    for (const [name, make] of Object.entries(ORDERS)) {
      const order = await make();
      assert.equal(new Set(order).size, LENGTH, name);
      const { correlation, classes } = qualityOf(order);
      classesOf.set(name, classes);
      const row = page.split("\n").find((line) =>
        line.startsWith(`| ${name} `)
      );
      assert.ok(row !== undefined, name);
      assert.deepEqual(
        row.split("|").slice(2, 4).map((cell) => cell.trim()),
        [correlation.toFixed(2), classes.toFixed(1)],
        name,
      );
    }
    const [, full, blocks, , windows, reservoir] = [...classesOf.values()];
    assert.ok(full! > 92); // of 256 draws from 100 classes, 92.4 are expected
    assert.ok(blocks! > windows! && blocks! > reservoir!);
  },
});
