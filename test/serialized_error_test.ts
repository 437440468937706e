import assert from "node:assert/strict";
import fc from "./support/random.ts";
import { ImageError } from "../src/codecs/image/image_error.ts";
import { VideoError } from "../src/codecs/video/video_error.ts";
import { BatchError } from "../src/data/loader/batch_error.ts";
import { DataError } from "../src/data/data_error.ts";
import {
  FormatError,
  IndexError,
  PathError,
  RecordfsError,
  WriteError,
} from "../src/base/errors.ts";
import { PackError } from "../src/formats/ffrecord/pack/pack_problem.ts";
import { IngestError } from "../src/formats/gulp/ingest/ingest_error.ts";
import {
  deserializeError,
  serializeError,
} from "../src/base/serialized_error.ts";

const KNOWN = [BatchError, DataError, ImageError, VideoError, IngestError];

function sent(error: unknown): Error {
  return deserializeError(structuredClone(serializeError(error)), ...KNOWN);
}

const FACTS = {
  path: "/data/a.ffr",
  offset: 7,
  sample: 3,
  expected: [1, 2n],
  actual: { crc: 5 },
};

Deno.test("errors cross threads unchanged: class, message, stack and fields", () => {
  const cause = new FormatError("sample-checksum", "no match", FACTS);
  const job = { epoch: 1, step: 2, indices: [3, 4] };
  const problems = [{ path: "a", reason: "it is a link", code: "cycle" }];
  for (
    const error of [
      cause,
      new RecordfsError("any", "a message", { ...FACTS, cause }),
      new PathError("not-found", "a/b", "c.ffr"),
      new IndexError(5, 4, "c.ffr"),
      new WriteError("ENOSPC", "no space", { path: "x", cause }),
      new DataError("bad-state", "odd", { cause }),
      new BatchError("sample-failed", "bad", { ...job, ...FACTS, worker: 1 }),
      new ImageError("bad-image", "is not whole", { path: "a.jpg", cause }),
      new VideoError("no-frames", "a.mp4", "it has none"),
      new IngestError("worker-died", "gone", { path: "d", cause }),
      new TypeError("not that", { cause: new Deno.errors.NotFound("a") }),
      Object.assign(new Error("refused"), { code: "ENOSPC", errno: -28 }),
    ]
  ) {
    const arrived = sent(error);
    assert.equal(Object.getPrototypeOf(arrived), Object.getPrototypeOf(error));
    assert.deepEqual(arrived, error); // compares messages, names, causes and fields
    assert.equal(arrived.stack, error.stack);
    assert.equal(String(arrived), String(error));
  }

  const unknown = sent(new PackError("cycle", "odd", { path: "p", problems }));
  assert.equal(Object.getPrototypeOf(unknown), RecordfsError.prototype);
  assert.equal(unknown.name, "PackError");
  assert.deepEqual((unknown as PackError).problems, problems);
});

Deno.test("a custom error class arrives as the closest known one", () => {
  class OwnError extends FormatError {
    readonly retries = 3;
  }
  const arrived = sent(new OwnError("changed", "it has another size"));
  assert.ok(arrived instanceof FormatError);
  assert.equal(arrived.name, "OwnError");
  assert.equal((arrived as OwnError).retries, 3);
});

Deno.test("fields that cannot be sent are omitted, and an error that is its own cause ends", () => {
  const own = Object.assign(new Error("a"), {
    loop: [] as unknown[],
    call: () => {},
    symbol: Symbol("s"),
    memory: new Map(),
    number: 4,
  });
  own.cause = own;
  own.loop.push(own.loop);
  const arrived = sent(own);
  assert.deepEqual(Object.keys(arrived), ["number"]);
  let depth = 0;
  for (let e: unknown = arrived; e instanceof Error; e = e.cause) depth++;
  assert.ok(depth > 1 && depth < 20);
});

Deno.test("any thrown value arrives as an error", () => {
  fc.assert(fc.property(fc.anything(), (thrown) => {
    const arrived = sent(thrown);
    assert.ok(arrived instanceof Error);
    if (typeof thrown === "string") assert.equal(arrived.message, thrown);
  }));
});
