import { encodeUrlName } from "../paths.ts";

/**
 * Returns the `Content-Disposition` of a download (RFC 6266), with the name in ASCII and in full (RFC 8187). In ASCII,
 * characters that could end a quoted string or a header become underscores.
 */
export function attachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%;]/g, "_");
  return `attachment; filename="${plain}"; filename*=UTF-8''${
    encodeUrlName(name.toWellFormed())
  }`;
}
