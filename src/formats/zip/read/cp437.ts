import { strictUtf8Text } from "../../../base/utf8.ts";

/** Upper half of code page 437, the encoding of names that are not marked as UTF-8. */
const UPPER =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐" +
  "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

const encoder = new TextEncoder();

/** Whether bytes are UTF-8, in which Unix writes names without marking them. */
export function isUtf8(bytes: Uint8Array): boolean {
  if (isAscii(bytes)) return true;
  try {
    strictUtf8Text(bytes);
    return true;
  } catch {
    return false;
  }
}

function isAscii(bytes: Uint8Array): boolean {
  let all = 0;
  for (let i = 0; i < bytes.length; i++) all |= bytes[i]!;
  return all < 0x80;
}

/** Converts a name to UTF-8; ASCII stays as it is. */
export function fromCp437(bytes: Uint8Array): Uint8Array {
  if (isAscii(bytes)) return bytes;
  let text = "";
  for (const byte of bytes) {
    text += byte < 0x80 ? String.fromCharCode(byte) : UPPER[byte - 0x80]!;
  }
  return encoder.encode(text);
}
