import { openError } from "../../io/storage/file_source.ts";
import { requireLocal } from "../../io/storage/local_path.ts";
import { abortable } from "../../io/concurrency/abortable.ts";
import { UsageError } from "../exit.ts";

/** A file, pipe or standard input, read sequentially. */
export interface InputStream {
  readonly name: string;
  /** Size in bytes, if known in advance. */
  readonly size: number | undefined;
  /** Its content, readable once; closes the input at the end. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Closes the input if its end was not reached. */
  close(): void;
}

/** Opens a path, or standard input (`-`). `signal` aborts waiting for input. */
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
    file = await abortable(Deno.open(given), signal); // opening a pipe waits for its writer
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
