/** Every golden container, over HTTP and from the disk: they are the same, also where they are damaged. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { open, RecordfsError } from "../../../mod.ts";
import type { VirtualFs, WalkEntry } from "../../../src/open/mod.ts";
import { FULL } from "../../support/long.ts";
import { fromFileUrl, withTempDir } from "../../support/paths.ts";
import { FileServer } from "../../support/remote/file_server.ts";

const ROOT = fromFileUrl(new URL("../../golden/", import.meta.url));

/** All of a container's names and contents, or why it can't be opened. */
async function everything(
  location: string,
  cache: string | undefined,
): Promise<string> {
  const remote = {
    cache: cache === undefined ? false as const : { directory: cache },
    onWarning() {},
  };
  try {
    using container = await open(location, { remote, onWarning() {} });
    const found = createHash("sha256");
    let entries = 0;
    for await (const entry of container.walk("/")) {
      entries++;
      found.update(`${entry.path}\n`);
      if (entry.isFile) found.update(await contentOf(container, entry));
    }
    return `${entries} entries: ${found.digest("hex")}`;
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    return error.code;
  }
}

async function contentOf(
  container: VirtualFs,
  entry: WalkEntry,
): Promise<Uint8Array | string> {
  try {
    return await container.read(entry);
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    return error.code;
  }
}

for (const kind of ["bag", "bags", "ffrecord", "granular3", "gulp"]) {
  Deno.test(`containers of ${kind} over HTTP are what they are on the disk`, async () => {
    await withTempDir(async (cache) => {
      await using server = await FileServer.start(ROOT);
      for (const [i, name] of fs.readdirSync(`${ROOT}${kind}`).entries()) {
        if (name === "hostile_deep") continue; // its paths alone are half a gigabyte
        if (!FULL && i % 3 > 0) continue;
        const entries = fs.readdirSync(`${ROOT}${kind}/${name}`);
        for (const entry of entries) {
          if (entry === "expect.json") continue;
          const names = [kind, name, entry];
          const url = names.map(encodeURIComponent).join("/");
          assert.deepEqual(
            await everything(
              `${server.url}/${url}`,
              i % 2 === 0 ? cache : undefined,
            ),
            await everything(ROOT + names.join("/"), undefined),
            names.join("/"),
          );
        }
      }
    });
  });
}
