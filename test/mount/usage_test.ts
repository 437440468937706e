/** The main ways to use recordfs, run exactly as they are documented. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { needs } from "../support/programs/programs.ts";
import { makeSampleTree } from "../support/sample_tree.ts";
import { asSelf, copyProject } from "../support/programs/users.ts";

const SCRIPT = `
import { open } from "./mod.ts";

using folder = await open("data.ffr");
console.log((await folder.list("/")).join(" "));
console.log(await folder.isFile("sizes/s511"), await folder.isDir("sizes"));
const one = await folder.read("sizes/s511");
const batch = await folder.read(["sizes/s4097", "sizes/s1"]);
console.log(one.length, batch.map((bytes) => bytes.length).join(" "));
`;

Deno.test({
  name:
    "a mount by deno run -A cli.ts is read by ordinary tools and a Deno script",
  ...needs("fuse", "root"),
  fn: () =>
    asSelf(async (user) => {
      const project = `${user.home}/project`;
      copyProject(`${project}/`);
      makeSampleTree(user.home);
      fs.renameSync(`${user.home}/data.ffr`, `${project}/data.ffr`);
      fs.writeFileSync(`${project}/script.ts`, SCRIPT);
      const x = `${user.home}/x`; // /mnt/x may exist
      fs.mkdirSync(x);
      // "deno" may be missing from PATH: `npx deno task test` runs the tests with npm's own copy.
      const sh = (commands: string) =>
        user.do(
          "sh",
          "-c",
          `deno() { '${user.deno}' "$@"; }; cd '${project}' && ${commands}`,
        );
      try {
        await sh(`deno run -A cli.ts mount data.ffr ${x}`);
        await sh(
          `ls ${x} && cp -r ${x} copied && diff -r copied ../original && diff -r ${x} ../original`,
        );
        assert.equal(await sh(`cat ${x}/sizes/s100000 | wc -c`), "100000\n");
        assert.equal(
          await sh(`find ${x}/names -type f | grep -c hidden`),
          "1\n",
        );
        await sh(`deno run -A cli.ts unmount ${x}`);
      } finally {
        await user.run("umount", "-l", x); // left by a failed test
      }
      assert.equal(
        await sh("deno run -A script.ts"),
        "deep empty many names sizes\ntrue true\n511 4097 1\n",
      );
    }),
});
