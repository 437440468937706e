/** Thread that writes a file repeatedly. */
import { NewFile } from "../../../src/io/write/new_file.ts";
import { runSync } from "../../../src/io/concurrency/steps.ts";

const worker = self as unknown as {
  onmessage: (event: MessageEvent<{ file: string; times: number }>) => void;
  postMessage(failure: string | null): void;
};

worker.onmessage = ({ data: { file, times } }) => {
  try {
    const bytes = new TextEncoder().encode("whole");
    for (let i = 0; i < times; i++) runSync(NewFile.write(file, bytes));
    worker.postMessage(null);
  } catch (error) {
    worker.postMessage(String(error));
  }
};
