import type { Steps } from "../io/concurrency/steps.ts";
import type {
  CheckOptions,
  CheckReport,
  Container,
  ContainerOptions,
  Probe,
  ServedContainer,
} from "../tree/format.ts";

/** Another way to take a format's containers, for those who name it. */
export interface FormatVariant {
  /** What the `format` option calls it. */
  readonly name: string;
  /** One line for help texts. */
  readonly description: string;
}

/** What tells a format's containers from others, and loads the rest of it: a mount answers sooner so. */
export interface FormatEntry extends FormatVariant {
  /** Other ways to take its containers. */
  readonly variants?: readonly FormatVariant[];
  /** How names of its files end, as in `.tar`. */
  readonly suffixes: readonly string[];
  /** Whether the content of a location is of this format. */
  detect(probe: Probe): Steps<boolean>;
  /**
   * What of this format a directory holds that is of no other, such as `GulpIO chunks (data_0.gulp)`;
   * asked where `detect` has said yes.
   *
   * @param names Sorted names in the directory.
   */
  evidence?(names: readonly string[]): string | undefined;
  /** Loads what opens its containers. */
  load(): Promise<Format>;
  /**
   * Opens a container for other threads to serve, as soon as it can be served at all. This thread
   * looks nothing up in its tree before `complete` has ended. Without it, `open` serves.
   */
  openToServe?(
    path: string,
    options: ContainerOptions,
  ): Promise<ServedContainer>;
}

/** A container format: what a new format has to provide. */
export interface Format {
  /**
   * Opens a container as a tree.
   *
   * @param path Where it lies in `options.storage`.
   */
  open(path: string, options: ContainerOptions): Steps<Container>;
  /** Checks every checksum of a container. */
  check(path: string, options: CheckOptions): Promise<CheckReport>;
}
