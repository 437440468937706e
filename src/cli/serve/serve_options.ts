import type { Command } from "commander";
import {
  collect,
  subsetOption,
  wholeNumberFrom,
  withOptions,
} from "../input/options.ts";
import type { CommonOptions } from "../input/options.ts";
import { MOST_WORKERS } from "./workers.ts";

/** Options of `recordfs serve`; `recordfs view` has a subset. */
export interface ServeCommandOptions extends CommonOptions {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly tokenFile?: string | undefined;
  /** False after `--no-token`. */
  readonly token?: boolean | undefined;
  readonly allowHost?: readonly string[] | undefined;
  readonly basePath?: string | undefined;
  readonly trustProxy?: boolean | undefined;
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
  readonly cors?: readonly string[] | undefined;
  readonly quiet?: boolean | undefined;
  readonly workers?: number | undefined;
}

/** Adds the options shared by both commands. */
export function withServeOptions(command: Command): Command {
  command
    .argument(
      "<source...>",
      "the container; or several, each in a directory of its name, or in PATH",
    )
    .usage("[options] <source[=path]>...")
    .option(
      "--no-token",
      "let everyone read who reaches the port: on a shared machine, all its users",
    )
    .option(
      "--allow-host <name>",
      "a name that it may be called by, beside localhost and the address of --host",
      collect,
    )
    .option("--prefix <path>", "serve only what is in this directory of it")
    .addOption(subsetOption());
  return withOptions(command, "source", "all", "decoded", "verify");
}

export function withServerOptions(command: Command): Command {
  return command
    .option(
      "--host <address>",
      "listen on this address; 127.0.0.1 unless given",
    )
    .option(
      "--port <n>",
      "listen on this port, 0 for any that is free; 8000 unless given",
      wholeNumberFrom(0, 65_535),
    )
    .option(
      "--token-file <file>",
      "take the token from a file; one that is not there is made, with a new token",
    )
    .option("--base-path <path>", "the path that all URLs start with, as /data")
    .option(
      "--trust-proxy",
      "behind a proxy: believe its X-Forwarded-Proto or Forwarded, and have the page's cookie sent by HTTPS only",
    )
    .option("--tls-cert <file>", "serve by HTTPS, with this certificate (PEM)")
    .option("--tls-key <file>", "the certificate's private key (PEM)")
    .option(
      "--cors <origin>",
      "let pages of this site read everything, as https://example.org",
      collect,
    )
    .option(
      "--workers <n>",
      "threads that answer, each some of the connections; unless given, half as many as processors, up to 4",
      wholeNumberFrom(1, MOST_WORKERS),
    )
    .option(
      "--quiet",
      "write no line for each request, which takes a fifth of a small one; what goes wrong is said all the same",
    );
}
