import assert from "node:assert/strict";
import { convert } from "../../src/open/convert/convert.ts";
import * as fs from "node:fs";
import { descriptorsBelowNow } from "../support/programs/descriptors.ts";
import { REPOSITORY, withTempDir } from "../support/paths.ts";

const GOLDEN = `${REPOSITORY}test/golden`;

for (
  const [what, lead] of Object.entries({
    "a pipe that nobody writes to": (place: string, dir: string) => {
      new Deno.Command("mkfifo", { args: [`${dir}/fifo`] }).outputSync();
      Deno.symlinkSync(`${dir}/fifo`, place);
    },
    "itself": (place: string) => Deno.symlinkSync("label2idx.json", place),
  })
) {
  Deno.test(`label2idx.json that leads to ${what} is an error, and no file remains open`, () =>
    withTempDir(async (dir) => {
      for (
        const [golden, target] of [
          ["granular3/one_datapoint/data", "gulp"],
          ["gulp/v2_one_frame/gulp", "bags"],
        ] as const
      ) {
        const source = `${dir}/${target}-source`;
        fs.cpSync(`${GOLDEN}/${golden}`, source, { recursive: true });
        fs.rmSync(`${source}/label2idx.json`, { force: true });
        lead(`${source}/label2idx.json`, `${dir}`);
        await assert.rejects(
          convert(source, `${dir}/${target}`, { to: target }),
          (error: Error) => error.message.includes("label2idx.json"),
        );
        assert.equal(descriptorsBelowNow(source), 0);
      }
    }));
}

Deno.test("a file of /proc that claims to be empty is not read endlessly", () =>
  withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/folder`);
    await Deno.symlink("/proc/self/mountinfo", `${dir}/folder/a.txt`);
    await Deno.writeTextFile(`${dir}/folder/b.txt`, "b");
    for (const target of ["samples.ffr", "files/"]) {
      await convert(`${dir}/folder`, `${dir}/${target}`);
    }
    // Endless files such as /proc/kmsg are readable by root only.
    assert.equal(fs.statSync(`${dir}/files/a.txt`).size, 0);
    assert.equal(fs.readFileSync(`${dir}/files/b.txt`, "utf8"), "b");
  }));

Deno.test("a device in a folder is an error that names it, and is not read", () =>
  withTempDir(async (dir) => {
    await Deno.mkdir(`${dir}/folder`);
    await Deno.writeTextFile(`${dir}/folder/a.txt`, "a");
    await Deno.symlink("/dev/zero", `${dir}/folder/b.txt`);
    for (const target of ["samples/", "out.bag", "files/"]) {
      await assert.rejects(
        convert(`${dir}/folder`, `${dir}/${target}`, { lossy: true }),
        { code: "not-a-file", path: `${dir}/folder/b.txt` },
        target,
      );
    }
    assert.deepEqual(fs.readdirSync(dir), ["folder"]);
  }));
