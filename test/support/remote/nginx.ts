/** A real nginx, in the foreground, for as long as a test or a measurement takes. */
import * as fs from "node:fs";
import net from "node:net";
import type { AddressInfo } from "node:net";
import * as os from "node:os";

/** How often another port is taken, where somebody else was faster. */
const TRIES = 5;
/** How long a start may take, in milliseconds. */
const PATIENCE = 60_000;

/** An nginx that runs. */
export interface Nginx extends AsyncDisposable {
  readonly port: number;
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** A directory of its own, which goes with it; what is there of its own is `error.log` and `conf`. */
  readonly dir: string;
  /** Of its master process. */
  readonly pid: number;
  /** What it has said of errors. */
  errors(): string;
}

/**
 * Starts an nginx, which answers when this returns. Its workers run as who calls, so that they may read what that one may.
 *
 * @param config What stands in the `http` block, for a port to listen on, at 127.0.0.1, and a directory of its own.
 * @param main What stands before that block, such as `worker_processes 4;`.
 */
export async function startNginx(
  config: (port: number, dir: string) => string,
  main = "worker_processes 1;",
): Promise<Nginx> {
  for (let left = TRIES;; left--) {
    const port = await freePort();
    const dir = fs.mkdtempSync(`${os.tmpdir()}/recordfs-nginx-`);
    const errors = () => fs.readFileSync(`${dir}/error.log`, "utf8");
    fs.writeFileSync(`${dir}/error.log`, "");
    fs.writeFileSync(`${dir}/conf`, whole(config(port, dir), main, dir));
    const server = new Deno.Command("nginx", {
      args: ["-p", dir, "-e", `${dir}/error.log`, "-c", `${dir}/conf`],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    let hasEnded = false;
    server.status.then(() => hasEnded = true);
    const deadline = performance.now() + PATIENCE;
    while (!hasEnded && !await listens(port)) {
      if (performance.now() > deadline) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const isUp = !hasEnded && await listens(port);
    const stop = async () => {
      if (!hasEnded) server.kill("SIGTERM");
      await server.status;
      fs.rmSync(dir, { recursive: true, force: true });
    };
    if (isUp) {
      return {
        port,
        url: `http://127.0.0.1:${port}`,
        dir,
        pid: server.pid,
        errors,
        [Symbol.asyncDispose]: stop,
      };
    }
    const said = errors();
    await stop();
    if (left > 1 && said.includes("in use")) continue;
    throw new Error(`nginx does not start: ${said}`);
  }
}

function whole(http: string, main: string, dir: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${dir}/${name};`);
  // Who is not root runs all of it as themselves anyway, and is warned of the line.
  const user = Deno.uid() === 0 ? "user root;" : "";
  return `daemon off; pid ${dir}/pid; ${user} ${main}
events { worker_connections 1024; }
http {
  access_log off;
  ${temporary.join("\n  ")}
  ${http}
}
`;
}

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve())
  );
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
