import { decodeName, encodeName } from "../../../base/names.ts";
import { CellFault } from "../../../codecs/cells/cell_fault.ts";
import { VALUE_TYPES } from "../../../codecs/values/value_type.ts";
import { LruCache } from "../../../io/block_cache/lru_cache.ts";
import type { Steps } from "../../../io/concurrency/steps.ts";
import type { SkippedMembers } from "../../../tree/archive/archive_notes.ts";
import {
  MemberPaths,
  type PathTables,
} from "../../../tree/archive/member_paths.ts";
import type { MemberKind, SkipReason } from "../../../tree/format.ts";
import { fieldNames } from "../../../tree/samples/field_names.ts";
import { type NumpyType, numpyType } from "../values/types.ts";
import { bytesOf, type Dataset, readDataset } from "./dataset.ts";
import { refusalOf } from "./refusal.ts";
import { faultOf, type Hdf5File } from "./hdf5_file.ts";
import { isGroup, type Link, readLinks } from "./links.ts";
import { NOWHERE } from "./metadata.ts";
import { type Message, MessageType, readMessages } from "./object_header.ts";

/** Objects of a file, at most. */
const MOST_OBJECTS = 1_000_000;
/** Nested groups, and links on the way to an object, at most. */
const MOST_LEVELS = 100;
/** Links of groups that are cached, while soft links are followed. */
const MOST_LINKS = 1_000_000;
/** Characters of paths, and names that are looked up for soft links, at most. */
const MOST_NAMES = 256 << 20;
const MOST_STEPS = 1 << 24;
/** Bytes of elements that are made a text at once. */
const MOST_RENDERED = 16 << 20;

/** File that a dataset, or the attributes of an object, is shown as. Plain data. */
export interface Entry {
  /** Path in the file of the object. */
  readonly path: string;
  readonly kind: "array" | "attributes" | "json" | "link" | "text";
  readonly dataset?: Dataset | undefined;
  /** Type of an array. */
  readonly numpy?: NumpyType | undefined;
  /** Address of the object's header; for links, the bytes of the target. */
  readonly at: number;
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
  readonly address: number;
  readonly path: string;
  /** Path in the tree, with a slash at the end unless empty. */
  readonly shown: string;
  readonly level: number;
}

interface Child {
  readonly name: string;
  readonly suffix: string;
  readonly entry?: Entry;
  /** Target of a soft link, or address of a group. */
  readonly link?: string;
  readonly group?: number;
}

/** Lists the objects of a file. Throws `FormatError` if its root cannot be read. */
export function* readCatalog(
  file: Hdf5File,
): Steps<{ catalog: Catalog; skipped: SkippedMembers }> {
  return yield* file.guarded("/", new CatalogReader(file).run());
}

class CatalogReader {
  readonly #file: Hdf5File;
  readonly #paths: MemberPaths;
  readonly #entries: Entry[] = [];
  /** Paths in the tree of groups, by their addresses. */
  readonly #groups = new Map<number, string>();
  readonly #columns: Entry[][] = [];
  readonly #links = new LruCache<ReadonlyMap<string, Link>>(MOST_LINKS);
  /** Datasets by their addresses: several links may lead to one. */
  readonly #datasets = new Map<number, readonly Child[]>();
  #objects = 0;
  #names = 0;
  #steps = 0;

  constructor(file: Hdf5File) {
    this.#file = file;
    this.#paths = new MemberPaths(file.source.name, { replaces: false });
  }

  *run(): Steps<{ catalog: Catalog; skipped: SkippedMembers }> {
    const soft: { name: string; target: string; from: Group }[] = [];
    const { root } = this.#file.form;
    const groups = [{ address: root, path: "", shown: "", level: 0 }];
    this.#groups.set(root, "");
    for (let group = groups.pop(); group; group = groups.pop()) {
      const { address, path, shown, level } = group;
      const list = this.#children(address, path);
      const children = shown === "" ? yield* list : yield* this.#tried(list);
      if ("why" in children) {
        this.#skip(shown, "directory", "damaged", children.why);
        continue;
      }
      const { byName } = fieldNames(children.map(({ name, suffix }) => ({
        name,
        type: { ...VALUE_TYPES.bytes, suffix },
        isList: false,
      })));
      for (const [own, at] of byName) {
        const { entry, link, name, group: next = NOWHERE } = children[at]!;
        const inTree = `${shown}${own}`;
        if (entry !== undefined) this.#add(inTree, entry);
        else if (link !== undefined) {
          soft.push({ name: inTree, target: link, from: group });
        } else if (this.#isNew(next, inTree, level)) {
          this.#groups.set(next, `${inTree}/`);
          this.#paths.addDirectory(encodeName(inTree), NaN);
          groups.push({
            address: next,
            path: `${path}/${name}`,
            shown: `${inTree}/`,
            level: level + 1,
          });
        }
      }
      const columns = children.flatMap(({ entry }) =>
        entry === undefined || entry.kind === "attributes" ? [] : [entry]
      );
      if (columns.length > 0) this.#columns.push(columns);
    }
    for (const { name, target, from } of soft) {
      yield* this.#follow(name, target, from);
    }
    const [columns = [], ...others] = this.#columns;
    const isAlone = others.length === 0 ||
      columns.every(({ path }) => path.lastIndexOf("/") === 0);
    const catalog = {
      ...this.#paths.finish(this.#entries.length),
      entries: this.#entries,
      columns: isAlone ? columns : [],
    };
    return { catalog, skipped: this.#paths.skipped.facts };
  }

  /** Whether a group is to be listed; otherwise it is skipped. */
  #isNew(address: number, inTree: string, level: number): boolean {
    const first = this.#groups.get(address);
    if (first !== undefined) {
      const to = first === "" ? "the root" : `'${first.slice(0, -1)}'`;
      const why = `is the same group as ${to}`;
      this.#skip(inTree, "hard link", "conflict", why);
    } else if (level >= MOST_LEVELS) {
      const why = `is nested in more than ${MOST_LEVELS} groups`;
      this.#skip(inTree, "directory", "too-long", why);
    }
    return first === undefined && level < MOST_LEVELS;
  }

  /** Lists what a group shows. */
  *#children(address: number, path: string): Steps<Child[]> {
    const messages = yield* readMessages(this.#file.metadata, address);
    const children = this.#attributes(messages, address, path || "/", "");
    const links = yield* this.#linksOf(address, messages);
    this.#objects += links.size;
    if (this.#objects > MOST_OBJECTS) throw tooLarge("objects");
    for (const [name, link] of links) {
      const own = `${path}/${name}`;
      this.#names += own.length;
      if (this.#names > MOST_NAMES) throw tooLarge("long names");
      if (link.is === "soft") {
        const { target } = link;
        const text = decodeName(target, 0, target.length);
        children.push({ name, suffix: "", link: text });
      } else if (link.is === "hard") {
        children.push(...yield* this.#object(name, own, link.address));
      } else {
        const why = link.is === "external"
          ? `is an external link to the file '${
            decodeName(link.file, 0, link.file.length)
          }', and other files are not opened. Copy the object into this file`
          : "is a user-defined link, which is unsupported";
        children.push({ name, suffix: "", entry: unreadable(own, { why }) });
      }
    }
    return children;
  }

  *#linksOf(
    address: number,
    known?: readonly Message[],
  ): Steps<ReadonlyMap<string, Link>> {
    let links = this.#links.get(address);
    if (links === undefined) {
      const { metadata, objects } = this.#file;
      const messages = known ?? (yield* readMessages(metadata, address));
      const found = yield* readLinks(objects, messages);
      links = new Map(
        found.map((link) => [decodeName(link.name, 0, link.name.length), link]),
      );
      this.#links.set(address, links, 1 + links.size);
    }
    return links;
  }

  /** Returns what an object shows: a dataset and its attributes, or a group; nothing for a named type. */
  *#object(name: string, path: string, address: number): Steps<Child[]> {
    const known = this.#datasets.get(address);
    if (known !== undefined) {
      return known.map((child) => ({
        ...child,
        name: child.entry!.kind === "attributes" ? `${name}.attrs` : name,
      }));
    }
    const found = yield* this.#tried(this.#read(name, path, address));
    if ("why" in found) {
      return [{ name, suffix: "", entry: unreadable(path, found) }];
    }
    if (found[0]?.entry !== undefined) this.#datasets.set(address, found);
    return found;
  }

  *#read(name: string, path: string, address: number): Steps<Child[]> {
    const { metadata } = this.#file;
    const messages = yield* readMessages(metadata, address);
    const has = (wanted: number) =>
      messages.some(({ type }) => type === wanted);
    if (isGroup(messages)) return [{ name, suffix: "", group: address }];
    if (!has(MessageType.LAYOUT)) {
      if (has(MessageType.DATATYPE)) return [];
      throw new CellFault("is neither a group nor a dataset");
    }
    const entry = yield* this.#dataset(path, address, messages);
    const suffix = SUFFIXES[entry.kind];
    const more = this.#attributes(messages, address, path, `${name}.attrs`);
    return [{ name, suffix, entry }, ...more];
  }

  *#dataset(
    path: string,
    at: number,
    messages: readonly Message[],
  ): Steps<Entry> {
    const { objects } = this.#file;
    const dataset = yield* readDataset(objects, messages);
    const { shape, type } = dataset;
    const numpy = shape === undefined ? undefined : numpyType(type);
    const isText = shape?.length === 0 &&
      (type.is === "string" || type.is === "text");
    const kind = isText ? "text" : numpy === undefined ? "json" : "array";
    const entry = { path, at, kind, dataset, numpy } as const;
    const why = yield* refusalOf(this.#file, dataset, messages);
    if (why !== undefined) return { ...entry, why };
    const bytes = bytesOf(dataset);
    if (kind === "array" || bytes <= MOST_RENDERED) return entry;
    const large =
      `has ${bytes} bytes that are no array, more than the limit of ${MOST_RENDERED}. Read its rows as samples`;
    return { ...entry, why: large, hasRows: true };
  }

  #attributes(
    messages: readonly Message[],
    at: number,
    path: string,
    name: string,
  ): Child[] {
    const { ATTRIBUTE, ATTRIBUTE_INFO } = MessageType;
    const isAny = messages.some(({ type, bytes }) =>
      type === ATTRIBUTE ||
      // The address of its heap follows version, flags and, if flags say so, an index.
      type === ATTRIBUTE_INFO &&
        bytes.subarray(bytes[1]! & 1 ? 4 : 2).some((byte, i) =>
          i < this.#file.form.offsetSize && byte !== 0xff
        )
    );
    if (!isAny) return [];
    const entry = { path, at, kind: "attributes" } as const;
    return [{ name: name || "attributes", suffix: ".json", entry }];
  }

  /** Runs a procedure; returns what is wrong if the object is damaged. */
  *#tried<T extends object>(steps: Steps<T>): Steps<T | Fault> {
    try {
      return yield* steps;
    } catch (error) {
      const fault = faultOf(error);
      if (fault === undefined || fault.kind === "too-large") throw error;
      const { message: why, kind } = fault;
      return { why, isDamaged: kind !== "unsupported" };
    }
  }

  /** Adds a soft link: to a group as a link, to a dataset as that dataset. */
  *#follow(name: string, target: string, from: Group): Steps<void> {
    const found = yield* this.#tried(this.#resolve(target, from.address));
    if ("why" in found && !found.isDamaged) {
      const why = `is a soft link to '${target}', which ${found.why}`;
      return this.#add(name, unreadable(target, { why }));
    }
    const { address = NOWHERE } = "why" in found ? {} : found;
    const group = this.#groups.get(address);
    if (group !== undefined) {
      const up = "../".repeat(name.split("/").length - 1);
      const to = encodeName(`${up}${group.slice(0, -1)}` || ".");
      const record = this.#entries.push(
        { path: target, kind: "link", at: to.length },
      ) - 1;
      this.#paths.addLink(encodeName(name), to, record, NaN);
      return;
    }
    const path = target.startsWith("/") ? target : `${from.path}/${target}`;
    const shown = address === NOWHERE
      ? undefined
      : yield* this.#object("", path, address);
    if (shown?.length === 0) return; // a named type
    const [child] = shown ?? [];
    if (child?.entry?.dataset === undefined) {
      const why = `is a soft link to '${target}', which leads nowhere`;
      this.#skip(name, "symbolic link", "no-target", why);
    } else if (this.#paths.find(encodeName(name + child.suffix)) >= 0) {
      const why = "is a soft link whose name is taken";
      this.#skip(name, "symbolic link", "conflict", why);
    } else this.#add(name + child.suffix, child.entry);
  }

  /** Finds the object of a path; its address is missing if there is none. */
  *#resolve(path: string, from: number): Steps<{ address?: number }> {
    const root = this.#file.form.root;
    let address = path.startsWith("/") ? root : from;
    const names = path.split("/").reverse();
    let links = 0;
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      if (++this.#steps > MOST_STEPS) throw tooLarge("steps of links");
      if (name === "" || name === ".") continue;
      const link = (yield* this.#linksOf(address)).get(name);
      if (link?.is === "hard") address = link.address;
      else if (link?.is === "soft") {
        if (++links > MOST_LEVELS) return {};
        const { target } = link;
        const text = decodeName(target, 0, target.length);
        if (text.startsWith("/")) address = root;
        names.push(...text.split("/").reverse());
      } else if (link === undefined) return {};
      else {
        throw new CellFault(
          "leads to another file, which is not opened. Copy the object into this file",
          "unsupported",
        );
      }
    }
    return { address };
  }

  #add(name: string, entry: Entry): void {
    const record = this.#entries.push(entry) - 1;
    this.#paths.addFile(encodeName(name), record, NaN);
  }

  #skip(name: string, ...facts: SkipFacts): void {
    this.#paths.skip(encodeName(name), ...facts);
  }
}

function tooLarge(what: string): CellFault {
  return new CellFault(
    `has too many ${what}. Split it into several files`,
    "too-large",
  );
}

const SUFFIXES = {
  array: ".npy",
  attributes: ".json",
  json: ".json",
  link: "",
  text: ".txt",
} as const;

/** What is wrong with an object: completes the sentence "It …". */
type Fault = Pick<Entry, "isDamaged"> & { readonly why: string };

function unreadable(path: string, fault: Fault): Entry {
  return { path, kind: "array", at: NOWHERE, ...fault };
}
