import { MountError } from "./mount_error.ts";
import type { KernelOptions } from "./mount_options.ts";

/** Largest 32-bit id; all bits set stands for "no id" in the kernel. */
const LARGEST_ID = 0xffff_fffe;

/** Largest values of the options that are numbers; the smallest is 0. */
export const LARGEST = {
  uid: LARGEST_ID,
  gid: LARGEST_ID,
  umask: 0o777,
  maxRead: 0xffff_ffff,
} as const;

/**
 * Checks options that a program gave, by the rules of `-o`.
 *
 * @throws {MountError} If one has a value it can't have.
 */
export function checkKernelOptions(options: KernelOptions): void {
  for (const name of Object.keys(LARGEST) as (keyof typeof LARGEST)[]) {
    checkInteger(name, options[name], 0, LARGEST[name]);
  }
  if (options.fsname !== undefined) checkText("fsname", options.fsname);
  if (options.subtype !== undefined) checkText("subtype", options.subtype);
}

/**
 * Checks an option that is an integer, where it is given.
 *
 * @throws {MountError} If it is out of range.
 */
export function checkInteger(
  name: string,
  value: number | undefined,
  smallest: number,
  largest: number,
): void {
  if (value === undefined) return;
  if (Number.isInteger(value) && value >= smallest && value <= largest) return;
  throw new MountError(
    "bad-option",
    `Cannot mount with ${name} ${value}: it must be an integer from ${smallest} to ${largest}`,
    { actual: value },
  );
}

/**
 * Checks an option that is a text.
 *
 * @returns The text.
 * @throws {MountError} If it is empty, or the system can't be given it.
 */
export function checkText(name: string, value: string): string {
  if (value !== "" && !value.includes("\0")) return value;
  throw new MountError(
    "bad-option",
    value === ""
      ? `Cannot mount with ${name}=: it needs a value`
      : `Cannot mount with ${name}=${JSON.stringify(value)}: it contains a NUL`,
    { actual: value },
  );
}
