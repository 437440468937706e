import { Command } from "commander";
import { report } from "../messages.ts";
import {
  forwardLine,
  hasScreen,
  isRemoteLogin,
  openBrowser,
} from "../serve/browser.ts";
import { runServer } from "../serve/run_server.ts";
import {
  type ServeCommandOptions,
  withServeOptions,
} from "../serve/serve_options.ts";
import { print } from "../terminal/output.ts";

interface ViewOptions extends ServeCommandOptions {
  /** False after `--no-open`. */
  readonly open?: boolean;
}

export function makeCommand(): Command {
  const command = new Command("view");
  return withServeOptions(command)
    .option("--no-open", "only print the link")
    .action(view);
}

async function view(
  sources: readonly string[],
  options: ViewOptions,
): Promise<void> {
  const sampleView = { ...options, sampleView: true };
  await runServer(sources, sampleView, {}, () => 1, ({ link, port }, name) => {
    report(`${name}: open this link; Ctrl-C ends it`);
    print(`${link}\n`);
    if (isRemoteLogin()) {
      report(
        `before that, run on the machine you logged in from: ${
          forwardLine(port)
        }`,
      );
    }
    const opens = options.open !== false && hasScreen();
    return Promise.resolve(opens ? openBrowser(link) : undefined);
  });
}
