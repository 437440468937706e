import { FormatError } from "../../../base/errors.ts";
import { encodeName } from "../../../base/names.ts";
import { VALUE_TYPES } from "../../../codecs/values/value_type.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import {
  MemberPaths,
  type PathTables,
} from "../../../tree/archive/member_paths.ts";
import { fieldNames } from "../../../tree/samples/field_names.ts";
import type { SkippedMembers } from "../../../tree/archive/archive_notes.ts";
import { FILTER_NAMES, FILTERS, ObjectType, TypeClass } from "../layout.ts";
import { elementType } from "../values/types.ts";
import type { Hdf5File } from "./hdf5_file.ts";
import type { Library, Metadata } from "./library.ts";
import type { MemberKind, SkipReason } from "../../../tree/format.ts";
import { isDamage } from "../../../tree/samples/open_shards.ts";

/** Objects of a file, at most. */
const MOST_OBJECTS = 1_000_000;
/** Nested groups, at most. */
const MOST_LEVELS = 100;
/** Bytes of a decoded chunk, at most: it is decoded at once. */
const MOST_CHUNK = 64 << 20;
/** Bytes of elements that are made a text at once. */
const MOST_RENDERED = 16 << 20;
/** How many bytes deflate makes of one, at most, and what fill values may add. */
const MOST_INFLATED = 1100;
const MOST_FILLED = 64 << 20;

/** File that a dataset, or the attributes of an object, is shown as. Plain data. */
export interface Entry {
  /** Path in the file of the object. */
  readonly path: string;
  readonly kind: "array" | "attributes" | "json" | "text";
  /** Shape of the dataset; empty for a single value. */
  readonly space: readonly number[];
  /** Bytes of an element. */
  readonly item: number;
  /** NumPy's name of the elements' type, and their own shape. */
  readonly dtype?: string | undefined;
  readonly inner?: readonly number[] | undefined;
  readonly chunk?: readonly number[] | undefined;
  /** Why it cannot be read. */
  readonly why?: string | undefined;
  /** Whether it is damaged, and not unsupported. */
  readonly isDamaged?: boolean | undefined;
  /** Whether its rows can be read nevertheless. */
  readonly hasRows?: boolean | undefined;
}

/** A file's objects. Plain data. */
export interface Catalog extends PathTables {
  /** Per record. */
  readonly entries: readonly Entry[];
  /** Datasets of the root, or of the one group that has any. */
  readonly columns: readonly Entry[];
}

type SkipFacts = [kind: MemberKind, reason: SkipReason, why: string];

interface Group {
  readonly path: string;
  /** Path in the tree, with a slash at the end unless empty. */
  readonly shown: string;
  readonly level: number;
}

interface Child {
  readonly name: string;
  readonly suffix: string;
  readonly entry?: Entry;
  readonly link?: string;
}

/** Lists the objects of a file. */
export function* readCatalog(
  file: Hdf5File,
): Steps<{ catalog: Catalog; skipped: SkippedMembers }> {
  return yield* new CatalogReader(file).run();
}

class CatalogReader {
  readonly #file: Hdf5File;
  readonly #paths: MemberPaths;
  readonly #entries: Entry[] = [];
  /** Paths in the tree of groups, by their addresses. */
  readonly #groups = new Map<string, string>();
  readonly #columns: Entry[][] = [];
  #objects = 0;

  constructor(file: Hdf5File) {
    this.#file = file;
    this.#paths = new MemberPaths(file.source.name, { replaces: false });
  }

  *run(): Steps<{ catalog: Catalog; skipped: SkippedMembers }> {
    const links: { name: string; target: string; from: string }[] = [];
    const groups: Group[] = [{ path: "/", shown: "", level: 0 }];
    this.#groups.set(yield* this.#addressOf("/"), "");
    for (let group = groups.pop(); group; group = groups.pop()) {
      const { path, shown, level } = group;
      const children: Child[] = [];
      const attributes = yield* this.#attributes(path);
      if (attributes !== undefined) {
        children.push({
          name: "attributes",
          suffix: ".json",
          entry: attributes,
        });
      }
      const list = (library: Library, id: bigint) =>
        library.get_names(id, path, false);
      const names = path === "/"
        ? yield* this.#file.call(path, list)
        : yield* this.#tried(path, list);
      if ("why" in names) {
        this.#skip(shown, "directory", "damaged", names.why);
        continue;
      }
      this.#count(names.length);
      for (const name of names) {
        const own = path === "/" ? `/${name}` : `${path}/${name}`;
        yield* this.#take(children, name, own);
      }
      const { byName } = fieldNames(children.map(({ name, suffix }) => ({
        name,
        type: { ...VALUE_TYPES.bytes, suffix },
        isList: false,
      })));
      for (const [own, at] of byName) {
        const { entry, link, name } = children[at]!;
        const inTree = `${shown}${own}`;
        if (entry !== undefined) this.#add(inTree, entry);
        else if (link !== undefined) {
          links.push({ name: inTree, target: link, from: path });
        } else {
          const inner = path === "/" ? `/${name}` : `${path}/${name}`;
          const address = yield* this.#addressOf(inner);
          const first = this.#groups.get(address);
          if (first !== undefined) {
            const to = first === "" ? "the root" : `'${first.slice(0, -1)}'`;
            this.#skip(
              inTree,
              "hard link",
              "conflict",
              `is the same group as ${to}`,
            );
            continue;
          }
          if (level >= MOST_LEVELS) {
            const why = `is nested in more than ${MOST_LEVELS} groups`;
            this.#skip(inTree, "directory", "too-long", why);
            continue;
          }
          this.#groups.set(address, `${inTree}/`);
          this.#paths.addDirectory(encodeName(inTree), NaN);
          groups.push({ path: inner, shown: `${inTree}/`, level: level + 1 });
        }
      }
      const columns = children.flatMap(({ entry }) =>
        entry === undefined || entry.kind === "attributes" ? [] : [entry]
      );
      if (columns.length > 0) this.#columns.push(columns);
    }
    for (const link of links) {
      yield* this.#follow(link.name, link.target, link.from);
    }
    const [columns = [], ...others] = this.#columns;
    const isAlone = others.length === 0 ||
      columns.every((entry) => parentOf(entry) === "/");
    const catalog = {
      ...this.#paths.finish(this.#entries.length),
      entries: this.#entries,
      columns: isAlone ? columns : [],
    };
    return { catalog, skipped: this.#paths.skipped.facts };
  }

  /** Adds a child of a group to `into`, and what shows its attributes. */
  *#take(into: Child[], name: string, path: string): Steps<void> {
    const found = yield* this.#tried(path, (library, id) => {
      const target = library.get_symbolic_link(id, path);
      if (target !== null) return { target };
      const { filename } = library.get_external_link(id, path);
      if (filename !== undefined) return { filename };
      return { type: library.get_type(id, path) };
    });
    const refused = (why: string) =>
      into.push({ name, suffix: "", entry: unreadable(path, { why }) });
    if ("why" in found) {
      into.push({ name, suffix: "", entry: unreadable(path, found) });
    } else if (found.target !== undefined) {
      into.push({ name, suffix: "", link: found.target });
    } else if (found.filename !== undefined) {
      refused(
        `is an external link to the file '${found.filename}', and other files are not opened. Copy the object into this file`,
      );
    } else if (found.type === ObjectType.GROUP) into.push({ name, suffix: "" });
    else if (found.type === ObjectType.DATASET) {
      into.push({ name, ...yield* this.#dataset(path) });
      const attributes = yield* this.#attributes(path);
      if (attributes === undefined) return;
      into.push({ name: `${name}.attrs`, suffix: ".json", entry: attributes });
    } else if (found.type !== NAMED_TYPE) {
      refused("is a user-defined link, which is unsupported");
    }
  }

  *#dataset(path: string): Steps<{ suffix: string; entry: Entry }> {
    const found = yield* this.#tried(path, (library, id) => ({
      type: library.get_dataset_metadata(id, path),
      filters: library.get_dataset_filters(id, path),
    }));
    if ("why" in found) return { suffix: "", entry: unreadable(path, found) };
    const entry = this.#describe(path, found.type);
    const why = this.#refusal(entry, found.type, found.filters);
    const suffix = SUFFIXES[entry.kind];
    if (why !== undefined) return { suffix, entry: { ...entry, why } };
    const bytes = bytesOf(entry);
    if (entry.kind === "array" || bytes <= MOST_RENDERED) {
      return { suffix, entry };
    }
    const large =
      `has ${bytes} bytes that are no array, more than the limit of ${MOST_RENDERED}. Read its rows as samples`;
    return { suffix, entry: { ...entry, why: large, hasRows: true } };
  }

  #describe(path: string, type: Metadata): Entry {
    const { shape, size: item, chunks, vlen } = type;
    if (shape === null) return { path, kind: "json", space: [], item };
    const facts = { path, space: shape, item, chunk: chunks ?? undefined };
    if (shape.length === 0 && type.type === TypeClass.STRING) {
      return { ...facts, kind: "text" };
    }
    const element = vlen ? undefined : elementType(type);
    if (element === undefined) return { ...facts, kind: "json" };
    const { dtype, shape: inner } = element;
    return { ...facts, kind: "array", dtype, inner };
  }

  /** Returns why a dataset cannot be read, if that is known. */
  #refusal(
    entry: Entry,
    type: Metadata,
    filters: readonly { id: number }[],
  ): string | undefined {
    const { space, item, chunk } = entry;
    const [source] = type.virtual_sources ?? [];
    if (type.virtual_sources !== undefined) {
      const from = source ? ` of '${source.file_name}'` : "";
      return `is a virtual dataset${from}, which is unsupported. Copy the data into this file`;
    }
    const filter = filters.find(({ id }) => !FILTERS.has(id));
    if (filter !== undefined) {
      const name = FILTER_NAMES.get(filter.id) ?? `number ${filter.id}`;
      return `is compressed by the filter ${name}, which is unsupported. Write it again with gzip (h5repack -f GZIP=4)`;
    }
    const most = MOST_INFLATED * this.#file.source.size + MOST_FILLED;
    if (!(Math.max(bytesOf(entry), ...space) <= most)) {
      return `has the shape (${
        space.join(", ")
      }), more than a file of ${this.#file.source.size} bytes can hold`;
    }
    const decoded = chunk?.reduce((product, length) => product * length, item);
    if (decoded !== undefined && decoded > MOST_CHUNK) {
      return `has chunks of ${decoded} bytes, more than the limit of ${MOST_CHUNK}. Write it again in smaller ones (h5repack -l)`;
    }
    return undefined;
  }

  *#attributes(path: string): Steps<Entry | undefined> {
    const names = yield* this.#tried(
      path,
      (library, id) => library.get_attribute_names(id, path),
    );
    if ("why" in names) return unreadable(path, names, "attributes");
    if (names.length === 0) return undefined;
    return { path, kind: "attributes", space: [], item: 0 };
  }

  /** Calls the library; returns what is wrong if the object is damaged. */
  *#tried<T extends object>(
    path: string,
    act: (library: Library, id: bigint) => T,
  ): Steps<T | Fault> {
    try {
      return yield* this.#file.call(path, act);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const why = error.message.slice(error.message.indexOf(": ") + 2);
      const isDamaged = error.code !== "unsupported";
      return { why: `cannot be found: ${why}`, isDamaged };
    }
  }

  /** Adds a soft link: to a group as a link, to a dataset as that dataset. */
  *#follow(name: string, target: string, from: string): Steps<void> {
    const path = target.startsWith("/")
      ? target
      : `${from === "/" ? "" : from}/${target}`;
    const found = yield* this.#tried(path, (library, id) => ({
      address: addressIn(library, id, path),
      type: library.get_type(id, path),
    }));
    if ("why" in found && !found.isDamaged) {
      const why = `is a soft link to '${target}', which ${found.why}`;
      return this.#add(name, unreadable(path, { why }));
    }
    const { address = NOWHERE, type = -1 } = "why" in found ? {} : found;
    const group = this.#groups.get(address);
    if (group !== undefined) {
      const up = "../".repeat(name.split("/").length - 1);
      const to = encodeName(`${up}${group.slice(0, -1)}` || ".");
      const item = to.length;
      const record = this.#entries.push(
        { path, kind: "text", space: [], item },
      ) - 1;
      this.#paths.addLink(encodeName(name), to, record, NaN);
    } else if (type === ObjectType.DATASET && address !== NOWHERE) {
      const { suffix, entry } = yield* this.#dataset(path);
      if (this.#paths.find(encodeName(name + suffix)) >= 0) {
        const why = "is a soft link whose name is taken";
        this.#skip(name, "symbolic link", "conflict", why);
      } else this.#add(name + suffix, entry);
    } else if (type !== NAMED_TYPE) {
      const why = `is a soft link to '${target}', which leads nowhere`;
      this.#skip(name, "symbolic link", "no-target", why);
    }
  }

  #add(name: string, entry: Entry): void {
    const record = this.#entries.push(entry) - 1;
    this.#paths.addFile(encodeName(name), record, NaN);
  }

  #skip(name: string, ...facts: SkipFacts): void {
    this.#paths.skip(encodeName(name), ...facts);
  }

  /** Returns the address of an object's header, by which the same object is known. */
  #addressOf(path: string): Steps<string> {
    return this.#file.call(
      path,
      (library, id) => addressIn(library, id, path),
    );
  }

  #count(objects: number): void {
    this.#objects += objects;
    if (this.#objects <= MOST_OBJECTS) return;
    const { name: path } = this.#file.source;
    throw new FormatError(
      "too-large",
      `Cannot open ${path}: it has more than ${MOST_OBJECTS} objects. Split it into several files`,
      { path },
    );
  }
}

/** Type of objects that are types (`H5G_TYPE`): they have no data, and are not shown. */
const NAMED_TYPE = 2;
const NOWHERE = Array(8).fill(0).join();

const SUFFIXES = {
  array: ".npy",
  attributes: ".json",
  json: ".json",
  text: ".txt",
} as const;

/** What is wrong with an object: completes the sentence "It …". */
type Fault = Pick<Entry, "isDamaged"> & { readonly why: string };

function unreadable(
  path: string,
  fault: Fault,
  kind: Entry["kind"] = "array",
): Entry {
  return { path, kind, space: [], item: 0, ...fault };
}

function addressIn(library: Library, id: bigint, path: string): string {
  return library.create_object_reference(id, path).join();
}

/** Bytes of a dataset's elements. */
export function bytesOf({ space, item }: Entry): number {
  return space.reduce((product, length) => product * length, item);
}

function parentOf({ path }: Entry): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
