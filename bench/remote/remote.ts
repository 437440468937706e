/**
 * Reads containers on servers: mounts and loaders of an archive on nginx and on a Ceph S3 gateway, each some
 * milliseconds away, compared with bare requests and with mounts of the same files as single objects.
 *
 *   deno run -A bench/remote/remote.ts [--files N] [--size BYTES] [--rounds N] [--latency MS] [--only REGEX]
 *     [--dir FOLDER] [--json]
 *
 * Needs root to empty the system's caches before each pass, disk for four times the archive, and with Ceph twice the
 * archive in memory. `--only` selects parts by name: `many`, `one`, `over`, `front`, `second`, `half`, `loader`,
 * `memory`, and with Ceph `ceph-many`, `ceph-one`, `ceph-loader`.
 *
 * @module
 */
import * as fs from "node:fs";
import { RECORDFS } from "../mount/mount_suite/recordfs.ts";
import { buildRemotePrograms } from "../mount/build.ts";
import { makePackedDirectorySync } from "../support/packed_directory.ts";
import {
  type Benchmark,
  parseOptions,
  progress,
  type Row,
  runAlone,
} from "../support/report.ts";
import { run } from "../support/run.ts";
import { Workspace } from "../support/workspace.ts";
import { cachedLoader, coldLoader } from "./loader_rows.ts";
import { halfCached, secondPass, sequential } from "./near_rows.ts";
import { CEPH_PACKAGES, isThere, REMOTE_PACKAGES } from "./packages.ts";
import { coldPass, type Place, recordfs } from "./passes.ts";
import { manyReaders, oneReader, overRclone } from "./random_rows.ts";
import { startCephStore, startNginxStore, type Store } from "./stores.ts";

/** Readers of the mount whose memory is measured, and its memory limit in bytes. */
const READERS = 64;
const MEMORY = 400e6;

/** `remote`: containers on servers. */
export const remoteBenchmark: Benchmark = { name: "remote", run: measure };

async function measure(args: string[]): Promise<Row[]> {
  const { numbers, dir, only } = parseOptions(
    args,
    { files: 20_000, size: 100_000, rounds: 3, latency: 20 },
    [],
    true,
  );
  const { files, size, rounds, latency } = numbers;
  const wanted = new RegExp(`^(?:${only ?? ".*"})$`);
  const absent = [...REMOTE_PACKAGES].filter(([program]) => !isThere(program));
  if (absent.length > 0) {
    throw new Error(
      `bench/remote takes ${absent.map(([program]) => program).join(", ")}: ` +
        `\`deno task setup\` or \`apt-get install ${
          absent.map(([, name]) => name).join(" ")
        }\``,
    );
  }
  await using workspace = await Workspace.create(dir, 4 * files * size);
  await using inMemory = await Workspace.create("/dev/shm", files * size);
  const { reader, proxy } = await buildRemotePrograms(workspace.path);
  const root = workspace.file("www");
  fs.mkdirSync(root);
  progress(`remote: packing ${files} files of ${size} bytes`);
  const { archive } = makePackedDirectorySync(`${root}/a.ffr`, files, size);
  fs.rmSync(`${archive}.index`);
  await run([...RECORDFS, "extract", archive, `${root}/files`]);
  const memory = inMemory.path;
  const place: Place = { workspace, reader, files, size, archive, memory };
  const scene = { workspace, root, proxy, latency };
  const nginx = await startNginxStore(scene);
  const { far } = nginx;
  const rows: Row[] = [];
  const parts: Record<string, () => Promise<Row[]>> = {
    many: () => manyReaders(place, far, rounds),
    one: () => oneReader(place, far, rounds),
    over: () => overRclone(place, far, rounds),
    front: () => sequential(place, nginx, rounds),
    second: () => secondPass(place, nginx, rounds),
    half: () => halfCached(place, nginx),
    loader: async () => [
      ...await coldLoader(place, far, rounds),
      ...await cachedLoader(place, nginx, rounds),
    ],
    memory: () => memoryRow(place, far),
  };
  for (const [name, part] of Object.entries(parts)) {
    if (wanted.test(name)) rows.push(...await part());
  }
  const onCeph = ["ceph-many", "ceph-one", "ceph-loader"].filter((name) =>
    wanted.test(name)
  );
  if (onCeph.length === 0) return rows;
  if (!isThere("radosgw")) return [...rows, withoutCeph()];
  progress("remote: starting Ceph, and uploading");
  const ceph = await startCephStore(scene);
  const ofCeph: Record<string, () => Promise<Row[]>> = {
    "ceph-many": () => manyReaders(place, ceph, rounds),
    "ceph-one": () => oneReader(place, ceph, rounds),
    "ceph-loader": () => coldLoader(place, ceph, rounds),
  };
  for (const name of onCeph) rows.push(...await ofCeph[name]!());
  return rows;
}

function withoutCeph(): Row {
  return {
    measured: "remote, Ceph S3",
    subject: "recordfs",
    value: null,
    unit: "files/s",
    note: `not measured: \`apt-get install --no-install-recommends ${
      CEPH_PACKAGES.join(" ")
    }\``,
  };
}

async function memoryRow(place: Place, store: Store): Promise<Row[]> {
  const measured = `remote, ${store.name}: a mount with ${READERS} readers`;
  progress(measured);
  const { memory } = await coldPass(place, recordfs(store), {
    readers: READERS,
  });
  return [{
    measured,
    subject: "memory of its own, at most",
    value: memory / 1e6,
    unit: "MB",
    target: { promise: "< 400 MB", met: memory < MEMORY },
  }];
}

if (import.meta.main) await runAlone(remoteBenchmark);
