import assert from "node:assert/strict";
import * as fs from "node:fs";
import { ExtractTarget } from "../../../src/io/unpack/extract_target.ts";
import { FileGroup } from "../../../src/io/unpack/file_group.ts";
import { PlaceThread } from "../../../src/io/unpack/place_thread.ts";
import { descriptorsBelow } from "../../support/programs/descriptors.ts";
import { until } from "../../cli/mount/mount_place.ts";
import { withTempDir } from "../../support/paths.ts";

const mtime = new Date(1_600_000_000_000);

for (const sync of ["end", "files", "none"] as const) {
  Deno.test(`another thread moves files into place, and reports failures: ${sync}`, () =>
    withTempDir(async (dir) => {
      fs.mkdirSync(`${dir}/out/sub`, { recursive: true });
      fs.writeFileSync(`${dir}/out/sub/taken`, "mine");
      const options = { replace: false, mtime, sync };
      using target = new ExtractTarget(`${dir}/out`, options);
      target.start("");
      using thread = PlaceThread.start()!; // needs at least two CPUs
      await until(() => thread.busy === 0);
      const group = new FileGroup(target);
      const memory = new Uint8Array(new SharedArrayBuffer(200_000));
      memory.fill(1, 0, 7).fill(2, 8, 150_000);
      const files = [
        [{ path: "one", name: "one", depth: 1 }, 0, 7],
        [{ path: "sub/two", name: "two", depth: 2 }, 8, 150_000],
        [{ path: "sub/taken", name: "taken", depth: 2 }, 0, 5],
        [{ path: "sub/none", name: "none", depth: 2 }, 0, 0],
      ] as const;
      for (const [place, start, end] of files) {
        if (place.depth === 2) target.makeDirectory("sub");
        assert.equal(
          group.add(place, memory.subarray(start, end), target.mtime),
          true,
        );
      }
      const refused = await group.place(thread);
      assert.deepEqual(
        refused.map(({ path, bytes, error }) => [
          path,
          bytes,
          (error as { code: string }).code,
          (error as Error).message,
        ]),
        [[
          "sub/taken",
          5,
          "in-the-way",
          `Cannot extract to ${dir}/out/sub/taken: it exists. Replace it with the option \`replace\``,
        ]],
      );
      for (const [{ path, name }, start, end] of files) {
        const written = fs.readFileSync(`${dir}/out/${path}`);
        if (name === "taken") assert.equal(written.toString(), "mine");
        else {
          assert.ok(written.equals(memory.slice(start, end)), path);
          assert.deepEqual(fs.statSync(`${dir}/out/${path}`).mtime, mtime);
        }
      }
      assert.deepEqual(fs.readdirSync(`${dir}/out`), ["one", "sub"]);
      assert.equal(fs.readdirSync(`${dir}/out/sub`).length, 3);
      target[Symbol.dispose]();
      assert.equal(await descriptorsBelow(dir), 0);
    }));
}

Deno.test("data in unshared memory is not passed to another thread", () =>
  withTempDir(async (dir) => {
    const options = { replace: false, mtime, sync: "none" } as const;
    using target = new ExtractTarget(dir, options);
    target.start("");
    const group = new FileGroup(target);
    const place = { path: "a", name: "a", depth: 1 };
    const shared = () => new Uint8Array(new SharedArrayBuffer(3));
    assert.equal(group.add(place, new Uint8Array(3), target.mtime), false);
    assert.equal(group.add(place, shared(), target.mtime), true);
    assert.equal(group.add(place, shared(), target.mtime), false); // in another memory
    const asked: number[] = [];
    const thread: Pick<PlaceThread, "place"> = {
      place({ names }) {
        asked.push(names.length);
        return Promise.resolve([]);
      },
    };
    await group.place(thread as PlaceThread);
    assert.deepEqual(asked, [1]);
  }));
