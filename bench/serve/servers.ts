/** Servers of an archive's files, each a process of its own. */
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { RECORDFS } from "../mount/mount_suite/recordfs.ts";
import { MountedServer } from "../support/mounted_server.ts";
import type { PackedDirectory } from "../support/packed_directory.ts";
import { PYTHON } from "../../test/support/programs/programs.ts";

/** Longest time for a server to start, in milliseconds. */
const START_TIMEOUT = 60_000;

/** Files to serve. */
export interface Scene {
  readonly packed: PackedDirectory;
  /** Directory with the extracted files. */
  readonly extracted: string;
  /** Empty directory for the server's own files. */
  readonly own: string;
}

/** Server that responds. */
export interface Running extends AsyncDisposable {
  readonly port: number;
  /** Path before the file names. */
  readonly prefix: string;
  /** Required `Authorization` header, if any. */
  readonly authorization?: string;
}

/** Program that serves. */
export interface Contender {
  readonly name: string;
  start(scene: Scene): Promise<Running>;
}

/** recordfs with its token and without a request log: of the others, only Python writes one. */
export const recordfs: Contender = {
  name: "recordfs serve --quiet",
  start: (scene) => startRecordfs(scene, ["--quiet"]),
};

/** The same with two threads, one a processor on a machine of two. */
export const recordfsInTwo: Contender = {
  name: "recordfs serve --quiet --workers 2",
  start: (scene) => startRecordfs(scene, ["--quiet", "--workers", "2"]),
};

/** recordfs with a request log to `/dev/null`. */
export const recordfsLogging: Contender = {
  name: "recordfs serve, with its log",
  start: (scene) => startRecordfs(scene, []),
};

async function startRecordfs(
  { packed, own }: Scene,
  options: readonly string[],
): Promise<Running> {
  const token = `${own}/token`;
  const port = freePort();
  const child = start([
    ...[...RECORDFS, "serve", ...options, "--port", `${port}`],
    ...["--token-file", token, packed.archive],
  ]);
  const authorization = async () =>
    `Bearer ${(await Deno.readTextFile(token)).trim()}`;
  const running = await answering(
    child,
    port,
    "/files/",
    packed,
    authorization,
  );
  return { ...running, authorization: await authorization() };
}

/** Handler of `Deno.serve` that only reads the same bytes. */
export const bare: Contender = {
  name: "a bare Deno.serve handler",
  start({ packed }) {
    const port = freePort();
    const program = fileURLToPath(new URL("./bare.ts", import.meta.url));
    const child = start([
      ...[Deno.execPath(), "run", "-A", program],
      ...[packed.archive, packed.index, `${port}`],
    ]);
    return answering(child, port, "/files/", packed);
  },
};

/** nginx over the extracted files, by sendfile(2). */
export const nginx: Contender = {
  name: "nginx, extracted files",
  start({ packed, extracted, own }) {
    const port = freePort();
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((name) => `${name}_temp_path ${own}/${name};`).join("\n");
    fs.writeFileSync(
      `${own}/nginx.conf`,
      `daemon off; pid ${own}/nginx.pid; worker_processes auto;
${Deno.uid() === 0 ? "user root;" : ""}
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on;
  keepalive_requests 1000000000;
  ${temporary}
  server { listen 127.0.0.1:${port}; location /files/ { alias ${extracted}/; } }
}
`,
    );
    const child = start([
      ...["nginx", "-p", own, "-e", `${own}/nginx.log`],
      ...["-c", `${own}/nginx.conf`],
    ]);
    return answering(child, port, "/files/", packed);
  },
};

/** `rclone serve http` of a mount of the archive. */
export const rclone: Contender = {
  name: "rclone serve http of a mount",
  async start({ packed, own }) {
    const mountpoint = `${own}/mounted`;
    fs.mkdirSync(mountpoint, { recursive: true });
    const mounted = await MountedServer.start(
      [...RECORDFS, "mount", "-f", packed.archive, mountpoint],
      mountpoint,
      packed.names[0],
    );
    try {
      const port = freePort();
      const child = start([
        ...["rclone", "serve", "http", mountpoint, "--config", "/dev/null"],
        ...["--addr", `127.0.0.1:${port}`],
      ]);
      const running = await answering(child, port, "/", packed);
      return {
        ...running,
        async [Symbol.asyncDispose]() {
          await running[Symbol.asyncDispose]();
          await mounted.stop();
        },
      };
    } catch (error) {
      await mounted.stop();
      throw error;
    }
  },
};

/** `python3 -m http.server` over the extracted files. */
export const python: Contender = {
  name: "Python's http.server, extracted files",
  start({ packed, extracted }) {
    const port = freePort();
    const child = start([
      ...[PYTHON, "-m", "http.server", "--bind", "127.0.0.1"],
      ...["--directory", extracted, `${port}`],
    ]);
    return answering(child, port, "/", packed);
  },
};

function start(command: readonly string[]): Deno.ChildProcess {
  const [program, ...args] = command as [string, ...string[]];
  const nowhere = { stdin: "null", stdout: "null", stderr: "null" } as const;
  return new Deno.Command(program, { args, ...nowhere }).spawn();
}

/** Returns a port that is free at the moment. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Waits until a server returns the first file with the right content. */
async function answering(
  child: Deno.ChildProcess,
  port: number,
  prefix: string,
  { archive, names, offsets, size }: PackedDirectory,
  authorization?: () => Promise<string>,
): Promise<Running> {
  const running: Running = {
    port,
    prefix,
    async [Symbol.asyncDispose]() {
      try {
        child.kill("SIGTERM");
      } catch {
        // Already ended.
      }
      await child.status;
    },
  };
  const end = Date.now() + START_TIMEOUT;
  let last: unknown = "it does not answer";
  while (Date.now() < end) {
    try {
      const headers: HeadersInit = authorization === undefined
        ? {}
        : { authorization: await authorization() };
      const url = `http://127.0.0.1:${port}${prefix}${names[0]}`;
      const response = await fetch(url, { headers });
      const bytes = await response.bytes();
      if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
      await compare(bytes, archive, offsets[0]!, size);
      return running;
    } catch (error) {
      last = error;
      await setTimeout(20);
    }
  }
  await running[Symbol.asyncDispose]();
  throw new Error(`A server under test does not serve: ${last}`);
}

async function compare(
  bytes: Uint8Array,
  archive: string,
  offset: number,
  size: number,
): Promise<void> {
  using file = await Deno.open(archive);
  await file.seek(offset, Deno.SeekMode.Start);
  const expected = Buffer.alloc(size);
  for (let rest: Uint8Array = expected; rest.length > 0;) {
    const got = await file.read(rest);
    if (got === null) break;
    rest = rest.subarray(got);
  }
  if (!expected.equals(bytes)) {
    throw new Error("it sends other bytes than were packed");
  }
}
