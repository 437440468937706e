import { fileURLToPath } from "node:url";
import {
  closeOnExec,
  formatHeld,
  keepToThisProcess,
  letInherit,
} from "../../../fuse/server/held_descriptors.ts";
import type { MountJob } from "./job/mount_job.ts";
import type { MountFiles } from "./mount_files.ts";
import type { Serving } from "./serve.ts";

/** Variable that contains the script: as an argument it would fill every list of processes. */
const SCRIPT_VARIABLE = "RECORDFS_SUPERVISOR";

/** Variable with the supervisor's process id. A server's parent may be another process if the supervisor has died. */
export const SUPERVISOR_PID_VARIABLE = "RECORDFS_SUPERVISOR_PID";

/** Variable with the seconds of continuous failure after which a mount is given up. */
export const PATIENCE_VARIABLE = "RECORDFS_GIVE_UP_AFTER";

/** Its default, in seconds. */
const PATIENCE = 300;

/** Value of DENO_DIR that `bin/recordfs` sets to disable caching. */
const NO_CACHE = "/dev/null/none";

/** Exit code of a server that knows that no other server could resume the mount either. */
export const FINAL_EXIT = 3;

/** Maximum size of files that the script reads, in bytes. */
const LARGEST = 1 << 24;

/**
 * POSIX shell script that starts the server of a mount, and another one whenever it dies.
 *
 * Script and servers work in the state directory, which their starter has opened and checked: even if the path is
 * renamed, nobody else can have written what they read. Files that are not regular, have a second link, belong to
 * another user or are very large are treated as missing. Files are always newly created.
 *
 * The script inherits the mount's descriptors of /dev/fuse, so that they outlive each server. It learns a server's
 * fate from the record: a server that ends the mount removes its record, one that serves has its process id in it.
 * The fields are read line by line, as `writeRecord` writes them; the first line with a name counts.
 *
 * A server whose supervisor was killed starts a new one, which first watches that server. The server is not its
 * child, so the supervisor cannot wait for it. Instead, the server alone holds the other end of its standard input.
 *
 * Arguments: the prefix of the mount's file names, the mount point, the server's process id or 0 if there is none
 * yet, one of the descriptors or an empty string, and the command line of a server.
 */
const SCRIPT = String.raw`
unset ${SCRIPT_VARIABLE}
export ${SUPERVISOR_PID_VARIABLE}=$$
base=./$1 record=./$1.json mountpoint=$2 server=$3 fuse=$4
shift 4

# Whether a file is regular, of this user, and has one name: nothing else is opened.
is_own() {
  [ -f "$1" ] && [ ! -L "$1" ] && [ -O "$1" ] || return
  set -- $(PATH=$PATH:/usr/bin:/bin ls -dn -- "$1")
  size=${"${5:-0}"}
  [ "${"${2:-0}"}" -eq 1 ]
}

# Whether there is such a file, of a size that can be read.
is_there() {
  is_own "$1" && [ "$size" -le ${LARGEST} ]
}

# Makes a new file of standard input.
put() {
  rm -f -- "$1"
  (umask 077 && set -C && cat >"$1")
}

# That of a new mount was made just now, and the mount waits for this.
if { [ "$server" -eq 0 ] || is_own "$base.log"; } && true >>"$base.log"; then
  exec 2>>"$base.log"
fi
patience=${"${" + PATIENCE_VARIABLE}:-${PATIENCE}}
adopted='' end='' told='' failing='' delay=0
[ "$server" -eq 0 ] || adopted=1

say() {
  echo "recordfs: $(date -u +%Y-%m-%dT%H:%M:%SZ) supervisor: $1" >&2
}

# The value of a line of the record, without quotes.
field() {
  value=''
  is_there "$record" || return
  while read -r name rest; do
    [ "$name" = "\"$1\":" ] || continue
    value=${"${rest%,}"}
    break
  done <"$record"
  value=${'${value#\\"}'} value=${'${value%\\"}'}
} 2>/dev/null

# Clock ticks since boot, hundredths of a second.
look_at_clock() {
  read -r now _ </proc/uptime
  now=${"${now%.*}${now#*.}"}
  now=${'${now#"${now%%[1-9]*}"}'} # or it would be octal
}

is_mounted() {
  field device
  while read -r _ _ device _; do
    [ "$device" = "$value" ] && return 0
  done </proc/self/mountinfo
  return 1
}

end_mount() {
  say "$1; the mount ends"
  if is_mounted; then
    if [ "$(id -u)" -eq 0 ]; then
      umount -l -- "$mountpoint" || fusermount3 -u -z -- "$mountpoint"
    else
      fusermount3 -u -z -- "$mountpoint"
    fi
  fi
  rm -f -- "$record" "$base.stats" "$base.command" "$base.next" "$base.dead" "$base.hidden"
  exit 1
}

# With this process the descriptors go: the kernel then fails what it has not cached.
give_up() {
  field onFailure
  [ "$value" != unmount ] || end_mount "$1"
  is_there "$base.dead" || echo "$1" | put "$base.dead"
  field counts
  case $value in
    '' | *[!0-9]*) ;;
    *) put "$base.stats" <"/proc/$$/fd/$value" ;;
  esac
  say "$1; the mount is dead"
  exit 1
}

# Another command line may have been given since: its first server decides whether it stays.
serve() {
  if is_there "$base.next"; then
    . "$base.next"
  elif is_there "$base.command"; then
    . "$base.command"
  fi
  exec "$@"
}

told() {
  end=$1 told=1
  [ -z "$server" ] || kill -s "$end" "$server"
}
trap 'told TERM' TERM
trap 'told INT' INT
trap 'told HUP' HUP

# Signals to this process end waiting and reading as well.
wait_for_server() {
  if [ -n "$adopted" ]; then
    while told=''; do
      read -r _ || [ -n "$told" ] || break
    done
    code='' killed='' how='of an unknown cause: another supervisor had started it'
    adopted=''
    exec </dev/null
    return
  fi
  while :; do
    wait "$server"
    code=$?
    [ "$code" -ne 127 ] && kill -0 "$server" || break
  done
  how="exit code $code" killed=''
  [ "$code" -le 128 ] || how="signal $((code - 128))"
  case $code in
    133 | 134 | 137) killed=', which also happens when memory runs out' ;;
  esac
} 2>/dev/null

# Whether mount --replace has ended the server: its file begins with which one.
is_planned() {
  is_there "$base.next" || return
  case $code in '' | 137) ;; *) return 1 ;; esac
  read -r _ _ replaced <"$base.next"
  [ "$replaced" = "$ended" ]
}

# FUSE_NOTIFY_RESEND: who waits for what a server had read could not be killed until another one comes. Not
# every shell can name a descriptor of two digits; where there is no bash, the next server is the first to ask.
resend() {
  [ -z "$fuse" ] ||
    bash -c 'printf "\020\0\0\0\007\0\0\0\0\0\0\0\0\0\0\0" >&"$1"' bash "$fuse"
} 2>/dev/null

# Waits so many tenths of a second, never long at a time.
pause() {
  left=$1
  while [ "$left" -gt 0 ] && [ -z "$end" ] && ! is_there "$base.next"; do
    step=10
    [ "$left" -gt 10 ] || step=$left
    sleep "$((step / 10)).$((step % 10))"
    left=$((left - step))
  done
}

while :; do
  if [ -z "$adopted" ]; then
    serve "$@" &
    server=$!
    exec >/dev/null # only the first server has somebody to answer
    [ -z "$end" ] || kill -s "$end" "$server"
  fi
  wait_for_server
  ended=$server server=''
  if [ ! -e "$record" ]; then
    # It ended the mount, or there was none yet. A signal is passed on as the reason.
    trap - TERM INT HUP
    [ "${"${code:-0}"}" -le 128 ] || kill -s "$((code - 128))" $$
    exit "${"${code:-0}"}"
  fi
  resend
  [ -z "$end" ] || end_mount "the server died ($how) while it was ending"
  field resumable
  [ "$value" = true ] ||
    give_up "the server died ($how), and no other can take its place here"
  look_at_clock
  field pid
  if [ "$value" != "$ended" ] && is_there "$base.next"; then
    say "the replacement died at its start ($how); it is given up"
    rm -f -- "$base.next" "$base.dead"
    continue
  fi
  if is_there "$base.dead"; then
    read -r reason <"$base.dead"
    give_up "$reason"
  fi
  if is_planned; then
    say "another server takes the place of process $ended, as mount --replace asks"
    continue
  fi
  [ "$code" != ${FINAL_EXIT} ] || give_up 'no server can continue it'
  if [ "$value" = "$ended" ]; then
    field servingTicks
    # One that has served for a second was none of the failures.
    [ "$((now - ${"${value:-0}"}))" -lt 100 ] || failing='' delay=0
  fi
  : "${"${failing:=$now}"}"
  left=$((patience * 10 - (now - failing) / 10))
  [ "$left" -gt 0 ] ||
    give_up "for $patience seconds no server has lived for one; the last died by $how$killed"
  [ "$delay" -le "$left" ] || delay=$left
  if [ "$delay" -eq 0 ]; then
    say "the server died ($how)$killed; another one takes its place"
    delay=1
  else
    say "the server died ($how)$killed; another one takes its place in $((delay / 10)).$((delay % 10)) s"
    pause "$delay"
    delay=$((delay * 2))
    [ "$delay" -le 300 ] || delay=300
  fi
  [ -z "$end" ] || end_mount 'it was told to end while it had no server'
done
`;

type Supervision =
  & Pick<Serving, "job" | "held" | "counts">
  & { readonly files: MountFiles };

/**
 * Starts the supervisor of a mount, which starts a server that answers on its standard output. If this process
 * already serves the mount (`isServed`), starts one that watches it; its standard input must stay open that long.
 */
export function startSupervisor(
  { job, files, held, counts }: Supervision,
  isServed = false,
): Deno.ChildProcess {
  const inherited = [...held, counts];
  closeOnExec();
  letInherit(inherited);
  const command = new Deno.Command("/bin/sh", {
    args: [
      "-c",
      `eval "$${SCRIPT_VARIABLE}"`,
      "recordfs", // $0
      files.id,
      job.mountpoint,
      String(isServed ? Deno.pid : 0),
      String(held[0] ?? ""),
      ...serverCommand({ job, files, held, counts }),
    ],
    env: { [SCRIPT_VARIABLE]: SCRIPT },
    cwd: files.location, // its path could lead elsewhere by now
    detached: true, // own session, so that it survives the terminal
    stdin: isServed ? "piped" : "null",
    stdout: isServed ? "null" : "piped",
    stderr: "null", // it appends to the log itself
  });
  try {
    return command.spawn();
  } finally {
    keepToThisProcess(inherited);
  }
}

export function serverCommand(
  { job, files, held, counts }: Supervision,
): string[] {
  return [
    Deno.execPath(),
    ...thisProgram(job),
    "mount",
    `--background=${files.id}`,
    `--held=${formatHeld(held)}`,
    `--counts=${counts}`,
    ...jobArguments(job),
  ];
}

/**
 * Returns the command that runs this program again. Mounting needs FFI and thereby full access, so `-A` adds nothing.
 * Unlike other commands of `bin/recordfs`, a server loads all modules at its start: later they may be of another
 * version.
 */
function thisProgram({ formatModules = [] }: MountJob): string[] {
  if (Deno.build.standalone) return [];
  const flags = ["run", "-A", "--no-lock"];
  const next = (name: string) => new URL(name, Deno.mainModule);
  if (Deno.mainModule.endsWith(".js")) {
    // In the npm package, whose dependencies are installed next to it; same flags as in bin/recordfs.
    const map = `--import-map=${next("import_map.json").href}`;
    flags.push("--no-config", "--node-modules-dir=manual", map);
    if (Deno.env.get("DENO_DIR") === NO_CACHE) flags.push("--no-code-cache");
  } else if (formatModules.length > 0) {
    // A format's module imports the library by its name, which the configuration of a clone defines.
    flags.push(`--config=${fileURLToPath(next("deno.json"))}`);
  } else {
    // A mount loads no package, so it needs no import map, which takes a while to read.
    flags.push("--no-config");
  }
  return [...flags, Deno.mainModule];
}

/** Formats a job as options of `recordfs mount`. */
export function jobOptions(job: MountJob): string[] {
  const args: string[] = [];
  if (job.options !== "") args.push("-o", job.options);
  for (const url of job.formatModules ?? []) {
    args.push(`--format-module=${url}`);
  }
  for (const name of ["format", "ext", "prefix", "subset"] as const) {
    if (job[name] !== undefined) args.push(`--${name}=${job[name]}`);
  }
  if (job.maxRatio !== undefined) args.push(`--max-ratio=${job.maxRatio}`);
  if (job.nested !== undefined) {
    args.push(`--nested=${job.nested === true ? "" : job.nested.join(",")}`);
  }
  if (job.stripSuffix) args.push("--strip-suffix");
  if (job.decoded) args.push("--decoded");
  if (job.shuffle !== undefined) {
    const { seed, firstEpoch, epochs } = job.shuffle;
    const last = firstEpoch + epochs - 1;
    args.push(`--shuffle=${seed}`, `--epoch=${firstEpoch}-${last}`);
  }
  if (job.trace) args.push("--trace");
  if (job.workers !== undefined) args.push(`--workers=${job.workers}`);
  if (job.onFailure !== "dead") args.push(`--on-failure=${job.onFailure}`);
  return args;
}

function jobArguments(job: MountJob): string[] {
  const { sources, mountpoint, remote } = job;
  if (remote !== undefined) {
    return [...jobOptions(job), "--hidden", "--", mountpoint];
  }
  const [first] = sources;
  const isPlain = sources.length === 1 && first!.path === undefined &&
    !first!.location.includes("=");
  const given = isPlain
    ? ["--", first!.location]
    : [`--sources=${JSON.stringify(sources)}`, "--"];
  return [...jobOptions(job), ...given, mountpoint];
}
