/** What is asked of a server: one request, ready to be sent. */
export interface PreparedRequest {
  readonly url: URL;
  readonly headers: Headers;
  /**
   * To be called when it is over.
   *
   * @param isAnswered Whether there was an answer, and no refusal or failure.
   */
  readonly settled?: ((isAnswered: boolean) => void) | undefined;
}

/** An object of a server, as requests for it are made. */
export interface Target {
  /** Its URL as it may be shown. */
  readonly name: string;
  /** Tells it from all other objects, also by its query: not to be shown. */
  readonly identity: string;
  /** What to do where access is denied, for a message. */
  readonly advice: string;
  /** Which store the next request goes to, as one that fails or wants fewer requests: an origin, and a bucket. */
  readonly store: string;
  /** Whether its answers have shown that it is a directory. */
  readonly isDirectory?: boolean;
  /**
   * Makes a request.
   *
   * @param headers What is asked for: ranges, conditions.
   * @param signal Ends it where it waits for others.
   */
  prepare(headers: Headers, signal: AbortSignal): Promise<PreparedRequest>;
  /**
   * Looks at an answer that is a redirection, a refusal or a failure, whose body is left alone.
   *
   * @param asked Where it comes from: the URL that was prepared.
   * @returns Whether to ask again, elsewhere or with what is new.
   */
  react(response: Response, asked: URL): Promise<boolean>;
}
