import assert from "node:assert/strict";
import fc from "fast-check";
import {
  parseHidden,
  parseRecord,
} from "../../../src/cli/mount/record_shape.ts";

/** A record with all possible fields. */
const RECORD = {
  pid: 4321,
  startTicks: 98765,
  uid: 1000,
  source: "https://data.example/x.tar",
  mountpoint: "/mnt/x",
  log: "/run/user/1000/recordfs/a.log",
  started: "2026-11-28T11:15:01.233Z",
  mountedTicks: 99000,
  version: "0.1.0",
  device: "0:41",
  job: {
    source: "https://data.example/x.tar",
    sources: [{ location: "https://data.example/x.tar", path: "a/b" }],
    mountpoint: "/mnt/x",
    options: "uid=5",
    format: "tar",
    formatModules: ["file:///opt/own.ts"],
    ext: "jpg",
    nested: [".tar", ".zip"],
    stripSuffix: true,
    decoded: true,
    prefix: "a",
    subset: "/data/indices",
    shuffle: { seed: 7, firstEpoch: 0, epochs: 2 },
    trace: false,
    workers: 2,
    remote: { header: ["X-Key: one"], cacheDir: "/cache", timeout: 500 },
    onFailure: "dead",
  },
  container: "sha256",
  supervised: {
    supervisor: { pid: 4320, startTicks: 98764, uid: 1000 },
    restarts: 0,
    servingTicks: 99000,
    agreed: { minor: 40, flags: -5, moreFlags: 1 },
    resumable: true,
    counts: 87,
    held: [22, 24],
  },
};

/** Invalid values of fields, by path. */
const WRONG: Readonly<Record<string, readonly unknown[]>> = {
  // kill(2) takes 0 and negative numbers for process groups or all processes, and 1 is init.
  pid: [0, 1, -1, -4321, 1.5, 2 ** 22, 2 ** 53, "4321", null, undefined, true],
  startTicks: [-1, 0.5, "1", null, undefined],
  uid: [-1, 2 ** 32 - 1, 0.5, "0", null, undefined],
  source: [1, null, undefined],
  mountpoint: ["", "mnt", "./mnt", "/mnt\0", 5, null, undefined],
  log: ["a.log", "", 5, undefined],
  started: [5, undefined],
  mountedTicks: [-1, "1", undefined],
  version: [1, undefined],
  device: ["0:41\n0:42", "0", ":", "0:x", 41, null, undefined],
  job: [null, [], "x", undefined],
  "job.source": [1, undefined],
  "job.sources": [{}, [1], [{}], [{ location: "" }], [null], undefined],
  "job.mountpoint": ["mnt", 1, undefined],
  "job.options": [["a"], undefined],
  "job.format": [1, null],
  "job.formatModules": ["x", [1]],
  "job.nested": [false, "tar", [1], {}],
  "job.stripSuffix": ["yes", 1],
  "job.decoded": ["yes", 1, undefined],
  "job.subset": ["indices", 1],
  "job.shuffle": [{}, 1, { seed: -1, firstEpoch: 0, epochs: 1 }],
  "job.workers": [0, -1, 65, 1e9, "2"],
  "job.remote": [{ header: "X" }, { header: [1] }, { cacheDir: "x" }, []],
  "job.onFailure": ["", "kill", undefined],
  container: [1, undefined],
  supervised: [[], "x", undefined],
  "supervised.supervisor": [null, 4320, {}, undefined],
  "supervised.supervisor.pid": [1, 0, -1, "4320", undefined],
  "supervised.supervisor.uid": [-1, "0", undefined],
  "supervised.agreed": [{}, { minor: 40, flags: 2 ** 31, moreFlags: 0 }],
  "supervised.resumable": [1, "true", undefined],
  "supervised.counts": [-1, 2 ** 20, 1.5, "87", "../../1/mem", undefined],
  "supervised.held": [
    ["22; touch /tmp/x"],
    [-1],
    [2 ** 20],
    [0.5],
    Array(65).fill(22),
    22,
    undefined,
  ],
};

/** Returns a copy of the record with another value in a field. */
function changed(path: string, value: unknown): unknown {
  const copy = structuredClone(RECORD) as Record<string, unknown>;
  const names = path.split(".");
  let place = copy;
  for (const name of names.slice(0, -1)) {
    place = place[name] as Record<string, unknown>;
  }
  place[names.at(-1)!] = value;
  return copy;
}

Deno.test("a record with all possible fields is read unchanged", () => {
  assert.deepEqual(parseRecord(JSON.stringify(RECORD)), RECORD);
  const { sources, remote } = RECORD.job;
  const hidden = { sources, remote };
  assert.deepEqual(parseHidden(JSON.stringify(hidden)), hidden);
});

Deno.test("optional fields may be missing", () => {
  const job: Record<string, unknown> = structuredClone(RECORD.job);
  for (
    const name of ["format", "formatModules", "ext", "prefix", "subset"]
      .concat("shuffle", "workers", "remote")
  ) delete job[name];
  const record = {
    ...RECORD,
    job,
    log: null,
    container: null,
    supervised: null,
    device: "",
  };
  assert.deepEqual(parseRecord(JSON.stringify(record)), record);
});

for (const [path, values] of Object.entries(WRONG)) {
  Deno.test(`a record is rejected because of its ${path}`, () => {
    for (const value of values) {
      const text = JSON.stringify(changed(path, value));
      assert.throws(() => parseRecord(text), (error) => {
        assert.ok(error instanceof SyntaxError);
        const field = /its field (\S+) is wrong/.exec(error.message)![1]!;
        return field.startsWith(path) || path.startsWith(field);
      }, text);
    }
  });
}

Deno.test("any other text is rejected with a SyntaxError", () => {
  for (const text of ["", "null", "[]", "5", '"x"', "{", "\0".repeat(1000)]) {
    assert.throws(() => parseRecord(text), SyntaxError);
    assert.throws(() => parseHidden(text), SyntaxError);
  }
  fc.assert(fc.property(fc.json(), (text) => {
    assert.throws(() => parseRecord(text), SyntaxError);
    assert.throws(() => parseHidden(text), SyntaxError);
  }));
});
