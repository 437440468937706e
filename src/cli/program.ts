import { Command, CommanderError } from "commander";
import { raiseOpenFilesLimit } from "../io/storage/descriptor_budget.ts";
import { addExamples } from "./examples.ts";
import { Exit, ExitCode } from "./exit.ts";
import type { OwnAdapter } from "./commands/gulp/gulp.ts";
import { registerGiven } from "./input/format_modules.ts";
import { mountCommandLine } from "./mount/job/helper_form.ts";
import { report } from "./messages.ts";
import { print } from "./terminal/output.ts";
import { argumentText, usageMessage } from "./usage.ts";
import { VERSION } from "./version.ts";

/** A module of a command, which it makes for a program; `adapter` is what a line of `gulp` brings. */
interface CommandModule {
  makeCommand(program: Command, adapter: OwnAdapter | undefined): Command;
}

/** The commands in the order of the help, each loaded where it is needed: a line starts faster so. */
const COMMANDS: Record<string, () => Promise<CommandModule>> = {
  "mount": () => import("./commands/mount.ts"),
  "unmount": () => import("./commands/unmount.ts"),
  "mounts": () => import("./commands/mounts.ts"),
  "view": () => import("./commands/view.ts"),
  "serve": () => import("./commands/serve.ts"),
  "ls": () => import("./commands/ls.ts"),
  "tree": () => import("./commands/tree.ts"),
  "cat": () => import("./commands/cat.ts"),
  "stat": () => import("./commands/stat.ts"),
  "info": () => import("./commands/info.ts"),
  "records": () => import("./commands/records.ts"),
  "check": () => import("./commands/check.ts"),
  "extract": () => import("./commands/extract/extract.ts"),
  "pack": () => import("./commands/pack.ts"),
  "write": () => import("./commands/write.ts"),
  "convert": () => import("./commands/convert.ts"),
  "bag": () => import("./commands/bag/bag_create.ts"),
  "split": () => import("./commands/split.ts"),
  "bench-loader": () => import("./commands/bench_loader/bench_loader.ts"),
  "cache": () => import("./commands/cache.ts"),
  "doctor": () => import("./commands/doctor/doctor.ts"),
  "completions": () => import("./completions/completions.ts"),
  "gulp": () => import("./commands/gulp/gulp.ts"),
};

/** Other names of commands. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["umount", "unmount"],
]);

/** The command that describes all others. */
const COMPLETIONS = "completions";

const AFTER_HELP = `
mount -t fuse.recordfs and /etc/fstab run this program as
  recordfs SOURCE MOUNTPOINT [-o OPTIONS]
which is \`recordfs mount\`; format=NAME, format_module=FILE, ext=EXT, decoded, prefix=PATH,
subset=FILE, shuffle=SEED, epoch=N and on_failure=WHAT may be among the OPTIONS.

Exit codes: 0 done, 1 failed, 2 the command line is wrong.`;

/**
 * Runs a command line.
 *
 * @throws {Exit} If it asks for help, or is wrong; what there is to say has been said.
 */
export async function runProgram(args: readonly string[]): Promise<void> {
  await registerGiven(args);
  const { args: given, adapter } = args[0] === "gulp"
    ? await (await import("./commands/gulp/gulp.ts")).takeAdapter(args)
    : { args, adapter: undefined };
  const [first] = given;
  // As it was called before, and still is by many programs.
  const named = first === "-V" ? ["--version"] : given;
  const names = [...Object.keys(COMMANDS), ...ALIASES.keys()];
  const line = mountCommandLine(named, names).map((word, i, all) =>
    i === 0 || (i === 1 && all[0] === "help") ? ALIASES.get(word) ?? word : word
  );
  const program = await makeProgram(line[0], adapter, line);
  try {
    // Of what it does not know, commander's own shows the general help, and does not say so.
    const [, of = ""] = line;
    const isOfNone = line[0] === "help" && of !== "" &&
      !Object.hasOwn(COMMANDS, of);
    await program.parseAsync(isOfNone ? [of] : line, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help that was asked for has exit code 0; help for want of a command has not.
    throw new Exit(error.exitCode === 0 ? ExitCode.DONE : ExitCode.USAGE);
  }
}

/**
 * The command line interface: one command where a line names it, none for the version, all of them otherwise.
 *
 * @param line What it is to parse, which messages may refer to.
 */
export async function makeProgram(
  named: string | undefined,
  adapter?: OwnAdapter,
  line: readonly string[] = [],
): Promise<Command> {
  const program = new Command("recordfs")
    .description(
      "Opens the containers that training data is packed in as read-only " +
        "filesystems, and writes them.",
    )
    .version(VERSION, "-v, --version")
    .addHelpText("after", AFTER_HELP)
    .enablePositionalOptions() // behind a command, -v is not the version
    .hook("preAction", raiseOpenFilesLimit)
    .exitOverride()
    .configureOutput({
      // Asking for colours would take --allow-env.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      writeOut: (text) => print(text),
    })
    .configureHelp({ styleArgumentText: argumentText });
  for (const load of modulesFor(named)) {
    const command = (await load()).makeCommand(program, adapter);
    program.addCommand(command.copyInheritedSettings(program));
  }
  addExamples(program);
  reportErrors(program, line);
  return program;
}

/** Has a command, and those below it, report what is wrong with a line. */
function reportErrors(command: Command, line: readonly string[]): void {
  command.configureOutput({
    outputError: (text) => report(usageMessage(text, command, line)),
  });
  for (const one of command.commands) reportErrors(one, line);
}

function modulesFor(
  named: string | undefined,
): (() => Promise<CommandModule>)[] {
  if (named === "--version" || named === "-v") return [];
  const isOne = named !== undefined && named !== COMPLETIONS &&
    Object.hasOwn(COMMANDS, named);
  return isOne ? [COMMANDS[named]!] : Object.values(COMMANDS);
}
