import { rowsBesideFirst } from "../support/beside_first.ts";
import { progress, type Row } from "../support/report.ts";
import { alternate } from "../support/rounds.ts";
import { type Bare, bareGets } from "./bare.ts";
import {
  coldPass,
  type FilesPass,
  type Mounter,
  type Place,
  rclone,
  recordfs,
  s3fs,
  type Way,
} from "./passes.ts";
import type { Store } from "./stores.ts";

/** Readers of random files, and ranges under way beside them. */
const MANY = 32;
/** Files that one who waits for each reads: the others are as far away. */
const FEW = 1000;
/** Files that are read through another mount's archive, and by s3fs. */
const SOME = 2000;

/** Who mounts single objects there. */
function peers(store: Store): Mounter[] {
  const { s3fsFiles } = store;
  return [
    rclone(store),
    ...s3fsFiles === undefined ? [] : [s3fs(s3fsFiles)],
  ];
}

/** Many readers of files in random order, beside bare requests and those who mount single objects. */
export async function manyReaders(
  place: Place,
  store: Store,
  rounds: number,
): Promise<Row[]> {
  const what = `remote, ${store.name}: cold, random, ${MANY} readers`;
  const ours = recordfs(store);
  const others = peers(store);
  const contenders: (Mounter | Bare)[] = [
    ours,
    bareGets(place, store, MANY, place.files),
    ...others,
  ];
  const measured = await alternate(contenders, rounds, async (one, round) => {
    progress(`${what}: round ${round + 1} of ${rounds}, ${one.name}`);
    // At its pace, all of them would take minutes.
    const most = one.name === "s3fs" ? { most: SOME } : {};
    const way = { readers: MANY, seed: 1 + round, ...most };
    return await takePass(place, one, way);
  });
  const rates = measured.map((all) => all.map(rateOf));
  const whole = measured.map((all) => all.map((one) => wholeRate(place, one)));
  return [
    ...rowsBesideFirst(what, "files/s", [ours, {
      name: contenders[1]!.name,
      target: 0.9,
    }], rates.slice(0, 2)),
    ...rowsBesideFirst(
      `${what}, from the command on`,
      "files/s",
      [ours, ...others.map(({ name }) => ({ name, target: 1 }))],
      [whole[0]!, ...whole.slice(2)],
    ),
  ];
}

/** One reader, in the order of names and in that of an epoch. */
export async function oneReader(
  place: Place,
  store: Store,
  rounds: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const isEpoch of [false, true]) {
    const order = isEpoch ? "epoch" : "name";
    const what = `remote, ${store.name}: cold, one reader, ${order} order`;
    const ours = recordfs(store, ...isEpoch ? ["--shuffle", "1"] : []);
    const others = peers(store);
    const waiting = bareGets(place, store, 1, FEW / 2);
    const contenders: (Mounter | Bare)[] = [ours, waiting, ...others];
    const measured = await alternate(contenders, rounds, async (one, round) => {
      progress(`${what}: round ${round + 1} of ${rounds}, ${one.name}`);
      const isOurs = one === ours;
      return await takePass(place, one, {
        readers: 1,
        seed: 1 + round,
        isInOrder: !isEpoch || isOurs,
        ...isOurs ? {} : { most: FEW },
        ...isEpoch && isOurs ? { below: "epoch-0000" } : {},
      });
    });
    const rates = measured.map((all) => all.map(rateOf));
    const whole = measured.map((all) =>
      all.map((one) => wholeRate(place, one))
    );
    rows.push(
      ...rowsBesideFirst(what, "files/s", [ours, {
        name: waiting.name,
        ...isEpoch ? { target: 10 } : {},
      }], rates.slice(0, 2)),
      ...rowsBesideFirst(
        `${what}, from the command on`,
        "files/s",
        [ours, ...others.map(({ name }) => ({ name, target: 5 }))],
        [whole[0]!, ...whole.slice(2)],
      ),
    );
  }
  return rows;
}

/** Beside recordfs over the archive in a mount of rclone's, which knows nothing of it. */
export async function overRclone(
  place: Place,
  store: Store,
  rounds: number,
): Promise<Row[]> {
  const what =
    `remote, ${store.name}: cold, random, ${MANY} readers, ${SOME} files`;
  const ours = recordfs(store);
  const over = overRcloneMount(store);
  const rates = await alternate([ours, over], rounds, async (one, round) => {
    progress(`${what}: round ${round + 1} of ${rounds}, ${one.name}`);
    const way = { readers: MANY, seed: 1 + round, most: SOME };
    return rateOf(await coldPass(place, one, way));
  });
  return rowsBesideFirst(what, "files/s", [ours, {
    name: over.name,
    target: 1.5,
  }], rates);
}

/** Two mounts, one of which ends with the other. */
function overRcloneMount({ rcloneRoot }: Store): Mounter {
  const [inner] = [recordfs({ archive: '"$2/a.ffr"', env: {} })];
  return {
    name: "recordfs over rclone mount",
    command(mountpoint, cache) {
      const mount = inner.command(mountpoint, cache)
        .map((word) => word.startsWith('"') ? word : `'${word}'`).join(" ");
      const script = `
mkdir -p "$2"
rclone mount "$1" "$2" --cache-dir "$3" --vfs-cache-mode full \\
  --dir-cache-time 1h --vfs-read-chunk-size 1M --vfs-read-ahead 0 &
trap 'fusermount3 -u -z "$2"; wait' EXIT
while [ ! -e "$2/a.ffr" ]; do sleep 0.05; done
${mount}`;
      const below = `${cache}/archive`;
      return ["sh", "-c", script, "sh", rcloneRoot, below, `${cache}/rclone`];
    },
  };
}

function takePass(
  place: Place,
  one: Mounter | Bare,
  way: Way,
): Promise<FilesPass> {
  return "read" in one ? one.read() : coldPass(place, one, way);
}

function rateOf({ filesRead, seconds }: FilesPass): number {
  return filesRead / seconds;
}

/** Files a second from the start of the command on, had all of them been read at that rate. */
function wholeRate({ files }: Place, pass: FilesPass): number {
  const { ready, listed } = pass;
  return files / (ready + listed + files / rateOf(pass));
}
