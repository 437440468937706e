import { Command } from "commander";
import { basename } from "node:path";
import {
  type ListedRecord,
  RecordListing,
} from "../../formats/ffrecord/read/record_listing.ts";
import { Exit, ExitCode } from "../exit.ts";
import { Flood, report, warn } from "../messages.ts";
import { nameWriter, withOutput } from "../terminal/output.ts";
import { checkGiven } from "../input/given.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";

/** Lines given to the output at a time: ten million one by one would take twice as long. */
const LINES = 512;

const AFTER_HELP = `
A line of --json is {"index", "offset", "size", "crc32"}: numbers, the offset in
bytes from the start of the file. For a directory there is "file" as well, and
where offsets are damaged "size" is null and "damage" says why.`;

/** `recordfs records` */
export function recordsCommand(): Command {
  const command = new Command("records")
    .description("list the samples of FFRecord files: offset, size, checksum")
    .argument("<source>", "an .ffr file, or a directory of them")
    .option("--json", "as JSON, one sample a line")
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "all").action(records);
}

async function records(source: string, options: CommonOptions): Promise<void> {
  checkGiven(source, "the container");
  const warnings = new Flood(warn, options);
  const listing = await RecordListing.open(source, {
    onWarning: (message) => warnings.add(message),
  });
  warnings.end();
  const damages = new Flood(report, options);
  for (const { message } of listing.damaged) damages.add(message);
  const severalFiles = listing.parts[0]?.path !== source;
  let damaged = 0;
  await withOutput((out) => {
    const line = options.json
      ? jsonLine(listing, severalFiles)
      : tableLine(listing, severalFiles);
    if (!options.json) out.put(title(listing, severalFiles));
    let text = "";
    let lines = 0;
    for (const record of listing) {
      if (record.damage !== undefined) {
        damaged++;
        damages.add(record.damage.message);
      }
      text += line(record);
      if (++lines % LINES !== 0) continue;
      out.put(text);
      text = "";
    }
    out.put(text);
  });
  damages.end();
  if (damaged > 0) {
    report(
      `${source}: ${damaged} of ${listing.length} samples can't be read, since ` +
        "offsets are damaged; they are listed without a size",
    );
  }
  if (damaged + listing.damaged.length > 0) throw new Exit(ExitCode.FAILED);
}

type Line = (record: ListedRecord) => string;

function jsonLine({ parts }: RecordListing, severalFiles: boolean): Line {
  const files = parts.map(({ path }) =>
    severalFiles ? `"file":${JSON.stringify(basename(path))},` : ""
  );
  return ({ index, part, offset, size, crc32, damage }) => {
    const start = `{"index":${index},${files[part]}`;
    return damage === undefined
      ? `${start}"offset":${offset},"size":${size},"crc32":${crc32}}\n`
      : `${start}${
        JSON.stringify({ offset, size, crc32, damage: damage.message }).slice(1)
      }\n`;
  };
}

/** The widths of the columns for the largest numbers that can be in them. */
function widths({ length, parts }: RecordListing): [number, number] {
  const largest = parts.reduce((most, { size }) => Math.max(most, size), 0);
  return [
    Math.max("INDEX".length, String(length - 1).length),
    Math.max("OFFSET".length, String(largest).length),
  ];
}

function title(listing: RecordListing, severalFiles: boolean): string {
  const [index, bytes] = widths(listing);
  const columns = [
    "INDEX".padStart(index),
    "OFFSET".padStart(bytes),
    "SIZE".padStart(bytes),
    "CRC-32  ",
    ...severalFiles ? ["FILE"] : [],
  ];
  return `${columns.join("  ").trimEnd()}\n`;
}

function tableLine(listing: RecordListing, severalFiles: boolean): Line {
  const [indexWidth, bytesWidth] = widths(listing);
  const shown = nameWriter();
  const files = listing.parts.map(({ path }) =>
    severalFiles ? `  ${shown(basename(path))}` : ""
  );
  const column = (value: number) =>
    (Number.isNaN(value) ? "?" : String(value)).padStart(bytesWidth);
  return ({ index, part, offset, size, crc32 }) =>
    `${String(index).padStart(indexWidth)}  ${column(offset)}  ${
      column(size)
    }  ${crc32.toString(16).padStart(8, "0")}${files[part]}\n`;
}
