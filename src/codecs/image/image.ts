/** Decoded pixels. */
export interface Image {
  /** One byte per channel, rows from the top without gaps; three channels are RGB. */
  readonly data: Uint8Array<ArrayBuffer>;
  /** Rows. */
  readonly height: number;
  /** Pixels in a row. */
  readonly width: number;
  /** 1 is gray, 3 is RGB. */
  readonly channels: 1 | 3;
}

/** Decoded pixels that may have an alpha channel. */
export interface AlphaImage extends Omit<Image, "channels"> {
  /** 1 is gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha. */
  readonly channels: 1 | 2 | 3 | 4;
}

/** Colour space of a decoded image; `ANY` keeps gray images gray and makes all others RGB. */
export type Colorspace = "RGB" | "GRAY" | "ANY";

export function toColorspace(image: Image, colorspace: Colorspace): Image {
  if (colorspace === "RGB" && image.channels === 1) return toRgb(image);
  if (colorspace === "GRAY" && image.channels === 3) return toGray(image);
  return image;
}

function toRgb({ data, height, width }: Image): Image {
  const rgb = new Uint8Array(data.length * 3);
  for (let i = 0, to = 0; i < data.length; i++) {
    const value = data[i]!;
    rgb[to++] = value;
    rgb[to++] = value;
    rgb[to++] = value;
  }
  return { data: rgb, height, width, channels: 3 };
}

/** Weights of ITU-R BT.601, 0.299, 0.587 and 0.114, times 65536, which is their sum. */
const [RED, GREEN, BLUE] = [19595, 38470, 7471];

function toGray({ data, height, width }: Image): Image {
  const gray = new Uint8Array(height * width);
  for (let i = 0, from = 0; i < gray.length; i++, from += 3) {
    const sum = data[from]! * RED + data[from + 1]! * GREEN +
      data[from + 2]! * BLUE;
    gray[i] = (sum + 0x8000) >> 16;
  }
  return { data: gray, height, width, channels: 1 };
}

/** Converts CMYK to RGB without a colour profile. */
export function cmykToRgb(cmyk: Uint8Array): Uint8Array<ArrayBuffer> {
  const rgb = new Uint8Array(cmyk.length / 4 * 3);
  for (let from = 0, to = 0; from < cmyk.length; from += 4) {
    const white = 255 - cmyk[from + 3]!;
    for (let ink = from; ink < from + 3; ink++) {
      rgb[to++] = Math.round((255 - cmyk[ink]!) * white / 255);
    }
  }
  return rgb;
}

/** Selects channels of RGBA; gray is the red channel. */
export function rgbaToChannels(
  rgba: Uint8Array<ArrayBuffer>,
  channels: AlphaImage["channels"],
): Uint8Array<ArrayBuffer> {
  if (channels === 4) return rgba;
  const out = new Uint8Array(rgba.length / 4 * channels);
  const alpha = channels === 2 ? 1 : Infinity;
  for (let from = 0, to = 0; from < rgba.length; from += 4) {
    for (let c = 0; c < channels; c++) {
      out[to++] = rgba[from + (c === alpha ? 3 : c)]!;
    }
  }
  return out;
}

/**
 * @param mostChannels 3 if alpha is not accepted.
 * @throws {TypeError} If a caller's image has fields that contradict each other.
 */
export function assertImage(
  { data, height, width, channels }: AlphaImage,
  mostChannels: 3 | 4 = 3,
): void {
  const taken = mostChannels === 3 ? [1, 3] : [1, 2, 3, 4];
  if (
    Number.isSafeInteger(height) && height > 0 && Number.isSafeInteger(width) &&
    width > 0 && taken.includes(channels) &&
    data.length === height * width * channels
  ) return;
  throw new TypeError(
    `An image of ${height} rows, ${width} columns and ${channels} channels ` +
      `cannot have ${data.length} bytes: give height × width × channels ` +
      `(${mostChannels === 3 ? "1 or 3" : "1 to 4"})`,
  );
}
