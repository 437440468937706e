const encoder = new TextEncoder();

/** Encodes a string as pickles have it: UTF-8, a lone surrogate as three bytes of its own. */
export function encodePickledText(text: string): Uint8Array {
  if (text.isWellFormed()) return encoder.encode(text);
  const bytes = new Uint8Array(3 * text.length);
  let length = 0;
  const put = (wellFormed: string) => {
    length += encoder.encodeInto(wellFormed, bytes.subarray(length)).written;
  };
  let done = 0;
  // With the flag u, a surrogate matches only where it is lone.
  for (const { index } of text.matchAll(/[\ud800-\udfff]/gu)) {
    put(text.slice(done, index));
    const code = text.charCodeAt(index);
    bytes[length++] = 0xe0 | code >> 12;
    bytes[length++] = 0x80 | code >> 6 & 0x3f;
    bytes[length++] = 0x80 | code & 0x3f;
    done = index + 1;
  }
  put(text.slice(done));
  return bytes.subarray(0, length);
}
