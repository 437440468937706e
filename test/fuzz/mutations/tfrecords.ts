/** Mutations of TFRecord lengths and messages, with corrected checksums. */
import { crc32c } from "@node-rs/crc32";
import {
  integerBytes,
  limitsAround,
  type Mutation,
  pickNamed,
} from "./mutation.ts";

const HEADER = 12;
const FRAME = 16;
const NAMED = /\.tfrecords?$|-of-\d{5}$/;

/** Falsifies a length, and corrects its checksum. */
const setLength: Mutation = {
  name: "set length of a record",
  weight: 3,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, NAMED);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const starts = recordsOf(bytes);
    if (starts.length === 0) return;
    const at = dice.pick(starts);
    const value = dice.pick(limitsAround(bytes.length, bytes.length - at));
    const length = integerBytes(value, 8, true);
    draft.overwrite(path, at, length, "length of a record");
    draft.overwrite(path, at + 8, masked(length), "its checksum");
  },
};

/** Changes bytes of a record, and corrects its checksum, so that only the message is damaged. */
const setMessage: Mutation = {
  name: "set bytes of a record",
  weight: 6,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, NAMED);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    const starts = recordsOf(bytes).filter((at) => lengthAt(bytes, at) > 0);
    if (starts.length === 0) return;
    const at = dice.pick(starts);
    const length = lengthAt(bytes, at);
    const data = bytes.slice(at + HEADER, at + HEADER + length);
    // The first bytes have the most structure.
    const most = dice.once(2) ? Math.min(length, 40) : length;
    for (let i = 0; i <= dice.int(3); i++) {
      data[dice.int(most)] = dice.pick([0, 1, 0x0a, 0x12, 0x7f, 0x80, 0xff]);
    }
    draft.overwrite(path, at + HEADER, data, "bytes of a record");
    draft.overwrite(path, at + HEADER + length, masked(data), "its checksum");
  },
};

export const TFRECORD_MUTATIONS: readonly Mutation[] = [setLength, setMessage];

function recordsOf(bytes: Uint8Array): number[] {
  const starts: number[] = [];
  let at = 0;
  while (at + FRAME <= bytes.length) {
    const end = at + FRAME + lengthAt(bytes, at);
    if (end > bytes.length) break;
    starts.push(at);
    at = end;
  }
  return starts;
}

function lengthAt(bytes: Uint8Array, at: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  return Number(view.getBigUint64(at, true));
}

function masked(bytes: Uint8Array): Uint8Array {
  const crc = crc32c(bytes);
  const mask = ((crc >>> 15 | crc << 17) + 0xa282ead8) >>> 0;
  return integerBytes(BigInt(mask), 4, true);
}
