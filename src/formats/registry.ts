import { messageOf } from "../base/message_text.ts";
import { addThreadModule } from "../io/concurrency/thread_modules.ts";
import { RecordfsError } from "../base/errors.ts";
import { mustWait } from "../io/storage/must_wait.ts";
import { arrow } from "./arrow/descriptor.ts";
import { bags } from "./bags/descriptor.ts";
import { bagz } from "./bagz/descriptor.ts";
import { ffrecord } from "./ffrecord/descriptor.ts";
import type { Format, FormatDescriptor } from "./format.ts";
import { hdf5 } from "./hdf5/descriptor.ts";
import { gulp } from "./gulp/descriptor.ts";
import { lmdb } from "./lmdb/descriptor.ts";
import { litdata } from "./litdata/descriptor.ts";
import { lines } from "./lines/descriptor.ts";
import { mds } from "./mds/descriptor.ts";
import { parquet } from "./parquet/descriptor.ts";
import { safetensors } from "./safetensors/descriptor.ts";
import { recordio } from "./recordio/descriptor.ts";
import { tar } from "./tar/descriptor.ts";
import { zip } from "./zip/descriptor.ts";
import { tfrecord } from "./tfrecord/descriptor.ts";

const ENTRIES: FormatDescriptor[] = [
  ffrecord,
  gulp,
  bagz,
  bags,
  tar,
  zip,
  parquet,
  arrow,
  safetensors,
  hdf5,
  ...lines,
  tfrecord,
  recordio,
  mds,
  lmdb,
  litdata,
];

const loaded = new Map<FormatDescriptor, Format>();

/** Registrations by module URL. */
const registered = new Map<string, Promise<void>>();

/**
 * Registers a custom container format. From then on its containers are opened, mounted, checked, converted, split and
 * loaded like those of other formats. It precedes the built-in formats in detection.
 *
 * @experimental
 * @param module URL of a module, such as `import.meta.resolve("./my_format.ts")`, that exports the
 * {@linkcode FormatDescriptor} as `format`. Other threads import it by this URL too: the workers of a loader, and the
 * threads that serve a mount, which import the modules named in their trees' seeds. The command line takes the module
 * by `--format-module FILE`, and so do the servers that it leaves in the background. Registering a module again has no
 * effect.
 * @throws {RecordfsError} With code `bad-format` if the module can't be loaded, exports no format, or its name is
 * taken.
 *
 * @example A container that is one file
 * ```ts
 * import { open, registerFormat } from "@recordfs/recordfs";
 * import assert from "node:assert/strict";
 *
 * await registerFormat(new URL("test/support/toy_format/toy_format.ts", `file://${Deno.cwd()}/`));
 * const index = JSON.stringify([["greeting", "en", 5, 0x3610a686]]);
 * const size = String(index.length).padStart(8, "0");
 * using container = await open(new TextEncoder().encode(`TOY1 ${size}\n${index}hello`));
 * assert.equal(container.info.format, "toy");
 * assert.equal(new TextDecoder().decode(await container.read("greeting")), "hello");
 * ```
 */
export function registerFormat(module: string | URL): Promise<void> {
  const url = String(module);
  const before = registered.get(url);
  if (before !== undefined) return before;
  const done = register(url);
  registered.set(url, done);
  done.catch(() => registered.delete(url));
  return done;
}

/** Returns the URLs of all registered modules, which other threads and processes must register too. */
export function registeredModules(): string[] {
  return [...registered.keys()];
}

async function register(url: string): Promise<void> {
  const refusal = (why: string, cause?: unknown) =>
    new RecordfsError(
      "bad-format",
      `Cannot register the format of the module ${url}: ${why}`,
      { path: url, cause },
    );
  let format: FormatDescriptor | undefined;
  try {
    ({ format } = await import(url));
  } catch (cause) {
    const why = messageOf(cause);
    throw refusal(`it cannot be loaded: ${why}`, cause);
  }
  if (
    typeof format?.name !== "string" || typeof format.detect !== "function" ||
    typeof format.load !== "function" || !Array.isArray(format.suffixes)
  ) {
    throw refusal(
      "it exports no `format` with `name`, `description`, `suffixes`, `detect` and `load`",
    );
  }
  const names = [format, ...format.variants ?? []].map(({ name }) => name);
  const taken = names.find((name) => formatNames().includes(name));
  if (taken !== undefined) {
    throw refusal(`there is a format '${taken}' already`);
  }
  await loadFormat(format);
  ENTRIES.unshift(format);
  addThreadModule({
    module: import.meta.url,
    name: registerFormat.name,
    argument: url,
  });
}

/** Returns all formats, in detection order. */
export function formats(): readonly FormatDescriptor[] {
  return ENTRIES;
}

/** Returns all values of the `format` option: each format's name, followed by those of its variants. */
export function formatNames(): string[] {
  return ENTRIES.flatMap(({ name, variants = [] }) => [
    name,
    ...variants.map(({ name }) => name),
  ]);
}

/** Returns the format or variant with this name. Throws `unknown-format` if there is none. */
export function formatNamed(wanted: string): FormatDescriptor {
  const entry = ENTRIES.find(({ name, variants = [] }) =>
    name === wanted || variants.some(({ name }) => name === wanted)
  );
  if (entry !== undefined) return entry;
  throw new RecordfsError(
    "unknown-format",
    `Cannot use the format '${wanted}': it is unknown. Known formats: ${
      formatNames().join(", ")
    }`,
  );
}

export async function loadFormat(entry: FormatDescriptor): Promise<Format> {
  const format = loaded.get(entry) ?? await entry.load();
  loaded.set(entry, format);
  return format;
}

/** Returns the implementation of a format that {@linkcode loadFormat} has loaded. Throws `must-wait` if it has not. */
export function loadedFormat(entry: FormatDescriptor): Format {
  const format = loaded.get(entry);
  if (format === undefined) throw mustWait(`the format ${entry.name}`);
  return format;
}

/** Whether a file has a suffix of a format. */
export function isNamedLike(
  path: string,
  { suffixes }: FormatDescriptor,
): boolean {
  return suffixes.some((suffix) => path.endsWith(suffix));
}
