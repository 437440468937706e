/** Pictures that compress as badly as photos. */
import sharp from "sharp";

/** Returns a JPEG of soft noise. */
export async function photoOf(
  width: number,
  height: number,
  quality: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const noise = { type: "gaussian", mean: 120, sigma: 40 } as const;
  const create = { width, height, channels: 3, background: "#777" } as const;
  const made = sharp({ create: { ...create, noise } });
  return Uint8Array.from(
    await made.blur(1.2).jpeg({ quality }).toBuffer(),
  );
}
