import { Command } from "commander";
import { basename } from "node:path";
import { runAsync } from "../../io/concurrency/steps.ts";
import { listSamplesIn } from "../../open/samples/list_samples.ts";
import type {
  ListedSample,
  SampleListing,
} from "../../tree/samples/sample_listing.ts";
import { Exit, ExitCode } from "../exit.ts";
import { RateLimitedLog, report, warn } from "../messages.ts";
import { nameWriter, withOutput } from "../terminal/output.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { checkSource } from "../input/given.ts";
import { storedLocation } from "../input/remote_storages.ts";
import { Opening } from "../terminal/opening.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { flagMessageOf } from "../flag_words.ts";

/** Number of lines written at a time: one by one, ten million would take twice as long. */
const LINES = 512;
/** What is taken for the size of a file that is not known: 1 TB. */
const LARGE = 10 ** 12;

const AFTER_HELP = `
For FFRecord, TFRecord, MDS and single bags. With --json, each line has the
numbers "index", "offset" (in bytes, from the start of the file) and "size", and
"crc32" or "crc32c" if samples have checksums. Lines of a directory also have
"file". If an offset is damaged, "size" is null and "damage" gives the reason.`;

export function makeCommand(): Command {
  const command = new Command("records")
    .argument(
      "<source>",
      "a container that stores each sample in one piece",
    )
    .option("--json", "print JSON lines, one per sample")
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "remote", "all").action(records);
}

async function records(source: string, options: CommonOptions): Promise<void> {
  checkSource(source, "the container");
  const warnings = new RateLimitedLog(warn, options);
  using listing = await listed(source, options, warnings);
  warnings.end();
  const damages = new RateLimitedLog(report, options);
  for (const one of listing.damaged) damages.add(flagMessageOf(one));
  const severalFiles = listing.files[0]?.path !== shownLocation(source);
  let damaged = 0;
  await withOutput(async (out) => {
    const { title, line } = options.json
      ? { title: "", line: jsonLine(listing, severalFiles) }
      : table(listing, severalFiles);
    out.put(title);
    for (let start = 0; start < listing.length; start += LINES) {
      const page = await runAsync(listing.page(start, LINES));
      for (const { damage } of page) {
        if (damage === undefined) continue;
        damaged++;
        damages.add(flagMessageOf(damage));
      }
      out.put(page.map(line).join(""));
    }
  });
  damages.end();
  if (damaged > 0) {
    report(
      `${
        shownLocation(source)
      }: ${damaged} of ${listing.length} samples cannot be read, because their ` +
        "offsets are damaged; they are listed without a size",
    );
  }
  if (damaged + listing.damaged.length > 0) throw new Exit(ExitCode.FAILED);
}

async function listed(
  source: string,
  options: CommonOptions,
  warnings: RateLimitedLog,
): Promise<SampleListing> {
  using opening = new Opening();
  const { location, storage } = await storedLocation(source, options, opening);
  const onWarning = (message: string) => warnings.add(message);
  return await listSamplesIn(location, { storage, onWarning });
}

type Line = (sample: ListedSample) => string;

function jsonLine(
  { files, checksumKind }: SampleListing,
  severalFiles: boolean,
): Line {
  const names = files.map(({ path }) =>
    severalFiles ? `"file":${JSON.stringify(basename(path))},` : ""
  );
  return ({ index, file, offset, size, checksum, damage }) => {
    const sum = checksumKind === undefined
      ? ""
      : `,"${checksumKind}":${checksum ?? null}`;
    const why = damage === undefined
      ? ""
      : `,"damage":${JSON.stringify(flagMessageOf(damage))}`;
    const place = `"offset":${number(offset)},"size":${number(size)}`;
    return `{"index":${index},${names[file]}${place}${sum}${why}}\n`;
  };
}

function number(value: number): string {
  return Number.isNaN(value) ? "null" : String(value);
}

/** What columns of checksums are called. */
const CHECKSUMS = { crc32: "CRC-32", crc32c: "CRC-32C" } as const;

/** The title and the lines of a table, whose columns have room for the largest numbers that can be in them. */
function table(
  { length, files, checksumKind }: SampleListing,
  severalFiles: boolean,
): { readonly title: string; readonly line: Line } {
  const largest = files.reduce(
    (most, { size = LARGE }) => Math.max(most, size),
    0,
  );
  const indexWidth = Math.max("INDEX".length, String(length - 1).length);
  const width = Math.max("OFFSET".length, String(largest).length);
  const shown = nameWriter();
  const names = files.map(({ path }) =>
    severalFiles ? shown(basename(path)) : ""
  );
  const row = (
    index: string,
    offset: string,
    size: string,
    ...rest: readonly string[]
  ) =>
    [
      index.padStart(indexWidth),
      offset.padStart(width),
      size.padStart(width),
      ...rest.filter((text) => text !== ""),
    ].join("  ") + "\n";
  const text = (value: number) => Number.isNaN(value) ? "?" : String(value);
  const sumTitle = checksumKind === undefined ? "" : CHECKSUMS[checksumKind];
  const fileTitle = severalFiles ? "FILE" : "";
  return {
    title: row(
      "INDEX",
      "OFFSET",
      "SIZE",
      sumTitle.padEnd(severalFiles ? 8 : 0),
      fileTitle,
    ),
    line: ({ index, file, offset, size, checksum }) =>
      row(
        String(index),
        text(offset),
        text(size),
        checksumKind === undefined
          ? ""
          : (checksum?.toString(16).padStart(8, "0") ?? "?".padEnd(8)),
        names[file]!,
      ),
  };
}
