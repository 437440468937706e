/** File signatures and suffixes; a dot matches any byte. */
const SIGNATURES: readonly (readonly [string, string])[] = [
  ["\xff\xd8\xff", ".jpg"],
  ["\x89PNG\r\n\x1a\n", ".png"],
  ["GIF8", ".gif"],
  ["RIFF....WEBP", ".webp"],
  ["RIFF....WAVE", ".wav"],
  ["RIFF....AVI ", ".avi"],
  ["II*\0", ".tif"],
  ["MM\0*", ".tif"],
  ["II+\0\b\0", ".tif"], // BigTIFF
  ["MM\0+\0\b", ".tif"],
  ["BM....\0\0\0\0", ".bmp"],
  ["....ftypavif", ".avif"],
  ["....ftypavis", ".avif"],
  ["....ftyphei", ".heic"],
  ["....ftypM4A", ".m4a"],
  ["....ftyp", ".mp4"],
  ["\x1aE\xdf\xa3", ".webm"],
  ["fLaC", ".flac"],
  ["OggS", ".ogg"],
  ["ID3", ".mp3"],
  ["\xff\xfb", ".mp3"],
  ["\x93NUMPY", ".npy"],
  ["%PDF-", ".pdf"],
  ["PK\x03\x04", ".zip"],
  ["\x1f\x8b", ".gz"],
];

/** Returns the suffix for a file's first bytes, or `undefined` if unknown. */
export function sniffedSuffix(bytes: Uint8Array): string | undefined {
  return SIGNATURES.find(([signature]) => begins(bytes, signature))?.[1];
}

function begins(bytes: Uint8Array, signature: string): boolean {
  if (bytes.length < signature.length) return false;
  for (let i = 0; i < signature.length; i++) {
    const char = signature[i]!;
    if (char !== "." && bytes[i] !== char.charCodeAt(0)) return false;
  }
  return true;
}
