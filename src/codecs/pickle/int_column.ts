/** Longest pickle: columns hold positions in it. */
export const LONGEST_PICKLE = 2 ** 31 - 1;

/** A growing column of 32-bit integers. */
export class IntColumn {
  length = 0;
  values = new Int32Array(64);

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Int32Array(this.values.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  /** Takes away the last value, or returns -1 where there is none. */
  pop(): number {
    return this.length === 0 ? -1 : this.values[--this.length]!;
  }

  /** The last value, or -1 where there is none. */
  get last(): number {
    return this.length === 0 ? -1 : this.values[this.length - 1]!;
  }
}
