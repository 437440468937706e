/** The server: truncated, half-closed, fragmented and corrupted requests, and clients that leave or do not read. */
import { Buffer } from "node:buffer";
import { open } from "../../../src/open/open.ts";
import { serve } from "../../../src/serve/serve.ts";
import type { Dice } from "../dice.ts";
import type { Scene } from "../scene.ts";
import { encodeUrlPath } from "../../../src/serve/paths.ts";
import { type Drive, QUIET } from "./drive.ts";

/** Timeout of a response, in milliseconds. */
const LONGEST = 120_000;
/** Number of requests per case. */
const MOST = 12;
const TOKEN = "a-token-of-the-fuzzer";
const BYTES = [
  "\r",
  "\n",
  "\0",
  " ",
  "\t",
  ":",
  "\x7f",
  "\xff",
  "\r\n",
  "GET ",
];

const TAR = "/files/?tar";
/** Depth from which no tar is requested: with the path of each level, its size grows with the square of the depth. */
const VERY_DEEP = 90;

export const httpDrive: Drive = {
  name: "http",
  every: 6,
  async run(scene) {
    const opened = await scene.attempt("open", () => open(scene.path, QUIET));
    if (!opened.ok) return;
    using fs = opened.value;
    const paths = ["/files/", TAR, "/dav/", "/", "/api/info"];
    for await (const { path, isFile, depth } of walked(scene, fs)) {
      if (depth >= VERY_DEEP && paths.includes(TAR)) {
        paths.splice(paths.indexOf(TAR), 1);
      }
      if (isFile) paths.push(`/files/${encodeUrlPath(path)}`);
      if (paths.length === 50) break;
    }
    const errors: unknown[] = [];
    await using server = serve(fs, {
      token: TOKEN,
      onError: (error) => errors.push(error),
    });
    const { port } = server;
    for (let i = 0; i < MOST; i++) {
      const { text, isWhole } = requestOf(scene.dice, paths);
      const step = `request ${i}`;
      await scene.attempt(step, () => judge(scene, port, text, isWhole));
    }
    const whole = `GET / HTTP/1.1\r\nHost: h\r\n\r\n`;
    const last = await scene.attempt(
      "a request behind these",
      () => exchange(port, whole.replace("Host: h", "Host: localhost"), "end"),
    );
    if (last.ok && !last.value.startsWith("HTTP/1.1 401 ")) {
      scene.report("disagreement", `it is answered by ${start(last.value)}`);
    }
    // Damage is reported to the client. Any other error is a bug.
    for (const error of errors) scene.judge(error);
  },
};

async function* walked(scene: Scene, fs: Awaited<ReturnType<typeof open>>) {
  const entries = await scene.attempt("walk", async () => {
    const found = [];
    for await (const entry of fs.walk()) {
      if (found.push(entry) === 100) break;
    }
    return found;
  });
  if (entries.ok) yield* entries.value;
}

/** Returns a request, and whether it is complete and valid. */
function requestOf(
  dice: Dice,
  paths: readonly string[],
): { text: string; isWhole: boolean } {
  const path = dice.pick(paths);
  const method = path === "/dav/" ? "PROPFIND" : dice.once(6) ? "HEAD" : "GET";
  const lines = [`${method} ${path} HTTP/1.1`, "Host: localhost"];
  if (!dice.once(4)) lines.push(`Authorization: Bearer ${TOKEN}`);
  if (method === "PROPFIND") lines.push("Depth: 1");
  if (dice.once(3)) lines.push(`Range: bytes=${dice.int(50)}-${dice.int(500)}`);
  if (dice.once(8)) lines.push(`X: ${"x".repeat(dice.size(1, 300_000))}`);
  lines.push("", "");
  let text = lines.join("\r\n");
  let isWhole = true;
  if (dice.once(2)) {
    isWhole = false;
    for (let times = dice.size(1, 4); times > 0; times--) {
      const at = dice.int(text.length);
      const added = dice.once(3) ? "" : dice.pick(BYTES);
      text = text.slice(0, at) + added + text.slice(at + dice.int(3));
    }
  }
  if (dice.once(3)) {
    isWhole = false;
    text = text.slice(0, dice.int(text.length));
  }
  if (isWhole && dice.once(4)) text = text.repeat(dice.size(2, 5));
  return { text, isWhole };
}

/** What a client does after its bytes are sent: closes its sending half, disconnects, or reads a single chunk. */
type Ending = "end" | "leave" | "stay";

async function judge(
  scene: Scene,
  port: number,
  text: string,
  isWhole: boolean,
): Promise<void> {
  const ending = scene.dice.pick<Ending>(["end", "end", "leave", "stay"]);
  const pieces = scene.dice.once(3) ? scene.dice.size(1, 2000) : Infinity;
  const answer = await exchange(port, text, ending, pieces);
  if (ending !== "end" || text === "") return;
  const shown = JSON.stringify(text.slice(0, 300));
  if (!/^HTTP\/1\.1 [2-5]\d\d /.test(answer)) {
    scene.report("disagreement", `${shown} is answered by ${start(answer)}`);
  }
  if (isWhole && /^HTTP\/1\.1 400 /.test(answer)) {
    scene.report("disagreement", `${shown} is refused: ${start(answer)}`);
  }
}

/** Sends a request, and returns the response. */
async function exchange(
  port: number,
  text: string,
  ending: Ending,
  piece = Infinity,
): Promise<string> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const late = setTimeout(() => conn.close(), LONGEST);
  try {
    const bytes = Buffer.from(text, "latin1");
    const sending = send(conn, bytes, piece, ending).catch(() => {}); // the server may disconnect
    if (ending === "leave") {
      await sending;
      return "";
    }
    let answer = "";
    const into = new Uint8Array(1 << 16);
    for (;;) {
      const got = await conn.read(into);
      if (got === null) return answer;
      if (answer.length < 1 << 16) {
        answer += Buffer.from(into.subarray(0, got)).toString("latin1");
      }
      if (ending === "stay") return answer;
    }
  } finally {
    clearTimeout(late);
    try {
      conn.close();
    } catch {
      // The timeout closed it; the read has failed.
    }
  }
}

async function send(
  conn: Deno.TcpConn,
  bytes: Uint8Array,
  piece: number,
  ending: Ending,
): Promise<void> {
  for (let at = 0; at < bytes.length; at += piece) {
    const end = Math.min(at + piece, bytes.length);
    for (let rest = bytes.subarray(at, end); rest.length > 0;) {
      rest = rest.subarray(await conn.write(rest));
    }
  }
  if (ending !== "leave") await conn.closeWrite();
}

function start(answer: string): string {
  return JSON.stringify(answer.slice(0, 200));
}
