/**
 * Resizes the images of a folder with imagescript alone and joins them in one file, as a simple script would: `FOLDER
 * OUT SHORT_EDGE`.
 *
 * @module
 */
import { Image } from "imagescript";

const QUALITY = 90;

const [folder, out, edge] = Deno.args;
if (folder === undefined || out === undefined) throw new Error("What to what?");
const short = Number(edge);
using file = await Deno.open(out, { write: true, createNew: true });
const writer = file.writable.getWriter();
for (const { name } of [...Deno.readDirSync(folder)]) {
  const image = await Image.decode(await Deno.readFile(`${folder}/${name}`));
  const { width, height } = image;
  const scale = short / Math.min(width, height);
  const small = image.resize(
    Math.floor(width * scale),
    Math.floor(height * scale),
  );
  await writer.write(await small.encodeJPEG(QUALITY));
}
await file.sync();
