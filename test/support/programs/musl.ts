/**
 * A command line in a mount namespace of its own, in which the system has the loader of musl, too: what looks for it
 * takes the system for one of musl.
 *
 * @param dir An empty place is made in it.
 */
export function onMusl(dir: string, command: readonly string[]): string[] {
  const script = `
    mkdir -p ${dir}/over && mount -t tmpfs none ${dir}/over
    mkdir ${dir}/over/upper ${dir}/over/work
    lib=$(readlink -f /lib)
    mount -t overlay -o lowerdir=$lib,upperdir=${dir}/over/upper,workdir=${dir}/over/work none $lib
    touch /lib/ld-musl-x86_64.so.1
    exec "$@"`;
  const unshare = ["unshare", "--mount", "--propagation", "private"];
  return [...unshare, "sh", "-ec", script, "sh", ...command];
}
