import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import { Mapping } from "../../../fuse/content/mapping.ts";
import { mount } from "../../../fuse/mount_container.ts";
import { newSampleChecks } from "../../../fuse/checksums/sample_checks_memory.ts";
import { Opcode } from "../../../fuse/wire/opcodes.ts";
import { checkedTree } from "../support/checked_tree.ts";
import { Client } from "../support/client.ts";
import { MemoryTree } from "../support/memory_tree.ts";
import { encodeRequest, readBody } from "../support/requests.ts";
import { ffrHeader } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";

const linux = { ignore: Deno.build.os !== "linux" };

/** Runs `body` with two threads of one mount. */
function withThreads(body: (one: Client, other: Client) => void): void {
  const tree = checkedTree();
  using mapping = Mapping.of(tree.sources as MemoryTree["sources"]);
  const options = { checks: newSampleChecks(tree)!, sources: mapping.sources };
  body(new Client(tree, options), new Client(tree, options));
}

const text = (body: DataView) => new TextDecoder().decode(body);
const read = (client: Client, node: number, offset = 0, size = 1 << 20) =>
  client.ask(Opcode.READ, node, readBody(offset, size));

Deno.test(
  "a file's first READ returns the checked bytes",
  linux,
  () =>
    withThreads((one, other) => {
      assert.equal(text(read(one, 2, 3, 4).body), "ll f");
      assert.deepEqual(read(one, 2).payload, [0, 7, 10]);
      assert.deepEqual(read(other, 2).payload, [0, 7, 10]); // already checked by the first thread
      assert.deepEqual([one.logs, other.logs], [[], []]);
    }),
);

Deno.test(
  "a file with a wrong checksum is an I/O error each time, logged once",
  linux,
  () =>
    withThreads((one) => {
      for (const offset of [0, 5]) {
        const { errno, payload, body } = read(one, 3, offset);
        assert.deepEqual([errno, payload, body.byteLength], [5, undefined, 0]);
      }
      assert.equal(text(read(one, 2).body), "small file");
      assert.equal(one.logs.length, 1);
      const expected = crc32(new TextEncoder().encode("damaged file"));
      assert.match(
        one.logs[0]!,
        new RegExp(
          `^Cannot read sample 1 of memory: checksum mismatch \\(expected 0x00001234, got 0x${
            expected.toString(16).padStart(8, "0")
          }\\)`,
        ),
      );
    }),
);

Deno.test(
  "reads of a large file wait until it is checked completely; others do not",
  linux,
  () =>
    withThreads((one, other) => {
      const ask = (client: Client, offset: number, unique: bigint) =>
        client.send(
          encodeRequest(Opcode.READ, 4, readBody(offset, 10), unique),
        );
      assert.equal(ask(one, 0, 1n), undefined);
      assert.equal(ask(one, 2_999_995, 2n), undefined);
      assert.equal(ask(other, 20, 3n), undefined); // waits for the check of the first thread
      one.session.checkOn();
      assert.equal(one.session.answerWaiting(), false);
      assert.equal(other.session.waitsForOthers, true);
      assert.equal(text(read(one, 2).body), "small file");
      const at = 7 + "small file".length + "damaged file".length;
      const answers = [one.wait(), one.wait()].toSorted((a, b) =>
        Number(a!.unique - b!.unique)
      );
      assert.deepEqual(
        answers.map((answer) => [answer?.unique, answer?.payload]),
        [[1n, [0, at, 10]], [2n, [0, at + 2_999_995, 5]]],
      );
      const last = other.wait();
      assert.deepEqual([last?.unique, last?.payload], [3n, [0, at + 20, 10]]);
      assert.equal(one.session.isChecking || other.session.isChecking, false);
      assert.deepEqual(read(other, 4, 30, 5).payload, [0, at + 30, 5]);
    }),
);

Deno.test(
  "a large file with a wrong checksum is an I/O error to all waiters",
  linux,
  () =>
    withThreads((one, other) => {
      for (const client of [one, other]) {
        client.send(encodeRequest(Opcode.READ, 5, readBody(0, 10)));
      }
      for (const client of [one, other]) {
        assert.equal(client.wait()?.errno, 5);
        assert.equal(client.session.isChecking, false);
        assert.equal(read(client, 5).errno, 5); // without waiting
      }
      assert.match(
        one.logs.join(),
        /^Cannot read sample 3 of memory: checksum mismatch /,
      );
      assert.deepEqual(other.logs, []); // one thread checked it for both
    }),
);

Deno.test(
  "a thread takes over the check of one that ended",
  linux,
  () =>
    withThreads((one, other) => {
      for (const client of [one, other]) {
        client.send(encodeRequest(Opcode.READ, 4, readBody(0, 10)));
      }
      one.session.checkOn();
      one.session.end();
      assert.equal(other.wait()?.errno, 0);
    }),
);

Deno.test("a tree without checksums is not checked", () =>
  assert.equal(newSampleChecks(MemoryTree.of({ a: "a" })), undefined));

Deno.test({
  name: "a sample truncated to nothing is an I/O error for every reader",
  ...needs("fuse"),
  fn: () =>
    withTempDir(async (dir) => {
      const path = `${dir}/cut.ffr`;
      const sound = new TextEncoder().encode("sound");
      const lengths = [sound.length, 0, 0];
      const header = ffrHeader(lengths, [crc32(sound), 0x1234, 0]);
      await Deno.writeFile(path, header);
      await Deno.writeFile(path, sound, { append: true });
      await Deno.mkdir(`${dir}/mnt`);
      const names = async () =>
        (await Array.fromAsync(Deno.readDir(`${dir}/mnt`)))
          .map(({ name }) => name).sort();
      const [whole, cut, empty] = ["000000", "000001", "000002"];
      {
        await using _ = await mount(path, `${dir}/mnt`);
        for (const turn of ["unlisted", "listed"]) {
          const size = async (name: string) =>
            (await Deno.stat(`${dir}/mnt/${name}`)).size;
          assert.deepEqual([await size(whole!), await size(empty!)], [5, 0]);
          await assert.rejects(size(cut!), /os error 5/, turn);
          await assert.rejects(Deno.readFile(`${dir}/mnt/${cut}`), /error 5/);
          assert.deepEqual(await names(), [whole, cut, empty]);
        }
      }
      await using _ = await mount(path, `${dir}/mnt`, { verify: false });
      assert.equal((await Deno.readFile(`${dir}/mnt/${cut}`)).length, 0);
    }),
});
