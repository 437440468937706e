/** Conversions of every format to a folder, archives and records, and back, preserve paths and bytes. */
import assert from "node:assert/strict";
import { convert } from "../../../src/open/convert/convert.ts";
import { openSamples } from "../../../mod.ts";
import { open } from "../../../src/open/open.ts";
import {
  type Contents,
  hexPath,
  readExactTree,
} from "../../support/exact_tree.ts";
import { FULL } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { withSmall } from "./format_case.ts";
import { CASES } from "./formats.ts";

/** Most files of a converted container: larger ones take too long. */
const MOST = 500;

/** Returns the files of a container in order, keyed by the bytes of their paths in hex. */
async function contentsOf(path: string, format: string): Promise<Contents> {
  using shown = await open(path, { format, onWarning() {} });
  const files = [...shown.walkSync()].filter(({ isFile }) => isFile);
  const read = shown.readSync(files);
  return sorted(new Map(files.map(({ path }, i) => [hexPath(path), read[i]!])));
}

/** Sorts contents by path, and removes directories. */
function sorted(contents: Contents): Contents {
  return new Map(
    [...contents].filter(([, bytes]) => bytes !== null)
      .sort(([a], [b]) => a < b ? -1 : 1),
  );
}

/** Formats that preserve paths and bytes, besides folders, by extension. */
const ARCHIVES = { tar: "tar", zip: "zip", ffr: "ffrecord" } as const;

/** Formats that preserve the bytes of files, in order, by extension. */
const RECORDS = { tfrecord: "tfrecord", bag: "bags" } as const;

const lossy = { lossy: true, onWarning() {} } as const;

/** Asserts that a container is converted to a folder or an archive with the same files. */
async function become(from: string, to: string, expected: Contents) {
  const ending = to.split(".").at(-1) as keyof typeof ARCHIVES;
  const made = ARCHIVES[ending];
  const options = { ...lossy, to: made ?? "folder" };
  const { count } = await convert(from, to, options);
  assert.equal(count, expected.size, `${from} to ${to}`);
  const contents = made === undefined
    ? sorted(readExactTree(to))
    : await contentsOf(to, made);
  assert.deepEqual(contents, expected, `${from} to ${to}`);
}

/** Converts a container to a folder, that to a tar, and that back; and the container directly to a tar. */
async function becomeAll(path: string, dir: string, expected: Contents) {
  await become(path, `${dir}/made.folder`, expected);
  await become(`${dir}/made.folder`, `${dir}/packed.tar`, expected);
  await become(`${dir}/packed.tar`, `${dir}/again`, expected);
  await becomeTar(path, `${dir}/made.tar`, expected);
}

/** Asserts that a container becomes a tar of its files, or of its samples, each one a WebDataset sample. */
async function becomeTar(path: string, to: string, expected: Contents) {
  using container = await open(path, { onWarning() {} });
  const { unit, count, leftOut } = await convert(path, to, lossy);
  if (unit === "samples") {
    using samples = await openSamples(to, { onWarning() {} });
    assert.equal(samples.length, count, path);
    assert.equal(count + leftOut, container.samples!.shards.length, path);
    return;
  }
  assert.equal(count, expected.size, path);
  const contents = await contentsOf(to, "tar");
  assert.deepEqual([...contents.values()], [...expected.values()], path);
  const withoutSuffix = (path: string) => path.replace(/2e[0-9a-f]*$/, "");
  const names = [...contents.keys()];
  const isNumbered = [...expected.keys()].every((path) => !path.includes("2e"));
  assert.deepEqual(
    isNumbered ? names.map(withoutSuffix) : names,
    [...expected.keys()],
    path,
  );
}

/** Formats of samples, to which any other can be converted. */
const OF_SAMPLES = { mds: "mds", tfrecord: "tfrecord", bags: "bags" } as const;

/**
 * Asserts that a container with samples is converted to the same number of samples, without those reported as
 * skipped.
 */
async function becomeSamples(path: string, dir: string) {
  using container = await open(path, { onWarning() {} });
  const { samples } = container;
  if (samples === undefined) return;
  for (const [to, format] of Object.entries(OF_SAMPLES)) {
    if (format === "bags" && container.info.format === "bags") continue; // their generations may differ
    const target = `${dir}/samples.${to}`;
    const made = await convert(path, target, { ...lossy, to });
    const { count, leftOut, unit, plan } = made;
    using read = await openSamples(target, { format, onWarning() {} });
    assert.equal(read.length, count, `${path} to ${to}`);
    const isSampled = unit === "samples" && samples.portable !== undefined;
    if (!isSampled || plan.lost.length > 0) continue;
    assert.equal(count + leftOut, samples.shards.length, `${path} to ${to}`);
  }
}

for (const [title, format] of CASES) {
  Deno.test(`${title}: paths and bytes survive conversion to a folder, archives and records, and back from a tar`, () =>
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
      await becomeSamples(path, dir);
      await become(path, `${dir}/made.zip`, written);
      await become(path, `${dir}/made.ffr`, written);
      for (const [ending, format] of Object.entries(RECORDS)) {
        const to = `${dir}/records.${ending}`;
        await convert(`${dir}/made.folder`, to, lossy);
        const records = [...(await contentsOf(to, format)).values()];
        assert.deepEqual(records, [...written.values()]);
      }
      for (const { path, isSound } of FULL ? goldens : []) {
        if (!isSound) continue;
        const contents = await contentsOf(path, name);
        if (contents.size === 0 || contents.size > MOST) continue;
        await withTempDir(async (dir) => {
          await becomeAll(path, dir, contents);
          await becomeSamples(path, dir);
        });
      }
    }));
}
