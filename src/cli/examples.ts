import type { Command } from "commander";

/** Three command lines for each command, which tests run or parse. */
export const LINES = `
recordfs mount data.ffr /mnt/x
recordfs mount a.ffr b.ffr=train/b gulp/ /mnt/x
recordfs mount --shuffle 42 --epoch 0-9 -o allow_other data.ffr /mnt/x
recordfs unmount /mnt/x
recordfs unmount /mnt/x /mnt/y
recordfs unmount --lazy /mnt/x
recordfs mounts
recordfs mounts --json
recordfs mounts --json > mounts.json
recordfs view data.ffr
recordfs view a.ffr b.ffr=train/b gulp/
recordfs view --no-open --no-token captions
recordfs serve data.ffr
recordfs serve --host 0.0.0.0 --allow-host data.example --token-file token data.ffr
recordfs serve --port 0 --base-path /data a.ffr gulp/
recordfs ls data.ffr
recordfs ls -lR data.ffr train
recordfs ls data.ffr 'train/*.jpg'
recordfs tree data.ffr
recordfs tree -L 1 data.ffr
recordfs tree --decoded captions 000000
recordfs cat data.ffr train/labels.json
recordfs cat data.ffr '*.json' > all.json
recordfs cat --decoded captions 000000/text.txt
recordfs stat data.ffr train/labels.json
recordfs stat --json data.ffr /
recordfs stat captions 000000/text 000001/text
recordfs info data.ffr
recordfs info --json captions
recordfs info --format ffrecord-samples data.ffr
recordfs records data.ffr
recordfs records --json data.ffr
recordfs records parts/ > samples.txt
recordfs check data.ffr
recordfs check --subset subset.txt data.ffr
recordfs check --json --all gulp/
recordfs index photos.tar
recordfs index --dali photos.tar
recordfs index -o indexes/ --force s3://bucket/photos.tar
recordfs extract data.ffr out/
recordfs extract --force data.ffr out/ train/labels.json
recordfs extract --subset subset.txt data.ffr chosen/
recordfs pack photos/ photos.ffr
recordfs pack --include '*.jpg' --exclude /tmp photos/ jpegs.ffr
recordfs pack --parts 8 photos/ packed/
recordfs write new.ffr a.bin b.bin
recordfs write --force new.ffr --jsonl samples.jsonl
find . -name '*.bin' -print0 | recordfs write listed.ffr -0 --list -
recordfs convert captions old --to bags --generation 1
recordfs convert gulp/ videos/
recordfs convert --force samples.ffr thumbs --to bags --spec '{"image": "jpg"}'
recordfs bag create new lines.jsonl --spec '{"text": "utf8"}'
recordfs bag create --generation 2 --shard-size 1GB old folders/
recordfs bag create --resume new lines.jsonl --spec captions/spec.json
recordfs split data.ffr --ratios 0.8,0.1,0.1 --seed 1
recordfs split data.ffr --ratios 9,1 --names train,test --out splits
recordfs split data.ffr --ratios 1,1 --stratify dir --force
recordfs bench-loader data.ffr
recordfs bench-loader --workers 0,1 --batch 16 --batches 4 data.ffr
recordfs bench-loader --shuffle --seed 7 --seconds 10 --json gulp/
recordfs cache ls
recordfs cache ls --json
recordfs cache ls --cache-dir /var/cache/recordfs
recordfs cache rm --all
recordfs cache rm s3://bucket/data.ffr
recordfs cache rm https://example.org/gulp/ s3://bucket
recordfs cache verify
recordfs cache verify --json
recordfs cache verify --cache-dir /var/cache/recordfs
recordfs cache fill https://example.org/data.ffr
recordfs cache fill s3://bucket/data.ffr --profile training
recordfs cache fill --cache-size 100G --header-file token https://example.org/gulp/
recordfs doctor
recordfs doctor --json
recordfs doctor https://example.org/data.ffr
recordfs completions bash > recordfs.bash
recordfs completions zsh > _recordfs
recordfs completions fish > recordfs.fish
recordfs gulp json-videos train.json videos/ gulped/
recordfs gulp json-videos --frame-size 128 --frame-rate 8 train.json videos/ gulped/
recordfs gulp json-videos --resume train.json videos/ gulped/
recordfs gulp csv-webm train.csv videos/ gulped/
recordfs gulp csv-webm --shuffle --seed 1 train.csv videos/ gulped/
recordfs gulp csv-webm --resume --workers 8 train.csv videos/ gulped/
recordfs gulp csv-jpeg train.csv frames/ gulped/
recordfs gulp csv-jpeg --videos-per-chunk 1000 train.csv frames/ large/
recordfs gulp csv-jpeg --extend more.csv frames/ gulped/
recordfs gulp image-list images.csv gulped/
recordfs gulp image-list --root-folder images names.csv named/
recordfs gulp image-list --frame-size 256 --json images.csv small/
recordfs gulp image-folder images/ gulped/
recordfs gulp image-folder --frame-size 256 images/ small/
recordfs gulp image-folder --shuffle --seed 1 --json images/ mixed/
recordfs gulp video-folder videos/ gulped/
recordfs gulp video-folder --frame-rate 5 --frame-size 128 videos/ small/
recordfs gulp video-folder --resume videos/ gulped/
recordfs gulp activitynet activity_net.json videos/ gulped/
recordfs gulp activitynet --frame-rate 5 activity_net.json videos/ gulped/
recordfs gulp activitynet --resume activity_net.json videos/ gulped/
recordfs gulp kinetics train.json videos/ gulped/
recordfs gulp kinetics --frame-size 128 train.json videos/ gulped/
recordfs gulp kinetics --extend test.json videos/ gulped/
recordfs gulp repair gulp/ sound/
recordfs gulp repair --partial gulp/ sounder/
recordfs gulp repair --json --all gulp/ listed/
`.trim().split("\n");

/** Examples of the program itself, and of commands with subcommands. */
const ABOVE: Readonly<Record<string, readonly string[]>> = {
  "": [
    "recordfs mount data.ffr /mnt/x",
    "recordfs ls -l data.ffr train",
    "recordfs pack photos/ photos.ffr",
  ],
  "bag": [
    `recordfs bag create new lines.jsonl --spec '{"text": "utf8"}'`,
    "recordfs bag create copy folders/",
    "recordfs bag create --generation 1 old lines.jsonl --spec captions/spec.json",
  ],
  "cache": [
    "recordfs cache ls",
    "recordfs cache fill https://example.org/data.ffr",
    "recordfs cache rm --all",
  ],
  "gulp": [
    "recordfs gulp image-folder images/ gulped/",
    "recordfs gulp video-folder --frame-rate 5 videos/ clips/",
    "recordfs gulp repair gulp/ sound/",
  ],
};

export function examplesOf(name: string): readonly string[] {
  return ABOVE[name] ??
    LINES.filter((line) => `${line} `.includes(`recordfs ${name} `));
}

/** Adds the examples to the help of a command and all its subcommands. */
export function addExamples(command: Command, above = ""): void {
  const known = examplesOf(above);
  const lines = known.length > 0 ? known : generic(command, above);
  const text = lines.map((line) => `  ${line}`).join("\n");
  command.addHelpText("after", `\nExamples:\n${text}`);
  for (const one of command.commands) {
    addExamples(one, above === "" ? one.name() : `${above} ${one.name()}`);
  }
}

/** Generates examples for a user's adapter from its arguments. */
function generic(command: Command, name: string): readonly string[] {
  const given = name.replace(/^gulp /, "");
  const own = command.registeredArguments.slice(0, -1)
    .map((argument) => `${argument.name()}/ `).join("");
  const line = (flags: string) =>
    `recordfs gulp --adapter ${given} ${flags}${own}gulped/`;
  return [line(""), line("--workers 2 "), line("--resume ")];
}
