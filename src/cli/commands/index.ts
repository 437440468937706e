import { Command } from "commander";
import { messageText } from "../../base/message_text.ts";
import { shownLocation } from "../../io/remote/remote_location.ts";
import { writeIndex } from "../../open/write_index.ts";
import { checkGiven, checkSource } from "../input/given.ts";
import { type CommonOptions, withOptions } from "../input/options.ts";
import { remoteOf } from "../input/remote_flags.ts";
import { storedLocation } from "../input/remote_storages.ts";
import { RateLimitedLog, warn } from "../messages.ts";
import { counted } from "../terminal/amounts.ts";
import { Opening } from "../terminal/opening.ts";
import { print } from "../terminal/output.ts";
import { abortable } from "../terminal/signals.ts";

interface IndexOptions extends CommonOptions {
  readonly output?: string;
  readonly dali?: true;
}

const AFTER_HELP = `
Writes SOURCE.recordfs-index next to SOURCE, and next to each of its shards.
recordfs reads it whenever SOURCE is opened, also from a server: it then neither
scans a tar nor decompresses a file from its start. It compares the index with
SOURCE, and ignores an index of another file with a warning. To index a SOURCE on
a server, write the index elsewhere with -o, and upload it.

With --dali, it writes what NVIDIA DALI reads: x.idx for x.tar, as wds2idx does, and
x.tfrecord.idx for x.tfrecord, as tfrecord2idx does.`;

export function makeCommand(): Command {
  const command = new Command("index")
    .argument("<source>", "the container")
    .option(
      "-o, --output <file>",
      "write the index to this file; or into this directory, if it exists",
    )
    .option("--dali", "write the index that NVIDIA DALI reads")
    .addHelpText("after", AFTER_HELP);
  return withOptions(command, "source", "all", "written").action(index);
}

async function index(source: string, options: IndexOptions): Promise<void> {
  const { format, ext, maxRatio, output, dali, force, json, all } = options;
  checkSource(source, "the container");
  if (output !== undefined) checkGiven(output, "the index file");
  const warnings = new RateLimitedLog(warn, { all });
  try {
    using opening = new Opening();
    const { location, storage } = await storedLocation(
      source,
      options,
      opening,
    );
    const written = await abortable((signal) =>
      writeIndex(location, {
        format,
        ext,
        maxRatio,
        remote: remoteOf(options),
        storage,
        output,
        dali,
        replace: force,
        onWarning: (message) => warnings.add(message),
        signal,
      })
    );
    opening[Symbol.dispose]();
    if (json) print({ source: shownLocation(source), written });
    else {
      for (const { path, of, entries, bytes } of written) {
        const indexed = entries === undefined
          ? ""
          : `${counted(entries, "entry", "entries")}, `;
        print(
          `${messageText(path)}: index of ${messageText(of)}, ${indexed}${
            counted(bytes, "byte")
          }\n`,
        );
      }
    }
  } finally {
    warnings.end();
  }
}
