/** Objects that change while they are read, on servers that report it or not: never bytes of two versions. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import { open } from "../../../mod.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import {
  answerFile,
  type Fault,
  FileServer,
} from "../../support/remote/file_server.ts";

const SAMPLES = Array.from(
  { length: 20 },
  (_, i) => new Uint8Array(50_000).map((_, k) => (k * 31 + i * 7) >> 3),
);
const FILE = ffrBytes(SAMPLES);

/** New content of the object; none if it is deleted. */
const changes: Record<string, Uint8Array | undefined> = {
  "of the same size": ffrBytes(SAMPLES.toReversed()),
  "shorter": ffrBytes(SAMPLES.slice(0, 6)),
  "longer": ffrBytes([...SAMPLES, ...SAMPLES]),
  "gone": undefined,
};

/** How the server handles conditional requests. */
const servers: Record<string, Fault | undefined> = {
  "that evaluates conditions": undefined,
  "that ignores conditions": (asked, response, file) => {
    if (file === undefined) return false;
    const { "if-match": _, ...headers } = asked.headers;
    answerFile({ ...asked, headers }, file, new Date(0), response);
    return true;
  },
  "without tags": (asked, response, file) => {
    if (file === undefined) return false;
    const { "if-match": _, ...headers } = asked.headers;
    const send = response.setHeader.bind(response);
    response.setHeader = (name, value) =>
      name === "etag" ? response : send(name, value);
    const modified = new Date(
      Buffer.compare(file, FILE) === 0 ? 0 : 86_400_000,
    );
    answerFile({ ...asked, headers }, file, modified, response);
    return true;
  },
};

for (const [change, bytes] of Object.entries(changes)) {
  for (const [kind, fault] of Object.entries(servers)) {
    Deno.test(`an object that is ${change} after it was opened, on a server ${kind}`, async () => {
      await withTempDir(async (dir) => {
        fs.mkdirSync(`${dir}/www`);
        const path = `${dir}/www/a.ffr`;
        fs.writeFileSync(path, FILE);
        await using server = await FileServer.start(`${dir}/www`);
        server.fault = fault;
        const remote = { cache: { directory: `${dir}/cache` } };
        const url = `${server.url}/a.ffr?token=hush`;
        using container = await open(url, { remote });
        assert.deepEqual(await container.read("000001"), SAMPLES[1]);
        if (bytes === undefined) fs.rmSync(path);
        else fs.writeFileSync(path, bytes);
        await assert.rejects(container.read("000019"), {
          code: "changed",
          path: `${server.url}/a.ffr`,
          message:
            /Cannot read .*a\.ffr: it was replaced or changed after it was opened\. Open it again$/,
        });
        // Cached data of the opened version remains valid.
        assert.deepEqual(await container.read("000001"), SAMPLES[1]);
        if (bytes === undefined) return;
        using again = await open(url, { remote });
        using local = await open(path);
        const names = await local.list("/");
        assert.deepEqual(await again.read(names), await local.read(names));
      });
    });
  }
}
