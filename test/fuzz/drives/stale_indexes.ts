/** A remote tar with an index, of DALI or recordfs, of an earlier version: reads must return the tar's bytes, or fail. */
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { MemoryStorage } from "../../../src/io/storage/memory_storage.ts";
import { open } from "../../../src/open/open.ts";
import { filePaths } from "../../support/file_paths.ts";
import { memberBytes } from "../../support/tar/make_tar.ts";
import type { Dice } from "../dice.ts";
import { digestOf } from "../digest.ts";
import type { Scene } from "../scene.ts";
import { type Drive, QUIET } from "./drive.ts";
import { indexFileOf } from "./foreign_indexes.ts";

const BLOCK = 512;
/** Size from which an index file is used, in bytes. */
const LARGE = 8 << 20;
const MOST_FILES = 40;

export const staleIndexesDrive: Drive = {
  name: "stale indexes",
  every: 8,
  fits: ({ format }) => format === "tar",
  memory: 512,
  run,
};

async function run(scene: Scene): Promise<void> {
  const { dice } = scene;
  const members = Array.from(
    { length: 4 + dice.int(MOST_FILES) },
    (_, i) =>
      memberBytes({
        name: `${i >> 1}.${i % 2 ? "cls" : "txt"}`,
        data: dice.bytes(dice.pick([0, 1, 511, 512, 513, 1024])),
      }),
  );
  members.push(memberBytes({ name: "z.bin", data: Buffer.alloc(LARGE) }));
  const dali = new TextEncoder().encode(indexOf(members));
  const [name, index] = dice.once(2) ? ["t.idx", dali] as const : [
    "t.tar.recordfs-index",
    await indexFileOf(scene, packed(members)),
  ] as const;
  for (let i = 1 + dice.int(3); i > 0; i--) change(members, dice);
  const tar = packed(members);
  fs.writeFileSync(scene.output(".tar"), tar.subarray(0, tar.length - LARGE));
  const far = new MemoryStorage({
    "t.tar": new Blob([tar]),
    [name]: index,
  });
  const near = new MemoryStorage({ "t.tar": tar });
  const indexed = await scene.attempt(
    "open",
    () => open("t.tar", { ...QUIET, storage: far }),
  );
  const scanned = await scene.attempt(
    "open without an index",
    () => open("t.tar", { ...QUIET, storage: near }),
  );
  if (indexed.ok && scanned.ok) {
    for (const name of dice.some(filePaths(indexed.value), MOST_FILES)) {
      const read = await scene.attempt("read", () => indexed.value.read(name));
      if (!read.ok) continue; // rejected: the index is stale
      const right = await scene.attempt(
        "read without an index",
        () => scanned.value.read(name),
      );
      // After a zeroed header, only the index finds a member.
      if (right.ok) scene.expect(digestOf(right.value), read.value, name);
    }
  }
  if (indexed.ok) indexed.value.close();
  if (scanned.ok) scanned.value.close();
}

function packed(members: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat([...members, Buffer.alloc(1024)]));
}

/** Returns the index that DALI's `wds2idx` writes for a tar of these members. */
function indexOf(members: readonly Uint8Array[]): string {
  let offset = 0;
  const lines = members.map((member) => {
    const header = Buffer.from(member).toString("latin1", 0, BLOCK);
    const name = header.slice(0, header.indexOf("\0"));
    const line = `${name.replace(/^.*\./, "")} ${offset + BLOCK} ${
      Number.parseInt(header.slice(124, 135), 8)
    } ${name}`;
    offset += member.length;
    return line;
  });
  return `v1.2 ${lines.length}\n${lines.join("\n")}\n`;
}

/** Changes some members of the tar. Most stay at their offset. */
function change(members: Uint8Array[], dice: Dice): void {
  const [at, other] = [
    dice.int(members.length - 1),
    dice.int(members.length - 1),
  ];
  const one = members[at]!;
  const how = dice.int(4);
  if (how === 0) [members[at], members[other]] = [members[other]!, one];
  else if (how === 1) {
    const data = dice.bytes(Math.max(0, one.length - BLOCK - dice.int(BLOCK)));
    members[at] = memberBytes({ name: `n${at}.txt`, data });
  } else if (how === 2) one.fill(0, 0, BLOCK);
  else one[dice.int(BLOCK)]! ^= 1 << dice.int(8);
}
