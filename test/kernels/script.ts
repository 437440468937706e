/** The script of a machine: mounts as an administrator and as an ordinary user, and kills a server. */
import type { Machine } from "./machines.ts";

/** Steps in order. The script prints `@@ STEP CODE` after each. */
export const STEPS = [
  "kernel",
  "doctor",
  "pack",
  "mount",
  "list",
  "warm",
  "cold",
  "parallel",
  "unmount",
  "foreground",
  "user",
  "killed",
  "on_failure",
  "replace",
] as const;

/** Returns the bash script. */
export function scriptFor({ version, outlives }: Machine): string {
  return `
PATH=$(echo /opt/recordfs-*/bin):$PATH
export NO_COLOR=1
cd /tmp
step() {
  name=$1
  shift
  (
    set -x
    "$@"
  ) >"/tmp/$name.out" 2>&1
  code=$?
  [ $code = 0 ] || sed 's/^/   /' "/tmp/$name.out"
  echo "@@ $name $code"
}
kernel() { uname -r | grep -q '^${version.replace(".", "\\.")}\\.'; }
doctor() { recordfs doctor && recordfs doctor | grep '^works *image codec *turbojpeg'; }
pack() {
  mkdir -p data/a data/b &&
    for i in $(seq 1 200); do seq $i $((i + 3000)) >data/a/$i.txt; done &&
    head -c 20000000 /dev/urandom >data/b/large && recordfs pack data x.ffr && mkdir m
}
list() { [ "$(find m -type f | wc -l)" = 201 ]; }
same() { diff -r data m; }
cold() { echo 3 >/proc/sys/vm/drop_caches && same && dd if=m/b/large of=/dev/null bs=1M iflag=direct; }
parallel() {
  echo 3 >/proc/sys/vm/drop_caches
  same & same & cmp data/b/large m/b/large && wait -n && wait -n
}
foreground() {
  recordfs mount -f x.ffr m &
  until mountpoint -q m; do sleep 0.2; done
  same && recordfs unmount m && wait $!
}
user() {
  chmod 666 /dev/fuse && mkdir -p user/m && cp x.ffr user && chown -R user: user &&
    HOME=/tmp/user setpriv --reuid user --regid user --clear-groups bash -xc 'cd && recordfs mount x.ffr m && cmp /tmp/data/b/large m/b/large && recordfs unmount m'
}
server() { recordfs mounts --json | sed -n 's/^ *"pid": \\([0-9]*\\),$/\\1/p'; }
killed() {
  recordfs mount x.ffr m || return 1
  cat m/b/large >/dev/null
  kill -9 "$(server)" || return 1
  ${
    outlives
      ? `for i in $(seq 60); do echo 3 >/proc/sys/vm/drop_caches; cmp data/b/large m/b/large && break; sleep 1; done
  same && recordfs unmount m`
      : `sleep 2
  echo 3 >/proc/sys/vm/drop_caches # what the kernel has cached can still be read
  cat m/b/large >/dev/null && return 1 # it is dead, and says so
  recordfs unmount m && recordfs mount x.ffr m && same && recordfs unmount m`
  }
}
on_failure() {
  recordfs mount --on-failure unmount x.ffr m && same || return 1
  ${
    outlives ? "recordfs unmount m" : `kill -9 "$(server)" || return 1
  for i in $(seq 60); do mountpoint -q m || break; sleep 1; done
  ! mountpoint -q m && [ -z "$(ls m)" ]`
  }
}
replace() {
  recordfs mount x.ffr m || return 1
  recordfs mount --replace x.ffr m >replace.out 2>&1
  code=$?
  ${
    outlives
      ? "[ $code = 0 ] && same && recordfs unmount m"
      : "[ $code = 1 ] && grep -q '6\\.9' replace.out && same && recordfs unmount m"
  }
}
step kernel kernel
step doctor doctor
step pack pack
step mount recordfs mount x.ffr m
step list list
step warm same
step cold cold
step parallel parallel
step unmount recordfs unmount m
step foreground foreground
step user user
step killed killed
step on_failure on_failure
step replace replace
`;
}
