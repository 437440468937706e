/** Servers that hold the archive, and its files as single objects. */
import * as fs from "node:fs";
import { freePort } from "../../test/support/remote/web_program.ts";
import { startNginx } from "../../test/support/remote/nginx.ts";
import { run } from "../support/run.ts";
import type { Workspace } from "../support/workspace.ts";

/** A server, as far away as the proxy makes it. */
export interface Store {
  readonly name: string;
  /** The archive's URL, for recordfs and for bare requests. */
  readonly archive: string;
  /** What programs have in their environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The files as rclone calls them. */
  readonly rcloneFiles: string;
  /** The directory of the archive as rclone calls it. */
  readonly rcloneRoot: string;
  /** Arguments of s3fs in front of the mountpoint, where it can mount the files. */
  readonly s3fsFiles: readonly string[] | undefined;
}

/** How rclone is called: 1.60 does not start where AWS' tools have authorities of their own. */
export const RCLONE: readonly string[] = [
  ...["env", "-u", "AWS_CA_BUNDLE"],
  "rclone",
];

/** Where things are put, which belong to a store. */
export interface Scene {
  readonly workspace: Workspace;
  /** Holds the archive, and in `files` its files. */
  readonly root: string;
  /** The compiled proxy. */
  readonly proxy: string;
  /** Milliseconds that a request and its answer take more through it. */
  readonly latency: number;
}

/** nginx, and its ports with and without distance. */
export interface Nginx {
  readonly far: Store;
  /** The archive's URL, without distance. */
  readonly near: string;
  /** The same, with what was sent being counted. */
  readonly counted: string;
  /** How many requests were answered at the counted port since it was asked last, and with how many bytes. */
  sent(): { readonly requests: number; readonly bytes: number };
}

/**
 * Starts nginx.
 *
 * With its own settings for files, but for connections that stay open: `tcp_nopush` would have answers wait for
 * acknowledgements (40 ms) that come late where a proxy stands between.
 */
export async function startNginxStore(scene: Scene): Promise<Nginx> {
  const { workspace, root } = scene;
  const log = workspace.file("nginx.log");
  fs.writeFileSync(log, "");
  const countedPort = await freePort();
  const server = await startNginx((port) => `
  sendfile on; keepalive_requests 100000000; keepalive_timeout 1h;
  log_format sent '$body_bytes_sent';
  server { listen 127.0.0.1:${port}; root ${root}; autoindex on; }
  server {
    listen 127.0.0.1:${countedPort}; root ${root}; access_log ${log} sent;
  }`);
  workspace.defer(async () => await server[Symbol.asyncDispose]());
  const port = await startProxy(scene, server.port);
  let read = 0;
  return {
    far: {
      name: "nginx",
      archive: `http://127.0.0.1:${port}/a.ffr`,
      env: {},
      rcloneFiles: `:http,url='http://127.0.0.1:${port}/':files`,
      rcloneRoot: `:http,url='http://127.0.0.1:${port}/':`,
      s3fsFiles: undefined,
    },
    near: `http://127.0.0.1:${server.port}/a.ffr`,
    counted: `http://127.0.0.1:${countedPort}/a.ffr`,
    sent() {
      const text = fs.readFileSync(log, "latin1");
      const lines = text.slice(read).split("\n").filter(Boolean);
      read = text.length;
      const bytes = lines.reduce((sum, line) => sum + Number(line), 0);
      return { requests: lines.length, bytes };
    },
  };
}

/** Starts a Ceph with its S3 gateway, and uploads all files and the archive. */
export async function startCephStore(scene: Scene): Promise<Store> {
  const { workspace, root } = scene;
  const near = await freePort();
  const folder = workspace.file("ceph");
  const script = new URL("../reference/ceph_s3.sh", import.meta.url).pathname;
  workspace.defer(async () => {
    for (const name of fs.readdirSync(`${folder}/run`)) {
      if (!name.endsWith(".pid")) continue;
      const pid = Number(fs.readFileSync(`${folder}/run/${name}`, "utf8"));
      await run([
        "sh",
        "-c",
        `kill ${pid}; while kill -0 ${pid}; do sleep 0.1; done`,
      ])
        .catch(() => {}); // it has ended
    }
  });
  await run(["sh", script, folder, `${near}`]);
  const remote = (port: number) =>
    `:s3,provider=Ceph,endpoint='http://127.0.0.1:${port}',` +
    "access_key_id=k,secret_access_key=s:bench";
  await run([
    ...[...RCLONE, "copy", "--transfers", "16", "--checkers", "32"],
    ...["--s3-upload-concurrency", "8", "--s3-chunk-size", "64M"],
    ...[root, remote(near)],
  ]);
  const port = await startProxy(scene, near);
  const passwords = workspace.file("s3fs-keys");
  fs.writeFileSync(passwords, "k:s\n", { mode: 0o600 });
  return {
    name: "Ceph S3",
    archive: "s3://bench/a.ffr",
    env: {
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
      AWS_ACCESS_KEY_ID: "k",
      AWS_SECRET_ACCESS_KEY: "s",
    },
    rcloneFiles: `${remote(port)}/files`,
    rcloneRoot: remote(port),
    s3fsFiles: [
      ...["bench:/files", "-o", `url=http://127.0.0.1:${port}`],
      ...["-o", `passwd_file=${passwords}`, "-o", "use_path_request_style"],
    ],
  };
}

async function startProxy(
  { workspace, proxy, latency }: Scene,
  to: number,
): Promise<number> {
  // It prints nothing but "ready", and is asked whether it listens.
  const port = await freePort();
  const child = new Deno.Command(proxy, {
    args: [`${port}`, `${to}`, `${latency}`],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  workspace.defer(async () => {
    child.kill("SIGTERM");
    await child.status;
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  if (value === undefined) throw new Error(`${proxy} does not start`);
  return port;
}
