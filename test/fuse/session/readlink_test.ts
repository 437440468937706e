import assert from "node:assert/strict";
import { Opcode } from "../../../fuse/wire/opcodes.ts";
import { lookup } from "../../tree/support/walked.ts";
import { Client } from "../support/client.ts";
import { linked } from "../support/linked_tree.ts";
import { type Folder, MemoryTree } from "../support/memory_tree.ts";
import { parseAttr, parseDirents, parseEntry } from "../support/replies.ts";
import { getattrBody, readBody } from "../support/requests.ts";

const FOLDER: Folder = { dir: { "a.jpg": "aaa" }, b: "b" };
/** `DT_DIR`, `DT_REG` and `DT_LNK` of `dirent.h`. */
const [DIR, REG, LNK] = [4, 8, 10];

Deno.test("READLINK returns the target of a link, and nothing after it", async () => {
  const tree = await linked(FOLDER);
  const client = new Client(tree);
  const epoch = lookup(tree, 1, "epoch-0000");
  for (const [i, target] of ["../b", "../dir/a.jpg", "../b"].entries()) {
    const { errno, body } = client.ask(Opcode.READLINK, epoch + 1 + i % 2);
    assert.equal(errno, 0);
    const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
    assert.equal(new TextDecoder().decode(bytes), target);
  }
});

Deno.test("READLINK of a node that is not a link is EINVAL", async () => {
  const tree = await linked(FOLDER);
  const epoch = lookup(tree, 1, "epoch-0000");
  for (const node of [1, lookup(tree, 1, "b"), epoch]) {
    assert.equal(new Client(tree).ask(Opcode.READLINK, node).errno, 22);
  }
  assert.equal(new Client(MemoryTree.of(FOLDER)).ask(5, 2).errno, 22);
});

Deno.test("links have the mode and size of links, and files theirs", async () => {
  const tree = await linked(FOLDER);
  const client = new Client(tree, { umask: 0o027 });
  const epoch = lookup(tree, 1, "epoch-0000");
  const { body } = client.ask(Opcode.LOOKUP, epoch, ["00000001.jpg"]);
  const { node, attr } = parseEntry(body);
  assert.equal(node, epoch + 2);
  assert.equal(attr.mode, 0o120777);
  assert.equal(attr.size, "../dir/a.jpg".length);
  assert.equal(attr.links, 1);
  const file = lookup(tree, 1, "b");
  const again = client.ask(Opcode.GETATTR, file, getattrBody).body;
  assert.equal(parseAttr(again, 16).mode, 0o100640);
  const link = client.ask(Opcode.GETATTR, node, getattrBody).body;
  assert.deepEqual(parseAttr(link, 16), attr);
});

Deno.test("listings mark entries that are links", async () => {
  const tree = await linked(FOLDER);
  const client = new Client(tree);
  const epoch = lookup(tree, 1, "epoch-0000");
  const read = readBody(2, 4096); // after "." and ".."
  const types = (node: number) =>
    [Opcode.READDIR, Opcode.READDIRPLUS].map((opcode) =>
      parseDirents(
        client.ask(opcode, node, read).body,
        opcode === Opcode.READDIRPLUS,
      ).map(({ name, type }) => [name, type])
    );
  const links = [["00000000", LNK], ["00000001.jpg", LNK]];
  assert.deepEqual(types(epoch), [links, links]);
  const root = [["epoch-0000", DIR], ["dir", DIR], ["b", REG]];
  assert.deepEqual(types(1), [root, root]);
});

Deno.test("a link that is too long for the system is an I/O error, and the next one is read", async () => {
  let deep: Folder = { file: "" };
  for (let i = 0; i < 20; i++) deep = { ["d".repeat(250)]: deep };
  const tree = await linked({ deep, b: "b" });
  const client = new Client(tree);
  const epoch = lookup(tree, 1, "epoch-0000");
  assert.equal(client.ask(Opcode.READLINK, epoch + 2).errno, 5);
  assert.match(client.logs.join(), /more than 4095 bytes/);
  assert.equal(client.ask(Opcode.READLINK, epoch + 1).body.byteLength, 4);
});
