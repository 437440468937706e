/** What fills the page below its header. */
import type { InfoMessage } from "../api/messages.ts";
import type { Key } from "./keyboard.ts";

/** A view of an address. */
export interface View {
  readonly element: HTMLElement;
  /** What it shows, for the window's title. */
  readonly title: string;
  /** Keys that mean something in it. */
  readonly keys: readonly Key[];
  /** Handles a key that moves in it. Returns whether it meant something. */
  onKey?(key: string): boolean;
  /** Called when a server that was gone answers again. Returns whether no more is to be done: else it is made again. */
  onBack?(): boolean;
  /** Told when it is in the page. */
  onShown?(): void;
}

/** What a view is made with. */
export interface Scene {
  readonly info: InfoMessage;
  /** Aborted when another view is shown. */
  readonly signal: AbortSignal;
}
