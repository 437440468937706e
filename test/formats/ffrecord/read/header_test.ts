import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import { FormatError } from "../../../../src/base/errors.ts";
import { PendingHeader } from "../../../../src/formats/ffrecord/read/header.ts";
import { SampleIndex } from "../../../../src/formats/ffrecord/read/sample_index.ts";
import { FFRecordTree } from "../../../../src/formats/ffrecord/tree/tree.ts";
import { newExtent } from "../../../../src/tree/tree.ts";
import { NumberedFiles } from "../../../../src/tree/numbered_files.ts";
import type { ByteSource } from "../../../../src/io/storage/byte_source.ts";
import { MemorySource } from "../../../../src/io/storage/memory_source.ts";
import { runAsync, runSync } from "../../../../src/io/concurrency/steps.ts";
import { openDeferred } from "../../../../src/open/open_deferred.ts";
import { VirtualFs } from "../../../../src/tree/vfs/virtual_fs.ts";
import { ffrHeader } from "../../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../../support/paths.ts";
import type { Answer, Question } from "../support/serving_thread.ts";

const PIECE = 1 << 20;
/** Enough samples for tables of three pieces. */
const COUNT = 200_000;
/** Sample i has i % 7 bytes. */
const LENGTHS = Array.from({ length: COUNT }, (_, i) => i % 7);

/** Returns a valid file whose content is not read. */
function recordFile(): Uint8Array<ArrayBuffer> {
  const header = ffrHeader(LENGTHS, new Array<number>(COUNT).fill(0));
  const content = LENGTHS.reduce((sum, length) => sum + length, 0);
  const bytes = new Uint8Array(header.length + content);
  bytes.set(header);
  return bytes;
}

function offsetOf(sample: number): number {
  const before = LENGTHS.slice(0, sample);
  return 12 + 12 * COUNT + before.reduce((sum, length) => sum + length, 0);
}

/** Source whose reads from an offset on wait until the gate is opened. */
class GatedSource extends MemorySource {
  readonly #gate = Promise.withResolvers<void>();
  readonly #from: number;

  constructor(bytes: Uint8Array, from: number) {
    super(bytes, "gated.ffr");
    this.#from = from;
  }

  open(): void {
    this.#gate.resolve();
  }

  override readCached(into: Uint8Array, offset: number): number {
    return offset < this.#from ? this.readAtSync(into, offset) : 0;
  }

  override async readAt(into: Uint8Array, offset: number): Promise<number> {
    if (offset >= this.#from) await this.#gate.promise;
    return this.readAtSync(into, offset);
  }
}

function treeOf(source: ByteSource, header: PendingHeader): FFRecordTree {
  const part = {
    path: source.name,
    size: source.size,
    count: header.count,
    table: header.table,
    progress: header.progress.slots,
  };
  const index = new SampleIndex([part]);
  const names = new NumberedFiles(index.length, "");
  return new FFRecordTree({ sources: [source], index, mtime: 0 }, names);
}

/** Sends requests to another thread, which waits if it must. */
class ServingThread implements Disposable {
  readonly #worker = new Worker(
    new URL("../support/serving_thread.ts", import.meta.url),
    { type: "module" },
  );

  ask(question: Question): Promise<Answer> {
    this.#worker.postMessage(question);
    return new Promise((resolve) => {
      this.#worker.onmessage = ({ data }) => resolve(data);
    });
  }

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }
}

Deno.test("a sample can be looked up when only its rows are loaded", () => {
  const source = new MemorySource(recordFile(), "a.ffr");
  for (const sample of [0, 87_381, 123_456, COUNT - 1]) {
    const header = runSync(PendingHeader.read(source, true, PIECE));
    assert.equal(header.count, COUNT);
    runSync(header.loadSample(sample));
    const extent = newExtent();
    const tree = treeOf(source, header);
    const { parts } = (tree.share().data) as {
      parts: ConstructorParameters<typeof SampleIndex>[0];
    };
    new SampleIndex(parts).locate(sample, extent);
    assert.equal(extent.offset, offsetOf(sample));
    assert.equal(extent.length, LENGTHS[sample]);
    const loaded = [0, 1, 2].filter((piece) => header.progress.isLoaded(piece));
    assert.ok(loaded.length < 3, "one of the pieces has no row of it");
    runSync(header.complete());
    assert.ok(header.progress.isSound);
  }
});

Deno.test("threads wait for the rows they need, and with content until all is checked", async () => {
  // After the second of the three pieces.
  const source = new GatedSource(recordFile(), 12 + 2 * PIECE);
  const header = await runAsync(PendingHeader.read(source, true, PIECE));
  const seed = treeOf(source, header).share();
  using first = new ServingThread();
  using second = new ServingThread();
  const sample = 30_000; // its offset is in the second piece
  const size = first.ask({ seed, node: sample + 2, ask: "size" });
  const offset = second.ask({ seed, node: sample + 2, ask: "offset" });
  const completed = runAsync(header.complete());
  assert.deepEqual(await size, { value: LENGTHS[sample] });
  assert.equal(header.progress.isSound, false, "the third piece is not there");
  source.open();
  assert.deepEqual(await offset, { value: offsetOf(sample) });
  assert.equal(header.progress.isSound, true);
  await completed;
});

Deno.test("a piece that a thread waits for is loaded first", async () => {
  const source = new MemorySource(recordFile(), "a.ffr");
  const header = await runAsync(PendingHeader.read(source, true, PIECE));
  const { progress } = header;
  const seed = treeOf(source, header).share();
  runSync(header.loadSample(0)); // the first piece, with the checksums of all samples
  using thread = new ServingThread();
  const last = COUNT - 1;
  const size = thread.ask({ seed, node: last + 2, ask: "size" });
  while (progress.wanted() !== 2) await new Promise((r) => setTimeout(r));
  Atomics.store(progress.slots, 1, 3); // marks the second piece as read but not verified
  const steps = header.complete();
  const first = steps.next();
  assert.ok(!first.done);
  steps.next(first.value.sync());
  const loaded = [0, 1, 2].map((piece) => progress.isLoaded(piece));
  assert.deepEqual(loaded, [true, false, true]);
  assert.deepEqual(await size, { value: LENGTHS[last] });
  steps.return();
  assert.throws(() => progress.waitUntilSound("a.ffr"), FormatError);
});

Deno.test("damaged tables are an error to the loader and to every thread", async () => {
  const bytes = recordFile();
  bytes[12 + 12 * COUNT - 3]! ^= 1;
  const source = new MemorySource(bytes, "damaged.ffr");
  const header = await runAsync(PendingHeader.read(source, true, PIECE));
  const seed = treeOf(source, header).share();
  using thread = new ServingThread();
  const waiting = thread.ask({ seed, node: 2, ask: "offset" });
  const damage = (error: unknown) =>
    error instanceof FormatError && error.code === "metadata-checksum";
  await assert.rejects(runAsync(header.complete()), damage);
  assert.deepEqual(await waiting, { error: "metadata-checksum" });
  const later = await thread.ask({ seed, node: 2, ask: "offset" });
  assert.deepEqual(later, { error: "metadata-checksum" });
  // Without verification, they are used unchecked.
  const unchecked = await runAsync(PendingHeader.read(source, false, PIECE));
  await runAsync(unchecked.complete());
  assert.ok(unchecked.progress.isSound);
});

Deno.test("unreadable tables are an error to every thread as well", async () => {
  const bytes = recordFile();
  const cut = new MemorySource(bytes, "cut.ffr");
  const header = await runAsync(PendingHeader.read(cut, true, PIECE));
  const seed = treeOf(cut, header).share();
  cut.readCached = () => 0;
  cut.readAt = () => Promise.resolve(5);
  using thread = new ServingThread();
  const waiting = thread.ask({ seed, node: 2, ask: "size" });
  await assert.rejects(runAsync(header.complete()), /ended .* early/);
  assert.deepEqual(await waiting, { error: "metadata-checksum" });
});

Deno.test("a container opened deferred equals one opened at once, when it is complete", async () => {
  await withTempDir(async (dir) => {
    const path = `${dir}/a.ffr`;
    const bytes = recordFile();
    await Deno.writeFile(path, bytes);
    const container = await openDeferred(path);
    await container.complete();
    const fs = new VirtualFs(path, container, true);
    assert.equal(fs.info.files, COUNT);
    const last = COUNT - 1;
    assert.equal(fs.statSync(String(last)).size, LENGTHS[last]);
    fs.close();
    // A stored checksum of 0 marks an old version, which has nothing to verify.
    assert.notEqual(crc32(bytes.subarray(4, 12 + 12 * COUNT)), 0);
    bytes.fill(0, 0, 4);
    bytes[13]! ^= 1;
    await Deno.writeFile(path, bytes);
    const old = await openDeferred(path, { onWarning() {} });
    await old.complete();
    old.tree.close();
  });
});
