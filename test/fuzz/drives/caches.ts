/** Caches that another user has modified: reads return the right bytes or fail, and nothing outside is touched. */
import * as fs from "node:fs";
import {
  listKeptTables,
  removeKeptTables,
} from "../../../src/io/index_cache/cached_tables.ts";
import { CacheDirectory } from "../../../src/io/remote/cache/cache_directory.ts";
import { open } from "../../../src/open/open.ts";
import type { Dice } from "../dice.ts";
import { digestOf } from "../digest.ts";
import type { Scene } from "../scene.ts";
import type { Drive } from "./drive.ts";

const MOST_FILES = 50;
/** Maximum size of a file whose text is damaged, in bytes. */
const MOST_TEXT = 1 << 20;
/** Another user, if the fuzzer runs as root. */
const OTHER = 65534;
const isRoot = Deno.uid() === 0;

/** Files whose content is not verified if the container has no checksums. */
const CONTENT = /\/(data|sums)$/;

/** Damages an entry of a cache. */
type Damage = (path: string, scene: Scene) => void;

/** Replaces an entry. */
function inPlace(put: Damage): Damage {
  return (path, scene) => {
    fs.rmSync(path, { recursive: true });
    put(path, scene);
  };
}

const DAMAGES: readonly Damage[] = [
  inPlace((path, { directory }) =>
    fs.symlinkSync(`${directory}/outside/canary`, path)
  ),
  inPlace((path, { directory }) =>
    fs.symlinkSync(`${directory}/outside`, path)
  ),
  inPlace((path, { directory }) =>
    fs.symlinkSync(`${directory}/outside/new`, path)
  ),
  inPlace((path, { directory }) =>
    fs.linkSync(`${directory}/outside/canary`, path)
  ),
  inPlace((path, { directory }) => fs.linkSync(`${directory}/fifo`, path)),
  inPlace((path) => fs.mkdirSync(path)),
  inPlace((path) => fs.writeFileSync(path, "")),
  inPlace(() => {}),
  (path, { dice }) => {
    if (!isOwn(path)) return;
    fs.chmodSync(path, dice.pick([0, 0o666, 0o777, 0o1777]));
  },
  (path) => {
    if (isRoot) fs.lchownSync(path, OTHER, OTHER);
  },
  (path, { dice }) => {
    if (!isOwn(path, true) || CONTENT.test(path)) return;
    if (fs.statSync(path).size > MOST_TEXT) return; // extended by an earlier truncate
    fs.writeFileSync(path, damagedText(fs.readFileSync(path), dice));
  },
  (path, { dice }) => {
    if (!isOwn(path, true) || CONTENT.test(path)) return;
    fs.truncateSync(path, dice.size(1, 2 ** 40));
  },
];

/** Whether an entry is a directory, or a file with a single link: others must not be changed here. */
function isOwn(path: string, isFile = false): boolean {
  const stat = fs.lstatSync(path);
  return stat.isFile() && stat.nlink === 1 || !isFile && stat.isDirectory();
}

function damagedText(bytes: Uint8Array, dice: Dice): Uint8Array {
  const text = new TextDecoder("latin1").decode(bytes);
  const number = dice.pick(["-1", "1e300", "null", "9007199254740991", "[]"]);
  return dice.once(2)
    ? dice.bytes(dice.size(1, 200))
    : new TextEncoder().encode(text.replace(/:(\d+)/, `:${number}`));
}

export const cachesDrive: Drive = {
  name: "caches of others",
  every: 4,
  async run(scene) {
    const stat = fs.lstatSync(scene.path, { throwIfNoEntry: false });
    if (stat?.isFile() !== true) return;
    const file = fs.readFileSync(scene.path);
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => answer(request, file),
    );
    const name = encodeURIComponent(scene.path.split("/").at(-1)!);
    const url = `http://127.0.0.1:${server.addr.port}/${name}`;
    const expected = await read(scene, url, false);
    const directory = scene.output();
    await read(scene, url, { directory });
    for (let round = 0; round < 3; round++) {
      damage(scene, directory);
      const shared = scene.dice.once(3);
      const found = await read(scene, url, { directory, shared });
      if (found !== expected) {
        scene.report(
          "disagreement",
          `without a cache ${expected}\nwith a damaged one ${found}`,
        );
      }
    }
    await scene.attempt("cache ls, rm", () => emptied(directory));
  },
};

/** Responds to range requests for a file. */
function answer(request: Request, file: Uint8Array<ArrayBuffer>): Response {
  const [, start, last] =
    /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("range") ?? "") ?? [];
  const etag = `"${file.length}"`;
  if (!new URL(request.url).pathname.slice(1).match(/^[^/]+$/)) {
    return new Response(null, { status: 404 });
  }
  if (request.headers.get("if-none-match") === etag) {
    return new Response(null, { status: 304, headers: { etag } });
  }
  if (file.length === 0) {
    return new Response(null, {
      status: 416,
      headers: { etag, "content-range": "bytes */0" },
    });
  }
  const end = Math.min(Number(last) + 1, file.length);
  return new Response(file.subarray(Number(start), end), {
    status: 206,
    headers: {
      etag,
      "content-range": `bytes ${start}-${end - 1}/${file.length}`,
    },
  });
}

/** Returns a hash of a container's content, or the code of the error. */
async function read(
  scene: Scene,
  url: string,
  cache: false | { readonly directory: string; readonly shared?: boolean },
): Promise<string> {
  const remote = { cache, timeout: 60_000, onWarning() {} };
  const outcome = await scene.attempt("open and read", async () => {
    using container = await open(url, { remote, onWarning() {} });
    const files: string[] = [];
    for await (const { path, isFile } of container.walk()) {
      if (isFile && files.push(path) === MOST_FILES) break;
    }
    const read = await Promise.all(
      files.map((path) =>
        container.read(path).catch((error) => `${error.code}`)
      ),
    );
    return digestOf([files, read]);
  });
  return outcome.ok
    ? outcome.value
    : String((outcome.error as { code?: unknown }).code);
}

/** Damages some entries of a cache, or the cache's own mode. */
function damage(scene: Scene, cache: string): void {
  const { dice } = scene;
  for (let times = dice.size(1, 4); times > 0; times--) {
    const names = (fs.readdirSync(cache, { recursive: true }) as string[])
      .sort();
    const path = dice.once(10) || names.length === 0
      ? cache
      : `${cache}/${dice.pick(names)}`;
    if (path === cache) fs.chmodSync(cache, dice.pick([0o700, 0o770, 0o777]));
    else dice.pick(DAMAGES)(path, scene);
  }
}

/** Does what `cache ls` and `cache rm --all` do. */
function emptied(directory: string): void {
  const cache = new CacheDirectory({ directory, shared: true }, () => {});
  cache.root.require();
  for (const entry of cache.objects()) {
    cache.countsOf(entry);
    cache.remove(entry);
  }
  cache.removeLists();
  removeKeptTables(listKeptTables(cache.root));
}
