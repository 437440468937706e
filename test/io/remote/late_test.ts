/** Servers that are slow, or ask clients to wait. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import type { ServerResponse } from "node:http";
import { open, RecordfsError } from "../../../mod.ts";
import { StallWatch } from "../../../src/io/remote/retry/stall_watch.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import {
  type Asked,
  type Fault,
  FileServer,
  tagOf,
} from "../../support/remote/file_server.ts";

const sample = new Uint8Array(900_000).map((_, k) => (k * 31) >> 3);

/** Serves a container of one sample, larger than the first responses. */
async function withServer(
  use: (server: FileServer, url: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    fs.writeFileSync(`${dir}/a.ffr`, ffrBytes([sample]));
    await using server = await FileServer.start(dir);
    await use(server, `${server.url}/a.ffr`);
  });
}

/** Uses a shorter stall timeout than the default. */
async function withLessPatience(run: () => Promise<void>): Promise<void> {
  const before = StallWatch.silence;
  StallWatch.silence = 400;
  try {
    await run();
  } finally {
    StallWatch.silence = before;
  }
}

/** Starts a correct response to a range request, and returns its bytes. */
function begin(
  { range }: Asked,
  response: ServerResponse,
  file: Uint8Array,
): Uint8Array {
  const [, start, last] = /(\d+)-(\d+)/.exec(range!)!.map(Number);
  const end = Math.min(last! + 1, file.length);
  response.writeHead(206, {
    etag: tagOf(file),
    "content-length": end - start!,
    "content-range": `bytes ${start}-${end - 1}/${file.length}`,
  });
  return file.subarray(start, end);
}

/** Returns the first offset of a range. */
function startOf({ range }: Asked): number {
  return Number(/\d+/.exec(range!)![0]);
}

const late: Record<string, Fault> = {
  "never begins to answer": () => true,
  "stops in the middle of a body": (asked, response, file) => {
    response.write(begin(asked, response, file!).subarray(0, 50_000));
    return true;
  },
  "trickles": (asked, response, file) => {
    const body = begin(asked, response, file!);
    let sent = 0;
    const timer = setInterval(() => {
      response.write(body.subarray(sent, sent += 100));
    }, 20);
    response.once("close", () => clearInterval(timer));
    return true;
  },
};

for (const [what, fault] of Object.entries(late)) {
  Deno.test(`from a server that ${what}, the missing bytes are requested again`, async () => {
    await withLessPatience(() =>
      withServer(async (server, url) => {
        using container = await open(url, { remote: { cache: false } });
        const before = server.asked.length;
        let left = 2;
        server.fault = (...all) => left-- > 0 && fault(...all);
        assert.deepEqual(await container.read("000000"), sample);
        const starts = server.asked.slice(before).map(startOf);
        assert.ok(left < 0, "it was not late");
        if (what === "never begins to answer") return;
        assert.ok(
          starts[1]! > starts[0]!,
          `asked again for what came: ${starts}`,
        );
      })
    );
  });
}

Deno.test("a server that only trickles bytes is an error within the timeout", async () => {
  await withLessPatience(() =>
    withServer(async (server, url) => {
      server.fault = late["never begins to answer"];
      await assert.rejects(
        open(url, { remote: { cache: false, timeout: 600 } }),
        { code: "unreachable", message: /sent 0 bytes and then almost noth/ },
      );
    })
  );
});

for (
  const [what, status, retryAfter] of [
    ["seconds", 429, () => "1"],
    ["a date", 503, () => new Date(Date.now() + 2000).toUTCString()],
  ] as const
) {
  Deno.test(`a server that responds ${status} with Retry-After in ${what} gets no request for that long`, async () => {
    await withServer(async (server, url) => {
      let until = 0;
      const early: number[] = [];
      server.fault = (_, response) => {
        const now = Date.now();
        if (until > 0) {
          if (now < until) early.push(until - now);
          return false;
        }
        const value = retryAfter();
        until = what === "seconds" ? now + 1000 : Date.parse(value);
        response.writeHead(status, { "retry-after": value }).end();
        return true;
      };
      using container = await open(url, { remote: { cache: false } });
      assert.deepEqual(await container.read("000000"), sample);
      assert.ok(until > 0);
      assert.deepEqual(early.filter((ms) => ms > 20), []); // tolerance for coarse clocks
    });
  });
}

Deno.test("a Retry-After longer than the timeout is not waited for", async () => {
  await withServer(async (server, url) => {
    server.fault = (_, response) => {
      response.writeHead(503, { "retry-after": "3600" }).end();
      return true;
    };
    await assert.rejects(
      open(url, { remote: { cache: false, timeout: 60_000 } }),
      {
        code: "server-failed",
        message: /HTTP 503, and asks to wait 3600 s; tried/,
      },
    );
    assert.equal(server.asked.length, 1);
  });
});

Deno.test("an unknown server name is an error that says so", async () => {
  const remote = { cache: false as const, timeout: 300 };
  await assert.rejects(
    open("http://nowhere.invalid/a.ffr?token=hush", { remote }),
    (error) =>
      error instanceof RecordfsError && error.code === "unreachable" &&
      /^Cannot read http:\/\/nowhere\.invalid\/a\.ffr: .*dns error.*tried \d+ times/
        .test(error.message) &&
      !Deno.inspect(error).includes("hush"),
  );
});
