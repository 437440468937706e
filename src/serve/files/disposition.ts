import { encodeUrlName } from "../paths.ts";

/**
 * `Content-Disposition` of a download (RFC 6266): the name for programs that know ASCII only, and all of it by RFC 8187.
 *
 * What would end a quoted text or a header is an underscore in the first one.
 */
export function attachment(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%;]/g, "_");
  return `attachment; filename="${plain}"; filename*=UTF-8''${
    encodeUrlName(name.toWellFormed())
  }`;
}
