import { LONGEST_PICKLE } from "../../../codecs/pickle/columns.ts";
import { MOST_RECORDS } from "../../../tree/name_table_builder.ts";
import type { PackListing } from "./pack_listing.ts";
import { PackError } from "./pack_problem.ts";
import { writeStructure } from "../folder/write_structure.ts";

/** What an entry takes in the structure beside its name, at most. */
const MOST_OVERHEAD = 24;
/** A byte of a name that is not UTF-8 takes three. */
const MOST_PER_BYTE = 3;

/**
 * Makes sure that what is packed can be opened again.
 *
 * @throws {PackError} If there are more files, or longer names, than a packed folder has room for.
 */
export function requireRoom(
  folder: string,
  listing: PackListing,
  { records = MOST_RECORDS, nameBytes = LONGEST_PICKLE } = {},
): void {
  if (listing.files > records) {
    throw tooLarge(folder, `${listing.files} files`, `${records}`);
  }
  const entries = listing.files + listing.folders;
  const bound = MOST_OVERHEAD * (entries + 4) +
    MOST_PER_BYTE * listing.nameBytes;
  if (bound <= nameBytes) return; // so it is nearly always
  let length = 0;
  for (const piece of writeStructure(listing)) length += piece.length;
  if (length <= nameBytes) return;
  throw tooLarge(folder, `${length} bytes of names`, `${nameBytes} bytes`);
}

function tooLarge(folder: string, has: string, room: string): PackError {
  return new PackError(
    "too-large",
    `Cannot pack ${folder}: it has ${has}, and a packed folder has room for ` +
      `${room}; pack its directories one by one`,
    { path: folder },
  );
}
