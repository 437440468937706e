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

/** Whether a key belongs to what has the focus: who types a text means no command. */
export function isTyping(event: KeyboardEvent): boolean {
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLTextAreaElement || target.isContentEditable) {
    return true;
  }
  if (target instanceof HTMLInputElement && target.type !== "range") {
    return true;
  }
  const isMedia = target instanceof HTMLMediaElement;
  const isArrow = event.key.startsWith("Arrow");
  if (target instanceof HTMLInputElement || isMedia) {
    return isArrow || event.key === " ";
  }
  const isButton = target instanceof HTMLButtonElement ||
    target.localName === "summary";
  return isButton && (event.key === " " || event.key === "Enter");
}
