/** What ffmpeg is asked to make of a video. */
export interface FrameOptions {
  /**
   * Frames per second, as ffmpeg's `-r`: frames are left out or repeated to get there. All frames
   * at the video's own rate unless given.
   */
  readonly frameRate?: number | undefined;
  /** The short edge of the frames, in pixels; below 1, or not given, they keep their size. */
  readonly shortEdge?: number | undefined;
  /** ffmpeg's `-q:v`, 2 (best) to 31; 3 unless given. */
  readonly qscale?: number | undefined;
  /** How many threads ffmpeg uses; it chooses unless given. */
  readonly threads?: number | undefined;
}

/** At least as close to the video as GulpIO2's two generations of JPEG; see `bench/README.md`. */
const DEFAULT_QSCALE = 3;

/**
 * The arguments that make ffmpeg write a video's frames to its standard output, as JPEGs one
 * after the other.
 *
 * @param path Absolute.
 * @throws {RangeError} If an option has no meaning.
 */
export function ffmpegArguments(path: string, options: FrameOptions): string[] {
  const { frameRate, shortEdge = 0, threads } = options;
  const { qscale = DEFAULT_QSCALE } = options;
  if (frameRate !== undefined && !(frameRate > 0 && frameRate < Infinity)) {
    throw new RangeError(`A frame rate of ${frameRate}: give one above 0`);
  }
  assertWhole("A short edge", shortEdge, -Infinity, 65_535);
  assertWhole("A qscale", qscale, 2, 31);
  if (threads !== undefined) assertWhole("A number of threads", threads, 1, 64);
  const limit = threads === undefined ? [] : ["-threads", `${threads}`];
  return [
    ...["-nostdin", "-hide_banner", "-nostats", "-loglevel", "error"],
    ...(threads === undefined ? [] : ["-filter_threads", `${threads}`]),
    ...limit,
    // What a file refers to must be a file, and its name is nothing but a name.
    ...["-protocol_whitelist", "file", "-i", `file:${path}`],
    ...["-an", "-sn", "-dn"],
    ...(frameRate === undefined ? [] : ["-r", `${frameRate}`]),
    ...(shortEdge < 1 ? [] : ["-vf", scaling(shortEdge)]),
    ...["-c:v", "mjpeg", "-q:v", `${qscale}`, "-flags:v", "+bitexact"],
    ...limit,
    ...["-f", "image2pipe", "pipe:1"],
  ];
}

/**
 * In RGB, so that the colour is not scaled from its quarter of the pixels, which costs up to
 * 10 dB. The long edge is computed as `shortEdgeSize` does, from the size after rotation.
 */
function scaling(edge: number): string {
  const width = `if(lt(ih,iw),trunc(${edge}*(iw/ih)),${edge})`;
  const height = `if(lt(ih,iw),${edge},trunc(${edge}*(ih/iw)))`;
  return "scale=flags=bicubic,format=gbrp," +
    `scale=w='${width}':h='${height}':flags=bilinear`;
}

function assertWhole(
  what: string,
  value: number,
  from: number,
  to: number,
): void {
  if (Number.isInteger(value) && value >= from && value <= to) return;
  const least = from === -Infinity ? "up" : `from ${from}`;
  throw new RangeError(
    `${what} of ${value}: give a whole number ${least} to ${to}`,
  );
}
