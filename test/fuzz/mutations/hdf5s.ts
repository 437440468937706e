/** Mutations of HDF5: numbers in its structures, with checksums that fit, and structures in the place of others. */
import { lookup3 } from "../../../src/io/checksums/lookup3.ts";
import {
  integerBytes,
  limitsAround,
  type Mutation,
  pickNamed,
} from "./mutation.ts";

const NAMED = /\.(h5|hdf5)$/;
/** Signatures of structures. */
const SIGNATURES = [
  ...["\x89HDF", "TREE", "SNOD", "HEAP", "GCOL", "OHDR", "OCHK", "BTHD"],
  ...["BTLF", "BTIN", "FRHP", "FHDB", "FHIB", "FAHD", "FADB", "EAHD"],
  ...["EAIB", "EASB", "EADB"],
];
/** Bytes in which the checksum of a structure is looked for. */
const LONGEST = 2048;
/** Bytes after a signature in which numbers are set. */
const NEAR = 96;

/** A number at some limit, or an address of another structure, in one structure. */
const setNumber: Mutation = {
  name: "set number of a structure",
  weight: 6,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, NAMED);
    if (path === undefined) return;
    const bytes = draft.bytes(path).slice();
    const places = placesIn(bytes);
    if (places.length === 0) return;
    const start = dice.pick(places);
    const sealed = sealedLength(bytes, start);
    const width = dice.pick([1, 2, 4, 8]);
    const past = Math.min(bytes.length, start + (sealed ?? NEAR)) - width;
    if (past <= start + 4) return;
    const at = start + 4 + dice.int(past - start - 4);
    const value = dice.once(2)
      ? BigInt(dice.pick(places))
      : dice.pick(limitsAround(bytes.length, places.length));
    bytes.set(integerBytes(value, width, true), at);
    const what = `number at byte ${at} of a structure`;
    if (sealed === undefined || dice.once(4)) {
      draft.overwrite(path, at, bytes.slice(at, at + width), what);
      return;
    }
    seal(bytes, start, sealed);
    draft.overwrite(
      path,
      start,
      bytes.slice(start, start + sealed + 4),
      `${what}, sealed`,
    );
  },
};

/** A structure in the place of another. */
const copyStructure: Mutation = {
  name: "copy structure",
  weight: 2,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, NAMED);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const places = placesIn(bytes);
    if (places.length === 0) return;
    const [from, to] = [dice.pick(places), dice.pick(places)];
    const length = Math.min(
      (sealedLength(bytes, from) ?? dice.size(8, NEAR)) + 4,
      bytes.length - Math.max(from, to),
    );
    const part = bytes.slice(from, from + length);
    draft.overwrite(path, to, part, `structure of byte ${from}`);
  },
};

export const HDF5_MUTATIONS: readonly Mutation[] = [setNumber, copyStructure];

function placesIn(bytes: Uint8Array): number[] {
  const text = new TextDecoder("latin1").decode(bytes);
  return SIGNATURES.flatMap((signature) => {
    const found: number[] = [];
    for (
      let at = text.indexOf(signature);
      at >= 0;
      at = text.indexOf(signature, at + 1)
    ) found.push(at);
    return found;
  });
}

/** Returns the bytes of a structure before its checksum; `undefined` if it has none. */
function sealedLength(bytes: Uint8Array, start: number): number | undefined {
  const most = Math.min(LONGEST, bytes.length - start - 4);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let length = 8; length <= most; length++) {
    const own = bytes.subarray(start, start + length);
    if (view.getUint32(start + length, true) === lookup3(own)) return length;
  }
  return undefined;
}

function seal(bytes: Uint8Array, start: number, length: number): void {
  const sum = lookup3(bytes.subarray(start, start + length));
  bytes.set(integerBytes(BigInt(sum), 4, true), start + length);
}
