/**
 * Checks of every format: valid containers have no damage, each damage is reported once, progress is reported, and a
 * check can be aborted.
 */
import assert from "node:assert/strict";
import { checked } from "../../support/checked.ts";
import * as fs from "node:fs";
import { check } from "../../../src/open/open.ts";
import { FULL } from "../../support/long.ts";
import { descriptorsBelowNow } from "../../support/programs/descriptors.ts";
import { COUNT, filesBelow, withDamage, withSmall } from "./format_case.ts";
import { CASES } from "./formats.ts";

for (const [title, format] of CASES) {
  Deno.test(`${title}: an undamaged container has no damage, and progress ends at the total`, () =>
    withSmall(format, async (path, dir) => {
      const sizes = filesBelow(`${dir}/in`).map((file) =>
        fs.statSync(file).size
      );
      const bytes = sizes.reduce((sum, size) => sum + size, 0);
      const { samples, bytes: checkedBytes, damaged, warnings, done, totals } =
        await checked(path);
      assert.equal(damaged, 0);
      assert.deepEqual(warnings, []);
      assert.deepEqual([...totals], [done.at(-1)]);
      assert.ok(checkedBytes <= bytes);
      const { checkCounts, parts } = format;
      assert.equal(samples, checkCounts ? parts : COUNT);
      const sound = format.goldens.filter(({ isSound }) => isSound);
      for (const { path } of FULL ? sound : sound.slice(0, 4)) {
        const { damages } = await checked(path, { format: format.name });
        assert.deepEqual(damages, [], path);
      }
      assert.equal(descriptorsBelowNow(dir), 0);
    }));

  Deno.test(`${title}: each damage is reported once, with the file's name`, () =>
    withSmall(format, async (path, dir) => {
      for (const damage of format.damages) {
        await withDamage(path, damage, async (damaged) => {
          const { damages } = await checked(path);
          const { count = 1 } = damage;
          assert.equal(damages.length, count, damages.join("\n"));
          const { message } = damages[0]!;
          assert.ok(message.includes(damaged.replace(/\.\w+$/, "")), message);
        });
      }
      assert.equal(descriptorsBelowNow(dir), 0);
    }));

  Deno.test(`${title}: an abort ends a check`, () =>
    withSmall(format, async (path, dir) => {
      const reason = new Error("enough");
      const onDamage = assert.fail;
      await assert.rejects(
        check(path, { onDamage, signal: AbortSignal.abort(reason) }),
        reason,
      );
      const controller = new AbortController();
      const checking = check(path, { onDamage, signal: controller.signal });
      controller.abort(reason);
      await assert.rejects(checking, reason);
      assert.equal(descriptorsBelowNow(dir), 0);
    }));
}
