import assert from "node:assert/strict";
import { convert } from "../../src/convert/mod.ts";
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
  Deno.test(`label2idx.json that leads to ${what} is an error, of which nothing stays open`, () =>
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
