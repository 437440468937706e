import type { JpegOptions } from "./image_codec.ts";
import type { ImageHeader } from "./image_header.ts";
import { shortEdgeSize } from "./short_edge.ts";

/** Where the scanner is. */
const At = {
  /** Before the first byte of the JPEG. */
  Start: 0,
  /** After its first byte, the FF of SOI. */
  StartCode: 1,
  /** Where the FF of a marker has to be. */
  Marker: 2,
  /** After one or several FF. */
  Code: 3,
  /** At the two bytes of a segment's length. */
  LengthHigh: 4,
  LengthLow: 5,
  /** In a segment. */
  Segment: 6,
  /** In entropy-coded data. */
  Data: 7,
  /** After an FF in entropy-coded data. */
  DataCode: 8,
  End: 9,
} as const;
type At = typeof At[keyof typeof At];

const SOI = 0xd8;
const EOI = 0xd9;
const SOS = 0xda;
const TEM = 0x01;

/** RST0 to RST7 stand between entropy-coded data, and alone. */
function isRestart(code: number): boolean {
  return code >= 0xd0 && code <= 0xd7;
}

/**
 * Finds where a JPEG ends by walking its segments, in bytes that come piece by piece.
 *
 * The bytes of EOI may also stand inside a segment (a thumbnail has its own), so looking for them
 * is not enough.
 */
export class JpegScanner {
  #at: At = At.Start;
  #code = 0;
  #length = 0;

  /** True if bytes of a JPEG have been seen but not its end. */
  get inside(): boolean {
    return this.#at !== At.Start && this.#at !== At.End;
  }

  /** True if the end has been seen. */
  get ended(): boolean {
    return this.#at === At.End;
  }

  /**
   * Goes on with the bytes that follow those of the last call.
   *
   * @returns How many of them belong to the JPEG: all, until its end is found ({@linkcode ended}).
   * @throws {SyntaxError} If they are not a JPEG's; the message says where in `bytes`.
   */
  scan(bytes: Uint8Array): number {
    let i = 0;
    while (i < bytes.length && this.#at !== At.End) {
      if (this.#at === At.Segment) {
        const step = Math.min(this.#length, bytes.length - i);
        i += step;
        this.#length -= step;
        if (this.#length === 0) this.#endSegment();
      } else if (this.#at === At.Data) {
        const found = bytes.indexOf(0xff, i);
        if (found === -1) return bytes.length;
        i = found + 1;
        this.#at = At.DataCode;
      } else {
        this.#step(bytes[i]!, i);
        i++;
      }
    }
    return i;
  }

  #step(byte: number, offset: number): void {
    switch (this.#at) {
      case At.Start:
        if (byte !== 0xff) throw notJpeg("FF D8", byte, offset);
        this.#at = At.StartCode;
        break;
      case At.StartCode:
        if (byte !== SOI) throw notJpeg("D8", byte, offset);
        this.#at = At.Marker;
        break;
      case At.Marker:
        if (byte !== 0xff) throw notJpeg("a marker", byte, offset);
        this.#at = At.Code;
        break;
      case At.Code:
        if (byte !== 0xff) this.#enter(byte, offset);
        break;
      case At.DataCode:
        if (byte === 0 || isRestart(byte)) this.#at = At.Data;
        else if (byte !== 0xff) this.#enter(byte, offset);
        break;
      case At.LengthHigh:
        this.#length = byte << 8;
        this.#at = At.LengthLow;
        break;
      case At.LengthLow:
        this.#length += byte - 2;
        if (this.#length < 0) {
          throw notJpeg("a length of 2 or more", byte, offset);
        }
        this.#at = At.Segment;
        if (this.#length === 0) this.#endSegment();
        break;
      default:
        throw new Error("unreachable");
    }
  }

  #enter(code: number, offset: number): void {
    if (code === 0 || code === SOI) throw notJpeg("a marker", code, offset);
    this.#code = code;
    if (code === EOI) this.#at = At.End;
    else if (code === TEM || isRestart(code)) this.#at = At.Marker;
    else this.#at = At.LengthHigh;
  }

  #endSegment(): void {
    this.#at = this.#code === SOS ? At.Data : At.Marker;
  }
}

function notJpeg(wanted: string, byte: number, offset: number): SyntaxError {
  const found = byte.toString(16).toUpperCase().padStart(2, "0");
  return new SyntaxError(`byte ${offset} is ${found} in place of ${wanted}`);
}

/**
 * The length of the JPEG that `bytes` begins with, up to and with EOI; what follows is not part
 * of it.
 *
 * @returns `undefined` if it is cut off or not a JPEG.
 */
export function jpegLength(bytes: Uint8Array): number | undefined {
  const scanner = new JpegScanner();
  try {
    const length = scanner.scan(bytes);
    return scanner.ended ? length : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * The bytes of an image file that can serve as they are: a whole JPEG of the size wanted.
 *
 * @returns A view of `bytes` up to EOI, or `undefined` if the image has to be decoded.
 */
export function unchangedJpeg(
  bytes: Uint8Array,
  header: ImageHeader,
  { shortEdge = 0, reencode = false }: JpegOptions,
): Uint8Array | undefined {
  if (reencode || header.format !== "jpeg") return undefined;
  const { height, width } = shortEdgeSize(header, shortEdge);
  if (height !== header.height || width !== header.width) return undefined;
  const length = jpegLength(bytes);
  return length === undefined ? undefined : bytes.subarray(0, length);
}
