/** Mutations of SafeTensors headers and indexes, with a corrected header length. */
import { type Mutation, pickNamed } from "./mutation.ts";

const FILE = /\.safetensors$/;
const INDEX = /\.safetensors\.index\.json$/;

/** Sets a number or word of the header. */
const setHeader: Mutation = {
  name: "set value of a header of tensors",
  weight: 5,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, FILE);
    if (path === undefined) return;
    const bytes = draft.bytes(path);
    if (bytes.length < 8) return;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const length = Number(view.getBigUint64(0, true));
    if (8 + length > bytes.length) return;
    const text = new TextDecoder("latin1").decode(
      bytes.subarray(8, 8 + length),
    );
    const all = [...text.matchAll(/-?\d+|"[A-Z_\d]{2,7}"|"[^"]*"|\[[\d,]*\]/g)];
    if (all.length === 0) return;
    const { index, 0: word } = dice.pick(all);
    const value = dice.pick([
      ...["0", "-1", "1", "3.5", "1e300", "9007199254740993", "null", "[]"],
      ...['"BF16"', '"F4"', '"F8_E4M3"', '"I64"', '"C64"', '"__metadata__"'],
      ...['""', '"../x"', '"a\\u0000"', "[0,0]", "[65536,65536,65536]", word],
    ]);
    const changed = text.slice(0, index) + value +
      text.slice(index + word.length);
    const header = Uint8Array.from(changed, (char) => char.charCodeAt(0));
    const made = new Uint8Array(bytes.length - length + header.length);
    new DataView(made.buffer).setBigUint64(0, BigInt(header.length), true);
    made.set(header, 8);
    made.set(bytes.subarray(8 + length), 8 + header.length);
    draft.replace(path, made, `${word}: ${value}`);
  },
};

/** Sets a name of the index. */
const setIndex: Mutation = {
  name: "set value of an index of tensors",
  weight: 3,
  apply(draft, dice) {
    const path = pickNamed(draft, dice, INDEX);
    if (path === undefined) return;
    const text = new TextDecoder().decode(draft.bytes(path));
    const all = [...text.matchAll(/"[^"]*"/g)];
    if (all.length === 0) return;
    const { index, 0: word } = dice.pick(all);
    const value = dice.pick(['"x"', '"../x.safetensors"', "7", "{}", "null"]);
    const changed = text.slice(0, index) + value +
      text.slice(index + word.length);
    draft.replace(path, new TextEncoder().encode(changed), `${word}: ${value}`);
  },
};

export const TENSOR_MUTATIONS: readonly Mutation[] = [setHeader, setIndex];
