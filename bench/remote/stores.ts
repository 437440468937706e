/** Servers that hold the archive, and its files as single objects. */
import * as fs from "node:fs";
import { freePort } from "../../test/support/remote/web_program.ts";
import { startNginx } from "../../test/support/remote/nginx.ts";
import { run } from "../support/run.ts";
import type { Workspace } from "../support/workspace.ts";

/** Server behind the proxy that adds latency. */
export interface Store {
  readonly name: string;
  /** URL of the archive, for recordfs and for bare requests. */
  readonly archive: string;
  /** Environment of the client programs. */
  readonly env: Readonly<Record<string, string>>;
  /** The files, in rclone's syntax. */
  readonly rcloneFiles: string;
  /** The directory of the archive, in rclone's syntax. */
  readonly rcloneRoot: string;
  /** Arguments of s3fs before the mountpoint, if it can mount the files. */
  readonly s3fsFiles: readonly string[] | undefined;
}

/** Command that runs rclone: version 1.60 does not start if `AWS_CA_BUNDLE` is set. */
export const RCLONE: readonly string[] = [
  ...["env", "-u", "AWS_CA_BUNDLE"],
  "rclone",
];

/** Workspace and settings of a store. */
export interface Scene {
  readonly workspace: Workspace;
  /** Directory with the archive, and its files in `files`. */
  readonly root: string;
  /** Path of the compiled proxy. */
  readonly proxy: string;
  /** Round-trip latency that the proxy adds, in milliseconds. */
  readonly latency: number;
}

/** nginx with ports with and without latency. */
export interface Nginx {
  readonly far: Store;
  /** URL of the archive, without latency. */
  readonly near: string;
  /** The same, with requests and bytes counted. */
  readonly counted: string;
  /** Returns the number and bytes of responses on the counted port since the last call. */
  sent(): { readonly requests: number; readonly bytes: number };
}

/**
 * Starts nginx.
 *
 * Uses nginx's own settings for files, except for connections, which stay open: with `tcp_nopush`, responses would
 * wait 40 ms for acknowledgements, which the proxy delays.
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

/** Starts Ceph with its S3 gateway, and uploads all files and the archive. */
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
        .catch(() => {}); // already ended
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
  // The proxy prints only "ready"; the port is chosen here.
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
