import { Command } from "commander";
import type { ContainerInfo } from "../../open/mod.ts";
import { counted } from "../terminal/amounts.ts";
import { nameWriter, print } from "../terminal/output.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { openSource } from "../input/source.ts";

export function makeCommand(): Command {
  const command = new Command("info")
    .argument("<source>", "the container")
    .option("--json", "print JSON");
  return withOptions(command, "source", "all", "tree").action(info);
}

async function info(source: string, options: CommonOptions): Promise<void> {
  using fs = await openSource(source, options);
  print(options.json ? { source, ...fs.info } : asText(source, fs.info));
}

function asText(source: string, info: ContainerInfo): string {
  const shown = nameWriter();
  const lines = [
    `     source: ${shown(shownLocation(source))}`,
    `     format: ${info.format}`,
    `       kind: ${info.kind}`,
    `      files: ${info.files}`,
    `directories: ${info.directories}`,
    `      bytes: ${info.bytes}`,
    ...Object.entries(info.facts ?? {}).map(([name, count]) =>
      `${name.padStart(11)}: ${count}`
    ),
    ...(info.keys ?? []).map(({ name, type, records, bytes }) =>
      `        key: ${shown(name)} (${shown(type)}, ${
        counted(records, "record")
      }, ${counted(bytes, "byte")})`
    ),
    ...(info.containers ?? []).map(({ location, path, info }) =>
      `  container: ${shown(path)}/ (${
        shown(location)
      }, ${info.format}, ${info.kind}, ${counted(info.files, "file")})`
    ),
    ...(info.notes ?? []).map((note) => `       note: ${shown(note)}`),
    ...(info.containers ?? []).flatMap(({ path, info }) =>
      (info.notes ?? []).map((note) =>
        `       note: ${shown(path)}/: ${shown(note)}`
      )
    ),
    ...info.parts.map(({ path, bytes, samples }) =>
      `       part: ${shown(path)} (${counted(samples, "sample")}, ${
        counted(bytes, "byte")
      })`
    ),
  ];
  return `${lines.join("\n")}\n`;
}
