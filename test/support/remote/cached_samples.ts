/** Reads a container on a server through caches in a given directory. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../mod.ts";
import { ffrBytes } from "../ffrecord/make_ffr.ts";
import { withTempDir } from "../paths.ts";
import { FileServer } from "./file_server.ts";

const SAMPLES = Array.from(
  { length: 4 },
  (_, i) => new Uint8Array(100_000).map((_, k) => (k * 13 + i * 5) >> 2),
);
const NAMES = SAMPLES.map((_, i) => String(i).padStart(6, "0"));

/** Paths and functions of a test. */
export interface CachePlace {
  /** Directory of the test. */
  readonly dir: string;
  readonly server: FileServer;
  readonly url: string;
  /** Reads all samples with a cache in a directory. Returns the warnings. */
  read(directory: string, shared?: boolean): Promise<string[]>;
}

/** Serves the container while `body` runs. */
export async function withCachePlace(
  body: (place: CachePlace) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    fs.chmodSync(dir, 0o755);
    fs.mkdirSync(`${dir}/www`);
    fs.writeFileSync(`${dir}/www/a.ffr`, ffrBytes(SAMPLES));
    await using server = await FileServer.start(`${dir}/www`);
    const url = `${server.url}/a.ffr`;
    await body({
      dir,
      server,
      url,
      async read(directory, shared) {
        const warnings: string[] = [];
        const onWarning = (text: string) => warnings.push(text);
        const remote = { cache: { directory, shared }, onWarning };
        using container = await open(url, { remote });
        assert.deepEqual(await container.read(NAMES), SAMPLES);
        return warnings;
      },
    });
  });
}

/** Creates a directory with this mode, whatever the umask. */
export function makeDirectory(path: string, mode: number): string {
  fs.mkdirSync(path);
  fs.chmodSync(path, mode);
  return path;
}
