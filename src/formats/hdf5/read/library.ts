import { perform, type Steps } from "../../../io/concurrency/steps.ts";
import { mustWait } from "../../../io/storage/must_wait.ts";
import { PACKAGES } from "../../../base/packages.ts";

type H5wasm = typeof import("h5wasm");

/** What is known of a type, and of the shape of what has it. */
export type Metadata = ReturnType<H5wasm["dtype_to_metadata"]>;

/** The compiled library. */
export type Library = Awaited<H5wasm["ready"]> & {
  readonly HEAPU8: Uint8Array<ArrayBuffer>;
};

type Factory = (options: object) => Promise<Library>;

/** Limit of the library's memory in bytes: damaged or hostile files can make it allocate what they say. */
const MOST_MEMORY = 256 << 20;
/** Lines of the library's messages that are kept. */
const MOST_LINES = 64;
/** Reads during one call: a damaged file may lead the library in circles. */
const MOST_READS = 1 << 20;
/** Where the library looks for plugins that might read what it cannot. */
const PLUGINS = /\/lib\/plugin\/?$/;
/** Error numbers of Emscripten's file systems (`EIO`, `ENOENT`). */
const EIO = 29;
const ENOENT = 44;

/** Reads a range of an opened file; returns `false` if it has to be fetched first. */
export type ReadNow = (into: Uint8Array, offset: number) => boolean;

/**
 * Instance of the library, with memory of its own. It reaches one kind of files: those given to {@linkcode
 * Instance.open}. All other paths that it opens are refused and noted: external links, external storage, plugins.
 */
export class Instance {
  library!: Library;
  /** Whether it has crashed, or used too much memory. */
  isDead = false;
  /** Path that the library wanted to open during the last call. */
  denied: string | undefined;
  /** Error of reading during the last call. */
  failure: unknown;
  /** Whether something had to be fetched during the last call. */
  isMissing = false;
  #lines: string[] = [];
  #reads = 0;
  #opening: string | undefined;
  #files = 0;

  static async make(factory: Factory): Promise<Instance> {
    const made = new Instance();
    let heap: Uint8Array | undefined;
    const options = {
      noInitialRun: true,
      print() {},
      printErr: (line: string) => {
        if (made.#lines.length < MOST_LINES) made.#lines.push(line);
      },
      get HEAPU8() {
        return heap;
      },
      // Set whenever memory grows; if it throws, the library gets no memory.
      set HEAPU8(grown) {
        if (grown!.byteLength > MOST_MEMORY) {
          made.isDead = true;
          throw new RangeError("out of memory");
        }
        heap = grown;
      },
    };
    made.library = await factory(options);
    made.#guard();
    return made;
  }

  /** Forgets what the last call has noted. */
  begin(): void {
    this.denied = this.failure = undefined;
    this.isMissing = false;
    this.#lines = [];
    this.#reads = 0;
  }

  /** Returns the innermost reason that the library has printed during the last call. */
  get reason(): string | undefined {
    const inner = this.#lines.findLast((line) => /^\s*#\d+:/.test(line));
    return inner?.replace(/^.*\(\): /, "");
  }

  /** Opens a file that `read` reads. Returns its id, negative if it cannot be opened, and a function that closes it. */
  open(size: number, read: ReadNow): { id: bigint; close: () => void } {
    // deno-lint-ignore no-explicit-any -- its types lack the parts of nodes
    const FS = this.library.FS as any;
    const path = `/${this.#files++}.h5`;
    const node = FS.create(path, 0o444);
    const { getattr } = node.node_ops;
    node.node_ops = {
      ...node.node_ops,
      getattr: (node: unknown) => ({ ...getattr(node), size }),
    };
    node.stream_ops = {
      llseek: (
        { position }: { position: number },
        offset: number,
        whence: number,
      ) => offset + [0, position, size][whence]!,
      read: (
        _stream: unknown,
        heap: Uint8Array,
        at: number,
        length: number,
        offset: number,
      ) => {
        const end = Math.min(length, Math.max(0, size - offset));
        const isRead = end === 0 ||
          this.#read(read, heap.subarray(at, at + end), offset);
        if (isRead) return end;
        throw new FS.ErrnoError(EIO);
      },
    };
    this.#opening = path;
    try {
      const id = this.library.open(path, 0);
      const close = () => {
        if (this.isDead) return;
        if (id >= 0n) this.library.close_file(id);
        FS.unlink(path);
      };
      return { id, close };
    } finally {
      this.#opening = undefined;
    }
  }

  #read(read: ReadNow, into: Uint8Array, offset: number): boolean {
    if (this.isDead) throw new RangeError("out of memory");
    if (this.#reads++ > MOST_READS) return false;
    try {
      const isRead = read(into, offset);
      this.isMissing ||= !isRead;
      return isRead && !hasEndlessHeap(into);
    } catch (error) {
      this.failure ??= error;
      return false;
    }
  }

  #guard(): void {
    // deno-lint-ignore no-explicit-any -- its types lack errors
    const FS = this.library.FS as any;
    const { open, write } = FS;
    FS.write = (...args: unknown[]) => {
      // Without new memory, messages would be written for ever.
      if (this.isDead) throw new RangeError("out of memory");
      return write(...args);
    };
    FS.open = (path: unknown, ...rest: unknown[]) => {
      if (path === this.#opening) return open(path, ...rest);
      if (!PLUGINS.test(`${path}`)) this.denied ??= `${path}`;
      throw new FS.ErrnoError(ENOENT);
    };
  }
}

/** `GCOL`, and version 1. */
const HEAP = [0x47, 0x43, 0x4f, 0x4c, 1];
const HEAP_HEADER = 16;

/**
 * Whether bytes are a global heap (III.E, "Disk Format: Level 1E - Global Heap") with free space of no size, or an object
 * that is larger than it: the library would go on in it for ever.
 */
function hasEndlessHeap(bytes: Uint8Array): boolean {
  const { buffer, byteOffset, length } = bytes;
  if (length < HEAP_HEADER || !HEAP.every((byte, i) => bytes[i] === byte)) {
    return false;
  }
  const view = new DataView(buffer, byteOffset, length);
  const sizeAt = (at: number) => view.getBigUint64(at + 8, true);
  const whole = sizeAt(0);
  for (let at = HEAP_HEADER; at + HEAP_HEADER <= length;) {
    const size = sizeAt(at);
    const isFree = view.getUint16(at, true) === 0;
    if (size > whole || isFree && size === 0n) return true;
    at += isFree ? Number(size) : HEAP_HEADER + Math.ceil(Number(size) / 8) * 8;
  }
  return false;
}

let factory: Factory | undefined;
let loading: Promise<Factory> | undefined;
/** Instance made last, for callers that cannot wait for one of their own. */
let latest: Instance | undefined;

/** Makes an instance. Synchronously, this shares the one made last. */
export function newInstance(name: string): Steps<Instance> {
  return perform<Instance>({
    sync: () => {
      if (latest === undefined || latest.isDead) throw mustWait(name);
      return latest;
    },
    async: async () => {
      loading ??= load().catch((error) => {
        loading = undefined; // retried the next time
        throw error;
      });
      factory ??= await loading;
      return latest = await Instance.make(factory);
    },
  });
}

/** Loads what the package's default entry makes its one instance of; importing the entry would make that, too. */
async function load(): Promise<Factory> {
  const url = () =>
    new URL("hdf5_util.js", import.meta.resolve(PACKAGES.h5wasm)).href;
  try {
    return (await import(url())).default;
  } catch {
    await import(PACKAGES.h5wasm); // fetches the package
    return (await import(url())).default;
  }
}
