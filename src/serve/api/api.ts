import manifest from "../../../deno.json" with { type: "json" };
import { shownLocation } from "../../io/remote/remote_location.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { json } from "../responses.ts";
import { Decoding } from "../decode/decoding.ts";
import type { Contents } from "../files/content.ts";
import { SMALL_BYTES, type Thumbnails } from "../files/thumbnails.ts";
import type { HandlerOptions, ServedSource } from "../options.ts";
import type { RequestLike } from "../request_like.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import type { SharedCounts } from "../threads/shared_counts.ts";
import { Checking } from "./check.ts";
import { EntryResponses } from "./entry_response.ts";
import { isOfContainer } from "./kinds.ts";
import { list } from "./listing.ts";
import type { InfoMessage, ListMessage, PictureMessage } from "./messages.ts";
import { Positions } from "./positions.ts";
import { Query } from "./query.ts";
import { Samples } from "./samples.ts";
import { search } from "./search.ts";
import { localSources } from "./sources.ts";
import { statistics } from "./statistics.ts";
import { Values } from "./value.ts";

/** Handler of the page's requests below `/api/`. */
export class Api {
  readonly #served: Served;
  readonly #thumbnails: Thumbnails;
  readonly #name: string;
  readonly #sources: readonly ServedSource[];
  readonly #positions: Positions;

  readonly #decoding = new Decoding();
  readonly #samples: Samples;
  readonly #entries: EntryResponses;
  readonly #values: Values;
  readonly #checking: Checking;

  constructor(
    served: Served,
    contents: Contents,
    thumbnails: Thumbnails,
    { name, sources }: HandlerOptions,
    counts: SharedCounts,
  ) {
    this.#served = served;
    this.#thumbnails = thumbnails;
    this.#name = name ?? shownLocation(served.fs.location);
    this.#sources = sources ?? localSources(served.fs);
    this.#positions = new Positions(served.tree);
    this.#samples = new Samples(served);
    this.#entries = new EntryResponses(
      served,
      this.#positions,
      this.#samples,
      this.#decoding,
    );
    this.#values = new Values(served, contents, this.#decoding);
    this.#checking = new Checking(served, this.#sources, counts);
  }

  /** Responds below `/api/`. For damaged containers, the status is below 500: the server is not at fault. */
  *answer(request: RequestLike, path: string, fields: string): Steps<Response> {
    try {
      return yield* this.#answer(request, path, fields);
    } catch (error) {
      if (!isOfContainer(error)) throw error;
      throw new ServeError("damaged", error.message, {
        cause: error,
        status: 422,
      });
    }
  }

  /** Terminates the decoder threads. */
  close(): void {
    this.#decoding.close();
  }

  *#answer(
    request: RequestLike,
    path: string,
    fields: string,
  ): Steps<Response> {
    const served = this.#served;
    const wanted = path === "check" ? "POST" : "GET";
    if (request.method !== wanted) {
      throw new ServeError("bad-method", `${path} takes the method ${wanted}`, {
        headers: [["allow", wanted]],
      });
    }
    const query = new Query(fields);
    switch (path) {
      case "info":
        return json(yield* this.#info());
      case "list":
        return json(yield* this.#list(query));
      case "entry":
        return yield* this.#entries.entry(query);
      case "row":
        return yield* this.#entries.rows(query);
      case "value":
        return yield* this.#values.answer(query);
      case "picture":
        return json(yield* this.#picture(request, query));
      case "at":
        return json(yield* this.#samples.at(query));
      case "random":
        return json(yield* this.#samples.random(query));
      case "search":
        return yield* search(served, this.#decoding, query);
      case "statistics":
        return yield* statistics(served, query);
      case "check":
        return this.#checking.start();
      default:
        throw new ServeError(
          "not-found",
          "Cannot answer: the API has no such request",
        );
    }
  }

  /** Lists a directory. Afterwards loads the thumbnail code, because the page requests thumbnails next. */
  *#list(query: Query): Steps<ListMessage> {
    const message = yield* list(
      this.#served,
      this.#positions,
      this.#samples,
      query,
    );
    const isToMake = message.entries.some(({ kind, size }) =>
      kind === "image" && size !== null && size > SMALL_BYTES
    );
    if (isToMake) setTimeout(() => this.#thumbnails.prepare());
    return message;
  }

  *#picture(request: RequestLike, query: Query): Steps<PictureMessage> {
    const node = yield* this.#served.get(query.path);
    return { damage: yield* this.#thumbnails.damageIn(request, node) };
  }

  *#info(): Steps<InfoMessage> {
    const { info } = this.#served.fs;
    return {
      version: manifest.version,
      name: this.#name,
      info,
      canCheck: this.#sources.length > 0,
      sources: this.#sources.map(({ location, path }) => ({ location, path })),
      samples: yield* this.#samples.count(),
    };
  }
}

/** Bytes needed for a response, and for each entry of a list. */
const MEMORY = 2 << 20;
const ENTRY_MEMORY = 2 << 10;

export function memoryFor(fields: string): number {
  const limit = Number(/\blimit=(\d+)/.exec(fields)?.[1] ?? 0);
  return Math.max(MEMORY, limit * ENTRY_MEMORY);
}
