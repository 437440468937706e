/** Copies out of a mount belong to their user, who can change and remove them. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { ffrBytes, packedSamples } from "../support/ffrecord/make_ffr.ts";
import { needs } from "../support/programs/programs.ts";
import { asOrdinaryUser, asSelf } from "../support/programs/users.ts";

const text = (content: string) => new TextEncoder().encode(content);
const FOLDER = { "a.txt": text("a"), sub: { deep: { "b.txt": text("b") } } };

/** Commands that copy the mount `mnt` to `copy`, by name. */
const COPIES: Record<string, string> = {
  "cp -r": "cp -r mnt copy",
  "cp -a": "cp -a mnt copy",
  "rsync -a": "rsync -a mnt/ copy/",
  tar: "mkdir copy && tar -C mnt -cf - . | tar -C copy -xpf -",
};

for (
  const [name, as, needed] of [
    ["the user of the tests", asSelf, ["fuse"]],
    ["an ordinary user", asOrdinaryUser, ["fuse", "root", "fusermount3"]],
  ] as const
) {
  Deno.test({
    name: `copies out of a mount can be changed and removed, by ${name}`,
    ...needs(...needed, "rsync", "tar"),
    fn: () =>
      as(async (user) => {
        const [source, mnt] = [`${user.home}/data.ffr`, `${user.home}/mnt`];
        fs.writeFileSync(source, ffrBytes(packedSamples(FOLDER)));
        await user.own(source);
        await user.do("mkdir", mnt);
        const sh = (command: string) => user.do("sh", "-ec", command);
        const changeAndRemove = () =>
          sh("echo more >>copy/sub/deep/b.txt; >copy/sub/new; rm -r copy");
        const mounted = await user.recordfs("mount", source, mnt);
        assert.equal(mounted.code, 0, mounted.stderr);
        try {
          for (const command of Object.values(COPIES)) {
            await sh(command);
            assert.equal(await sh("cat copy/sub/deep/b.txt"), "b");
            await changeAndRemove();
          }
        } finally {
          const ended = await user.recordfs("unmount", mnt);
          assert.equal(ended.code, 0, ended.stderr);
        }
        const copy = `${user.home}/copy`;
        const extracted = await user.recordfs("extract", source, copy);
        assert.equal(extracted.code, 0, extracted.stderr);
        await changeAndRemove();
      }),
  });
}
