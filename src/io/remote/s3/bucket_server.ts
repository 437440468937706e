import type { Client, RequestLimits } from "../client.ts";
import type { ListedFile } from "../listed_file.ts";
import type { S3Location } from "../remote_location.ts";
import type { S3Options } from "../remote_options.ts";
import type { RemoteServer } from "../remote_server.ts";
import { Bucket, BucketTarget } from "./bucket.ts";
import { type BucketList, listBucket } from "./list_bucket.ts";

/** The objects of a bucket, whose names look like paths. */
export class BucketServer implements RemoteServer {
  readonly hidesDirectories = true;
  readonly #location: S3Location;
  readonly #client: Client;
  readonly #bucket: Bucket;
  readonly #warn: (message: string) => void;
  /** Directories already warned about for skipped keys. */
  readonly #warned = new Set<string>();

  constructor(
    location: S3Location,
    client: Client,
    options: S3Options,
    onWarning: (message: string) => void,
  ) {
    this.#warn = onWarning;
    this.#location = location;
    this.#client = client;
    this.#bucket = new Bucket(location.bucket, options);
  }

  target(path: string): BucketTarget {
    const key = this.#keyOf(path);
    const { versionId } = this.#location;
    return versionId === undefined || key !== this.#location.key
      ? new BucketTarget(this.#bucket, key)
      : new BucketTarget(this.#bucket, key, { versionId });
  }

  async list(
    path: string,
    patience: RequestLimits,
  ): Promise<readonly ListedFile[] | undefined> {
    const key = this.#keyOf(path);
    const { entries, skipped } = await listBucket(
      this.#client,
      this.#bucket,
      key,
      patience,
    );
    if (skipped.count > 0 && !this.#warned.has(key)) {
      this.#warned.add(key);
      this.#warnOf(path, skipped);
    }
    if (skipped.count > 0) return entries;
    // A bucket may be empty; a directory exists only while it has entries.
    return entries.length === 0 && key !== "" ? undefined : entries;
  }

  #warnOf(path: string, { count, example }: BucketList["skipped"]): void {
    const keys = count === 1 ? "1 key is" : `${count} keys are`;
    this.#warn(
      `${keys} skipped in ${path}, such as s3://${this.#bucket.name}/${example}: a file cannot have such a name, ` +
        "or a directory has it. Rename the objects to read them",
    );
  }

  #keyOf(path: string): string {
    return path.slice(`s3://${this.#bucket.name}/`.length);
  }
}
