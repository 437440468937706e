/** Every format as a folder and as a tar, and back from these: paths and bytes stay. */
import assert from "node:assert/strict";
import { convert } from "../../../src/open/convert/mod.ts";
import { open } from "../../../src/open/mod.ts";
import {
  type Contents,
  hexPath,
  readExactTree,
} from "../../support/exact_tree.ts";
import { FULL } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { withSmall } from "./format_case.ts";
import { CASES } from "./formats.ts";

/** Files of more containers than that take long to convert. */
const MOST = 500;

/** The files of a container, by the bytes of their paths in hex, in their order. */
async function contentsOf(path: string, format: string): Promise<Contents> {
  using shown = await open(path, { format, onWarning() {} });
  const files = [...shown.walkSync()].filter(({ isFile }) => isFile);
  const read = shown.readSync(files);
  return sorted(new Map(files.map(({ path }, i) => [hexPath(path), read[i]!])));
}

/** Without directories. */
function sorted(contents: Contents): Contents {
  return new Map(
    [...contents].filter(([, bytes]) => bytes !== null)
      .sort(([a], [b]) => a < b ? -1 : 1),
  );
}

/** Requires that a container becomes another with the same files. */
async function become(from: string, to: string, expected: Contents) {
  const isTar = to.endsWith(".tar");
  const { count } = await convert(from, to, {
    lossy: true,
    to: isTar ? "tar" : "folder",
    onWarning() {},
  });
  assert.equal(count, expected.size, `${from} to ${to}`);
  const made = isTar ? await contentsOf(to, "tar") : sorted(readExactTree(to));
  assert.deepEqual(made, expected, `${from} to ${to}`);
}

/** Converts a container to a folder, and to a tar and back. */
async function becomeAll(path: string, dir: string, expected: Contents) {
  await become(path, `${dir}/folder`, expected);
  await become(path, `${dir}/direct.tar`, expected);
  await become(`${dir}/direct.tar`, `${dir}/again`, expected);
}

for (const [title, format] of CASES) {
  Deno.test(`${title}: to a folder and to a tar, and back, paths and bytes stay`, () =>
    withSmall(format, async (path, dir) => {
      const { name, files, goldens } = format;
      const written = await contentsOf(path, name);
      const paths = Object.keys(files).map(hexPath).sort();
      assert.deepEqual([...written.keys()], paths);
      for (const [path, text] of Object.entries(files)) {
        if (text === undefined) continue;
        const bytes = written.get(hexPath(path))!;
        assert.equal(new TextDecoder().decode(bytes), text);
      }
      await becomeAll(path, dir, written);
      await become(`${dir}/folder`, `${dir}/packed.tar`, written);
      for (const { path, isSound } of FULL ? goldens : []) {
        if (!isSound) continue;
        const contents = await contentsOf(path, name);
        if (contents.size === 0 || contents.size > MOST) continue;
        await withTempDir((dir) => becomeAll(path, dir, contents));
      }
    }));
}
