import { Command, CommanderError } from "commander";
import { catCommand } from "./cat.ts";
import { checkCommand } from "./check.ts";
import { completionsCommand } from "./completions.ts";
import { Exit, ExitCode } from "./exit.ts";
import { extractCommand } from "./extract.ts";
import { takeAdapter } from "./gulp_adapter.ts";
import { gulpCommand } from "./gulp_command.ts";
import { mountCommandLine } from "./helper_form.ts";
import { infoCommand } from "./info.ts";
import { lsCommand } from "./ls.ts";
import { mountCommand } from "./mount.ts";
import { mountsCommand } from "./mounts.ts";
import { report } from "./messages.ts";
import { packCommand } from "./pack.ts";
import { recordsCommand } from "./records.ts";
import { statCommand } from "./stat.ts";
import { treeCommand } from "./tree.ts";
import { unmountCommand } from "./unmount.ts";
import { VERSION } from "./version.ts";
import { writeCommand } from "./write.ts";

const AFTER_HELP = `
mount -t fuse.recordfs and /etc/fstab run this program as
  recordfs SOURCE MOUNTPOINT [-o OPTIONS]
which is \`recordfs mount\`; format=NAME and ext=EXT may be among the OPTIONS.

Exit codes: 0 done, 1 failed, 2 the command line is wrong.`;

/**
 * Runs a command line.
 *
 * @throws {Exit} If it asks for help, or is wrong; what there is to say has been said.
 */
export async function runProgram(args: readonly string[]): Promise<void> {
  const { args: line, adapter } = await takeAdapter(args);
  const program = makeProgram();
  program.addCommand(await gulpCommand(line, program, adapter));
  const commands = program.commands.map((command) => command.name());
  const from = { from: "user" } as const;
  try {
    await program.parseAsync(mountCommandLine(line, commands), from);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help that was asked for has exit code 0; help for want of a command has not.
    throw new Exit(error.exitCode === 0 ? ExitCode.DONE : ExitCode.USAGE);
  }
}

/** The command line interface, all of it but `gulp`. */
function makeProgram(): Command {
  const program = new Command("recordfs")
    .description(
      "Opens the containers that training data is packed in as read-only " +
        "filesystems, and writes them.",
    )
    .version(VERSION, "-V, --version")
    .addHelpText("after", AFTER_HELP)
    .exitOverride()
    .configureOutput({
      // Asking for colours would take --allow-env.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      writeOut: writeAll,
      outputError: (text) => report(oneLine(text)),
    });
  const commands = [
    mountCommand(),
    unmountCommand(),
    mountsCommand(),
    lsCommand(),
    treeCommand(),
    catCommand(),
    statCommand(),
    infoCommand(),
    recordsCommand(),
    checkCommand(),
    extractCommand(),
    packCommand(),
    writeCommand(),
    completionsCommand(() => program),
  ];
  for (const command of commands) {
    program.addCommand(command.copyInheritedSettings(program));
  }
  return program;
}

function oneLine(text: string): string {
  return text.trim().replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ");
}

/** Waits until the text is written, since the process ends at once after it. */
function writeAll(text: string): void {
  let rest = new TextEncoder().encode(text);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}
