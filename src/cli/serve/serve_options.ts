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
      "the container, or several, each shown in a directory of its name or in PATH",
    )
    .usage("[options] <source[=path]>...")
    .option(
      "--no-token",
      "require no token: anyone who can reach the port can read, such as all users of a shared machine",
    )
    .option(
      "--allow-host <name>",
      "host name to allow in requests, besides localhost and the address of --host",
      collect,
    )
    .option("--prefix <path>", "serve only this directory of it")
    .addOption(subsetOption());
  return withOptions(command, "source", "all", "nested", "decoded", "verify");
}

export function withServerOptions(command: Command): Command {
  return command
    .option(
      "--host <address>",
      "listen on this address (default: 127.0.0.1)",
    )
    .option(
      "--port <n>",
      "listen on this port; 0 chooses a free one (default: 8000)",
      wholeNumberFrom(0, 65_535),
    )
    .option(
      "--token-file <file>",
      "read the token from this file; a missing file is created with a new token",
    )
    .option(
      "--base-path <path>",
      "path that all URLs start with, such as /data",
    )
    .option(
      "--trust-proxy",
      "behind a proxy: trust its X-Forwarded-Proto or Forwarded header, and send the page's cookie over HTTPS only",
    )
    .option(
      "--tls-cert <file>",
      "serve over HTTPS, with this certificate (PEM)",
    )
    .option("--tls-key <file>", "the certificate's private key (PEM)")
    .option(
      "--cors <origin>",
      "allow web pages of this origin to read everything, such as https://example.org",
      collect,
    )
    .option(
      "--workers <n>",
      "threads that serve connections (default: half the number of processors, up to 4)",
      wholeNumberFrom(1, MOST_WORKERS),
    )
    .option(
      "--quiet",
      "do not log requests (logging takes a fifth of the time of a small one); errors are still printed",
    );
}
