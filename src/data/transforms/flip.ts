import {
  newPixels,
  type Picture,
  storedPixels,
  withPixels,
} from "./picture.ts";

/** A picture as a mirror beside it shows it. */
export function flipHorizontal<P extends Picture>(picture: P): P {
  const { height, width, channels } = picture;
  const { pixels } = storedPixels(picture);
  const out = newPixels(pixels, pixels.length);
  const row = width * channels;
  for (let start = 0; start < out.length; start += row) {
    let from = start + row - channels;
    for (let to = start; to < start + row; to += channels, from -= channels) {
      for (let c = 0; c < channels; c++) out[to + c] = pixels[from + c]!;
    }
  }
  return withPixels(picture, out, height, width);
}

/** A picture upside down. */
export function flipVertical<P extends Picture>(picture: P): P {
  const { height, width, channels } = picture;
  const { pixels } = storedPixels(picture);
  const out = newPixels(pixels, pixels.length);
  const row = width * channels;
  let from = pixels.length - row;
  for (let to = 0; to < out.length; to += row, from -= row) {
    out.set(pixels.subarray(from, from + row), to);
  }
  return withPixels(picture, out, height, width);
}
