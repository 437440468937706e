import type { Command, Help } from "commander";
import { examplesOf } from "../examples.ts";
import { usageLine } from "../usage.ts";
import { type Topic, TOPICS } from "../topics/topics.ts";
import { VERSION } from "../version.ts";
import {
  heading,
  item,
  paragraph,
  preformatted,
  subheading,
  title,
} from "./roff.ts";

export interface ManualPage {
  /** Such as `recordfs-mount`. */
  readonly name: string;
  readonly text: string;
}

/** Generates the manual pages of the program and of each command from their help and the topics. */
export async function manualPages(program: Command): Promise<ManualPage[]> {
  const commands = program.createHelp().visibleCommands(program)
    .filter((command) => command.name() !== "help");
  const topics = await Promise.all(
    Object.values(TOPICS).map(({ load }) => load()),
  );
  return [
    programPage(program, commands, topics),
    ...commands.map((command) => commandPage(command)),
  ];
}

function programPage(
  program: Command,
  commands: readonly Command[],
  topics: readonly Topic[],
): ManualPage {
  return page("recordfs", "containers of training data as filesystems", [
    heading("SYNOPSIS"),
    paragraph("recordfs COMMAND [OPTION ...] [ARGUMENT ...]"),
    paragraph("recordfs SOURCE MOUNTPOINT [-o OPTIONS]"),
    heading("DESCRIPTION"),
    paragraph(program.description()),
    paragraph("Each command has a page of its own, as recordfs-mount(1)."),
    heading("COMMANDS"),
    ...commands.map((command) => item(command.name(), command.description())),
    heading("OPTIONS"),
    ...optionItems(program, program.createHelp()),
    ...topics.flatMap(topicParts),
    ...notes(program),
    ...examples(""),
    heading("SEE ALSO"),
    paragraph(
      commands.map((command) => `recordfs-${command.name()}(1)`).join(", "),
    ),
  ]);
}

function commandPage(command: Command): ManualPage {
  const below = command.createHelp().visibleCommands(command)
    .filter((one) => one.name() !== "help");
  return page(`recordfs-${command.name()}`, command.description(), [
    heading("SYNOPSIS"),
    ...[command, ...below].map((one) => paragraph(usageLine(one))),
    heading("DESCRIPTION"),
    paragraph(sentence(command.description())),
    ...argumentItems(command),
    heading("OPTIONS"),
    ...optionItems(command, command.createHelp()),
    ...below.flatMap((one) => [
      heading(`recordfs ${command.name()} ${one.name()}`),
      paragraph(sentence(one.description())),
      ...argumentItems(one),
      ...optionItems(one, one.createHelp()),
      ...afterHelp(one).map(preformatted),
    ]),
    ...notes(command),
    ...examples(command.name()),
    heading("SEE ALSO"),
    paragraph("recordfs(1)"),
  ]);
}

function page(
  name: string,
  what: string,
  parts: readonly string[],
): ManualPage {
  const head = [
    title(name, VERSION),
    heading("NAME"),
    paragraph(`${name} - ${what}`),
  ];
  const text = [...head, ...parts].join("");
  // A heading starts a paragraph itself.
  return { name, text: text.replaceAll(/^(\.S[HS] .*\n)\.PP\n/gm, "$1") };
}

function argumentItems(command: Command): string[] {
  const help = command.createHelp();
  return help.visibleArguments(command).map((argument) =>
    item(
      help.argumentTerm(argument).toUpperCase(),
      help.argumentDescription(argument),
    )
  );
}

function topicParts({ title, sections }: Topic): string[] {
  return [
    heading(title),
    ...sections.flatMap((
      { heading: name, text, items = [], examples },
    ) => [
      ...name === undefined ? [] : [subheading(name)],
      ...text === undefined ? [] : [paragraph(text)],
      ...items.map(([term, meaning]) => item(term.trim(), meaning)),
      ...examples === undefined ? [] : [preformatted(examples.join("\n"))],
    ]),
  ];
}

function optionItems(command: Command, help: Help): string[] {
  return help.visibleOptions(command).map((option) =>
    item(help.optionTerm(option), help.optionDescription(option))
  );
}

function notes(command: Command): string[] {
  const texts = afterHelp(command);
  return texts.length === 0
    ? []
    : [heading("NOTES"), ...texts.map(preformatted)];
}

/** Text after the options in a command's help, without the examples. Commander provides it only by printing it. */
function afterHelp(command: Command): string[] {
  let all = "";
  const output = command.configureOutput();
  command.configureOutput({ ...output, writeOut: (text) => all += text });
  command.outputHelp();
  command.configureOutput(output);
  const [after] = all.slice(command.helpInformation().length)
    .split("\nExamples:\n");
  return (after ?? "").split(/\n{2,}/).filter((text) => text.trim() !== "");
}

function examples(name: string): string[] {
  return [heading("EXAMPLES"), preformatted(examplesOf(name).join("\n"))];
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
