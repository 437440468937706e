import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import {
  GulpDirectory,
  type JsonValue,
} from "../../../../src/formats/gulp/mod.ts";
import {
  chunkIn,
  contentOf,
  type RawChunk,
} from "../../../support/gulp/gulp_chunks.ts";
import { gulpCases } from "../../../support/gulp/gulp_golden.ts";
import { withTempDir } from "../../../support/paths.ts";

interface Run {
  readonly id: string;
  readonly meta: JsonValue;
  readonly loc: number;
  readonly frames: Uint8Array[];
}

/** Returns the `append` calls that made a chunk: one for each contiguous run of a video's frames. */
async function runsOf(chunk: RawChunk): Promise<Run[]> {
  const runs: Run[] = [];
  let before = -1;
  for (const { id, frameInfo, metaData, frames } of await contentOf(chunk)) {
    const own: Run[] = [];
    let end = -1;
    for (const [i, [loc, _pad, length]] of frameInfo.entries()) {
      if (loc !== end) {
        own.push({ id, meta: metaData[own.length]!, loc, frames: [] });
      }
      own.at(-1)!.frames.push(frames[i]!);
      end = loc + length;
    }
    if (own.length === 0) {
      own.push({ id, meta: metaData[0]!, loc: before + 0.5, frames: [] });
    }
    before = own[0]!.loc;
    runs.push(...own);
  }
  return runs.sort((a, b) => a.loc - b.loc);
}

/** Quotes Python's literals that are not JSON. */
function words(json: string): string {
  return json.replace(/(-?Infinity|NaN)(?=[,}\]])/g, '"$1"');
}

for (const golden of gulpCases().filter(({ valid }) => valid)) {
  Deno.test(`gulp/${golden.name} rewritten is identical`, async () => {
    await withTempDir(async (dir) => {
      using directory = await GulpDirectory.open(golden.path, {
        decode: false,
      });
      for (const [number, original] of directory.chunkObjsLookup) {
        const isPickle = fs.readFileSync(original.metaPath)[0] !== 0x7b;
        const serializer = isPickle ? "pickle" : "json";
        using copy = await chunkIn(dir, serializer, number);
        {
          await using _ = await copy.open("wb");
          for (const { id, meta, frames } of await runsOf(original)) {
            await copy.append(id, meta as { [key: string]: JsonValue }, frames);
          }
          await copy.flush();
        }
        const [a, b] = [original, copy].map(({ dataPath }) =>
          fs.readFileSync(dataPath)
        );
        assert.equal(Buffer.compare(a!, b!), 0);
        assert.deepEqual(await contentOf(copy), await contentOf(original));
        if (isPickle) continue;
        const [x, y] = [original, copy].map(({ metaPath }) =>
          // JavaScript does not distinguish 1.0 from 1.
          fs.readFileSync(metaPath, "utf8").replace(/(\d)\.0\b/g, "$1")
        );
        // JavaScript puts keys that look like integers first.
        if (!golden.name.endsWith("nested_meta")) assert.equal(y, x);
        assert.deepEqual(JSON.parse(words(y!)), JSON.parse(words(x!)));
      }
    });
  });
}
