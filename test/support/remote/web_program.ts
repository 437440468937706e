/** A real web server, in the foreground, for as long as a test or a measurement takes. */
import * as fs from "node:fs";
import net from "node:net";
import type { AddressInfo } from "node:net";
import * as os from "node:os";

/** How often another port is taken, where somebody else was faster. */
const TRIES = 5;
/** How long a start may take, in milliseconds. */
const PATIENCE = 60_000;

/** A web server that runs. */
export interface WebProgram extends AsyncDisposable {
  readonly port: number;
  /** Where it listens, without a slash at the end. */
  readonly url: string;
  /** A directory of its own, which goes with it: for its configuration, `conf`, its log, `error.log`, and what it keeps. */
  readonly dir: string;
  /** Of its master process. */
  readonly pid: number;
  /** What it has said of errors. */
  errors(): string;
}

/**
 * Starts a web server, which answers when this returns.
 *
 * @param args How it is called, with its own directory: it stays in the foreground, reads `conf` and writes `error.log`.
 * @param config What is to stand in `conf`: it listens on the port, at 127.0.0.1.
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

/** A port that nobody listens on. */
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
