import { openError } from "../../io/storage/file_source.ts";
import { requireLocal } from "../../io/storage/local_path.ts";
import { abortable } from "../../io/concurrency/abortable.ts";
import { UsageError } from "../exit.ts";

/** A file, a pipe or standard input, to be read from its start to its end. */
export interface InputStream {
  /** For messages. */
  readonly name: string;
  /** Size in bytes, where that is known before it is read. */
  readonly size: number | undefined;
  /** Its bytes, once; at their end it is closed. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Closes it, where its end was not reached. */
  close(): void;
}

/**
 * Opens what was given as `--list` or `--jsonl`.
 *
 * @param given A path, or `-` for standard input.
 * @param signal Ends waiting for it, however long it has nothing to say.
 */
export async function openInput(
  given: string,
  signal: AbortSignal,
): Promise<InputStream> {
  if (given === "-") {
    return {
      name: "standard input",
      size: undefined,
      ...chunksOf(Deno.stdin, signal),
    };
  }
  if (given === "" || !given.isWellFormed()) {
    throw new UsageError("the path of the input is empty or not UTF-8");
  }
  requireLocal(given);
  let file: Deno.FsFile;
  let stat: Deno.FileInfo;
  try {
    file = await abortable(Deno.open(given), signal); // a pipe waits for its writer
    stat = await file.stat();
  } catch (error) {
    throw openError(given, error);
  }
  return {
    name: given,
    size: stat.isFile ? stat.size : undefined,
    ...chunksOf(file, signal),
  };
}

const CHUNK = 1 << 18;

function chunksOf(
  file: typeof Deno.stdin | Deno.FsFile,
  signal: AbortSignal,
): Pick<InputStream, "chunks" | "close"> {
  let isOpen = true;
  const close = () => {
    if (isOpen) file.close();
    isOpen = false;
  };
  const read = async function* (): AsyncGenerator<Uint8Array> {
    const buffer = new Uint8Array(CHUNK);
    try {
      for (;;) {
        const length = await abortable(file.read(buffer), signal);
        if (length === null) return;
        yield buffer.subarray(0, length);
      }
    } finally {
      close();
    }
  };
  return { chunks: read(), close };
}
