import { type FoundHeader, textAt, untilEnd } from "./found_header.ts";

/** Header of a GIF up to its first frame. */
export interface GifHeader extends FoundHeader {
  /** Rectangle that the first frame draws. */
  readonly frame: {
    readonly left: number;
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
  };
  /** Colour where the first frame draws nothing: that of the transparent index, or the first of its palette. */
  readonly fill: readonly [number, number, number];
}

/** Bytes before the global palette (GIF89a, 17 and 18). */
const SCREEN_END = 13;

/**
 * Reads the header of a GIF up to the descriptor of its first frame (GIF89a, 18 to 23). A screen that is smaller than
 * the first frame grows, as in Pillow and libnsgif.
 *
 * @returns `undefined` if it is not a GIF, or has no frame.
 */
export function gifHeader(view: DataView): GifHeader | undefined {
  if (!/^GIF8[79]a$/.test(textAt(view, 0, 6))) return undefined;
  return untilEnd(() => {
    const uint16 = (at: number) => view.getUint16(at, true);
    let palette = SCREEN_END;
    let colors = colorsIn(view.getUint8(10));
    let transparent: number | undefined;
    let at = palette + colors * 3;
    for (let block = view.getUint8(at); block !== 0x2c;) {
      if (block !== 0x21) return undefined;
      const isControl = view.getUint8(at + 1) === 0xf9;
      if (isControl && view.getUint8(at + 2) >= 4) {
        const isSet = (view.getUint8(at + 3) & 1) !== 0;
        transparent = isSet ? view.getUint8(at + 6) : undefined;
      }
      at += 2;
      for (let size = 1; size > 0; at += size + 1) size = view.getUint8(at);
      block = view.getUint8(at);
    }
    const [left, top] = [uint16(at + 1), uint16(at + 3)];
    const [right, bottom] = [left + uint16(at + 5), top + uint16(at + 7)];
    const own = colorsIn(view.getUint8(at + 9));
    if (own > 0) [palette, colors] = [at + 10, own];
    const index = transparent ?? 0;
    const channel = (i: number) =>
      index < colors ? view.getUint8(palette + index * 3 + i) : 0;
    return {
      width: Math.max(uint16(6), right),
      height: Math.max(uint16(8), bottom),
      channels: 3,
      hasAlpha: transparent !== undefined,
      isCmyk: false,
      frame: { left, top, right, bottom },
      fill: [channel(0), channel(1), channel(2)],
    };
  });
}

/** Returns the number of colours in a palette, by the flags that announce it. */
function colorsIn(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 2 << (flags & 7);
}

/**
 * Returns the first frame on its screen in RGBA, as Pillow draws it. libvips leaves pixels that the frame does not draw
 * black, with or without alpha; and it does not know screens of some sizes, which old programs wrote for any picture.
 *
 * @param drawn What libvips decodes; its data may become those of the result.
 */
export function onScreen(
  drawn: {
    readonly data: Uint8Array<ArrayBuffer>;
    readonly width: number;
    readonly height: number;
  },
  header: GifHeader,
): Uint8Array<ArrayBuffer> {
  const { width, height } = header;
  const isSame = drawn.width === width && drawn.height === height;
  let { data } = drawn;
  if (!isSame) {
    data = new Uint8Array(width * height * 4);
    const length = Math.min(width, drawn.width) * 4;
    for (let y = 0; y < Math.min(height, drawn.height); y++) {
      const from = y * drawn.width * 4;
      data.set(drawn.data.subarray(from, from + length), y * width * 4);
    }
  }
  fillUndrawn(data, header);
  return data;
}

function fillUndrawn(
  rgba: Uint8Array,
  { width, height, frame, fill, hasAlpha }: GifHeader,
): void {
  const isWhole = frame.left === 0 && frame.top === 0 &&
    frame.right === width && frame.bottom === height;
  if (isWhole && !hasAlpha) return;
  const [red, green, blue] = fill;
  for (let at = 0, x = 0, y = 0; at < rgba.length; at += 4) {
    const isDrawn = x >= frame.left && x < frame.right && y >= frame.top &&
      y < frame.bottom && rgba[at + 3] !== 0;
    if (!isDrawn) {
      rgba[at] = red;
      rgba[at + 1] = green;
      rgba[at + 2] = blue;
      rgba[at + 3] = hasAlpha ? 0 : 255;
    }
    if (++x === width) [x, y] = [0, y + 1];
  }
}
