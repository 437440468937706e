import { Command } from "commander";
import { UsageError } from "../exit.ts";
import { report } from "../messages.ts";
import { AccessLog } from "../serve/access_log.ts";
import { runServer } from "../serve/run_server.ts";
import {
  type ServeCommandOptions,
  withServeOptions,
  withServerOptions,
} from "../serve/serve_options.ts";
import { tokenIn } from "../serve/token_file.ts";
import { workersFor } from "../serve/workers.ts";
import { print } from "../terminal/output.ts";

const PORT = 8000;

export function makeCommand(): Command {
  const command = new Command("serve");
  withServerOptions(withServeOptions(command));
  return command.action(serveGiven);
}

async function serveGiven(
  sources: readonly string[],
  options: ServeCommandOptions,
): Promise<void> {
  const { host, port = PORT, tokenFile, basePath, trustProxy } = options;
  const { tlsCert, tlsKey, cors } = options;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new UsageError("--tls-cert and --tls-key must be given together");
  }
  if (tokenFile !== undefined && options.token === false) {
    throw new UsageError("--token-file and --no-token exclude each other");
  }
  const workers = workersFor(options.workers, sources);
  using log = new AccessLog();
  await runServer(
    sources,
    options,
    {
      hostname: host,
      port,
      token: tokenFile === undefined ? undefined : tokenIn(tokenFile),
      basePath,
      trustProxy,
      cert: tlsCert && await Deno.readTextFile(tlsCert),
      key: tlsKey && await Deno.readTextFile(tlsKey),
      cors,
      onAccess: options.quiet ? undefined : (access) => log.add(access),
    },
    workers,
    ({ url, link }, name) => {
      report(`${name} is served at ${url}; Ctrl-C ends it`);
      // Standard error may be a log, which must not contain the token. A token from a file is known to the user.
      print(`${tokenFile === undefined ? link : url}\n`);
      return Promise.resolve();
    },
  );
}
