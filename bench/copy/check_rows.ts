import type { Row } from "../support/report.ts";
import type { FileSet } from "./copy.ts";
import { type Place, RECORDFS } from "./place.ts";

/**
 * Checks a file, compared with `cksum` of GNU coreutils, the fastest program at hand that takes a CRC of the same
 * bytes: it uses the CPU's carry-less multiplication. With cold caches, also compared with just reading the bytes.
 */
export async function checkRows(place: Place, set: FileSet): Promise<Row[]> {
  const file = place.file("a.ffr");
  const bytes = set.count * set.bytes;
  const ours = {
    name: "recordfs check",
    command: () => [...RECORDFS, "check", file],
  };
  return [
    ...await place.measure({ what: `check ${set.name}`, bytes }, [ours, {
      name: "cksum",
      command: () => ["cksum", file],
      target: 0.9,
    }]),
    ...await place.measure({
      what: `check ${set.name}, cold`,
      bytes,
      isCold: true,
    }, [ours, {
      name: "dd to /dev/null",
      command: () => ["dd", `if=${file}`, "of=/dev/null", "bs=1M"],
      target: 0.9,
    }]),
  ];
}
