import manifest from "../../../deno.json" with { type: "json" };
import { shownLocation } from "../../io/remote/remote_location.ts";
import type { Steps } from "../../io/concurrency/steps.ts";
import { json } from "../answers.ts";
import type { HandlerOptions } from "../options.ts";
import type { Served } from "../served.ts";
import { ServeError } from "../serve_error.ts";
import { list } from "./listing.ts";
import type { InfoMessage } from "./messages.ts";
import { Positions } from "./positions.ts";
import { Query } from "./query.ts";
import { localSources, type ServedSource } from "./sources.ts";

/** What the page asks: each question a path below `/api/`. */
export class Api {
  readonly #served: Served;
  readonly #name: string;
  readonly #sources: readonly ServedSource[];
  readonly #positions: Positions;

  constructor(served: Served, { name, sources }: HandlerOptions) {
    this.#served = served;
    this.#name = name ?? shownLocation(served.fs.location);
    this.#sources = sources ?? localSources(served.fs);
    this.#positions = new Positions(served.tree);
  }

  /** Answers a request for a path below `/api/`. */
  *answer(request: Request, path: string, search: string): Steps<Response> {
    const { method } = request;
    if (method !== "GET") {
      throw new ServeError("bad-method", `There is no ${method} here`, {
        headers: [["allow", "GET"]],
      });
    }
    const query = new Query(search);
    switch (path) {
      case "info":
        return json(this.#info());
      case "list":
        return json(yield* list(this.#served, this.#positions, query));
      default:
        throw new ServeError("not-found", "There is no such question");
    }
  }

  #info(): InfoMessage {
    const { info } = this.#served.fs;
    return {
      version: manifest.version,
      name: this.#name,
      info,
      canCheck: this.#sources.length > 0,
      sources: this.#sources.map(({ location, path }) => ({ location, path })),
      samples: null,
    };
  }
}
