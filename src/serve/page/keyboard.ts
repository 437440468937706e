/** Keys and what they do, as `?` shows it. */

/** A key that means something where the page is. */
export interface Key {
  /** As `KeyboardEvent.key` has it. */
  readonly key: string;
  /** What it does. */
  readonly says: string;
  /** How it is shown, where `key` is not what people read on it. */
  readonly shown?: string;
  run(): void;
}

/** How keys are read on a keyboard. */
const SHOWN: Readonly<Record<string, string>> = {
  " ": "space",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "esc",
};

/** A key as it is shown. */
export function shownKey({ key, shown }: Key): string {
  return shown ?? SHOWN[key] ?? key;
}
