import type { FileSample } from "./files_dataset.ts";
import { decodeFile, SAMPLE_DECODERS } from "../../codecs/file_values.ts";

/** A file of a container that was decoded by its extension. */
export interface DecodedFile {
  /** Its path from the container's root. */
  readonly path: string;
  /** What it was decoded to: as {@linkcode SAMPLE_DECODERS} say, and the bytes of others. */
  readonly value: unknown;
}

/**
 * Decodes the files of a batch; threads of a loader import it.
 *
 * @throws {FormatError} If one can't be decoded.
 */
export async function decodeFiles(
  files: FileSample[],
): Promise<DecodedFile[]> {
  return await Promise.all(files.map(async ({ path, bytes }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const value = await decodeFile(name, bytes, SAMPLE_DECODERS, path, "it");
    return { path, value };
  }));
}
