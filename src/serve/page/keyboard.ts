/** Keyboard shortcuts, as listed by `?`. */

export interface Key {
  /** As in `KeyboardEvent.key`. */
  readonly key: string;
  readonly says: string;
  /** Label, if it differs from `key`. */
  readonly shown?: string;
  run(): void;
}

const SHOWN: Readonly<Record<string, string>> = {
  " ": "space",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "esc",
};

export function shownKey({ key, shown }: Key): string {
  return shown ?? SHOWN[key] ?? key;
}
