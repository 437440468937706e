import { RecordfsError } from "../../../base/errors.ts";

/** Ids are free text: messages truncate long ones. */
const LONGEST_SHOWN = 100;

/** Returns an id as messages show it. */
export function shownId(id: string): string {
  return JSON.stringify(
    id.length > LONGEST_SHOWN ? `${id.slice(0, LONGEST_SHOWN)}…` : id,
  );
}

/** No video of a GulpIO container has the requested id. */
export class UnknownIdError extends RecordfsError {
  /** Requested id. */
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
