import { Argument, Command, CommanderError } from "commander";
import { raiseOpenFilesLimit } from "../io/storage/descriptor_budget.ts";
import { addExamples } from "./examples.ts";
import { Exit, EXIT_CODES, ExitCode, UsageError } from "./exit.ts";
import { type CommandEntry, COMMANDS } from "./command_list.ts";
import type { OwnAdapter } from "./commands/gulp/gulp.ts";
import { registerGiven } from "./input/format_modules.ts";
import { mountCommandLine } from "./mount/job/helper_form.ts";
import { report } from "./messages.ts";
import { printError } from "./terminal/json_error.ts";
import { print } from "./terminal/output.ts";
import { itemText, TOPICS, topicText } from "./topics/topics.ts";
import { argumentText, usageMessage } from "./usage.ts";
import { VERSION } from "./version.ts";

const ALIASES: ReadonlyMap<string, string> = new Map([
  ["umount", "unmount"],
]);

const COMPLETIONS = "completions";

const AFTER_HELP = `
mount -t fuse.recordfs and /etc/fstab run this program as
  recordfs SOURCE MOUNTPOINT [-o OPTIONS]
which is \`recordfs mount\`. OPTIONS may include format=NAME, format_module=FILE, ext=EXT, decoded,
nested, nested=LIST, strip_suffix, prefix=PATH, subset=FILE, shuffle=SEED, epoch=N and on_failure=WHAT.

Topics (recordfs help TOPIC):
${
  itemText(
    Object.entries(TOPICS).map(([name, { description }]) => [
      name,
      description,
    ]),
  )
}

Exit codes: ${
  EXIT_CODES.map(([code, meaning]) => `${code} ${meaning}`).join(", ")
}.`;

/** @throws {Exit} If the line asks for help or is wrong; the output has been written. */
export async function runProgram(args: readonly string[]): Promise<void> {
  await registerGiven(args);
  const { args: given, adapter } = args[0] === "gulp"
    ? await (await import("./commands/gulp/gulp.ts")).takeAdapter(args)
    : { args, adapter: undefined };
  const [first] = given;
  // The former flag, still used by many programs.
  const named = first === "-V" ? ["--version"] : given;
  const names = [...Object.keys(COMMANDS), ...ALIASES.keys()];
  const line = mountCommandLine(named, names).map((word, i, all) =>
    i === 0 || (i === 1 && all[0] === "help") ? ALIASES.get(word) ?? word : word
  );
  const [command, of = ""] = line;
  if (command === "help" && Object.hasOwn(TOPICS, of)) {
    return print(topicText(await TOPICS[of]!.load()));
  }
  if (command === "help" && of !== "" && !Object.hasOwn(COMMANDS, of)) {
    throw new UsageError(
      `there is no command or topic '${of}'; \`recordfs help\` lists both`,
    );
  }
  const program = isOverview(line)
    ? overview()
    : await makeProgram(command, adapter, line);
  try {
    const words = withoutValues(line, program.commands);
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Requested help has exit code 0; help shown for a missing command does not.
    throw new Exit(error.exitCode === 0 ? ExitCode.DONE : ExitCode.USAGE);
  }
}

/** Keeps an option whose value follows only after `=` from taking the next word as one. */
function withoutValues(
  line: readonly string[],
  commands: readonly Command[],
): readonly string[] {
  const options = commands.find((one) => one.name() === line[0])?.options ?? [];
  const end = line.indexOf("--");
  return line.map((word, i) => {
    const isOption = end < 0 || i < end;
    const isBare = isOption &&
      options.some(({ long, optional }) => optional && long === word);
    return isBare ? `${word}=` : word;
  });
}

/**
 * Creates the command-line interface with one command if a line names it, none for the version, otherwise all. Messages
 * may refer to `line`.
 */
export async function makeProgram(
  named: string | undefined,
  adapter?: OwnAdapter,
  line: readonly string[] = [],
): Promise<Command> {
  const program = newProgram();
  for (const [name, { load, ...said }] of entriesFor(named)) {
    const command = (await load()).makeCommand(program, adapter)
      .description(said.description);
    program.addCommand(command.copyInheritedSettings(program));
    // Usage messages and the help of one command must match the overview.
    if (command.usage() !== said.usage) {
      throw new Error(`${name} is not called as ${said.usage}`);
    }
  }
  addExamples(program);
  addHelp(program);
  reportErrors(program, line);
  return program;
}

function isOverview([first, second]: readonly string[]): boolean {
  return first === undefined || first === "--help" || first === "-h" ||
    first === "help" && second === undefined;
}

/** The program with its commands as listed in the help, without loading their modules. */
export function overview(): Command {
  const program = newProgram();
  for (const [name, { description, usage }] of Object.entries(COMMANDS)) {
    program.addCommand(
      new Command(name).description(description).usage(usage),
    );
  }
  addExamples(program);
  addHelp(program);
  reportErrors(program, []);
  return program;
}

function newProgram(): Command {
  return new Command("recordfs")
    .description(
      "Opens packed training data as read-only filesystems and as samples, " +
        "and writes it.",
    )
    .version(VERSION, "-v, --version")
    .addHelpText("after", AFTER_HELP)
    .enablePositionalOptions() // after a command, -v is not the version
    .hook("preAction", raiseOpenFilesLimit)
    .exitOverride()
    .configureOutput({
      // Detecting colours would need --allow-env.
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      writeOut: (text) => print(text),
    })
    .configureHelp({
      styleArgumentText: argumentText,
      subcommandTerm: (command) => `${command.name()} ${command.usage()}`,
    });
}

/** Adds the command `help`. Added last, so that subcommands do not inherit it. */
function addHelp(program: Command): void {
  const names = [...Object.keys(COMMANDS), ...Object.keys(TOPICS)];
  const topic = new Argument("[topic]", "a command or topic").choices(names);
  program.addHelpCommand(
    new Command("help").addArgument(topic).helpOption(false)
      .description("explain a command or a topic"),
  );
}

/** Makes a command and its subcommands report usage errors. */
function reportErrors(command: Command, line: readonly string[]): void {
  command.configureOutput({
    outputError(text) {
      const message = usageMessage(text, command, line);
      report(message);
      printError(line, message);
    },
  });
  for (const one of command.commands) reportErrors(one, line);
}

function entriesFor(
  named: string | undefined,
): (readonly [string, CommandEntry])[] {
  if (named === "--version" || named === "-v") return [];
  const isOne = named !== undefined && named !== COMPLETIONS &&
    Object.hasOwn(COMMANDS, named);
  return isOne ? [[named, COMMANDS[named]!]] : Object.entries(COMMANDS);
}
