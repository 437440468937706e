import { Help } from "commander";

/** A page of `recordfs help TOPIC`, which is also a part of the program's manual page. */
export interface Topic {
  readonly title: string;
  readonly sections: readonly TopicSection[];
}

export interface TopicSection {
  /** Absent for the first section of a topic. */
  readonly heading?: string;
  readonly text?: string;
  readonly items?: readonly TopicItem[];
  /** Lines that are not wrapped. */
  readonly examples?: readonly string[];
}

/** A term and its meaning. */
export type TopicItem = readonly [term: string, meaning: string];

/** A topic as listed in the program's help, and its lazily loaded page. */
export interface TopicEntry {
  readonly description: string;
  readonly load: () => Promise<Topic>;
}

export const TOPICS: Readonly<Record<string, TopicEntry>> = {
  "servers": {
    description: "options and environment variables for HTTP servers and S3",
    load: async () => (await import("./servers.ts")).servers(),
  },
  "formats": {
    description: "container formats, and what can be converted to them",
    load: async () => (await import("./formats.ts")).formatsTopic(),
  },
  "exit-codes": {
    description: "exit codes, and what a failure of each command means",
    load: async () => (await import("./exit_codes.ts")).exitCodes(),
  },
};

const WIDTH = 80;

/** Formats a topic for the terminal. */
export function topicText({ title, sections }: Topic): string {
  const help = newHelp();
  const parts = sections.map(({ heading, text, items, examples }) =>
    [
      ...heading === undefined ? [] : [`${heading}:`],
      ...text === undefined ? [] : [help.boxWrap(text, WIDTH)],
      ...items === undefined ? [] : [itemText(items, help)],
      ...examples?.map((line) => `  ${line}`) ?? [],
    ].join("\n")
  );
  return `${[title, ...parts].join("\n\n")}\n`;
}

/** Formats terms and meanings in two columns. */
export function itemText(
  items: readonly TopicItem[],
  help: Help = newHelp(),
): string {
  const width = Math.max(...items.map(([term]) => term.length));
  return items
    .map(([term, meaning]) => help.formatItem(term, width, meaning, help))
    .join("\n");
}

function newHelp(): Help {
  const help = new Help();
  help.prepareContext({ helpWidth: WIDTH });
  return help;
}
