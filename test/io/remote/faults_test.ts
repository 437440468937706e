/** Faults of servers are retried, or an error that names them; they never yield wrong bytes. */
import assert from "node:assert/strict";
import * as fs from "node:fs";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { open, RecordfsError } from "../../../mod.ts";
import type { RemoteOptions } from "../../../src/io/remote/remote_options.ts";
import { ffrBytes } from "../../support/ffrecord/make_ffr.ts";
import { withTempDir } from "../../support/paths.ts";
import {
  answerFile,
  type Asked,
  type Fault,
  FileServer,
  tagOf,
} from "../../support/remote/file_server.ts";

/** Larger than the first request. */
const samples = Array.from(
  { length: 20 },
  (_, i) => new Uint8Array(50_000).map((_, k) => (k * 31 + i * 7) >> 3),
);

/** Serves a file of samples. */
async function withServer(
  use: (server: FileServer, url: string, dir: string) => Promise<void>,
): Promise<void> {
  await withTempDir(async (dir) => {
    fs.mkdirSync(`${dir}/www`);
    fs.writeFileSync(`${dir}/www/a.ffr`, ffrBytes(samples));
    await using server = await FileServer.start(`${dir}/www`);
    await use(server, `${server.url}/a.ffr`, dir);
  });
}

/** Reads all samples, and compares them. */
async function readAll(url: string, remote: RemoteOptions = {}): Promise<void> {
  using container = await open(url, { remote: { cache: false, ...remote } });
  for (const [i, sample] of samples.entries()) {
    const read = await container.read(String(i).padStart(6, "0"));
    assert.deepEqual(read, sample);
  }
}

/** Applies a fault to `most` requests, beginning with request `from`. */
function times(most: number, fault: Fault, from = 0): Fault {
  let seen = 0;
  return (...args) => {
    const now = seen++;
    return now >= from && now < from + most && fault(...args);
  };
}

function failing(status: number): Fault {
  return (_, response) => {
    response.writeHead(status).end("oops");
    return true;
  };
}

/** Returns a range, limited to `most` bytes, and its headers. */
function partOf({ range }: Asked, file: Uint8Array, most = Infinity) {
  const [, start, last] = /(\d+)-(\d+)/.exec(range!)!.map(Number);
  const end = Math.min(last! + 1, start! + most, file.length);
  const headers = {
    etag: tagOf(file),
    "content-length": String(end - start!),
    "content-range": `bytes ${start}-${end - 1}/${file.length}`,
  };
  return { headers, body: file.subarray(start, end) };
}

/** Responds with the headers of a range and at most `most` bytes; returns them. */
function beginPart(
  asked: Asked,
  response: ServerResponse,
  file: Uint8Array,
  most: number,
): Uint8Array {
  const { headers, body } = partOf(asked, file, most);
  response.writeHead(206, headers);
  return body;
}

const passing: Record<string, Fault> = {
  "500": times(1, failing(500)),
  "502, 503 and 504 after each other": (() => {
    const statuses = [502, 503, 504];
    return (asked, response, file) => {
      const status = statuses.shift();
      return status !== undefined && failing(status)(asked, response, file);
    };
  })(),
  "429 with Retry-After": times(2, (_, response) => {
    response.writeHead(429, { "retry-after": "0" }).end();
    return true;
  }),
  "a connection that is reset": times(3, (_, response) => {
    response.destroy();
    return true;
  }),
  "a body that is cut": times(3, (asked, response, file) => {
    const part = beginPart(asked, response, file!, Infinity);
    response.write(part.subarray(0, 1000), () => response.destroy());
    return true;
  }, 1),
  "fewer bytes than requested": (asked, response, file) => {
    if (asked.range!.startsWith("bytes=0-")) return false;
    response.end(beginPart(asked, response, file!, 10_000));
    return true;
  },
  "more bytes than requested": (asked, response, file) => {
    const range = asked.range!.replace(/-(\d+)/, (_, n) => `-${+n + 7000}`);
    answerFile({ ...asked, range }, file!, new Date(0), response);
    return true;
  },
  "a body that is longer than its header says": times(
    4,
    (asked, response, file) => {
      const { headers, body } = partOf(asked, file!);
      const lines = Object.entries(headers).map(([name, value]) =>
        `${name}: ${value}\r\n`
      );
      const head = `HTTP/1.1 206 Partial Content\r\n${lines.join("")}\r\n`;
      response.socket!.write(head);
      response.socket!.write(body);
      response.socket!.end(new Uint8Array(5000));
      return true;
    },
  ),
  "a body that is cut after its complete content": (
    asked,
    response,
    file,
  ) => {
    const { headers, body } = partOf(asked, file!);
    response.writeHead(206, {
      ...headers,
      "content-length": String(body.length + 500),
    });
    response.write(body, () => response.destroy());
    return true;
  },
  "another range than requested": times(2, (asked, response, file) => {
    const range = asked.range!.replace(/(\d+)-/, (_, n) => `${Number(n) + 1}-`);
    answerFile({ ...asked, range }, file!, new Date(0), response);
    return true;
  }),
  "200 in the place of 206, half-way": times(2, (asked, response, file) => {
    const { range: _, ...whole } = asked;
    answerFile({ ...whole, range: undefined }, file!, new Date(0), response);
    return true;
  }, 1),
};

for (const [what, fault] of Object.entries(passing)) {
  Deno.test(`${what}: it is requested again`, async () => {
    await withServer(async (server, url) => {
      server.fault = fault;
      await readAll(url);
    });
  });
}

const refused: Record<string, { fault: Fault; code: string; words: RegExp }> = {
  "404": {
    fault: failing(404),
    code: "ENOENT",
    words: /there is no such file or directory$/,
  },
  "403": {
    fault: (_, response) => {
      response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
      return true;
    },
    code: "access-denied",
    words: /access denied \(HTTP 403 AccessDenied\)\. Send .*`headers`/,
  },
  "500 that stays": {
    fault: failing(500),
    code: "server-failed",
    words: /the server answered HTTP 500; tried \d+ times in 1 s/,
  },
  "a body that is cut, always": {
    fault: (asked, response, file) => {
      const part = beginPart(asked, response, file!, Infinity);
      response.write(
        part.subarray(0, part.length / 2),
        () => response.destroy(),
      );
      return true;
    },
    code: "unreachable",
    words: /tried \d+ times in 1 s/,
  },
  "a range of a file of unknown size": {
    fault: (asked, response, file) => {
      const { headers, body } = partOf(asked, file!);
      const range = headers["content-range"].replace(/\d+$/, "*");
      response.writeHead(206, { ...headers, "content-range": range }).end(body);
      return true;
    },
    code: "bad-answer",
    words: /does not send its size \(Content-Range: bytes 0-\d+\/\*\)/,
  },
  "501": {
    fault: failing(501),
    code: "bad-answer",
    words: /HTTP 501$/,
  },
  "a compressed file": {
    fault: (_, response, file) => {
      const encoding = { "content-encoding": "gzip" };
      response.writeHead(200, encoding).end(gzipSync(file!));
      return true;
    },
    code: "bad-answer",
    words: /compresses it in transit \(Content-Encoding: gzip\)/,
  },
  "a range that is compressed half-way": {
    fault: times(Infinity, (asked, response, file) => {
      const { headers: { "content-length": _, ...headers }, body } = partOf(
        asked,
        file!,
      );
      response.writeHead(206, { ...headers, "content-encoding": "gzip" });
      response.end(gzipSync(body));
      return true;
    }, 1),
    code: "bad-answer",
    words: /compresses it in transit \(Content-Encoding: gzip\)/,
  },
  "redirects in a circle": {
    fault: (asked, response) => {
      response.writeHead(302, { location: asked.path }).end();
      return true;
    },
    code: "redirect-loop",
    words: /redirects in a circle/,
  },
  "no ranges, and no cache": {
    fault: (asked, response, file) => {
      answerFile({ ...asked, range: undefined }, file!, new Date(0), response);
      return true;
    },
    code: "no-ranges",
    words: /Remove the option `cache: false`/,
  },
};

for (const [what, { fault, code, words }] of Object.entries(refused)) {
  Deno.test(`${what} is an error that says so`, async () => {
    await withServer(async (server, url) => {
      server.fault = fault;
      await assert.rejects(
        readAll(`${url}?secret=1`, { timeout: 1000 }),
        (error) =>
          error instanceof RecordfsError && error.code === code &&
          words.test(error.message) && !error.message.includes("secret"),
      );
    });
  });
}

Deno.test("the whole file is downloaded once, with a warning, from a server without ranges", async () => {
  await withServer(async (server, url, dir) => {
    server.fault = (asked, response, file) => {
      answerFile({ ...asked, range: undefined }, file!, new Date(0), response);
      return true;
    };
    const cache = { directory: `${dir}/cache` };
    const warnings: string[] = [];
    const onWarning = (text: string) => warnings.push(text);
    await readAll(url, { cache, onWarning });
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /the whole file is downl/);
    assert.equal(server.asked.length, 2);
    await readAll(url, { cache, onWarning });
    assert.equal(server.asked.length, 3); // the revalidation
  });
});

Deno.test("the whole file is downloaded once into the cache, with a warning, from a server with ranges only up to a length", async () => {
  await withServer(async (server, url, dir) => {
    const whole: number[] = [];
    server.fault = (asked, response, file) => {
      const [, start, last] = /(\d+)-(\d+)/.exec(asked.range ?? "") ??
        ["", "0", "Infinity"];
      if (Number(last) - Number(start) < 1 << 18) return false;
      if (asked.range === undefined) whole.push(file!.length);
      answerFile({ ...asked, range: undefined }, file!, new Date(0), response);
      return true;
    };
    const cache = { directory: `${dir}/cache` };
    const warnings: string[] = [];
    const onWarning = (text: string) => warnings.push(text);
    const names = samples.map((_, i) => String(i).padStart(6, "0"));
    using container = await open(url, { remote: { cache, onWarning } });
    assert.deepEqual(await container.read(names), samples);
    assert.equal(whole.length, 1);
    assert.equal(warnings.length, 1, warnings.join("\n"));
    assert.match(warnings[0]!, /the whole file is downl/);
    const before = server.asked.length;
    assert.deepEqual(await container.read(names), samples);
    assert.equal(server.asked.length, before);
    using without = await open(url, { remote: { cache: false } });
    await assert.rejects(without.read(names), {
      code: "no-ranges",
      message: /Remove the option `cache: false`/,
    });
  });
});

Deno.test("headers are sent to the location's own server, and not after a redirect to another", async () => {
  await withServer(async (server, url, dir) => {
    await using other = await FileServer.start(`${dir}/www`);
    let expired = false;
    other.fault = (_, response) => {
      if (expired) response.writeHead(403).end();
      const was = expired;
      expired = false;
      return was;
    };
    server.fault = (asked, response) => {
      const { authorization } = asked.headers;
      const isKnown = authorization === "Bearer token";
      response.writeHead(isKnown ? 302 : 401, {
        ...isKnown ? { location: `${other.url}/a.ffr?signature=abc` } : {},
      }).end();
      return true;
    };
    const headers = { Authorization: "Bearer token" };
    const remote = { cache: false as const, headers };
    using container = await open(url, { remote });
    await container.read("000019");
    assert.equal(server.asked.length, 1); // by now its location is known
    expired = true;
    await container.read("000012");
    assert.equal(server.asked.length, 2);
    const sent = other.asked.map((asked) => asked.headers.authorization);
    assert.ok(sent.every((value) => value === undefined));
    await assert.rejects(open(url, { remote: { cache: false } }), {
      code: "access-denied",
    });
  });
});

Deno.test("a long wait for a server is reported once", async () => {
  await withServer(async (server, url) => {
    const slow: Fault = (_, response) => {
      response.writeHead(503, { "retry-after": "3" }).end();
      return true;
    };
    const warnings: string[] = [];
    const onWarning = (text: string) => warnings.push(text);
    const failed = times(1, slow);
    const again = times(1, failing(503), 1);
    server.fault = (...args) => {
      const isAnswered = failed(...args);
      return again(...args) || isAnswered;
    };
    await readAll(url, { onWarning });
    assert.equal(warnings.length, 1, warnings.join("\n"));
    assert.match(
      warnings[0]!,
      /Cannot read .*a\.ffr at the moment: .*HTTP 503\. Retrying for up to 20 s/,
    );
  });
});

Deno.test("waiting can be aborted", async () => {
  await withServer(async (server, url) => {
    using container = await open(url, { remote: { cache: false } });
    server.fault = () => true; // never responds
    const abort = new AbortController();
    const reading = container.read("000019", { signal: abort.signal });
    setTimeout(() => abort.abort(new Error("enough")), 50);
    await assert.rejects(reading, /enough/);
  });
});
