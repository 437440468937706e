/** Runs a real web server in the foreground, for a test or a measurement. */
import * as fs from "node:fs";
import net from "node:net";
import type { AddressInfo } from "node:net";
import * as os from "node:os";

/** Attempts with another port, if a process has taken the port meanwhile. */
const TRIES = 5;
/** Timeout of a start, in milliseconds. */
const PATIENCE = 60_000;

/** A running web server. */
export interface WebProgram extends AsyncDisposable {
  readonly port: number;
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** Directory of the server, removed with it: the configuration `conf`, the log `error.log`, and temporary files. */
  readonly dir: string;
  /** Id of the master process. */
  readonly pid: number;
  /** Returns the content of the error log. */
  errors(): string;
}

/**
 * Starts a web server, which responds when this returns.
 *
 * @param args Returns the arguments, given the server's directory. The server must stay in the foreground, read `conf`
 * and write `error.log`.
 * @param config Returns the content of `conf`. The server must listen on the port, at 127.0.0.1.
 */
export async function startWebProgram(
  program: string,
  args: (dir: string) => string[],
  config: (port: number, dir: string) => string,
): Promise<WebProgram> {
  for (let left = TRIES;; left--) {
    const port = await freePort();
    const dir = fs.mkdtempSync(`${os.tmpdir()}/recordfs-${program}-`);
    const errors = () => fs.readFileSync(`${dir}/error.log`, "utf8");
    fs.writeFileSync(`${dir}/error.log`, "");
    fs.writeFileSync(`${dir}/conf`, config(port, dir));
    const server = new Deno.Command(program, {
      args: args(dir),
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
    const isUp = await listens(port) && !hasEnded;
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
    throw new Error(`${program} does not start: ${said}`);
  }
}

/** Returns a port that no process listens on. */
export async function freePort(): Promise<number> {
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
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
