import { Command } from "commander";
import { basename } from "node:path";
import {
  type ListedRecord,
  RecordListing,
} from "../../formats/ffrecord/read/record_listing.ts";
import { FormatError, RecordfsError } from "../../base/errors.ts";
import { runAsync } from "../../io/concurrency/steps.ts";
import type { Storage } from "../../io/storage/storage.ts";
import { findFormat } from "../../open/find_format.ts";
import { Exit, ExitCode } from "../exit.ts";
import { Flood, report, warn } from "../messages.ts";
import { nameWriter, withOutput } from "../terminal/output.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { checkSource } from "../input/given.ts";
import { storedLocation } from "../input/remote_storages.ts";
import { Opening } from "../terminal/opening.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";

/** Number of lines written at a time: one by one, ten million would take twice as long. */
const LINES = 512;

const AFTER_HELP = `
A line of --json is {"index", "offset", "size", "crc32"}: numbers, the offset in
bytes from the start of the file. For a directory there is "file" as well, and
where offsets are damaged "size" is null and "damage" says why.`;

export function makeCommand(): Command {
  const command = new Command("records")
    .argument("<source>", "an .ffr file, or a directory of them")
    .option("--json", "as JSON, one sample a line")
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "remote", "all").action(records);
}

async function records(source: string, options: CommonOptions): Promise<void> {
  checkSource(source, "the container");
  const warnings = new Flood(warn, options);
  const listing = await listed(source, options, warnings);
  warnings.end();
  const damages = new Flood(report, options);
  for (const { message } of listing.damaged) damages.add(message);
  const severalFiles = listing.parts[0]?.path !== shownLocation(source);
  let damaged = 0;
  await withOutput((out) => {
    const { title, line } = options.json
      ? { title: "", line: jsonLine(listing, severalFiles) }
      : table(listing, severalFiles);
    out.put(title);
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
      `${
        shownLocation(source)
      }: ${damaged} of ${listing.length} samples can't be read, since ` +
        "offsets are damaged; they are listed without a size",
    );
  }
  if (damaged + listing.damaged.length > 0) throw new Exit(ExitCode.FAILED);
}

async function listed(
  source: string,
  options: CommonOptions,
  warnings: Flood,
): Promise<RecordListing> {
  using opening = new Opening();
  const { location, storage } = await storedLocation(source, options, opening);
  try {
    return await RecordListing.open(location, {
      storage,
      onWarning: (message) => warnings.add(message),
    });
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    const other = await otherFormat(location, storage);
    if (other === undefined) throw error;
    throw new FormatError(
      "unsupported",
      `${
        shownLocation(source)
      } is of the format ${other}: records lists the samples of FFRecord files; ` +
        "recordfs ls and info look into others",
      { path: source, cause: error },
    );
  }
}

/** Detects the format of a location that is not an FFRecord file. */
async function otherFormat(
  location: string,
  storage: Storage | undefined,
): Promise<string | undefined> {
  try {
    const { name } = await runAsync(findFormat(location, { storage }));
    return name === "ffrecord" ? undefined : name;
  } catch (error) {
    if (error instanceof RecordfsError) return undefined;
    throw error;
  }
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

/** Returns the title and line formatter of a table whose columns fit the largest possible numbers. */
function table(
  { length, parts }: RecordListing,
  severalFiles: boolean,
): { readonly title: string; readonly line: Line } {
  const largest = parts.reduce((most, { size }) => Math.max(most, size), 0);
  const indexWidth = Math.max("INDEX".length, String(length - 1).length);
  const width = Math.max("OFFSET".length, String(largest).length);
  const shown = nameWriter();
  const files = parts.map(({ path }) =>
    severalFiles ? `  ${shown(basename(path))}` : ""
  );
  const row = (index: string, offset: string, size: string, rest: string) =>
    `${index.padStart(indexWidth)}  ${offset.padStart(width)}  ${
      size.padStart(width)
    }  ${rest}\n`;
  const text = (value: number) => Number.isNaN(value) ? "?" : String(value);
  return {
    title: row(
      "INDEX",
      "OFFSET",
      "SIZE",
      `CRC-32${severalFiles ? "    FILE" : ""}`,
    ),
    line: ({ index, part, offset, size, crc32 }) => {
      const checksum = crc32.toString(16).padStart(8, "0");
      return row(
        String(index),
        text(offset),
        text(size),
        checksum + files[part],
      );
    },
  };
}
