import { Command, CommanderError } from "commander";
import { addExamples } from "./examples.ts";
import { Exit, ExitCode } from "./exit.ts";
import type { OwnAdapter } from "./commands/gulp/gulp_adapter.ts";
import { registerGiven } from "./input/format_modules.ts";
import { mountCommandLine } from "./mount/job/helper_form.ts";
import { report } from "./messages.ts";
import { writeNow } from "./terminal/output.ts";
import { VERSION } from "./version.ts";

/** Makes a command of a program; `adapter` is what a line of `gulp` brings. */
type MakeCommand = (
  program: Command,
  adapter: OwnAdapter | undefined,
) => Promise<Command>;

/** The commands in the order of the help, each loaded where it is needed: a line starts faster so. */
const COMMANDS: Record<string, MakeCommand> = {
  mount: async () => (await import("./commands/mount.ts")).mountCommand(),
  unmount: async () => (await import("./commands/unmount.ts")).unmountCommand(),
  mounts: async () => (await import("./commands/mounts.ts")).mountsCommand(),
  ls: async () => (await import("./commands/ls.ts")).lsCommand(),
  tree: async () => (await import("./commands/tree.ts")).treeCommand(),
  cat: async () => (await import("./commands/cat.ts")).catCommand(),
  stat: async () => (await import("./commands/stat.ts")).statCommand(),
  info: async () => (await import("./commands/info.ts")).infoCommand(),
  records: async () => (await import("./commands/records.ts")).recordsCommand(),
  check: async () => (await import("./commands/check.ts")).checkCommand(),
  extract: async () => (await import("./commands/extract.ts")).extractCommand(),
  pack: async () => (await import("./commands/pack.ts")).packCommand(),
  write: async () => (await import("./commands/write.ts")).writeCommand(),
  convert: async () => (await import("./commands/convert.ts")).convertCommand(),
  bag: async (program) =>
    (await import("./commands/bag/bag_create.ts")).bagCommand(program),
  split: async () => (await import("./commands/split.ts")).splitCommand(),
  "bench-loader": async () =>
    (await import("./commands/bench_loader/bench_loader.ts"))
      .benchLoaderCommand(),
  completions: async (program) =>
    (await import("./completions/completions.ts")).completionsCommand(() =>
      program
    ),
  gulp: async (program, adapter) =>
    (await import("./commands/gulp/gulp.ts")).gulpCommand(program, adapter),
};

/** The command that describes all others. */
const COMPLETIONS = "completions";

const AFTER_HELP = `
mount -t fuse.recordfs and /etc/fstab run this program as
  recordfs SOURCE MOUNTPOINT [-o OPTIONS]
which is \`recordfs mount\`; format=NAME, ext=EXT, decoded, prefix=PATH, subset=FILE,
shuffle=SEED and epoch=N may be among the OPTIONS.

Exit codes: 0 done, 1 failed, 2 the command line is wrong.`;

/**
 * Runs a command line.
 *
 * @throws {Exit} If it asks for help, or is wrong; what there is to say has been said.
 */
export async function runProgram(args: readonly string[]): Promise<void> {
  await registerGiven(args);
  const { args: given, adapter } = await takeAdapter(args);
  const [first] = given;
  // As it was called before, and still is by many programs.
  const named = first === "-V" ? ["--version"] : given;
  const line = mountCommandLine(named, Object.keys(COMMANDS));
  const program = await makeProgram(line[0], adapter);
  const from = { from: "user" } as const;
  try {
    await program.parseAsync(line, from);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help that was asked for has exit code 0; help for want of a command has not.
    throw new Exit(error.exitCode === 0 ? ExitCode.DONE : ExitCode.USAGE);
  }
}

async function takeAdapter(
  args: readonly string[],
): Promise<
  {
    readonly args: readonly string[];
    readonly adapter?: OwnAdapter | undefined;
  }
> {
  if (args[0] !== "gulp") return { args };
  return await (await import("./commands/gulp/gulp_adapter.ts")).takeAdapter(
    args,
  );
}

/** The command line interface: one command where a line names it, all of them otherwise. */
export async function makeProgram(
  named: string | undefined,
  adapter?: OwnAdapter,
): Promise<Command> {
  const program = new Command("recordfs")
    .description(
      "Opens the containers that training data is packed in as read-only " +
        "filesystems, and writes them.",
    )
    .version(VERSION, "-v, --version")
    .addHelpText("after", AFTER_HELP)
    .enablePositionalOptions() // behind a command, -v is not the version
    .exitOverride()
    .configureOutput({
      // Asking for colours would take --allow-env.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      writeOut: writeNow,
      outputError: (text) => report(oneLine(text)),
    });
  const isOne = named !== undefined && named !== COMPLETIONS &&
    Object.hasOwn(COMMANDS, named);
  const makers = isOne ? [COMMANDS[named]!] : Object.values(COMMANDS);
  for (const make of makers) {
    const command = await make(program, adapter);
    program.addCommand(command.copyInheritedSettings(program));
  }
  addExamples(program);
  return program;
}

function oneLine(text: string): string {
  return text.trim().replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ");
}
