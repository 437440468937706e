/** Makes tars by the format's description, valid ones and ones that no program would write. */
import { Buffer } from "node:buffer";

/** A member, or an extended header of the next member. */
export interface Member {
  readonly name?: string | Uint8Array;
  readonly type?: string;
  readonly link?: string;
  readonly data?: Uint8Array | string;
  /** Size field of the header, instead of the data's size: a number, the field's text, or its bytes. */
  readonly size?: number | string | Uint8Array;
  readonly mtime?: number;
  readonly magic?: string;
  readonly prefix?: string;
  /** Added to the checksum, to make it wrong. */
  readonly wrongBy?: number;
}

/** Returns a tar, with zeros at its end. */
export function tarBytes(
  members: readonly Member[],
  end = 1024,
): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    Buffer.concat([...members.map(memberBytes), Buffer.alloc(end)]),
  );
}

/** Returns a header, the data and its padding. */
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

/** Encodes the records of an extended header. */
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
