/** Sequence for ← and →: the entry's directory, or the list that it was opened from. */
import type { Entry, EntryMessage, ListMessage } from "../../api/messages.ts";
import { get } from "../api.ts";
import { listOpenedFrom, type ResultList } from "../listing/result_list.ts";
import { hold } from "../listing/source.ts";
import { entryHref } from "../listing/tiles.ts";
import { listOf, rememberOpened, type Route } from "../route.ts";
import { count } from "../text.ts";

export interface Sequence {
  readonly key: string;
  readonly index: number;
  /** Index of the first entry, and of the last one as far as known. */
  readonly first: number;
  last(): number;
  entryAt(index: number): Promise<Entry | undefined>;
  hrefOf(entry: Entry, index: number): string;
  /** Position text, such as "3 of 10"; empty if not meaningful. */
  where(): string;
}

/** Returns the sequence of an entry; `undefined` if its index is unknown. */
export async function sequenceOf(
  route: Route,
  message: EntryMessage,
): Promise<Sequence | undefined> {
  const given = route.parameters.get("at");
  const at = given !== null && /^\d{1,15}$/.test(given) ? Number(given) : null;
  const list = listOpenedFrom(route);
  if (list !== undefined) {
    const found = at === null ? undefined : await list.entryAt(at);
    const index = found?.url === message.entry.url
      ? at!
      : list.source.items.findIndex(({ url }) => url === message.entry.url);
    if (index >= 0) return new FoundSequence(list, index, listOf(route)!);
  }
  const index = message.index ?? at;
  if (index === null) return undefined;
  const sequence = directoryAt(message, index);
  // The address may be from a different order.
  const { url } = (await sequence.entryAt(index)) ?? {};
  return url === message.entry.url ? sequence : undefined;
}

class FoundSequence implements Sequence {
  readonly key: string;
  readonly index: number;
  readonly first = 0;
  readonly #list: ResultList;
  readonly #hash: string;

  constructor(list: ResultList, index: number, hash: string) {
    this.key = list.key;
    this.index = index;
    this.#list = list;
    this.#hash = hash;
    list.opened = index;
  }

  last(): number {
    const { source } = this.#list;
    return source.isGrowing ? Infinity : source.length - 1;
  }

  entryAt(index: number): Promise<Entry | undefined> {
    return this.#list.entryAt(index);
  }

  hrefOf(entry: Entry, index: number): string {
    return entryHref(entry, index, this.#hash);
  }

  where(): string {
    const { length, isGrowing } = this.#list.source;
    return `${count(this.index + 1)} of ${count(length)}${
      isGrowing ? " or more" : ""
    }`;
  }
}

/** Page size, and maximum number of pages cached. */
const PAGE = 64;
const MOST_PAGES = 16;

const held = {
  url: "",
  total: null as number | null,
  pages: new Map<number, Promise<readonly Entry[]>>(),
};

/** Sequence of a directory's entries; if the entry is a sample, only its samples. */
function directoryAt(
  { parentUrl, place }: EntryMessage,
  index: number,
): Sequence {
  if (held.url !== parentUrl) {
    Object.assign(held, { url: parentUrl, total: null, pages: new Map() });
  }
  rememberOpened(parentUrl, index);
  return {
    key: `directory ${parentUrl}`,
    index,
    first: place === null ? 0 : index - place.index,
    last: () =>
      place === null
        ? held.total === null ? Infinity : held.total - 1
        : index - place.index + place.length - 1,
    async entryAt(at) {
      const number = Math.floor(at / PAGE);
      return (await pageOf(parentUrl, number))[at - number * PAGE];
    },
    hrefOf: entryHref,
    where() {
      const [at, total] = place === null
        ? [index, held.total]
        : [place.index, place.length];
      return `${count(at + 1)}${total === null ? "" : ` of ${count(total)}`}`;
    },
  };
}

function pageOf(path: string, number: number): Promise<readonly Entry[]> {
  const known = held.pages.get(number);
  if (known !== undefined) return known;
  const { pages } = held;
  const query = { path, at: number * PAGE, limit: PAGE };
  const page = get<ListMessage>("list", query, new AbortController().signal)
    .then(({ entries, total, samples }) => {
      // In a directory of samples, other entries have no sample index.
      if (held.pages === pages) held.total = samples === null ? total : null;
      return entries;
    });
  page.catch(() => pages.delete(number)); // retried on the next request
  hold(pages, number, page, MOST_PAGES);
  return page;
}
