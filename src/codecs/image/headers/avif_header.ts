import { type FoundHeader, textAt, untilEnd } from "./found_header.ts";

/** Header of an AVIF: size as coded, and how it is to be turned for display. */
export interface AvifHeader extends FoundHeader {
  /** Quarter turns, anticlockwise. */
  readonly turns: number;
  /** Mirroring after the turns. */
  readonly mirror: "left-right" | "top-bottom" | undefined;
}

/** Box of a file (ISO/IEC 14496-12, 4.2): its content is from `start` to `end`. */
interface Box {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the properties of an AVIF's primary item (ISO/IEC 23008-12, 6.5 and 9.3); of a sequence, that is its first
 * frame.
 *
 * @returns `undefined` if it is not an AVIF, or truncated before them.
 */
export function avifHeader(view: DataView): AvifHeader | undefined {
  if (!/^ftypavi[fs]$/.test(textAt(view, 4, 8))) return undefined;
  return untilEnd(() => {
    const meta = child(view, { start: 0, end: view.byteLength }, "meta");
    if (meta === undefined) return undefined;
    const inMeta = { start: meta.start + 4, end: meta.end };
    const pitm = child(view, inMeta, "pitm");
    const iprp = child(view, inMeta, "iprp");
    const ipco = iprp && child(view, iprp, "ipco");
    const ipma = iprp && child(view, iprp, "ipma");
    if (!pitm || !ipco || !ipma) return undefined;
    const isLong = view.getUint8(pitm.start) > 0;
    const primary = isLong
      ? view.getUint32(pitm.start + 4)
      : view.getUint16(pitm.start + 4);
    const all = [...boxesIn(view, ipco)];
    const own = new Map<string, Box>();
    for (const index of propertiesOf(view, ipma, primary)) {
      const property = all[index - 1];
      if (property !== undefined) own.set(property.type, property);
    }
    const size = own.get("ispe");
    if (size === undefined) return undefined;
    const [irot, imir] = [own.get("irot"), own.get("imir")];
    const mirrors = ["top-bottom", "left-right"] as const;
    return {
      width: view.getUint32(size.start + 4),
      height: view.getUint32(size.start + 8),
      channels: 3,
      hasAlpha: all.some((box) => isAlpha(view, box)),
      isCmyk: false,
      unsupported: own.has("clap") ? "a clean aperture" : undefined,
      turns: irot ? view.getUint8(irot.start) & 3 : 0,
      mirror: imir && mirrors[view.getUint8(imir.start) & 1],
    };
  });
}

/** Whether a property says that an item is the alpha of another. */
function isAlpha(view: DataView, { type, start, end }: Box): boolean {
  if (type !== "auxC") return false;
  const name = textAt(view, start + 4, Math.min(end - start - 4, 64));
  return /^urn:[^\0]*(:alpha|:auxid:1)\0/.test(name);
}

/** Yields the numbers, from 1, of an item's properties. */
function* propertiesOf(
  view: DataView,
  { start, end }: Box,
  item: number,
): Generator<number> {
  const isLong = view.getUint8(start) > 0;
  const isWide = (view.getUint8(start + 3) & 1) !== 0;
  for (let at = start + 8; at + (isLong ? 5 : 3) <= end;) {
    const id = isLong ? view.getUint32(at) : view.getUint16(at);
    at += isLong ? 4 : 2;
    const count = view.getUint8(at++);
    for (let i = 0; i < count; i++, at += isWide ? 2 : 1) {
      if (id !== item) continue;
      yield isWide ? view.getUint16(at) & 0x7fff : view.getUint8(at) & 0x7f;
    }
  }
}

function child(
  view: DataView,
  parent: { readonly start: number; readonly end: number },
  type: string,
): Box | undefined {
  for (const box of boxesIn(view, parent)) {
    if (box.type === type) return box;
  }
  return undefined;
}

function* boxesIn(
  view: DataView,
  { start, end }: { readonly start: number; readonly end: number },
): Generator<Box> {
  for (let at = start; at + 8 <= end;) {
    const type = textAt(view, at + 4, 4);
    let [size, head] = [view.getUint32(at), 8];
    if (size === 1) [size, head] = [Number(view.getBigUint64(at + 8)), 16];
    if (size === 0) size = end - at;
    if (size < head) return;
    yield { type, start: at + head, end: Math.min(at + size, end) };
    at += size;
  }
}
