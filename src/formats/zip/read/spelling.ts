import { crc32Of } from "../../../io/read/crc32_of.ts";
import { decodeName } from "../../../base/names.ts";
import { Extra, forEachExtra } from "../layout.ts";
import { fromCp437 } from "./cp437.ts";

/**
 * Whether a local header's name `stored` is another spelling of `name` in the tree: `\` for `/`, code page 437 for
 * UTF-8, or as in the Unicode path field (0x7075) of its `extra` fields.
 */
export function isOtherSpelling(
  name: string,
  stored: Uint8Array,
  extra: DataView,
): boolean {
  const wanted = canonical(name);
  const spellings = [stored, fromCp437(stored)];
  const sum = crc32Of(stored);
  forEachExtra(extra, 0, extra.byteLength, (kind, start, end) => {
    const path = unicodePath(extra, kind, start, end, sum);
    if (path !== undefined) spellings.push(path);
  });
  return spellings.some((bytes) => canonical(decodeName(bytes)) === wanted);
}

/** Returns the path in a Unicode path field, if that belongs to the header's name with CRC-32 `pathSum`. */
export function unicodePath(
  view: DataView,
  kind: number,
  start: number,
  end: number,
  pathSum: number,
): Uint8Array | undefined {
  const isOf = kind === Extra.UNICODE_PATH && end > start + 5 &&
    view.getUint8(start) === 1 && view.getUint32(start + 1, true) === pathSum;
  if (!isOf) return undefined;
  return new Uint8Array(
    view.buffer,
    view.byteOffset + start + 5,
    end - start - 5,
  );
}

function canonical(path: string): string {
  return path.split(/[/\\]/).filter((part) => part !== "" && part !== ".")
    .join("/");
}
