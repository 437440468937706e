let asked = 0;

/**
 * Waits until a server of one thread has traced all that it was asked so far.
 *
 * A name that is not there is looked up: it answers in the order in which it is asked. What the kernel
 * asks of its own accord, to read ahead, may come behind that, so it is done until nothing else came.
 */
export async function settled(
  mountpoint: string,
  lines: string[],
): Promise<void> {
  for (let before = -1; before !== lines.length;) {
    before = lines.length;
    const name = `settled-${asked++}`;
    await Deno.stat(`${mountpoint}/${name}`).catch(() => {});
    const place = () => lines.findIndex((line) => line.includes(`"${name}"`));
    while (place() < 0) await new Promise((resolve) => setTimeout(resolve, 5));
    lines.splice(place(), 1);
  }
}
