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
  ["a usual one", [one], "a a a a", "a"],
  ["nothing but an end", [end(0, 0, 0)], "0 0 0 0", "0"],

  // Several ends.
  ["a second end", twoEnds({}, {}), "b ab b b", "-"],
  [
    "a second end whose comment is cut",
    twoEnds({}, { told: 1 }),
    "b ab b b",
    "-",
  ],
  [
    "a second end, some of whose comment is there",
    twoEnds({}, { comment: x(3), told: 9 }),
    "b ab b b",
    "-",
  ],
  [
    "a second end in the comment of the first",
    twoEnds({ told: HEAD + 22 }, {}),
    "b ab b b",
    "-",
  ],
  [
    "a second end in the comment of the first, and more",
    twoEnds({ told: HEAD + 22 + 4 }, {}, "more"),
    "b ab b b",
    "-",
  ],
  [
    "a second end, and more behind it",
    twoEnds({}, {}, "more"),
    "b ab b b",
    "-",
  ],
  [
    "a second end behind a program",
    [x(50), ...twoEnds({}, {})],
    "b - b b",
    "-",
  ],
  [
    "a second end, of the first member",
    [A, B, headB, end(1, HEAD, AT), headA, end(1, HEAD, AT + HEAD + 22)],
    "a a a a",
    "-",
  ],
  [
    "a second end, of the first member, whose comment is cut",
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
    "a second end, of the first member, and bytes in the comment of the first",
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
    "a cut comment",
    [A, headA, end(1, HEAD, A.length, { comment: x(3), told: 9 })],
    "a a a a",
    "-",
  ],
  [
    "a comment that is the end once more",
    [A, headA, end(1, HEAD, A.length, { comment: endOfOne })],
    "a a - 0",
    "-",
  ],
  [
    "a comment that is an end of nowhere",
    [A, headA, end(1, HEAD, A.length, { comment: end(1, HEAD, 30) })],
    "- a - 0",
    "-",
  ],
  [
    "a comment that is an empty end",
    [A, headA, end(1, HEAD, A.length, { comment: end(0, 0, 0) })],
    "0 a - 0",
    "-",
  ],
  [
    "a comment that is an empty end, behind a program",
    [x(50), A, headA, end(1, HEAD, A.length, { comment: end(0, 0, 0) })],
    "0 - - 0",
    "-",
  ],
  ["an empty end behind it", [one, end(0, 0, 0)], "0 a - 0", "-"],
  [
    "a comment that begins an end",
    [
      A,
      headA,
      end(1, HEAD, A.length, { comment: Buffer.from("hi PK\x05\x06") }),
    ],
    "a a - a",
    "-",
  ],
  [
    "a comment that has most of an end",
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
    "a comment of the greatest length",
    [A, headA, end(1, HEAD, A.length, { comment: x(FULL) })],
    "a a a a",
    "a",
  ],
  [
    "an end in the comment of a member",
    [A, head("a", 0, end(0, 0, 0)), end(1, HEAD + 22, A.length)],
    "a a a a",
    "a",
  ],
  [
    "an end in a content",
    [local("z"), head("z", 0), end(1, HEAD, 31 + one.length)],
    "z z z z",
    "z",
  ],
  [
    "an end in a content whose header is longer than the directory's",
    [longer("z"), head("z", 0), end(1, HEAD, 31 + 40 + one.length)],
    "z z z z",
    "z",
  ],
  [
    "an end behind the last content",
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
    "an end before the directory",
    [A, end(0, 0, 0), headA, end(1, HEAD, A.length + 22)],
    "a a a a",
    "-",
  ],

  // Bytes behind and before.
  ["bytes behind the end", [one, x(9)], "a a a a", "a"],
  ["zeros behind the end", [one, Buffer.alloc(512)], "a a a a", "a"],
  ["many bytes behind the end", [one, x(70_000)], "a a - a", "-"],
  [
    "what begins an end behind the end",
    [one, Buffer.from("PK\x05\x06"), x(30)],
    "- a - a",
    "-",
  ],
  ["a program before it", [x(50), one], "a - a a", "a"],
  [
    "a program before it, which is counted",
    [x(50), A, head("a", 50), end(1, HEAD, 50 + A.length)],
    "a a a a",
    "a",
  ],
  [
    "a program before it, which the directory's place alone counts",
    [x(50), A, headA, end(1, HEAD, 50 + A.length)],
    "- - - -",
    "-",
  ],
  [
    "a program before it, which the members' places alone count",
    [x(50), A, head("a", 50), end(1, HEAD, A.length)],
    "- - - -",
    "-",
  ],
  [
    "a zip before it",
    [one, B, head("b", 0), end(1, HEAD, B.length)],
    "b a b b",
    "-",
  ],
  [
    "a zip before it, which is counted",
    [one, B, head("b", one.length), end(1, HEAD, one.length + B.length)],
    "b a b b",
    "-",
  ],
  ["itself before it", [one, one], "a a a a", "-"],
  ["an empty zip before it", [end(0, 0, 0), one], "a 0 a a", "-"],
  [
    "an empty zip before it, which is counted",
    [end(0, 0, 0), A, head("a", 22), end(1, HEAD, 22 + A.length)],
    "a 0 a a",
    "-",
  ],
  [
    "a program and a zip before it",
    [x(9), B, head("b", 0), end(1, HEAD, B.length), one],
    "a - a a",
    "-",
  ],
  [
    "a first member that is not listed",
    [A, B, headB, end(1, HEAD, AT)],
    "b ab b b",
    "-",
  ],
  [
    "a first member that is not listed, behind a mark of parts",
    [Buffer.from("PK00"), A, B, head("b", 4 + A.length), end(1, HEAD, 4 + AT)],
    "b ab b b",
    "-",
  ],
  [
    "a mark of parts",
    [Buffer.from("PK00"), A, head("a", 4), end(1, HEAD, 4 + A.length)],
    "a a a a",
    "a",
  ],
  [
    "a member between that is not listed",
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
    "a last member that is not listed",
    [A, C, headA, end(1, HEAD, A.length + C.length)],
    "a a a a",
    "-",
  ],
  ["a member that another end hides", [A, B, end(0, 0, AT)], "- ab - 0", "-"],

  // A directory elsewhere.
  [
    "another directory where the end says",
    [A, B, headA, headB, end(1, HEAD, AT)],
    "b ab - -",
    "-",
  ],
  [
    "another directory where the end says, behind a program",
    [x(AT), headA, A, B, headB, end(1, HEAD, AT)],
    "b - b b",
    "-",
  ],
  [
    "bytes between directory and end",
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
    "bytes before the directory that are not counted",
    [A, x(6), headA, end(1, HEAD, A.length)],
    "a a - -",
    "-",
  ],
  ["a directory at 0", [...both, end(2, 2 * HEAD, 0)], "ab ab - -", "-"],
  [
    "a directory behind the end",
    [...both, end(2, 2 * HEAD, 1 << 20)],
    "- ab - ab",
    "-",
  ],
  [
    "a size of the second header alone",
    [...both, end(2, HEAD, AT + HEAD)],
    "b ab b b",
    "-",
  ],
  ["a size of 0", [...both, end(2, 0, AT)], "- ab - 0", "-"],
  [
    "an empty directory, and headers",
    [...both, end(0, 0, AT)],
    "- ab - 0",
    "-",
  ],

  // Counts and disks.
  ["one too few", [...both, end(1, 2 * HEAD, AT)], "ab ab ab ab", "-"],
  ["one too many", [...both, end(3, 2 * HEAD, AT)], "ab ab ab ab", "-"],
  ["a count of 0", [...both, end(0, 2 * HEAD, AT)], "ab ab ab ab", "-"],
  [
    "one of two on this disk",
    [...both, end(2, 2 * HEAD, AT, { here: 1 })],
    "ab ab ab ab",
    "-",
  ],
  [
    "two of one on this disk",
    [...both, end(1, 2 * HEAD, AT, { here: 2 })],
    "ab ab ab ab",
    "-",
  ],
  [
    "a second disk",
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
    "a disk that stands in no end of zip64",
    [...both, end(2, 2 * HEAD, AT, { disk: FULL, directoryDisk: FULL })],
    "ab - ab ab",
    "-",
  ],

  // Cut.
  ["no end", [...both], "- ab - ab", "-"],
  ["a cut end", [one.subarray(0, -1)], "- a - a", "-"],
];
