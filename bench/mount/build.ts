/**
 * Compiles the C programs that the benchmarks compare with.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { run } from "../support/run.ts";

/** Paths of the compiled programs. */
export interface Programs {
  readonly server: string;
  readonly reader: string;
}

/**
 * Compiles the reference server and the reader.
 *
 * @param into Folder for the programs.
 * @throws {Error} If a compiler or libfuse 3 is missing; the message says how to install it.
 */
export async function buildPrograms(into: string): Promise<Programs> {
  const fuse = (await need(["pkg-config", "--cflags", "--libs", "fuse3"]))
    .trim().split(/\s+/);
  const programs = {
    server: `${into}/libfuse_server`,
    reader: `${into}/reader`,
  };
  const server = ["libfuse_server.c", "tree.c", "extents.c"];
  await compile(server, programs.server, fuse);
  await compile(["reader.c", "extents.c"], programs.reader, ["-pthread"]);
  return programs;
}

/**
 * Compiles the programs for `bench/remote`: the reader, and the proxy that adds latency.
 *
 * @param into Folder for the programs.
 * @throws {Error} If a compiler is missing; the message says how to install it.
 */
export async function buildRemotePrograms(
  into: string,
): Promise<{ readonly reader: string; readonly proxy: string }> {
  const programs = { reader: `${into}/reader`, proxy: `${into}/delay_proxy` };
  await compile(["reader.c", "extents.c"], programs.reader, ["-pthread"]);
  await compile(["delay_proxy.c"], programs.proxy, []);
  return programs;
}

async function compile(
  sources: readonly string[],
  program: string,
  flags: readonly string[],
): Promise<void> {
  const paths = sources.map((source) =>
    fileURLToPath(new URL(`../reference/${source}`, import.meta.url))
  );
  const warnings = ["-Wall", "-Wextra", "-Werror"];
  await need(
    ["cc", "-std=c11", "-O2", ...warnings, "-o", program, ...paths, ...flags],
  );
}

async function need(command: readonly string[]): Promise<string> {
  try {
    return new TextDecoder().decode(await run(command));
  } catch (cause) {
    throw new Error(
      `Cannot build the benchmark's reference: ${
        command[0]
      } is missing or failed ` +
        `(${cause instanceof Error ? cause.message : cause}). It needs a C ` +
        "compiler, pkg-config and libfuse 3.14 or later: run `deno task setup`, " +
        "or on Debian `apt-get install gcc pkg-config libfuse3-dev fuse3`.",
      { cause },
    );
  }
}
