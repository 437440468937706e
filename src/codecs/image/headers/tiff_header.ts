import { type FoundHeader, textAt, untilEnd } from "./found_header.ts";

/** Header of a TIFF's first page. */
export interface TiffHeader extends FoundHeader {
  /** Bytes of the decoded page, in its own samples. */
  readonly rawBytes: number;
  /** Maximum ratio of decoded to stored bytes; infinite if its compression has none. */
  readonly ratio: number;
}

type Tag =
  | "bits"
  | "compression"
  | "extraSamples"
  | "height"
  | "photometric"
  | "sampleFormat"
  | "samples"
  | "tileHeight"
  | "tileWidth"
  | "width";

/** Tags of a page (TIFF 6.0, Appendix A). */
const TAGS: ReadonlyMap<number, Tag> = new Map([
  [256, "width"],
  [257, "height"],
  [258, "bits"],
  [259, "compression"],
  [262, "photometric"],
  [277, "samples"],
  [322, "tileWidth"],
  [323, "tileHeight"],
  [338, "extraSamples"],
  [339, "sampleFormat"],
]);

/** Maximum number of tags: those of a classic TIFF. */
const MOST_TAGS = 65_535;

/** Bytes of the types of integers: BYTE, SHORT, LONG, LONG8. */
const TYPES: Readonly<Record<number, number>> = { 1: 1, 3: 2, 4: 4, 16: 8 };

/** Values read of a tag: more samples are not decoded. */
const MOST_VALUES = 8;

/** Ratios of the compressions that sharp's libtiff has. */
const RATIOS: Readonly<Record<number, number>> = {
  1: 1,
  2: Infinity, // CCITT
  3: Infinity,
  4: Infinity,
  5: 2731, // LZW: 4,096 bytes in 12 bits
  7: 2048 * 3, // JPEG: see `JPEG_PIXELS_PER_BYTE`
  8: 1032, // Deflate
  32773: 64, // PackBits
  32946: 1032,
  50001: Infinity, // WebP
};

/** Samples of a colour by its photometric interpretation: gray, RGB, palette, CMYK, YCbCr. */
const COLORS: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 3,
  3: 1,
  5: 4,
  6: 3,
};
const [PALETTE, CMYK] = [3, 5];

/** Sample format of data of unknown kind. */
const VOID = 4;
const FORMATS: Readonly<Record<number, string>> = {
  2: "signed integers",
  3: "floats",
  5: "complex integers",
  6: "complex floats",
};

/** Tile of pixels that is always accepted: small pictures have tiles that are larger than they are. */
const PLAIN_TILE = 2 ** 22;

/**
 * Reads the header of a TIFF's or BigTIFF's first page.
 *
 * @returns `undefined` if it is not a TIFF, or truncated before its tags.
 */
export function tiffHeader(view: DataView): TiffHeader | undefined {
  const values = untilEnd(() => firstPage(view));
  if (values === undefined) return undefined;
  const { width: [width], height: [height], photometric: [color] } = values;
  if (width === undefined || height === undefined || color === undefined) {
    return undefined;
  }
  const { samples: [samples = 1], compression: [compression = 1] } = values;
  const bits = values.bits[0] ?? 1;
  const [extra] = values.extraSamples;
  return {
    width,
    height,
    channels: color < 2 ? 1 : 3,
    hasAlpha: extra === 1 || extra === 2,
    isCmyk: color === CMYK,
    unsupported: unsupportedIn(values, { bits, samples, color, compression }),
    rawBytes: height * Math.ceil(width * bits * samples / 8),
    ratio: RATIOS[compression] ?? 1,
  };
}

function unsupportedIn(
  values: Values,
  { bits, samples, color, compression }: Readonly<
    Record<"bits" | "samples" | "color" | "compression", number>
  >,
): string | undefined {
  if (RATIOS[compression] === undefined) {
    return `the compression ${compression}`;
  }
  const colors = COLORS[color];
  if (colors === undefined) return `the photometric interpretation ${color}`;
  const format = values.sampleFormat.find((format) => format !== 1) ?? 1;
  if (format !== 1 && format !== VOID) {
    return FORMATS[format] ?? `the sample format ${format}`;
  }
  if (values.bits.some((other) => other !== bits)) {
    return "samples of several sizes";
  }
  const isSmall = [1, 2, 4].includes(bits) && samples === 1 && colors === 1;
  const isDeep = bits === 16 && color !== PALETTE && color !== CMYK;
  if (bits !== 8 && !isSmall && !isDeep) {
    return `${samples} samples of ${bits} bits a pixel`;
  }
  const extra = values.extraSamples.length;
  const most = color === CMYK ? 0 : 1;
  if (samples !== colors + extra || extra > most) {
    return `${samples} samples a pixel, ${extra} of them declared as extra`;
  }
  const [tileWidth = 0] = values.tileWidth;
  const [tileHeight = 0] = values.tileHeight;
  const pixels = values.width[0]! * values.height[0]!;
  return tileWidth * tileHeight > Math.max(PLAIN_TILE, 4 * pixels)
    ? `tiles of ${tileWidth} × ${tileHeight} pixels`
    : undefined;
}

type Values = Readonly<Record<Tag, number[]>>;

/** Reads the tags of the first page; throws a `RangeError` if they are not in the bytes. */
function firstPage(view: DataView): Values | undefined {
  const order = textAt(view, 0, 2);
  if (order !== "II" && order !== "MM") return undefined;
  const isLittle = order === "II";
  const version = view.getUint16(2, isLittle);
  const isBig = version === 43;
  if (!isBig && version !== 42) return undefined;
  const read = (at: number, size: number): number => {
    switch (size) {
      case 1:
        return view.getUint8(at);
      case 2:
        return view.getUint16(at, isLittle);
      case 4:
        return view.getUint32(at, isLittle);
      default:
        return Number(view.getBigUint64(at, isLittle));
    }
  };
  const word = isBig ? 8 : 4;
  const start = read(isBig ? 8 : 4, word);
  const countSize = isBig ? 8 : 2;
  const count = read(start, countSize);
  if (count > MOST_TAGS) return undefined;
  const values = Object.fromEntries(
    TAGS.values().map((name): [Tag, number[]] => [name, []]),
  ) as Values;
  for (let i = 0; i < count; i++) {
    const at = start + countSize + i * (4 + word * 2);
    const name = TAGS.get(read(at, 2));
    if (name === undefined) continue;
    const size = TYPES[read(at + 2, 2)];
    if (size === undefined) return undefined;
    const length = read(at + 4, word);
    const isInside = length * size <= word;
    const from = isInside ? at + 4 + word : read(at + 4 + word, word);
    for (let j = 0; j < Math.min(length, MOST_VALUES); j++) {
      values[name][j] = read(from + j * size, size);
    }
  }
  return values;
}
