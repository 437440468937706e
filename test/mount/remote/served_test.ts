/** Nested containers, mounted from a server that serves the outer one. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount, open } from "../../../mod.ts";
import { packFolder } from "../../../src/formats/ffrecord/pack/pack_folder.ts";
import { serve } from "../../../src/serve/mod.ts";
import { REPOSITORY, withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

/** Files and directories, relative to the golden files. */
const INNER = [
  "ffrecord/packed_tree/sample_10.ffr",
  "gulp/v2_chunks/gulp",
  "granular3/types/data",
];

Deno.test({
  name: "served files and directories are mounted by their URLs",
  ...needs("fuse"),
  fn: () =>
    withTempDir(async (dir) => {
      const outer = `${dir}/folder`;
      for (const name of INNER) {
        const from = `${REPOSITORY}test/golden/${name}`;
        fs.cpSync(from, `${outer}/${name}`, { recursive: true });
      }
      await packFolder(outer, `${dir}/outer.ffr`);
      using container = await open(`${dir}/outer.ffr`);
      await using server = serve(container);
      const [far, near] = [`${dir}/far`, `${dir}/near`];
      fs.mkdirSync(far);
      fs.mkdirSync(near);
      const headers = { Authorization: `Bearer ${server.token}` };
      const remote = { headers, cache: { directory: `${dir}/cache` } };
      for (const name of INNER) {
        const url = `${server.url}files/${name}`;
        await using _local = await mount(`${outer}/${name}`, near);
        await using _distant = await mount(url, far, { remote });
        const diff = new Deno.Command("diff", { args: ["-r", near, far] });
        const { stdout, stderr } = await diff.output();
        const said = Uint8Array.from([...stdout, ...stderr]);
        assert.equal(new TextDecoder().decode(said), "", name);
        assert.ok(fs.readdirSync(far).length > 0);
      }
    }),
});
