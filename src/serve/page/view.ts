/** Interface of views, which fill the page below its header. */
import type { InfoMessage } from "../api/messages.ts";
import type { Key } from "./keyboard.ts";

export interface View {
  readonly element: HTMLElement;
  readonly title: string;
  readonly keys: readonly Key[];
  /** Handles a navigation key. Returns whether it was handled. */
  onKey?(key: string): boolean;
  /** Called when the server responds again. Returns whether the view recovers by itself; else it is recreated. */
  onBack?(): boolean;
  /** Called when the view is in the DOM. */
  onShown?(): void;
}

export interface Scene {
  readonly info: InfoMessage;
  /** Aborted when the view is left. */
  readonly signal: AbortSignal;
}
