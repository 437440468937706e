/**
 * Clients that do not read responses, do not finish requests, or stay idle: the cost for the server, and its response
 * to other clients. The whole attacks take a minute each. A quick run uses a fifth of the clients, which is enough to
 * show a failure.
 */
import assert from "node:assert/strict";
import { until } from "../../cli/mount/mount_place.ts";
import { LONG } from "../../support/long.ts";
import { withTempDir } from "../../support/paths.ts";
import { needs } from "../../support/programs/programs.ts";
import { Authority } from "../../support/remote/authority.ts";
import { headOf, RawClient } from "../../support/serve/raw_client.ts";
import { packed } from "../../support/serve/served_folder.ts";
import { startServing } from "../../support/serve/serving_command.ts";

/** Maximum memory of all threads, in bytes. */
const MOST = 400e6;
/** Size of a file that exceeds the kernel's socket buffers. */
const LARGE = 12 << 20;
const SHARE = LONG ? 1 : 5;

/** An attack. */
interface Attack {
  readonly clients: number;
  /** Text that each client sends. */
  readonly text: (token: string) => string;
  readonly descriptors?: number;
  readonly isSecure?: boolean;
  /** Whether clients send no TLS handshake either. */
  readonly isSilent?: boolean;
}

const propfind = "<propfind xmlns='DAV:'><allprop/></propfind>";

function asked(path: string, ...headers: string[]) {
  return (token: string) =>
    headOf(path, `Authorization: Bearer ${token}`, ...headers);
}

const tar: Attack = { clients: 1000, text: asked("/files/?tar") };
const heads: Attack = {
  clients: 2000,
  text: (token) => asked("/", `X: ${"x".repeat(250_000)}`)(token).slice(0, -2),
};
const unknownHeads: Attack = {
  clients: 2000,
  text: () => headOf("/", `X: ${"x".repeat(16_000)}`).slice(0, -2),
};
const idle: Attack = { clients: 400, text: () => "", descriptors: 256 };

const ATTACKS: Readonly<Record<string, Attack>> = {
  "read no archive": tar,
  "read no large file": { clients: 1000, text: asked("/files/large.bin") },
  "read no ranges": {
    clients: 1000,
    text: asked("/files/large.bin", "Range: bytes=0-5000000,6000000-"),
  },
  "read none of many small files": {
    clients: 1000,
    text: (token) => asked("/files/medium.bin")(token).repeat(12),
  },
  "read no listing": {
    clients: 1000,
    text: (token) =>
      asked("/dav/many/", "Depth: 1", `Content-Length: ${propfind.length}`)(
        token,
      ).replace("GET", "PROPFIND").concat(propfind).repeat(8),
  },
  "read no list of the page": {
    clients: 1000,
    text: (token) => asked("/api/list?path=many&limit=10000")(token).repeat(8),
  },
  "read no archive, where descriptors are few": {
    ...tar,
    clients: 400,
    descriptors: 256,
  },
  "never end a head": heads,
  "send no token": unknownHeads,
  "stay idle": idle,
  "read no archive over HTTPS": { ...tar, isSecure: true },
  "stay idle over HTTPS": { ...idle, isSecure: true },
  "begin no handshake": { ...idle, isSecure: true, isSilent: true },
};

/** Attacks in a quick run. */
const QUICK = ["read no archive", "stay idle"];

for (const [what, attack] of Object.entries(ATTACKS)) {
  if (!LONG && !QUICK.includes(what)) continue;
  Deno.test({
    name: `clients that ${what} cost little, and others are served`,
    ...needs(...attack.isSecure ? ["openssl"] : []),
    fn: () => withTempDir((dir) => attacked(dir, attack)),
  });
}

async function attacked(
  dir: string,
  { clients, text, descriptors, isSecure, isSilent }: Attack,
): Promise<void> {
  const path = `${dir}/a.ffr`;
  await Deno.writeFile(
    path,
    packed({
      "a.txt": "content of a",
      "medium.bin": new Uint8Array(1_000_000).fill(1),
      "large.bin": new Uint8Array(LARGE).fill(2),
      many: Object.fromEntries(
        Array.from({ length: 3000 }, (_, i) => [`entry ${i}.txt`, ""]),
      ),
    }),
  );
  const authority = isSecure ? new Authority(`${dir}/ca`) : undefined;
  const certified: string[] = [];
  if (authority !== undefined) {
    const { cert, key } = authority.certify();
    await Deno.writeTextFile(`${dir}/cert`, cert);
    await Deno.writeTextFile(`${dir}/key`, key);
    certified.push("--tls-cert", `${dir}/cert`, "--tls-key", `${dir}/key`);
  }
  const server = await startServing(
    ["serve", "--workers", "2", "--port", "0", "--quiet", ...certified, path],
    {},
    ["-A"],
    descriptors,
  );
  const { pid, token } = server;
  const port = Number(new URL(server.url).port);
  const small = asked("/files/a.txt", "Connection: close")(token);
  const ask = async () => {
    using client = await RawClient.of({ port, authority });
    await client.send(small);
    return (await client.rest()).toString();
  };
  assert.match(await ask(), /content of a$/);
  const before = await residentOf(pid);
  const count = descriptors === undefined ? clients / SHARE : clients;
  const attackers: RawClient[] = [];
  const sent = text(token);
  for (let i = 0; i < count; i++) {
    const reached = { port, authority: isSilent ? undefined : authority };
    const client = await RawClient.of(reached);
    attackers.push(client);
    client.send(sent).catch(() => {}); // the server may disconnect, or never read
  }
  let peak = 0;
  for (let round = 0; round < 10; round++) {
    assert.match(await ask(), /content of a$/);
    await new Promise((resolve) => setTimeout(resolve, 200));
    peak = Math.max(peak, await residentOf(pid));
  }
  assert.ok(peak < MOST, `${peak} bytes for ${count} clients`);
  for (const client of attackers) client[Symbol.dispose]();
  // Memory that V8 has not collected may remain, but no buffers of responses.
  const most = before + (peak - before) / 2 + 64e6;
  await until(async () => await residentOf(pid) < most);
  const { code } = await server.end("SIGTERM");
  assert.equal(code, 0);
}

/** Resident memory of a process, in bytes. */
async function residentOf(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
}
