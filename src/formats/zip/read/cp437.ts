import { strictUtf8Text } from "../../../base/utf8.ts";

/** The upper half of code page 437, in which names are that are not said to be UTF-8. */
const UPPER =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐" +
  "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

const encoder = new TextEncoder();

/** Whether bytes are UTF-8: as Unix writes names, without saying it. */
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

/** The bytes of a name in UTF-8: the same where it is ASCII. */
export function fromCp437(bytes: Uint8Array): Uint8Array {
  if (isAscii(bytes)) return bytes;
  let text = "";
  for (const byte of bytes) {
    text += byte < 0x80 ? String.fromCharCode(byte) : UPPER[byte - 0x80]!;
  }
  return encoder.encode(text);
}
