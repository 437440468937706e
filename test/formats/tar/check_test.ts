import assert from "node:assert/strict";
import { checked } from "../../support/checked.ts";
import { Buffer } from "node:buffer";
import { memberBytes, pax, tarBytes } from "../../support/tar/make_tar.ts";

const MEMBERS = [
  { name: "a", data: "1".repeat(600) },
  { name: "b", data: "2" },
  { name: "c", data: "3" },
];

async function damagesOf(bytes: Uint8Array) {
  const found = await checked({ "t.tar": bytes }, { format: "tar" });
  assert.equal(found.done.at(-1), found.bytes);
  assert.deepEqual([...found.totals], [found.bytes]);
  return found;
}

Deno.test("an undamaged tar has no damage, with any number of zeros at its end", async () => {
  for (const end of [1024, 10_240, 512 * 1001]) {
    const { damaged, samples } = await damagesOf(tarBytes(MEMBERS, end));
    assert.deepEqual([damaged, samples], [0, 3]);
  }
});

Deno.test("each damaged header is named with its offset, and the members after it are found", async () => {
  const bytes = tarBytes([
    ...MEMBERS,
    ...MEMBERS.map(({ name, data }) => ({
      name: `x/${name}`,
      data,
    })),
  ]);
  bytes[1536] = 0x7a; // the name of b
  bytes[5120 + 130] = 0x39; // the size of x/b
  const { damages, samples } = await damagesOf(bytes);
  assert.deepEqual(damages.map(({ code, offset }) => [code, offset]), [
    ["metadata-checksum", 1536],
    ["metadata-checksum", 5120],
  ]);
  assert.equal(samples, 4);
});

Deno.test("names members that are skipped, and checks the others", async () => {
  const { damages, samples } = await damagesOf(tarBytes([
    { name: "../up" },
    { name: "/abs" },
    ...MEMBERS,
    pax({ path: "n\0n" }),
    { name: "n" },
    { name: "hole", type: "S" },
    { name: "last" },
  ]));
  assert.deepEqual(damages.map(({ code }) => code), [
    ...["skipped-member", "skipped-member", "unreadable-member"],
  ]);
  assert.deepEqual(damages.map(({ member }) => member), [
    ...["../up", "n\0n", "hole"],
  ]);
  assert.equal(samples, 6); // the unreadable one is listed
});

Deno.test("a truncated tar is reported: in a content, or in a header", async () => {
  const whole = tarBytes(MEMBERS);
  for (
    const [length, code, says] of [
      [
        1000,
        "truncated-data",
        /'a' .* has 600 bytes according to its header, but the file ends after 488/,
      ],
      [1536 + 100, "truncated-header", /truncated inside a header/],
    ] as const
  ) {
    const { damages } = await damagesOf(whole.slice(0, length));
    assert.deepEqual(damages.map(({ code }) => code), [code]);
    assert.match(damages[0]!.message, says);
    assert.match(damages[0]!.message, /t\.tar/);
  }
});

Deno.test("a missing end, or a single block of zeros at the end, is reported, but not as damage", async () => {
  const whole = tarBytes(MEMBERS);
  for (
    const [length, says] of [
      [whole.length - 1024, /ends without the blocks of zeros/],
      [whole.length - 1024 + 100, /ends without the blocks of zeros/],
      [whole.length - 512, /ends with one block of zeros/],
    ] as const
  ) {
    const { damages, samples, warnings } = await damagesOf(
      whole.slice(0, length),
    );
    assert.deepEqual([damages, samples], [[], 3]);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, says);
  }
});

Deno.test("a tar that ends after an extended header, or in its padding, is truncated", async () => {
  const whole = tarBytes([...MEMBERS, pax({ mtime: "1.5" }), { name: "d" }]);
  const member = 512 * 9; // MEMBERS take 3 + 2 + 2 blocks, the extended header 2
  const ends: [number, string][] = [
    [member, "truncated-header"],
    [member - 400, "truncated-header"],
    [member + 100, "truncated-header"], // in the header of d
  ];
  for (const [length, code] of ends) {
    const { damages } = await damagesOf(whole.slice(0, length));
    assert.deepEqual(damages.map(({ code }) => code), [code]);
    assert.match(damages[0]!.message, /is truncated/);
  }
  const marked = Buffer.concat([whole.slice(0, member), Buffer.alloc(1024)]);
  const { damages } = await damagesOf(new Uint8Array(marked));
  assert.match(damages[0]!.message, /an extended header has no member/);
});

Deno.test("a false size is damage", async () => {
  const bytes = tarBytes([
    { name: "liar", data: "x", size: 100_000 },
    ...MEMBERS,
  ]);
  const { damages, samples } = await damagesOf(bytes);
  assert.equal(damages[0]?.code, "truncated-data");
  assert.match(damages[0]!.message, /'liar' .* has 100000 bytes/);
  assert.equal(samples, 4); // it is listed, and the members after it are found
});

Deno.test("data after the end is named with its offset", async () => {
  const [first, second] = [tarBytes(MEMBERS), memberBytes({ name: "more" })];
  const { damages } = await damagesOf(
    new Uint8Array(Buffer.concat([first, second])),
  );
  assert.deepEqual(damages.map(({ code, offset }) => [code, offset]), [
    ["bad-structure", first.length],
  ]);
  assert.match(damages[0]!.message, /--ignore-zeros/);
});
