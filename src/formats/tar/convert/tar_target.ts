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
          ? NewDirectory.write(target, run.signal, (temporary) => {
            const start = `${temporary}/${basename(target)}`;
            return writeTars(files, (i) => shardPath(start, i), run, options);
          })
          : writeTars(files, () => target, run, options),
    };
  },
};

function areShards({ shardLength, shardSize }: Limits): boolean {
  return shardLength !== undefined || shardSize !== undefined;
}

/**
 * Writes files to a tar, with its directories; or where it has limits, to shards, none of which parts a sample.
 *
 * @param pathOf Names a tar by its number.
 * @returns How many files there are.
 */
async function writeTars(
  files: FileTree,
  pathOf: (shard: number) => string,
  run: Run,
  limits: Limits,
): Promise<number> {
  const { shardLength = Infinity, shardSize = Infinity } = limits;
  const { signal } = run;
  const { mtime } = files;
  let [count, shard, samples] = [0, 0, 0];
  let key: string | undefined;
  let writer: TarWriter | undefined;
  const current = async () =>
    writer ??= await TarWriter.open(pathOf(shard++), { signal });
  try {
    for await (const batch of files.contents({ signal })) {
      for (const { entry, content } of batch.files) {
        if (content === undefined) {
          if (areShards(limits)) continue;
          const tar = await current();
          await tar.makeDirectory(entry.path, { mtime, signal });
          continue;
        }
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
        const size = content instanceof Uint8Array
          ? content.length
          : await files.size(entry);
        const tar = await current();
        await tar.write(entry.path, content, { mtime, signal, size });
        run.tell(++count);
      }
    }
    // Of nothing there is one tar, without members.
    await (await current()).close({ signal });
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
