/** Zips whose end can be read in several ways, and what each program finds in them. */
import { Buffer } from "node:buffer";
import {
  A,
  AT,
  B,
  both,
  end,
  type EndFields,
  FULL,
  HEAD,
  head,
  headA,
  headB,
  local,
  longer,
  one,
  x,
  type ZipEnd,
} from "./zip_records.ts";

const C = local("c");
const endOfOne = end(1, HEAD, A.length);

/** A directory of `a` with its end, and one of `b` with its own behind it. */
function twoEnds(first: EndFields, second: EndFields, behind = ""): Buffer[] {
  return [
    ...[A, B, headA, end(1, HEAD, AT, first)],
    ...[headB, end(1, HEAD, AT + HEAD + 22, second), Buffer.from(behind)],
  ];
}

export const ZIP_ENDS: readonly ZipEnd[] = [
  ["an ordinary zip", [one], "a a a a", "a"],
  ["an end record alone", [end(0, 0, 0)], "0 0 0 0", "0"],

  // Several ends.
  ["a second end record", twoEnds({}, {}), "b ab b b", "-"],
  [
    "a second end record with a truncated comment",
    twoEnds({}, { told: 1 }),
    "b ab b b",
    "-",
  ],
  [
    "a second end record with a partial comment",
    twoEnds({}, { comment: x(3), told: 9 }),
    "b ab b b",
    "-",
  ],
  [
    "a second end record in the comment of the first",
    twoEnds({ told: HEAD + 22 }, {}),
    "b ab b b",
    "-",
  ],
  [
    "a second end record in the comment of the first, and trailing bytes",
    twoEnds({ told: HEAD + 22 + 4 }, {}, "more"),
    "b ab b b",
    "-",
  ],
  [
    "a second end record and trailing bytes",
    twoEnds({}, {}, "more"),
    "b ab b b",
    "-",
  ],
  [
    "a prefixed program and a second end record",
    [x(50), ...twoEnds({}, {})],
    "b - b b",
    "-",
  ],
  [
    "a second end record that covers the first member",
    [A, B, headB, end(1, HEAD, AT), headA, end(1, HEAD, AT + HEAD + 22)],
    "a a a a",
    "-",
  ],
  [
    "a second end record that covers the first member, with a truncated comment",
    [
      A,
      B,
      headB,
      end(1, HEAD, AT),
      headA,
      end(1, HEAD, AT + HEAD + 22, { told: 1 }),
    ],
    "a a a a",
    "-",
  ],
  [
    "a second end record that covers the first member, and bytes in the comment of the first record",
    [
      A,
      B,
      headB,
      end(1, HEAD, AT, { told: HEAD + 22 + 4 }),
      headA,
      end(1, HEAD, AT + HEAD + 22),
      x(4),
    ],
    "a a a a",
    "-",
  ],
  [
    "a truncated comment",
    [A, headA, end(1, HEAD, A.length, { comment: x(3), told: 9 })],
    "a a a a",
    "-",
  ],
  [
    "a comment that repeats the end record",
    [A, headA, end(1, HEAD, A.length, { comment: endOfOne })],
    "a a - 0",
    "-",
  ],
  [
    "a comment that is an end record with an invalid offset",
    [A, headA, end(1, HEAD, A.length, { comment: end(1, HEAD, 30) })],
    "- a - 0",
    "-",
  ],
  [
    "a comment that is an empty end record",
    [A, headA, end(1, HEAD, A.length, { comment: end(0, 0, 0) })],
    "0 a - 0",
    "-",
  ],
  [
    "a prefixed program and a comment that is an empty end record",
    [x(50), A, headA, end(1, HEAD, A.length, { comment: end(0, 0, 0) })],
    "0 - - 0",
    "-",
  ],
  ["a trailing empty end record", [one, end(0, 0, 0)], "0 a - 0", "-"],
  [
    "a comment that starts an end record",
    [
      A,
      headA,
      end(1, HEAD, A.length, { comment: Buffer.from("hi PK\x05\x06") }),
    ],
    "a a - a",
    "-",
  ],
  [
    "a comment that holds most of an end record",
    [
      A,
      headA,
      end(1, HEAD, A.length, {
        comment: Buffer.concat([endOfOne.subarray(0, 21)]),
      }),
    ],
    "a a - a",
    "-",
  ],
  [
    "a comment that is a member",
    [A, headA, end(1, HEAD, A.length, { comment: B })],
    "a a a a",
    "a",
  ],
  [
    "a comment of 65,535 bytes",
    [A, headA, end(1, HEAD, A.length, { comment: x(FULL) })],
    "a a a a",
    "a",
  ],
  [
    "an end record in the comment of a member",
    [A, head("a", 0, end(0, 0, 0)), end(1, HEAD + 22, A.length)],
    "a a a a",
    "a",
  ],
  [
    "an end record in a member's content",
    [local("z"), head("z", 0), end(1, HEAD, 31 + one.length)],
    "z z z z",
    "z",
  ],
  [
    "an end record in the content of a member whose local header is longer than its entry",
    [longer("z"), head("z", 0), end(1, HEAD, 31 + 40 + one.length)],
    "z z z z",
    "z",
  ],
  [
    "an end record after the last content",
    [
      local("z"),
      end(0, 0, 0),
      head("z", 0),
      end(1, HEAD, 31 + one.length + 22),
    ],
    "z z z z",
    "-",
  ],
  [
    "an end record before the directory",
    [A, end(0, 0, 0), headA, end(1, HEAD, A.length + 22)],
    "a a a a",
    "-",
  ],

  // Bytes behind and before.
  ["bytes after the end record", [one, x(9)], "a a a a", "a"],
  ["zeros after the end record", [one, Buffer.alloc(512)], "a a a a", "a"],
  ["many bytes after the end record", [one, x(70_000)], "a a - a", "-"],
  [
    "the start of an end record after the end record",
    [one, Buffer.from("PK\x05\x06"), x(30)],
    "- a - a",
    "-",
  ],
  ["a prefixed program", [x(50), one], "a - a a", "a"],
  [
    "a prefixed program that all offsets include",
    [x(50), A, head("a", 50), end(1, HEAD, 50 + A.length)],
    "a a a a",
    "a",
  ],
  [
    "a prefixed program that only the directory's offset includes",
    [x(50), A, headA, end(1, HEAD, 50 + A.length)],
    "- - - -",
    "-",
  ],
  [
    "a prefixed program that only the members' offsets include",
    [x(50), A, head("a", 50), end(1, HEAD, A.length)],
    "- - - -",
    "-",
  ],
  [
    "a prefixed zip",
    [one, B, head("b", 0), end(1, HEAD, B.length)],
    "b a b b",
    "-",
  ],
  [
    "a prefixed zip that all offsets include",
    [one, B, head("b", one.length), end(1, HEAD, one.length + B.length)],
    "b a b b",
    "-",
  ],
  ["the same zip twice", [one, one], "a a a a", "-"],
  ["a prefixed empty zip", [end(0, 0, 0), one], "a 0 a a", "-"],
  [
    "a prefixed empty zip that all offsets include",
    [end(0, 0, 0), A, head("a", 22), end(1, HEAD, 22 + A.length)],
    "a 0 a a",
    "-",
  ],
  [
    "a prefixed program and zip",
    [x(9), B, head("b", 0), end(1, HEAD, B.length), one],
    "a - a a",
    "-",
  ],
  [
    "an unlisted first member",
    [A, B, headB, end(1, HEAD, AT)],
    "b ab b b",
    "-",
  ],
  [
    "an unlisted first member after a spanning marker",
    [Buffer.from("PK00"), A, B, head("b", 4 + A.length), end(1, HEAD, 4 + AT)],
    "b ab b b",
    "-",
  ],
  [
    "a spanning marker",
    [Buffer.from("PK00"), A, head("a", 4), end(1, HEAD, 4 + A.length)],
    "a a a a",
    "a",
  ],
  [
    "an unlisted member between others",
    [
      A,
      C,
      B,
      headA,
      head("b", A.length + C.length),
      end(2, 2 * HEAD, AT + C.length),
    ],
    "ab ab ab ab",
    "-",
  ],
  [
    "an unlisted last member",
    [A, C, headA, end(1, HEAD, A.length + C.length)],
    "a a a a",
    "-",
  ],
  ["a member hidden by an end", [A, B, end(0, 0, AT)], "- ab - 0", "-"],

  // A directory elsewhere.
  [
    "another directory at the offset of the end record",
    [A, B, headA, headB, end(1, HEAD, AT)],
    "b ab - -",
    "-",
  ],
  [
    "a prefixed program and another directory at the offset of the end record",
    [x(AT), headA, A, B, headB, end(1, HEAD, AT)],
    "b - b b",
    "-",
  ],
  [
    "bytes between directory and end record",
    [A, headA, x(6), end(1, HEAD, A.length)],
    "a a - 0",
    "-",
  ],
  [
    "bytes before the directory",
    [A, x(6), headA, end(1, HEAD, A.length + 6)],
    "a a a a",
    "a",
  ],
  [
    "bytes before the directory that its offset leaves out",
    [A, x(6), headA, end(1, HEAD, A.length)],
    "a a - -",
    "-",
  ],
  ["a directory at offset 0", [...both, end(2, 2 * HEAD, 0)], "ab ab - -", "-"],
  [
    "a directory after the end record",
    [...both, end(2, 2 * HEAD, 1 << 20)],
    "- ab - ab",
    "-",
  ],
  [
    "a directory size of the second entry alone",
    [...both, end(2, HEAD, AT + HEAD)],
    "b ab b b",
    "-",
  ],
  ["a directory size of 0", [...both, end(2, 0, AT)], "- ab - 0", "-"],
  ["an empty directory and entries", [...both, end(0, 0, AT)], "- ab - 0", "-"],

  // Counts and disks.
  ["a count one too low", [...both, end(1, 2 * HEAD, AT)], "ab ab ab ab", "-"],
  ["a count one too high", [...both, end(3, 2 * HEAD, AT)], "ab ab ab ab", "-"],
  ["a count of 0", [...both, end(0, 2 * HEAD, AT)], "ab ab ab ab", "-"],
  [
    "a count of one on this disk, and of two in all",
    [...both, end(2, 2 * HEAD, AT, { here: 1 })],
    "ab ab ab ab",
    "-",
  ],
  [
    "a count of two on this disk, and of one in all",
    [...both, end(1, 2 * HEAD, AT, { here: 2 })],
    "ab ab ab ab",
    "-",
  ],
  [
    "a second disk number",
    [...both, end(2, 2 * HEAD, AT, { disk: 1 })],
    "ab - ab ab",
    "-",
  ],
  [
    "a directory on a second disk",
    [...both, end(2, 2 * HEAD, AT, { directoryDisk: 1 })],
    "ab ab ab ab",
    "-",
  ],
  [
    "a disk number without a zip64 end record",
    [...both, end(2, 2 * HEAD, AT, { disk: FULL, directoryDisk: FULL })],
    "ab - ab ab",
    "-",
  ],

  // Cut.
  ["no end", [...both], "- ab - ab", "-"],
  ["a truncated end record", [one.subarray(0, -1)], "- a - a", "-"],
];
