/** Exif blocks, written according to the standard (CIPA DC-008; TIFF 6.0, section 2). */

const SHORT = 3;
const LONG = 4;

/** Returns a JPEG with an Exif block of an orientation and an embedded picture. */
export function withExif(
  jpeg: Uint8Array,
  orientation: number,
  embedded: Uint8Array | undefined,
): Uint8Array<ArrayBuffer> {
  const block = exifBlock(orientation, embedded);
  const length = block.length + 8;
  const head = [0xff, 0xe1, length >> 8, length & 0xff];
  const name = [...new TextEncoder().encode("Exif"), 0, 0];
  return Uint8Array.from([
    ...jpeg.subarray(0, 2),
    ...head,
    ...name,
    ...block,
    ...jpeg.subarray(2),
  ]);
}

/** Returns a TIFF header with a directory, and a second directory if there is an embedded picture. */
function exifBlock(
  orientation: number,
  embedded: Uint8Array | undefined,
): Uint8Array {
  const second = 8 + 2 + 12 + 4;
  const picture = second + 2 + 3 * 12 + 4;
  const block = new Uint8Array(
    embedded === undefined ? second : picture + embedded.length,
  );
  const view = new DataView(block.buffer);
  const field = (at: number, tag: number, type: number, value: number) => {
    view.setUint16(at, tag, true);
    view.setUint16(at + 2, type, true);
    view.setUint32(at + 4, 1, true);
    if (type === SHORT) view.setUint16(at + 8, value, true);
    else view.setUint32(at + 8, value, true);
  };
  block.set([0x49, 0x49, 42, 0]);
  view.setUint32(4, 8, true);
  view.setUint16(8, 1, true);
  field(10, 0x0112, SHORT, orientation);
  if (embedded === undefined) return block;
  view.setUint32(22, second, true);
  view.setUint16(second, 3, true);
  field(second + 2, 0x0103, SHORT, 6);
  field(second + 14, 0x0201, LONG, picture);
  field(second + 26, 0x0202, LONG, embedded.length);
  block.set(embedded, picture);
  return block;
}
