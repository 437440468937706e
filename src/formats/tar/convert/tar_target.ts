import { untold } from "../../../io/write/writer_base.ts";
import { basename } from "node:path";
import {
  type ConvertOptions,
  PlanNotes,
  type Run,
} from "../../../convert/conversion.ts";
import type { FileTree, TreeEntry } from "../../../convert/from/file_tree.ts";
import {
  type ConversionTarget,
  DIRECTORY,
  FILE,
} from "../../../convert/to/target.ts";
import { WriteError } from "../../../base/errors.ts";
import { NewDirectory } from "../../../io/write/new_directory.ts";
import { isShard } from "../shard_patterns.ts";
import { TarWriter } from "../write/tar_writer.ts";

/** Digits of the number of a shard. */
const DIGITS = 6;

/** When a shard is full. */
type Limits = Pick<ConvertOptions, "shardLength" | "shardSize">;

/** Anything to a tar, or to shards of one in a directory, as a mount shows it. */
export const tarTarget: ConversionTarget = {
  options: ["shardSize", "shardLength"],
  content: { what: "tars", isOwn: isShard },
  form(path, options) {
    if (areShards(options)) return DIRECTORY;
    if (/[^/]\.tar$/.test(path)) return FILE;
    throw new WriteError(
      "bad-name",
      `Cannot write ${path}: the name of a tar ends in .tar; shards take the option \`shardLength\` or the option \`shardSize\``,
      { path },
    );
  },
  async plan(source, target, options) {
    const files = await source.files();
    const notes = new PlanNotes();
    source.noteFiles(notes);
    const { checksumChange } = source;
    if (checksumChange !== undefined) notes.changed.push(checksumChange);
    const inShards = areShards(options);
    if (inShards) {
      notes.changed.push("directories are only what paths of files say");
    }
    return {
      from: source.what,
      to: inShards ? "shards of tars" : "a tar",
      notes,
      unit: "files",
      write: (run) =>
        inShards
          ? NewDirectory.write(
            target,
            run.signal,
            (temporary) =>
              writeShards(
                files,
                `${temporary}/${basename(target)}`,
                run,
                options,
              ),
          )
          : writeTar(files, target, run),
    };
  },
};

function areShards({ shardLength, shardSize }: Limits): boolean {
  return shardLength !== undefined || shardSize !== undefined;
}

async function writeTar(
  files: FileTree,
  path: string,
  run: Run,
): Promise<number> {
  const { signal } = run;
  const { mtime } = files;
  await using writer = untold(await TarWriter.open(path, { signal }));
  let count = 0;
  for await (const batch of files.contents({ signal })) {
    for (const { entry, content } of batch.files) {
      if (content === undefined) {
        await writer.makeDirectory(entry.path, { mtime, signal });
        continue;
      }
      const size = await sizeOf(files, entry, content);
      await writer.write(entry.path, content, { mtime, signal, size });
      run.tell(++count);
    }
  }
  await writer.close({ signal });
  return count;
}

/** Writes shards, none of which parts a sample. */
async function writeShards(
  files: FileTree,
  start: string,
  run: Run,
  { shardLength = Infinity, shardSize = Infinity }: Limits,
): Promise<number> {
  const { signal } = run;
  const { mtime } = files;
  let [count, shard, samples] = [0, 0, 0];
  let key: string | undefined;
  let writer: TarWriter | undefined;
  try {
    for await (const batch of files.contents({ signal })) {
      for (const { entry, content } of batch.files) {
        if (content === undefined) continue;
        const own = keyOf(entry);
        if (own !== key) {
          const isFull = samples >= shardLength ||
            (writer?.size ?? 0) >= shardSize;
          if (isFull) {
            await writer?.close({ signal });
            writer = undefined;
          }
          key = own;
          samples = isFull ? 1 : samples + 1;
        }
        writer ??= await TarWriter.open(shardPath(start, shard++), { signal });
        const size = await sizeOf(files, entry, content);
        await writer.write(entry.path, content, { mtime, signal, size });
        run.tell(++count);
      }
    }
    // Of nothing there is one shard, without members.
    writer ??= await TarWriter.open(shardPath(start, shard), { signal });
    await writer.close({ signal });
    return count;
  } finally {
    if (writer !== undefined) await untold(writer)[Symbol.asyncDispose]();
  }
}

function shardPath(start: string, shard: number): string {
  return `${start}-${String(shard).padStart(DIGITS, "0")}.tar`;
}

/** The path up to the first dot of the last name. */
function keyOf({ path, name }: TreeEntry): string {
  const dot = name.indexOf(".", 1);
  return dot < 0 ? path : path.slice(0, path.length - name.length + dot);
}

async function sizeOf(
  files: FileTree,
  entry: TreeEntry,
  content: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<number> {
  return content instanceof Uint8Array
    ? content.length
    : await files.size(entry);
}
