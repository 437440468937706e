/** Golden containers of every kind, mounted from a web server and from the disk: `diff -r` finds nothing. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { mount, RecordfsError } from "../../../mod.ts";
import type { MountContainerOptions } from "../../../fuse/mount_container.ts";
import { withTempDir } from "../../support/paths.ts";
import { fromFileUrl } from "../../support/paths.ts";
import { FileServer } from "../../support/remote/file_server.ts";

const ROOT = fromFileUrl(new URL("../../golden/", import.meta.url));

for (const kind of ["bag", "bags", "ffrecord", "granular3", "gulp"]) {
  Deno.test(`mounts of ${kind} over HTTP show what those of the disk show`, async () => {
    await withTempDir(async (dir) => {
      await using server = await FileServer.start(ROOT);
      const [far, near] = [`${dir}/far`, `${dir}/near`];
      fs.mkdirSync(far);
      fs.mkdirSync(near);
      let mounted = 0;
      for (const [i, name] of fs.readdirSync(`${ROOT}${kind}`).entries()) {
        if (name === "hostile_deep" || i % 4 > 0) continue; // of many alike, some
        for (const entry of fs.readdirSync(`${ROOT}${kind}/${name}`)) {
          if (entry === "expect.json" || name.startsWith("bad_")) continue;
          const names = [kind, name, entry];
          const url = names.map(encodeURIComponent).join("/");
          const cache = i % 8 === 0 && { directory: `${dir}/cache` };
          const remote = { cache, onWarning() {} };
          const options = { remote, onWarning() {} };
          await using local = await mounting(ROOT + names.join("/"), near);
          await using distant = await mounting(
            `${server.url}/${url}`,
            far,
            options,
          );
          assert.equal(codeOf(distant), codeOf(local), names.join("/"));
          if (local instanceof NotMounted) continue;
          const diff = new Deno.Command("diff", { args: ["-r", near, far] });
          const { stdout, stderr } = await diff.output();
          const said = [...stdout, ...stderr];
          const text = new TextDecoder().decode(Uint8Array.from(said));
          assert.equal(text, "", names.join("/"));
          mounted++;
        }
      }
      assert.ok(mounted > 2, `${mounted}`);
    });
  });
}

/** A mount, or why there is none. */
async function mounting(
  location: string,
  mountpoint: string,
  options: MountContainerOptions = { onWarning() {} },
): Promise<AsyncDisposable> {
  try {
    return await mount(location, mountpoint, options);
  } catch (error) {
    if (!(error instanceof RecordfsError)) throw error;
    return new NotMounted(error.code);
  }
}

class NotMounted implements AsyncDisposable {
  constructor(readonly code: string) {}
  async [Symbol.asyncDispose]() {}
}

function codeOf(mounted: AsyncDisposable): string | undefined {
  return mounted instanceof NotMounted ? mounted.code : undefined;
}
