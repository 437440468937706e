import { FormatError, RecordfsError } from "../../../errors.ts";
import type { ChunkMeta } from "../meta/chunk_meta.ts";

/** Ids are free text: long ones are cut in messages. */
const LONGEST_SHOWN = 100;

/** An id as messages show it. */
export function shownId(id: string): string {
  return JSON.stringify(
    id.length > LONGEST_SHOWN ? `${id.slice(0, LONGEST_SHOWN)}…` : id,
  );
}

/** No video of a GulpIO container has the id that was asked for. */
export class UnknownIdError extends RecordfsError {
  /** The id. */
  readonly id: string;

  /** Makes the error for `id` in the container at `path`. */
  constructor(id: string, path: string) {
    super(
      "unknown-id",
      `There is no video with the id ${shownId(id)} in ${path}`,
      { path },
    );
    this.id = id;
  }
}

/** The error about an id that two chunks have. */
export function duplicateId(
  meta: ChunkMeta,
  video: number,
  before: ChunkMeta,
): FormatError {
  const id = meta.id(video);
  const shown = /^[\x21-\x7e]{1,100}$/.test(id) ? id : shownId(id);
  return new FormatError(
    "duplicate-id",
    `${meta.path}: duplicate id ${shown}: ${before.path} has it too`,
    { path: meta.path },
  );
}
