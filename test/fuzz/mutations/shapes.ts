/** Mutations of directories: missing, additional, exchanged and special files. */
import type { Dice } from "../dice.ts";
import type { Draft, DraftEntry } from "../draft.ts";
import { EVIL_NAMES } from "./evil.ts";
import { type Mutation } from "./mutation.ts";

/** Names that formats look for. */
const STRAY = [
  ...[
    "data_0.gulp",
    "data_00.gulp",
    "data_7.gulp",
    "data.gulp",
    "data_99999999999999999999.gulp",
  ],
  ...[
    "meta_0.gmeta",
    "meta_00.gmeta",
    "meta_x.gmeta",
    "label2idx.json",
    "spec.json",
  ],
  ...[
    "refs.bag",
    "refs.idx",
    "k.bag",
    "k.idx",
    ".bag",
    "a.ffr",
    ".ffr",
    "000000",
    "000001",
    "000009",
  ],
  ...["999999", "1000000", "0000000", "data_0.gulp.part", ".hidden"],
];

/** Targets of links. The worker creates `fifo` and `outside`. */
const TARGETS = [
  ...[".", "..", "missing", "/dev/null", "/dev/zero", "/dev/full"],
  ...["/proc/self/mem", "/proc/kmsg", "/proc/self/status"],
];

function directoryOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
}

function inDirectory(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}

/** Returns the relative path from an entry to the directory of the case. */
function upFrom(path: string): string {
  return "../".repeat(path.split("/").length);
}

function anyEntry(draft: Draft, dice: Dice, path: string): DraftEntry {
  const files = draft.files;
  return dice.pick<() => DraftEntry>([
    () => ({ kind: "directory" }),
    () => ({ kind: "file", bytes: new Uint8Array(0) }),
    () => ({ kind: "file", bytes: dice.bytes(dice.size(1, 1000)) }),
    () => ({ kind: "file", bytes: draft.bytes(dice.pick(files)) }),
    () => ({ kind: "link", target: dice.pick(TARGETS) }),
    () => ({ kind: "link", target: path.slice(path.lastIndexOf("/") + 1) }),
    () => {
      const beside = dice.pick(["fifo", "outside"]);
      // Opening a pipe as lines would wait for its writer, which is intended.
      const target = path.endsWith(".jsonl") ? "outside" : beside;
      return { kind: "link", target: `${upFrom(path)}${target}` };
    },
  ])();
}

function nameOf(entry: DraftEntry): string {
  return entry.kind === "file"
    ? `${entry.bytes.length} bytes`
    : entry.kind === "link"
    ? `a link to ${entry.target}`
    : "a directory";
}

const exchange: Mutation = {
  name: "no file",
  weight: 4,
  apply(draft, dice) {
    const paths = draft.files;
    if (paths.length === 0) return;
    const path = dice.pick(paths);
    if (dice.once(2)) return draft.put(path, undefined, "missing");
    const entry = anyEntry(draft, dice, path);
    draft.put(path, entry, nameOf(entry));
  },
};

const stray: Mutation = {
  name: "stray file",
  weight: 3,
  apply(draft, dice) {
    const paths = draft.files;
    if (paths.length === 0) return;
    const name = dice.once(3)
      ? dice.pick(
        EVIL_NAMES.filter((name) =>
          /^[^/\0]+$/.test(name) && !/^\.+$/.test(name)
        ),
      )
      : dice.pick(STRAY);
    const path = inDirectory(directoryOf(dice.pick(paths)), name);
    const entry = anyEntry(draft, dice, path);
    draft.put(path, entry, nameOf(entry));
  },
};

const rename: Mutation = {
  name: "renamed",
  weight: 4,
  apply(draft, dice) {
    const paths = draft.files;
    if (paths.length < 2) return;
    const one = dice.pick(paths);
    const other = dice.pick(paths);
    const bytes = { kind: "file", bytes: draft.bytes(one) } as const;
    switch (dice.int(3)) {
      case 0: {
        const content = { kind: "file", bytes: draft.bytes(other) } as const;
        draft.put(other, bytes, `exchanged with ${one}`);
        return draft.put(one, content, `exchanged with ${other}`);
      }
      case 1: {
        const number = dice.pick([
          "0",
          "1",
          "00",
          "5",
          "010",
          "000007",
          "-1",
          "x",
        ]);
        const path = one.replace(/\d+(?=\D*$)/, number);
        draft.put(one, undefined, `renamed to ${path}`);
        return draft.put(path, bytes, `was ${one}`);
      }
      default:
        return draft.put(other, bytes, `a copy of ${one}`);
    }
  },
};

/** Copies or moves a whole chunk or shard to another number. */
const parts: Mutation = {
  name: "chunks and shards",
  weight: 3,
  apply(draft, dice) {
    const numbers = draft.files.map(partOf).filter((part) =>
      part !== undefined
    );
    if (numbers.length === 0) return;
    const from = dice.pick(numbers);
    const isShard = from.length === 6;
    const to = isShard
      ? dice.pick(["000000", "000001", "000009", "00000x"])
      : dice.pick(["0", "1", "77", "007"]);
    const isMove = dice.once(2);
    for (const path of draft.files.filter((path) => partOf(path) === from)) {
      const entry = draft.entries.get(path)!;
      const place = isShard
        ? path.replace(`/${from}/`, `/${to}/`)
        : path.replace(/\d+(\.\w+)$/, `${to}$1`);
      if (isMove) draft.put(path, undefined, "moved");
      draft.put(place, entry, `${isMove ? "moved" : "copied"} from ${path}`);
    }
  },
};

/** Returns the number of a file's chunk or shard. */
function partOf(path: string): string | undefined {
  return /\/(\d{6})\//.exec(path)?.[1] ??
    /(?:data|meta)_(\d+)\.\w+$/.exec(path)?.[1];
}

/** Adds the files of another container. */
const overlay: Mutation = {
  name: "two containers in one",
  weight: 1,
  apply(draft, dice, { originals }) {
    const { name, target, files } = dice.pick(originals);
    const directories = draft.files.map(directoryOf).filter(Boolean);
    if (directories.length === 0) return;
    const directory = dice.pick(directories);
    for (const [path, bytes] of files) {
      const inner = path.startsWith(`${target}/`)
        ? path.slice(target.length + 1)
        : path;
      draft.put(`${directory}/${inner}`, { kind: "file", bytes }, `of ${name}`);
    }
  },
};

export const SHAPE_MUTATIONS: readonly Mutation[] = [
  exchange,
  stray,
  rename,
  parts,
  overlay,
];
