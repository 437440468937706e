import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { LONG } from "../../../support/long.ts";
import fc from "../../../support/random.ts";
import { JsonError } from "../../../../src/codecs/json/scanner.ts";
import { readJsonMeta } from "../../../../src/formats/gulp/meta/json_meta.ts";
import { ChunkMeta } from "../../../../src/formats/gulp/meta/chunk_meta.ts";
import {
  FrameFault,
  VideoFault,
} from "../../../../src/formats/gulp/meta/meta_columns.ts";
import { MemorySource } from "../../../../src/io/storage/memory_source.ts";
import { runSync } from "../../../../src/io/concurrency/steps.ts";
import { needs, PYTHON } from "../../../support/programs/programs.ts";

function read(text: string | Uint8Array): ChunkMeta {
  const bytes = typeof text === "string"
    ? new TextEncoder().encode(text)
    : text;
  const withSentinel = new Uint8Array(bytes.length + 1);
  withSentinel.set(bytes);
  const builder = readJsonMeta(withSentinel);
  const source = new MemorySource(bytes);
  return new ChunkMeta("meta_0.gmeta", bytes.length, builder.finish(), source);
}

/** Returns a chunk's metadata as JSON values. */
function contents(meta: ChunkMeta): unknown[] {
  const { columns } = meta;
  return Array.from({ length: meta.length }, (_, video) => {
    const first = columns.firstFrames[video]!;
    const frames = Array.from(
      { length: columns.frameCounts[video]! },
      (_, i) => [
        columns.offsets[first + i],
        columns.pads[first + i],
        columns.lengths[first + i],
      ],
    );
    return [meta.id(video), frames, runSync(meta.readMetaData(video))];
  });
}

const blanks = fc.constantFrom("", " ", "\n", "\t \r\n");

/** Writes JSON with random blanks, and some strings as escapes. */
function spread(
  value: unknown,
  gap: () => string,
  escape: () => boolean,
): string {
  const string = (text: string) =>
    !escape() ? JSON.stringify(text) : `"${
      Array.from(
        { length: text.length },
        (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`,
      ).join("")
    }"`;
  const write = (value: unknown): string => {
    const pad = (text: string) => gap() + text + gap();
    if (typeof value === "string") return pad(string(value));
    if (Array.isArray(value)) {
      return pad(`[${value.length ? value.map(write).join(",") : gap()}]`);
    }
    if (typeof value === "object" && value !== null) {
      const items = (value as { entries: [string, unknown][] }).entries;
      return pad(
        `{${
          items.length
            ? items.map(([key, item]) => `${pad(string(key))}:${write(item)}`)
              .join(",")
            : gap()
        }}`,
      );
    }
    return pad(JSON.stringify(value));
  };
  return write(value);
}

const ordered = (entries: [string, unknown][]) => ({ entries });

/** JSON values without integers that JSON.parse would round, and that become bigints here. */
const json = fc.jsonValue({ maxDepth: 2 }).map((value) =>
  JSON.parse(
    JSON.stringify(value),
    (_, item) =>
      Number.isInteger(item) && !Number.isSafeInteger(item) ? 0.5 : item,
  )
);

function withOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withOrder);
  if (typeof value !== "object" || value === null) return value;
  return ordered(Object.entries(value).map(([k, v]) => [k, withOrder(v)]));
}

const frame = fc.tuple(
  fc.oneof(
    fc.nat(2 ** 31 - 1),
    fc.nat({ max: 1000 }),
    fc.maxSafeNat().map((n) => Math.floor(n / 2)),
  ),
  fc.oneof(fc.nat(3), fc.nat(70_000)),
  fc.nat(100_000),
).map(([loc, pad, size]) => [loc, pad, pad + size]);

const video = fc.record({
  frames: fc.array(frame, { maxLength: 12 }),
  meta: fc.array(
    fc.dictionary(fc.string(), json, { maxKeys: 3 }),
    { minLength: 1, maxLength: 3 },
  ),
  extra: fc.array(fc.tuple(fc.constantFrom("x", "", "frame", "meta"), json), {
    maxLength: 2,
  }),
  framesFirst: fc.boolean(),
});

const ids = fc.string({ unit: "binary", maxLength: 8 });

Deno.test("any meta is read as written, whatever its blanks, escapes and order", () => {
  const metas = fc.uniqueArray(fc.tuple(ids, video), {
    maxLength: 8,
    selector: ([id]) => id,
  });
  const choices = fc.infiniteStream(fc.tuple(blanks, fc.boolean()));
  fc.assert(fc.property(metas, choices, (videos, choices) => {
    const next = () => choices.next().value as [string, boolean];
    const entries = videos.map(
      ([id, { frames, meta, extra, framesFirst }]): [string, unknown] => {
        const known: [string, unknown][] = [
          ["frame_info", frames],
          ["meta_data", withOrder(meta)],
        ];
        if (!framesFirst) known.reverse();
        const others = extra.map(([key, value]): [string, unknown] => [
          key,
          withOrder(value),
        ]);
        return [id, ordered([...others, ...known])];
      },
    );
    const text = spread(
      ordered(entries),
      () => next()[0],
      () => next()[1],
    );
    const meta = read(text);
    assert.deepEqual(
      contents(meta),
      videos.map(([id, { frames, meta }]) => [
        id,
        frames,
        JSON.parse(JSON.stringify(meta)),
      ]),
    );
    videos.forEach(([id, { meta: known }], video) => {
      assert.equal(meta.find(id), video);
      assert.equal(meta.fault(video), undefined);
      assert.deepEqual(
        runSync(meta.readMeta(video)),
        JSON.parse(JSON.stringify(known[0])),
      );
    });
    assert.equal(meta.find("no such id, it is too long"), -1);
  }));
});

Deno.test("the last of equal keys wins, at the position of the first", () => {
  const meta = read(
    `{"a": {"frame_info": [[0,0,4]], "meta_data": [{"n": 1}]},
      "b": {"frame_info": [[4,0,4]], "meta_data": [{}],
            "frame_info": [[8,1,4],[12,0,4]], "meta_data": [{"n": 2},{}]},
      "\\u0061": {"meta_data": [{"n": 3}], "frame_info": []}}`,
  );
  assert.deepEqual(contents(meta), [
    ["a", [], [{ n: 3 }]],
    ["b", [[8, 1, 4], [12, 0, 4]], [{ n: 2 }, {}]],
  ]);
});

Deno.test("an invalid frame is recorded, and the others are read", () => {
  const { NO_TRIPLE, OUT_OF_RANGE, PADDING } = FrameFault;
  for (
    const [entry, fault] of [
      ["[1, 2]", NO_TRIPLE],
      ["[1, 2, 3, 4]", NO_TRIPLE],
      ["[]", NO_TRIPLE],
      ["null", NO_TRIPLE],
      ["{}", NO_TRIPLE],
      ["[1.0, 2, 3]", NO_TRIPLE],
      ["[1, 2e0, 3]", NO_TRIPLE],
      ['["1", 2, 3]', NO_TRIPLE],
      ["[1, null, 3]", NO_TRIPLE],
      ["[true, 2, 3]", NO_TRIPLE],
      ["[1, 2, [3]]", NO_TRIPLE],
      ["[-Infinity, 2, 3]", NO_TRIPLE],
      ["[-1, 0, 4]", OUT_OF_RANGE],
      ["[0, 0, -4]", OUT_OF_RANGE],
      ["[0, 0, 4294967296]", OUT_OF_RANGE],
      ["[9007199254740991, 0, 4]", OUT_OF_RANGE],
      [`[1${"0".repeat(400)}, 0, 4]`, OUT_OF_RANGE],
      ["[0, 5, 4]", PADDING],
      ["[0, -1, 4]", PADDING],
    ] as const
  ) {
    const meta = read(
      `{"v":{"frame_info":[[8,1,4], ${entry}, [12,0,4]],"meta_data":[{}]}}`,
    );
    assert.deepEqual([...meta.columns.offsets], [8, fault, 12], entry);
  }
});

Deno.test("an invalid video is recorded, and the others are read", () => {
  for (
    const [entry, fault] of [
      ["[]", VideoFault.NO_OBJECT],
      ["null", VideoFault.NO_OBJECT],
      ["{}", VideoFault.NO_FRAME_INFO],
      ['{"frame_info": {}, "meta_data": [{}]}', VideoFault.NO_FRAME_INFO],
      ['{"frame_info": []}', VideoFault.NO_META_DATA],
      ['{"frame_info": [], "meta_data": []}', VideoFault.NO_META_DATA],
      ['{"frame_info": [], "meta_data": [1]}', VideoFault.NO_META_DATA],
      ['{"frame_info": [], "meta_data": {}}', VideoFault.NO_META_DATA],
    ] as const
  ) {
    const sound = '{"frame_info": [[0,0,4]], "meta_data": [{}]}';
    const meta = read(`{"a": ${sound}, "bad": ${entry}, "z": ${sound}}`);
    assert.deepEqual([...meta.columns.faults], [0, fault, 0], entry);
    assert.match(meta.fault(1)!.message, /"bad"/);
  }
});

Deno.test("deep nesting is an error, not the end of the process", () => {
  for (const [open, close] of [["[", "]"], ['{"a":', "}"]] as const) {
    const deep = (levels: number) =>
      `{"v": {"frame_info": [], "meta_data": [{"x": ${open.repeat(levels)}` +
      `1${close.repeat(levels)}}]}}`;
    assert.equal(read(deep(900)).length, 1);
    assert.throws(
      () => read(deep(100_000)),
      (error) => error instanceof JsonError && /nested/.test(error.message),
    );
  }
});

const SAMPLE =
  '{"id\\u00e9": {"meta_data": [{"a": [NaN, -Infinity, 1.5e-3, true, "\\n"]}, {}], ' +
  '"frame_info": [[0, 1, 24], [24,0,128 ], [-1, 0, 2]], "more": null}, "ü": {}}';

Deno.test("a truncated text is an error that says where", () => {
  const bytes = new TextEncoder().encode(SAMPLE);
  for (let length = 1; length < bytes.length; length++) {
    assert.throws(
      () => read(bytes.slice(0, length)),
      (error) =>
        error instanceof JsonError && error.offset <= length &&
        error.message.includes(`byte ${error.offset}`),
      `${length}`,
    );
  }
});

const LOADS = `
import json, sys
for line in sys.stdin:
    try:
        print("object" if isinstance(json.loads(bytes.fromhex(line).decode()), dict) else "no")
    except ValueError:
        print("no")
`;

Deno.test({
  name:
    "damaged texts are accepted or rejected like in Python, and nothing hangs",
  ...needs("python3"),
  async fn() {
    const sample = new TextEncoder().encode(SAMPLE);
    const byte = fc.oneof(
      fc.constantFrom(
        ...new TextEncoder().encode('[]{},:"\\0123eE+-. \nNInutrf'),
      ),
      fc.nat(255),
    );
    const at = fc.nat(sample.length);
    const change = fc.tuple(at, fc.nat(3), fc.array(byte, { maxLength: 3 }));
    const texts = fc.sample(
      fc.array(change, { minLength: 1, maxLength: 3 }),
      LONG ? 6000 : 2000,
    )
      .map((changes) => {
        let bytes = [...sample];
        for (const [from, remove, insert] of changes) {
          bytes = bytes.toSpliced(from, remove, ...insert);
        }
        return Uint8Array.from(bytes);
      });
    const python = new Deno.Command(PYTHON, {
      args: ["-c", LOADS],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const input = texts.map((bytes) =>
      `${Buffer.from(bytes).toString("hex")}\n`
    );
    const writer = python.stdin.getWriter();
    const written = writer.write(new TextEncoder().encode(input.join("")))
      .then(() => writer.close());
    const { stdout } = await python.output();
    await written;
    const answers = new TextDecoder().decode(stdout).trimEnd().split("\n");
    assert.equal(answers.length, texts.length);
    assert.ok(answers.filter((answer) => answer === "object").length > 50);
    texts.forEach((bytes, i) => {
      let taken = "object";
      try {
        read(bytes);
      } catch (error) {
        assert.ok(error instanceof JsonError, String(error));
        taken = "no";
      }
      assert.equal(taken, answers[i], Buffer.from(bytes).toString());
    });
  },
});
