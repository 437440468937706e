/**
 * Programs that read the listings of web servers: they list a served container, and copy it byte for byte. Comments
 * name what a program cannot copy from any server.
 */
import assert from "node:assert/strict";
import { encodeName } from "../../../src/base/names.ts";
import { open } from "../../../src/open/open.ts";
import { needs, PYTHON } from "../../support/programs/programs.ts";
import { run, withOriginal } from "../../support/serve/client_programs.ts";
import {
  type Files,
  served,
  type ServedFolder,
} from "../../support/serve/served_folder.ts";

const FILES: Files = {
  "a.txt": "content\n",
  "empty": "",
  "large.bin": Uint8Array.from({ length: 2_500_000 }, (_, i) => i * i >> 5),
  "with space & more.txt": "odd",
  "50% #1?.txt": "odder",
  "100%25 d": { "a#b?c": "escaped" },
  "a:b": "colon",
  "plus+semi;eq=,.txt": "signs",
  "quotes ' and \".txt": "quotes",
  "back\\slash": "no separator",
  "<i>&amp;.txt": "no markup",
  "(1) [2] {3} * $x`!": "no pattern",
  "new\nline": "a line",
  "ü😀.jpg": "picture",
  "http.log": "no URL",
  "-dash": "no option",
  ".hidden": "hidden",
  "...": "no parent",
  "index.html": "no listing",
  ["x".repeat(200)]: "long",
  "dir": { "ü b": { "😀.jpg": "picture", "index.html": "no listing" } },
  "https:": { "deep": { "a.txt": "deep" } },
  "many": Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [`${i}.txt`, `number ${i}`]),
  ),
  // Names that are not UTF-8: the bytes FF and E9.
  "\udcff.bin": "bytes",
  "d\udce9": { "\udce9": "deep bytes" },
};

/** Server and directory of a test. */
interface Scene {
  readonly server: ServedFolder["server"];
  /** URL of the listing of the root. */
  readonly url: string;
  /** Directory that has the files in `original`. */
  readonly directory: string;
}

/** Serves a tar of these files, made by tar. */
async function withServer(
  files: Files,
  use: (scene: Scene) => Promise<void>,
): Promise<void> {
  await withOriginal(files, async (directory) => {
    const archive = `${directory}/a.tar`;
    await run("tar", ["-C", `${directory}/original`, "-cf", archive, "."]);
    await using folder = served(await open(archive));
    const { server } = folder;
    await use({ server, url: `${server.url}files/`, directory });
  });
}

/** Compares the copied files with the originals. */
async function compare({ directory }: Scene): Promise<void> {
  await run("diff", ["-r", "original", "copy"], { cwd: directory });
}

/** Returns the files without some entries of the root. */
function without(...names: string[]): Files {
  const rest = { ...FILES };
  for (const name of names) {
    assert.ok(name in rest, name);
    delete rest[name];
  }
  return rest;
}

/** Isolates programs from the settings of the user who runs the tests. */
const envOf = ({ directory }: Scene) => ({
  HOME: directory,
  LC_ALL: "C.UTF-8",
});

Deno.test({
  name: "wget -r copies it",
  ...needs("wget", "tar"),
  fn: () =>
    withServer(FILES, async (scene) => {
      const { server: { token }, url, directory } = scene;
      await run("wget", [
        ...["--no-config", "-q", "-r", "-np", "-nH", "--cut-dirs=1"],
        // Keeps names unchanged, and stores listings under a name that no file has.
        ...["--restrict-file-names=nocontrol", "--no-iri"],
        ...["--default-page=.listing", "-P", "copy"],
        ...[`--header=Authorization: Bearer ${token}`, url],
      ], { cwd: directory, env: envOf(scene) });
      await run("find", [
        ...["copy", "-name", ".listing", "-delete"],
      ], { cwd: directory });
      await compare(scene);
    }),
});

Deno.test({
  name: "wget is asked for a password, and sends the token",
  ...needs("wget", "tar"),
  fn: () =>
    withServer({ "a.txt": "content" }, async (scene) => {
      const { server: { token }, url, directory } = scene;
      const login = ["--user=any", `--password=${token}`];
      const args = ["--no-config", "-q", "-O", "-", ...login, `${url}a.txt`];
      const text = await run("wget", args, {
        cwd: directory,
        env: envOf(scene),
      });
      assert.equal(text, "content");
    }),
});

Deno.test({
  name: "curl gets the listing as links, and as JSON on request",
  ...needs("curl", "tar"),
  fn: () =>
    withServer(FILES, async ({ server: { token }, url }) => {
      const curl = (...args: string[]) =>
        run("curl", ["-q", "-sS", "--fail", "--user", `any:${token}`, ...args]);
      const links = [...(await curl(url)).matchAll(/<a href="([^"]*)"/g)]
        .map(([, href]) => decode(href!));
      const names = Object.keys(FILES).map((name) => {
        const end = isDirectory(FILES[name]!) ? "/" : "";
        return `${name.startsWith("http") ? "./" : ""}${name}${end}`;
      });
      assert.deepEqual(links.sort(), names.map(latin1).sort());
      const wellFormed = Object.keys(FILES)
        .filter((name) => name.isWellFormed());
      for (
        const args of [[`${url}?json`], ["-H", "Accept: application/json", url]]
      ) {
        const list: { name: string }[] = JSON.parse(await curl(...args));
        assert.equal(list.length, Object.keys(FILES).length);
        const listed = new Set(list.map(({ name }) => name));
        for (const name of wellFormed) assert.ok(listed.has(name), name);
      }
      assert.equal(await curl(`${url}100%2525%20d/a%23b%3Fc`), "escaped");
    }),
});

Deno.test({
  name: "rclone lists, copies and checks it with its http backend",
  ...needs("rclone", "tar"),
  fn: () =>
    // rclone fails to read directories of the root whose name contains a colon.
    withServer(without("https:"), async (scene) => {
      const { server: { token }, url, directory } = scene;
      const options = [
        ...["--config", "/dev/null", "--retries", "1", "--http-url", url],
        ...["--http-headers", `Authorization,Bearer ${token}`],
      ];
      const rclone = (...args: string[]) =>
        run("rclone", [...args, ...options], { env: envOf(scene) });
      const listed = await rclone("lsf", ":http:dir");
      assert.deepEqual(listed, "ü b/\n");
      await rclone("copy", ":http:", `${directory}/copy`);
      await compare(scene);
      const many = ["check", "--download", ":http:many"];
      await rclone(...many, `${directory}/original/many`);
    }),
});

Deno.test({
  name: "lftp lists and mirrors it",
  ...needs("lftp", "tar"),
  // lftp skips names that begin with ~, on any server.
  fn: () =>
    withServer(FILES, async (scene) => {
      const { server: { token }, url, directory } = scene;
      const lftp = (commands: string) =>
        run("lftp", [
          ...["--norc", "-u", `any,${token}`],
          ...["-e", `${commands}; quit`, url],
        ], { cwd: directory, env: envOf(scene) });
      const listed = await lftp("cls -1 many");
      assert.equal(listed.trim().split("\n").length, 30);
      await lftp("mirror . copy");
      await compare(scene);
    }),
});

/** Source of a script that lists all directories, and copies all files. */
const FSSPEC = `
import os, sys, fsspec
from urllib.parse import unquote_to_bytes
url, token = sys.argv[1:]
fs = fsspec.filesystem("http", headers={"Authorization": "Bearer " + token})
def copy(url, directory):
    os.mkdir(directory)
    for entry in fs.ls(url):
        name = entry["name"]
        assert name.startswith(url), name
        own = unquote_to_bytes(name[len(url):].removeprefix("./").rstrip("/"))
        path = os.path.join(directory, own)
        if entry["type"] == "directory":
            copy(name, path)
        else:
            with open(path, "wb") as file:
                file.write(fs.cat_file(name))
copy(url, b"copy")
assert len(fs.glob(url + "many/*.txt")) == 30
assert fs.cat_file(url + "a.txt", 3, 5) == b"te"
`;

Deno.test({
  name: "fsspec lists, finds and reads it with its http file system",
  ...needs("python3", "fsspec", "aiohttp", "tar"),
  fn: () =>
    withServer(FILES, async (scene) => {
      const { server: { token }, url, directory } = scene;
      await run(PYTHON, ["-c", FSSPEC, url, token!], {
        cwd: directory,
        env: envOf(scene),
      });
      await compare(scene);
    }),
});

function isDirectory(content: Files[string]): boolean {
  return typeof content !== "string" && !(content instanceof Uint8Array);
}

/** Decodes a percent-encoded path to Latin-1. */
function decode(href: string): string {
  return href.replace(
    /%(..)/g,
    (_, code) => String.fromCharCode(parseInt(code, 16)),
  );
}

/** Returns the bytes of a name as Latin-1. */
function latin1(name: string): string {
  return String.fromCharCode(...encodeName(name));
}
