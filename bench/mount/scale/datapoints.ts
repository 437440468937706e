/** Bytes of disk a datapoint takes: 8 bytes of value and their end offset, 8 bytes of references and theirs. */
export const BYTES_PER_DATAPOINT = 4 * 8;

/** Datapoints written at a time. */
const BATCH = 1 << 16;

/**
 * Writes a dataset of generation 2 with one key, `id`, whose values are 8 bytes, as described in granular's README.
 */
export async function writeDatapoints(
  directory: string,
  count: number,
): Promise<void> {
  await Deno.mkdir(directory);
  await Deno.writeTextFile(`${directory}/spec.json`, '{"id": "u64"}');
  await writeBag(`${directory}/id.bag`, count, (view, at, i) => {
    view.setUint32(at, i, true);
  });
  await writeBag(`${directory}/refs.bag`, count, (view, at, i) => {
    view.setUint8(at, 0xdc); // MessagePack: an array …
    view.setUint16(at + 1, 1); // … of one …
    view.setUint8(at + 3, 0xce); // … 32-bit number
    view.setUint32(at + 4, i);
  });
}

/** Writes a bag of 8-byte records. */
async function writeBag(
  path: string,
  count: number,
  put: (view: DataView, at: number, index: number) => void,
): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true });
  const write = async (
    put: (view: DataView, at: number, i: number) => void,
  ) => {
    for (let first = 0; first < count; first += BATCH) {
      const length = Math.min(BATCH, count - first);
      const view = new DataView(new ArrayBuffer(8 * length));
      for (let i = 0; i < length; i++) put(view, 8 * i, first + i);
      let bytes = new Uint8Array(view.buffer);
      while (bytes.length > 0) bytes = bytes.subarray(await file.write(bytes));
    }
  };
  await write(put);
  await write((view, at, i) => view.setUint32(at, 8 * (i + 1), true));
}
