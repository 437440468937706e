import { Command } from "commander";
import { Exit, ExitCode } from "../../exit.ts";
import { type CommonOptions, withOptions } from "../../input/options.ts";
import { nameWriter, print } from "../../terminal/output.ts";
import type { Finding } from "./finding.ts";
import { lookAtMounting } from "./mounting.ts";
import { lookAtPrograms } from "./programs.ts";
import { lookAtLocation, lookAtServers } from "./servers.ts";
import { lookAtSystem } from "./system.ts";

const SHOWN = { works: "works  ", limited: "limited", fails: "FAILS  " };

const AFTER_HELP = `
The exit code is 1 if a test fails; a limitation is not a failure. To test
mounting, the command mounts a small file in a temporary directory. Of
credentials, it prints only the names.`;

export function makeCommand(): Command {
  const command = new Command("doctor")
    .argument("[source]", "a container to open as a test: a path or URL")
    .option("--json", "print JSON")
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "source").action(examine);
}

async function examine(
  location: string | undefined,
  options: CommonOptions,
): Promise<void> {
  const findings: Finding[] = [];
  const shown = nameWriter();
  const add = (more: readonly Finding[]) => {
    findings.push(...more);
    if (!options.json) {
      for (const finding of more) {
        print(line(finding, shown));
      }
    }
  };
  add(lookAtSystem());
  add(await lookAtMounting());
  add(await lookAtPrograms());
  add(lookAtServers(options));
  if (location !== undefined) add([await lookAtLocation(location, options)]);
  const ok = findings.every(({ state }) => state !== "fails");
  if (options.json) print({ ok, findings });
  if (!ok) throw new Exit(ExitCode.FAILED);
}

function line(
  { what, state, says, remedy }: Finding,
  shown: (name: string) => string,
): string {
  const first = `${SHOWN[state]}  ${what.padEnd(12)} ${shown(says)}\n`;
  return remedy === undefined
    ? first
    : `${first}${" ".repeat(22)}→ ${shown(remedy)}\n`;
}
