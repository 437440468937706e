let asked = 0;

/**
 * Waits until a server with one thread has traced all requests so far.
 *
 * Looks up a missing name, which is answered in order. The kernel's own readahead may come later, so this is repeated
 * until no other request arrived.
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
