/** Golden containers of every format from four storages yield the same, asynchronously and synchronously. */
import assert from "node:assert/strict";
import { formatNamed } from "../../../src/formats/registry.ts";
import type { RecordfsError } from "../../../src/base/errors.ts";
import { open } from "../../../src/open/open.ts";
import { openSync } from "../../../src/open/mod.ts";
import type { Storage } from "../../../src/io/storage/storage.ts";
import { inMemory } from "../../support/far_away.ts";
import { FULL } from "../../support/long.ts";
import { REPOSITORY } from "../../support/paths.ts";
import * as path from "node:path";
import { FileServer } from "../../support/remote/file_server.ts";
import { slowStorage } from "../../support/slow_storage.ts";
import { type FormatCase, withSmall } from "./format_case.ts";
import { CASES } from "./formats.ts";
import { seenNow, seenOf, withoutWaiting } from "./seen.ts";

const GOLDEN = `${REPOSITORY}test/golden`;

/** Stride over golden containers in a quick run. */
const STRIDE = 16;

/** Replaces URLs of a server by the corresponding paths. */
function moved(value: unknown, url: string, root: string): unknown {
  if (typeof value === "string") {
    return !value.includes(url) ? value : value.replaceAll(url, root)
      .replaceAll("%20", " ");
  }
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => moved(one, url, root));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, moved(one, url, root)]),
  );
}

/** Compares the content of containers below a directory between all storages. */
async function compare(
  format: FormatCase,
  root: string,
  containers: readonly string[],
  directory: string,
): Promise<void> {
  await using server = await FileServer.start(root);
  const remote = { cache: { directory } };
  const variants = formatNamed(format.name).variants ?? [];
  const ways = [
    { format: format.name },
    ...FULL
      ? [
        { format: format.name, checkData: false },
        ...variants.map(({ name }) => ({ format: name })),
      ]
      : [],
  ];
  for (const of of ways) {
    for (const [seed, container] of containers.entries()) {
      const expected = await seenOf(format, container, of);
      // Includes neighbouring files, such as indexes.
      const memory = inMemory(path.dirname(container));
      const storages = { memory, slow: slowStorage(seed, memory) };
      for (const [name, storage] of Object.entries(storages)) {
        const seen = await seenOf(format, container, { ...of, storage });
        assert.deepEqual(seen, expected, `${container} from ${name}`);
      }
      const url = container.replace(root, server.url).replaceAll(" ", "%20");
      const served = await seenOf(format, url, { ...of, remote });
      assert.deepEqual(moved(served, server.url, root), expected, url);
      for (const storage of [undefined, memory]) {
        assert.deepEqual(
          seenNow(container, { ...of, storage, onWarning() {} }),
          withoutWaiting(expected),
          container,
        );
      }
    }
  }
}

for (const [title, format] of CASES) {
  Deno.test(`${title}: memory, a slow storage and a server yield the same as the disk`, () =>
    withSmall(format, async (small, dir) => {
      const goldens = format.goldens.map(({ path }) => path)
        .filter((_, i) => FULL || i % STRIDE === 0);
      await compare(format, `${dir}/in`, [small], `${dir}/cache`);
      await compare(format, GOLDEN, goldens, `${dir}/cache`);
    }));

  Deno.test(`${title}: synchronous methods open and read nothing from a slow storage`, () =>
    withSmall(format, async (path) => {
      const storage: Storage = slowStorage(3);
      assert.throws(() => openSync(path, { storage }), { code: "must-wait" });
      using far = await open(path, { storage });
      using near = await open(path);
      const files = [...near.walkSync()].filter(({ isFile }) => isFile);
      assert.deepEqual(
        (await Array.fromAsync(far.walk())).filter(({ isFile }) => isFile),
        files,
      );
      const refused: string[] = [];
      for (const file of files) {
        try {
          // Data loaded by opening is available at once, and so are empty files.
          assert.deepEqual(far.readSync(file), near.readSync(file));
        } catch (error) {
          assert.equal((error as RecordfsError).code, "must-wait");
          refused.push(file.path);
          assert.throws(() => far.readSync([file, file]), {
            code: "must-wait",
          });
          assert.throws(() => far.readRangeSync(file, 0, 2), {
            code: "must-wait",
          });
        }
      }
      assert.notDeepEqual(refused, []);
      // Concurrently, in request order.
      const read = await Promise.all(files.map((file) => far.read(file)));
      assert.deepEqual(read, near.readSync(files));
      const controller = new AbortController();
      const { signal } = controller;
      const waiting = [
        far.read(files, { signal }),
        open(path, { storage, signal }),
      ].map((one) => assert.rejects(one, /enough/));
      controller.abort(new Error("enough"));
      await Promise.all(waiting);
    }));
}
