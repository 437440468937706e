import { messageOf } from "../base/message_text.ts";
import { imageCodec } from "../codecs/image/choose_codec.ts";
import { typeOfExtension } from "../codecs/values/value_type.ts";
import { FormatError } from "../base/errors.ts";
import type { WaitOptions } from "../io/storage/byte_source.ts";
import type { CheckOptions } from "../tree/format.ts";

interface Files<Entry> {
  readonly location: string;
  walk(path: string, options: WaitOptions): AsyncIterable<Entry>;
  read(entry: Entry, options: WaitOptions): Promise<Uint8Array>;
}

/**
 * Decodes all pictures of a container, recognised by name. Skips unreadable files, which the container's own check has
 * reported. Returns the number of pictures decoded, and how many of them are damaged.
 */
export async function checkPictures<
  Entry extends { readonly isFile: boolean; readonly path: string },
>(
  fs: Files<Entry>,
  { onDamage, signal }: CheckOptions,
): Promise<{ pictures: number; damaged: number }> {
  let [pictures, damaged] = [0, 0];
  for await (const entry of fs.walk("", { signal })) {
    if (!entry.isFile || !isPicture(entry.path)) continue;
    let bytes: Uint8Array;
    try {
      bytes = await fs.read(entry, { signal });
    } catch (error) {
      if (error instanceof FormatError) continue;
      throw error;
    }
    pictures++;
    const { location } = fs;
    try {
      await (await imageCodec()).decode(bytes);
    } catch (cause) {
      damaged++;
      const why = messageOf(cause);
      onDamage(
        new FormatError(
          "bad-value",
          `Cannot decode '${entry.path}' of ${location}: ${why}`,
          { path: location, member: entry.path, cause },
        ),
      );
    }
  }
  return { pictures, damaged };
}

function isPicture(path: string): boolean {
  return typeOfExtension(path).decoding === "image";
}
