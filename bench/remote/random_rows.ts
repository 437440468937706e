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

/** Number of concurrent readers, and of ranges in flight to compare with. */
const MANY = 32;
/** Files that the peers' single reader reads, waiting a round trip for each. */
const FEW = 1000;
/** Files read by s3fs, and by recordfs over rclone's mount. */
const SOME = 2000;

/** Returns programs that mount single objects from this store. */
function peers(store: Store): Mounter[] {
  const { s3fsFiles } = store;
  return [
    rclone(store),
    ...s3fsFiles === undefined ? [] : [s3fs(s3fsFiles)],
  ];
}

/** Reads files in random order by many readers, compared with bare requests and with mounts of single objects. */
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
    // At its rate, reading all files would take minutes.
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

/** Reads by one reader, in the order of names and in that of an epoch. */
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

/** Compares with recordfs over an rclone mount that contains the archive. */
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

/** Returns two mounts; ending the outer one ends the inner one too. */
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

/** Files a second including mounting and listing, extrapolated to all files at the measured rate. */
function wholeRate({ files }: Place, pass: FilesPass): number {
  const { ready, listed } = pass;
  return files / (ready + listed + files / rateOf(pass));
}
