// deno-lint-ignore-file no-console -- a program that prints its result
/**
 * Measures the best that a client can do which only requests data and discards it: ranges of one object, in random
 * order or in sequence, with a fixed number of requests in flight, each read into reused memory. Prints one line of
 * JSON.
 *
 *   deno run -A bench/remote/bare_gets.ts URL SIZE COUNT FIRST IN_FLIGHT [READS] [FILE]
 *
 * Of COUNT ranges of SIZE bytes, the first of which begins at FIRST, READS are read; by default, all. With a COUNT of
 * 1, requests the object from its start by one request; with FILE, writes it there, the least that any download must
 * do. `fetch` with a reader that is given memory ("byob") is Deno's fastest client: streams' own memory,
 * `arrayBuffer()` and `node:http` take up to three times the CPU time. An `s3://` URL is requested with signatures by
 * aws4fetch, with the endpoint and keys of the environment.
 *
 * @module
 */
import * as fs from "node:fs";
import { AwsV4Signer } from "aws4fetch";
import { batchesOf } from "../support/random_order.ts";

const [location, ...numbers] = Deno.args.slice(0, 6);
const into = Deno.args[6] === undefined
  ? undefined
  : fs.openSync(Deno.args[6], "w");
const [size, count, begin, inFlight, reads = count] = numbers.map(Number) as [
  number,
  number,
  number,
  number,
  number?,
];
const isBucket = location!.startsWith("s3://");
const { AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = Deno.env
  .toObject();
const url = isBucket
  ? `${AWS_ENDPOINT_URL}/${location!.slice("s3://".length)}`
  : location!;
/** Ranges in request order. */
const order = batchesOf(count, 1).flat().slice(0, reads);
let next = 0;

async function headersFor(range: string): Promise<Headers> {
  const headers = new Headers({ range });
  if (!isBucket) return headers;
  const signer = new AwsV4Signer({
    url,
    method: "GET",
    headers,
    accessKeyId: AWS_ACCESS_KEY_ID!,
    secretAccessKey: AWS_SECRET_ACCESS_KEY!,
    service: "s3",
    region: "us-east-1",
  });
  return (await signer.sign()).headers;
}

async function read(): Promise<void> {
  let memory = new ArrayBuffer(Math.min(size, 1 << 20));
  while (next < order.length) {
    const start = begin + order[next++]! * size;
    const headers = await headersFor(`bytes=${start}-${start + size - 1}`);
    const { status, body } = await fetch(url, { headers });
    if (status !== 206 || body === null) throw new Error(`HTTP ${status}`);
    const reader = body.getReader({ mode: "byob" });
    let got = 0;
    for (;;) {
      const { value, done } = await reader.read(new Uint8Array(memory));
      if (value !== undefined) memory = value.buffer;
      if (done) break;
      if (into !== undefined) fs.writeSync(into, value);
      got += value.length;
    }
    if (got !== size) throw new Error(`${got} bytes of ${size}`);
  }
}

const start = performance.now();
await Promise.all(Array.from({ length: inFlight }, read));
const seconds = (performance.now() - start) / 1000;
console.log(JSON.stringify({ seconds, ranges: order.length }));
