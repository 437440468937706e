import assert from "node:assert/strict";
import fc from "../../support/random.ts";
import { Opcode, OPCODES } from "../../../fuse/wire/opcodes.ts";
import { Client } from "../support/client.ts";
import { MemoryTree } from "../support/memory_tree.ts";
import { encodeRequest, getattrBody, readBody } from "../support/requests.ts";

const EINVAL = 22;
const client = () =>
  new Client(MemoryTree.of({
    a: "some text",
    d: { e: { kind: "computed", text: "computed" } },
    bad: { kind: "damaged", message: "damaged" },
    far: { kind: "remote" },
    out: { kind: "outside" },
  }));

Deno.test("a request shorter than a header gets no reply", () => {
  const request = encodeRequest(Opcode.GETATTR, 1, getattrBody);
  for (let length = 0; length < 40; length++) {
    assert.equal(client().send(request.slice(0, length)), undefined);
  }
});

Deno.test("a request without an id gets no reply: it would be a notification", () => {
  const request = encodeRequest(Opcode.GETATTR, 1, getattrBody, 0n);
  assert.equal(client().send(request), undefined);
});

Deno.test("a body that is too short is EINVAL, whatever the buffer contained before", () => {
  const bodies = {
    LOOKUP: ["a"],
    GETATTR: getattrBody,
    READ: readBody(0, 10),
    READDIR: readBody(0, 4096),
    READDIRPLUS: readBody(0, 4096),
    OPEN: [0, 0],
    OPENDIR: [0, 0],
    INIT: [7, 38],
  } as const;
  for (const [name, body] of Object.entries(bodies)) {
    const kernel = client();
    const opcode = Opcode[name as keyof typeof bodies];
    const request = encodeRequest(opcode, 1, body);
    const size = OPCODES[opcode]?.bodySize ?? 0;
    kernel.send(request); // leaves a whole body in the buffer
    for (let length = 40; length < 40 + size; length++) {
      const cut = request.slice(0, length);
      new DataView(cut.buffer).setUint32(0, length, true);
      assert.equal(kernel.send(cut)?.errno, EINVAL, `${name}, ${length} bytes`);
    }
  }
});

Deno.test("a length that differs from the request's is EINVAL", () => {
  const request = encodeRequest(Opcode.GETATTR, 1, getattrBody);
  new DataView(request.buffer).setUint32(0, 41, true);
  assert.equal(client().send(request)?.errno, EINVAL);
});

Deno.test("a name without its NUL is EINVAL", () => {
  const kernel = client();
  kernel.ask(Opcode.LOOKUP, 1, ["abcdef"]); // its NUL stays in the buffer
  const name = new TextEncoder().encode("abc");
  assert.equal(kernel.ask(Opcode.LOOKUP, 1, [name]).errno, EINVAL);
});

Deno.test("64-bit numbers that a number cannot hold are EINVAL", () => {
  const kernel = client();
  const node = encodeRequest(Opcode.GETATTR, 2n ** 53n, getattrBody);
  assert.equal(kernel.send(node)?.errno, EINVAL);
  const wrapped = encodeRequest(Opcode.GETATTR, 2n ** 32n + 1n, getattrBody);
  assert.equal(kernel.send(wrapped)?.errno, 2, "node 2^32 + 1 is not the root");
  for (const opcode of [Opcode.READ, Opcode.READDIR, Opcode.READDIRPLUS]) {
    const body = readBody(2n ** 64n - 1n, 4096);
    assert.equal(
      kernel.ask(opcode, opcode === Opcode.READ ? 2 : 1, body).errno,
      EINVAL,
    );
  }
});

const garbage = fc.uint8Array({ maxLength: 400, size: "max" });

/** Requests with a sound header, so that garbage gets as far as the handlers. */
const framed = fc.tuple(
  fc.oneof(fc.constantFrom(...Object.values(Opcode)), fc.nat(5000)),
  fc.oneof(fc.nat(12), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })),
  fc.oneof(
    garbage.map((bytes) => [bytes]),
    fc.tuple(fc.bigInt({ min: 0n, max: 40n }), fc.integer({ min: 0 }))
      .map(([offset, size]) => readBody(offset, size)),
  ),
).map(([opcode, node, body]) => encodeRequest(opcode, node, body));

Deno.test("any bytes get at most one well-formed reply, and a trace line", () => {
  const kernel = client();
  fc.assert(
    fc.property(fc.oneof(garbage, framed), (request) => {
      kernel.send(request); // checks the form of the reply
      if (request.length >= 40) assert.equal(typeof kernel.trace(), "string");
    }),
    { numRuns: 5000 },
  );
  assert.equal(kernel.ask(Opcode.LOOKUP, 1, ["a"]).errno, 0, "it still serves");
});
