/** Writes tars for tests, from the format's description: what a right one has, and what no program would write. */
import { Buffer } from "node:buffer";

/** A member, or a header that says something of the next one. */
export interface Member {
  readonly name?: string | Uint8Array;
  readonly type?: string;
  readonly link?: string;
  readonly data?: Uint8Array | string;
  /** What the header says instead of the data's size: the field's text, or its bytes. */
  readonly size?: number | string | Uint8Array;
  readonly mtime?: number;
  readonly magic?: string;
  readonly prefix?: string;
  /** Added to the checksum. */
  readonly wrongBy?: number;
}

/** The bytes of a tar with the zeros that end it. */
export function tarBytes(
  members: readonly Member[],
  end = 1024,
): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    Buffer.concat([...members.map(memberBytes), Buffer.alloc(end)]),
  );
}

/** A header, and what follows it. */
export function memberBytes(member: Member): Uint8Array {
  const { data = "", type = "0", link = "", mtime = 0 } = member;
  const { magic = "ustar\0" + "00", prefix = "", wrongBy = 0 } = member;
  const content = Buffer.from(data as string);
  const header = Buffer.alloc(512);
  const { name = "file", size = content.length } = member;
  Buffer.from(name as string).copy(header, 0, 0, 100);
  header.write("0000644\0", 100, "latin1");
  if (size instanceof Uint8Array) header.set(size, 124);
  else {header.write(
      typeof size === "string" ? size : octal(size),
      124,
      "latin1",
    );}
  header.write(octal(mtime), 136, "latin1");
  header.write(" ".repeat(8), 148, "latin1");
  header.write(type, 156, "latin1");
  header.write(link, 157, 100);
  header.write(magic, 257, "latin1");
  header.write(prefix, 345);
  let sum = wrongBy;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  const rest = -content.length & 511;
  return Buffer.concat([header, content, Buffer.alloc(rest)]);
}

/** Records of an extended header. */
export function paxRecords(
  records: Readonly<Record<string, string>>,
): Uint8Array {
  return Buffer.concat(
    Object.entries(records).map(([key, value]) => {
      const rest = Buffer.from(` ${key}=${value}\n`);
      let length = rest.length;
      while (String(length).length + rest.length !== length) {
        length = String(length).length + rest.length;
      }
      return Buffer.concat([Buffer.from(String(length)), rest]);
    }),
  );
}

/** An extended header of the next member. */
export function pax(
  records: Readonly<Record<string, string>>,
  type = "x",
): Member {
  return { name: "PaxHeaders/x", type, data: paxRecords(records) };
}

function octal(number: number): string {
  return `${number.toString(8).padStart(11, "0")}\0`;
}
