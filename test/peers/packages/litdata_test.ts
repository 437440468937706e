/** Output of the installed version of LitData as recordfs reads it: the cases of the golden files, written again. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import {
  compareFiles,
  compareValues,
  type LitDataCase,
} from "../../support/litdata/litdata_golden.ts";
import { needs, PEERS_PYTHON } from "../../support/programs/programs.ts";

const SCRIPT = `${REPOSITORY}test/formats/litdata/python/make_golden.py`;

Deno.test({
  name: "values and files of LitData's output equal those that LitData reads",
  ...needs("litdata"),
  fn: () =>
    withTempDir(async (dir) => {
      fs.symlinkSync(`${REPOSITORY}test/golden/pictures`, `${dir}/pictures`);
      fs.mkdirSync(`${dir}/litdata`);
      const { code, stderr } = await new Deno.Command(PEERS_PYTHON, {
        args: [SCRIPT, `${dir}/litdata`],
      }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      const names = fs.readdirSync(`${dir}/litdata`);
      assert.ok(names.length >= 5, names.join());
      for (const name of names) {
        const place = `${dir}/litdata/${name}`;
        const text = fs.readFileSync(`${place}/expect.json`, "utf8");
        const { content }: LitDataCase = JSON.parse(text);
        const made = { name, path: `${place}/data`, content };
        await compareValues(made);
        await compareFiles(made);
      }
    }),
});
