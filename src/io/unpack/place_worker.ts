/**
 * Thread that writes files; the other end of `PlaceThread`.
 *
 * @module
 */
import { threadScope } from "../concurrency/thread.ts";
import { serializeError } from "../../base/serialized_error.ts";
import { borrowedDirectory } from "../dirfd/directory_by_descriptor.ts";
import type {
  FilesToPlace,
  PlaceReport,
  RefusedFile,
} from "./place_messages.ts";
import { placeWhole, UnplacedFile } from "./unplaced_file.ts";

const thread = threadScope<FilesToPlace, PlaceReport>();

thread.onmessage = ({ data }) => {
  const refused: RefusedFile[] = [];
  for (let index = 0; index < data.names.length; index++) {
    try {
      place(data, index);
    } catch (error) {
      refused.push({ index, error: serializeError(error) });
    }
  }
  thread.postMessage({ kind: "placed", refused });
};

thread.postMessage({ kind: "ready" });

function place(files: FilesToPlace, index: number): void {
  const { memory, starts, lengths, how } = files;
  const directory = borrowedDirectory(files.directories[index]!);
  const name = files.names[index]!;
  const content = new Uint8Array(memory, starts[index]!, lengths[index]!);
  const mtime = new Date(files.times[index]!);
  if (placeWhole(directory, name, how, content, mtime)) return;
  using file = new UnplacedFile(directory, name, files.numbers[index]!, how);
  file.write(content);
  file.place(mtime);
}
