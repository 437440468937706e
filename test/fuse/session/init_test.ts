import assert from "node:assert/strict";
import { InitFlag } from "../../../fuse/wire/flags.ts";
import { Opcode } from "../../../fuse/wire/opcodes.ts";
import { Client } from "../support/client.ts";
import { MemoryTree } from "../support/memory_tree.ts";
import { initBody } from "../support/requests.ts";

const client = () => new Client(MemoryTree.of({ a: "x" }));

Deno.test("INIT agrees on 7.38 with a newer kernel, and on nothing the kernel did not offer", () => {
  const kernel = client();
  const { body, errno } = kernel.init();
  assert.equal(errno, 0);
  assert.equal(body.byteLength, 64);
  assert.deepEqual(
    [body.getUint32(0, true), body.getUint32(4, true)],
    [7, 38],
  );
  const flags = body.getUint32(12, true);
  for (const flag of Object.values(InitFlag)) assert.ok(flags & flag);
  assert.equal(body.getUint32(8, true), 131072, "read-ahead as offered");
  assert.equal(body.getUint16(28, true), 256, "max_pages");
  assert.ok(body.getUint32(20, true) >= 4096, "max_write");
  assert.equal(kernel.connection.minor, 38);

  const modest = client();
  const offered = InitFlag.ASYNC_READ | InitFlag.DO_READDIRPLUS | 1 << 1;
  assert.equal(
    modest.init(offered).body.getUint32(12, true),
    InitFlag.ASYNC_READ | InitFlag.DO_READDIRPLUS,
  );
  assert.ok(!modest.connection.has(InitFlag.NO_OPEN_SUPPORT));
});

Deno.test("INIT agrees on repeated requests if the kernel offers them", () => {
  const HAS_RESEND = 1 << 7;
  for (
    const [flags, more] of [[InitFlag.INIT_EXT, 0xff], [0, 0xff], [
      InitFlag.INIT_EXT,
      0,
    ]]
  ) {
    const kernel = client();
    const body = [7, 45, 0, flags!, more!, ...new Array<number>(11).fill(0)];
    const { body: reply } = kernel.ask(Opcode.INIT, 0, body);
    const expected = flags! & InitFlag.INIT_EXT ? more! & HAS_RESEND : 0;
    assert.equal(reply.getUint32(32, true), expected, "flags2");
    assert.equal(kernel.connection.agreed.moreFlags, expected);
  }
});

Deno.test("INIT answers kernels before 7.23 with the short struct they expect", () => {
  for (const [minor, size] of [[12, 24], [22, 24], [23, 64], [31, 64]]) {
    const kernel = client();
    const { body, errno } = kernel.ask(
      Opcode.INIT,
      0,
      initBody(7, minor as number, 0),
    );
    assert.equal(errno, 0);
    assert.equal(body.byteLength, size);
    assert.equal(body.getUint32(4, true), minor);
    assert.equal(kernel.connection.minor, minor);
  }
});

Deno.test("INIT rejects protocols before 7.12 and reports it", () => {
  for (const [major, minor] of [[7, 11], [6, 30]] as const) {
    const kernel = client();
    const { errno } = kernel.ask(Opcode.INIT, 0, initBody(major, minor, 0));
    assert.equal(errno, 71); // EPROTO
    assert.match(kernel.logs.join(), new RegExp(`${major}\\.${minor}`));
    assert.equal(kernel.connection.minor, 0);
  }
});

Deno.test("INIT with a newer major version returns ours and waits for a second one", () => {
  const kernel = client();
  const first = kernel.ask(Opcode.INIT, 0, [8, 3]);
  assert.equal(first.errno, 0);
  assert.equal(first.body.getUint32(0, true), 7);
  assert.equal(kernel.connection.minor, 0, "nothing is agreed on yet");
  kernel.init();
  assert.equal(kernel.connection.minor, 38);
});
