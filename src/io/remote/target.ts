import type { NamedOption } from "../../base/named_option.ts";
export interface PreparedRequest {
  readonly url: URL;
  readonly headers: Headers;
  /** Must be called when the request has ended. `isAnswered` is `false` for a refusal or failure. */
  readonly settled?: ((isAnswered: boolean) => void) | undefined;
}

/** An object of a server, which makes requests for it. */
export interface Target {
  readonly name: string;
  /** Unique to the object, including its query. Must not be shown. */
  readonly identity: string;
  /** Advice in messages if access is denied. */
  readonly advice: string;
  /** Options that the advice names. */
  readonly namedOptions: readonly NamedOption[];
  /** Store of the next request, the unit of back-off: an origin and a bucket. */
  readonly store: string;
  /** Whether responses have shown that it is a directory. */
  readonly isDirectory?: boolean;
  prepare(headers: Headers, signal: AbortSignal): Promise<PreparedRequest>;
  /**
   * Reacts to a redirection, refusal or failure, without reading its body. `asked` is the prepared URL that it comes
   * from. Returns whether to repeat the request, with another URL, region or credentials.
   */
  react(response: Response, asked: URL): Promise<boolean>;
}
