/** Emulated machines on which recordfs is tested: a kernel and userland of Debian, and the qemu command. */

/** A machine to test on. */
export interface Machine {
  readonly name: string;
  /** Suite of Debian. */
  readonly suite: string;
  readonly architecture: "amd64" | "arm64";
  /** Platform of the release's archive. */
  readonly platform: "linux-x64" | "linux-arm64";
  /** Package that depends on the kernel image. */
  readonly kernel: string;
  /** Expected start of the kernel's version. */
  readonly version: string;
  /** Whether a mount survives its server (Linux 6.9). */
  readonly outlives: boolean;
}

const amd64 = { architecture: "amd64", platform: "linux-x64" } as const;
const arm64 = { architecture: "arm64", platform: "linux-arm64" } as const;

export const MACHINES: readonly Machine[] = [
  {
    name: "bullseye-amd64",
    suite: "bullseye",
    ...amd64,
    kernel: "linux-image-cloud-amd64",
    version: "5.10",
    outlives: false,
  },
  {
    name: "bookworm-amd64",
    suite: "bookworm",
    ...amd64,
    kernel: "linux-image-cloud-amd64",
    version: "6.1",
    outlives: false,
  },
  {
    name: "trixie-amd64",
    suite: "trixie",
    ...amd64,
    kernel: "linux-image-cloud-amd64",
    version: "6.12",
    outlives: true,
  },
  {
    name: "bookworm-arm64",
    suite: "bookworm",
    ...arm64,
    kernel: "linux-image-cloud-arm64",
    version: "6.1",
    outlives: false,
  },
  {
    name: "trixie-arm64",
    suite: "trixie",
    ...arm64,
    kernel: "linux-image-arm64-16k",
    version: "6.12",
    outlives: true,
  },
];

/** Packages of the userland, whose dependencies are installed as well. */
export const USERLAND: readonly string[] = [
  ...["busybox-static", "bash", "coreutils", "diffutils", "findutils", "fuse3"],
  ...["libgcc-s1", "mount", "procps", "kmod", "util-linux", "passwd", "dash"],
  ...["grep", "sed"],
];

/** Returns the command that runs a machine, with its console written to a file. */
export function qemuOf(
  { architecture }: Machine,
  kernel: string,
  initrd: string,
  console: string,
): string[] {
  const [program, ...board] = architecture === "amd64"
    ? ["qemu-system-x86_64", "-machine", "q35", "-cpu", "max"]
    : ["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a72"];
  const device = architecture === "amd64" ? "ttyS0" : "ttyAMA0";
  return [
    ...[program!, ...board, "-accel", "tcg,thread=multi", "-smp", "2"],
    ...["-m", "3072", "-display", "none", "-monitor", "none"],
    ...["-serial", `file:${console}`, "-no-reboot", "-nic", "none"],
    ...["-kernel", kernel, "-initrd", initrd],
    ...["-append", `console=${device} panic=-1 rdinit=/init quiet`],
  ];
}
