import assert from "node:assert/strict";
import { Opcode } from "../../../fuse/wire/opcodes.ts";
import { Client } from "../support/client.ts";
import { MemoryTree } from "../support/memory_tree.ts";
import {
  type Body,
  encodeRequest,
  getattrBody,
  initBody,
  readBody,
} from "../support/requests.ts";

const tree = MemoryTree.of({
  "a.txt": "x".repeat(120),
  c: { kind: "computed", text: "abc" },
});

const lines: [opcode: number, node: number, body: Body, line: string][] = [
  [
    ...[Opcode.INIT, 0, initBody(7, 45, 0x3)] as const,
    "INIT version=7.45 readahead=131072 flags=0x3 -> 0 version=7.38 flags=0x1",
  ],
  [
    ...[Opcode.LOOKUP, 1, ["a.txt"]] as const,
    'LOOKUP parent=1 "a.txt" -> 0 node=2 size=120',
  ],
  [Opcode.LOOKUP, 1, ["no\nne"], 'LOOKUP parent=1 "no\\nne" -> 0 none'],
  [
    ...[Opcode.LOOKUP, 1, [new Uint8Array([0x61, 0xff, 0x22, 0])]] as const,
    'LOOKUP parent=1 "a\\xff\\x22" -> 0 none',
  ],
  [Opcode.LOOKUP, 2, ["x"], 'LOOKUP parent=2 "x" -> ENOTDIR'],
  [Opcode.GETATTR, 2, getattrBody, "GETATTR node=2 -> 0 mode=0100644 size=120"],
  [
    ...[Opcode.READ, 2, readBody(100, 4096)] as const,
    "READ node=2 offset=100 size=4096 -> 0 bytes=20",
  ],
  [
    ...[Opcode.READ, 3, readBody(1, 4096)] as const,
    "READ node=3 offset=1 size=4096 -> 0 bytes=2",
  ],
  [
    ...[Opcode.READDIR, 1, readBody(0, 4096)] as const,
    "READDIR node=1 offset=0 size=4096 -> 0 entries=4",
  ],
  [
    ...[Opcode.READDIRPLUS, 1, readBody(2, 4096)] as const,
    "READDIRPLUS node=1 offset=2 size=4096 -> 0 entries=2",
  ],
  [Opcode.READLINK, 2, [], "READLINK node=2 -> EINVAL"],
  [Opcode.OPEN, 2, [0x8000, 0], "OPEN node=2 flags=0x8000 -> 0"],
  [Opcode.UNLINK, 1, ["a.txt"], "UNLINK node=1 -> EROFS"],
  [Opcode.FORGET, 2, [3n], "FORGET node=2 lookups=3"],
  [Opcode.BATCH_FORGET, 0, [5, 0], "BATCH_FORGET count=5"],
  [Opcode.INTERRUPT, 0, [77n], "INTERRUPT unique=77"],
  [Opcode.DESTROY, 0, [], "DESTROY -> 0"],
  [777, 4, [], "opcode 777 node=4 -> ENOSYS"],
  [Opcode.GETATTR, 2, [], "GETATTR node=2 -> EINVAL"],
];

for (const [opcode, node, body, line] of lines) {
  Deno.test(`a request is traced as ${line}`, () => {
    const client = new Client(tree);
    client.send(encodeRequest(opcode, node, body));
    assert.equal(client.trace(), line);
  });
}

Deno.test("a malformed request is traced as malformed", () => {
  const client = new Client(tree);
  client.send(encodeRequest(Opcode.GETATTR, 2n ** 60n, getattrBody));
  assert.equal(client.trace(), "GETATTR (malformed) -> EINVAL");
});
