/** Enough of a program's complaints to know what is wrong. */
const KEEP_BYTES = 8 * 1024;

/** Reads a stream to its end and keeps how it begins, as text. */
export async function boundedText(
  stream: ReadableStream<Uint8Array>,
): Promise<string> {
  const kept = new Uint8Array(KEEP_BYTES);
  let size = 0;
  let isCut = false;
  for await (const chunk of stream) {
    const part = chunk.subarray(0, KEEP_BYTES - size);
    kept.set(part, size);
    size += part.length;
    isCut ||= part.length < chunk.length;
  }
  const text = new TextDecoder().decode(kept.subarray(0, size)).trim();
  return isCut ? `${text} …` : text;
}
