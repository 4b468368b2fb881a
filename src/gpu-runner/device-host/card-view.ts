import type { ForkOptions } from "node:child_process";
import type { GpuBoard } from "../../protocol/fleet/hardware.ts";

/** What a process is shown of a machine with several cards: one of them. */
export interface CardView {
  readonly board: GpuBoard;
  /** Files by which it would reach the other cards. */
  readonly hidden: readonly string[];
}

/**
 * Denies the files after the first argument, up to `--`, and runs the command after it. A driver that cannot open a
 * card's node does not list the card. NVIDIA's lists what its folder in /proc holds, and gives up where it cannot open
 * one of them: the folder is replaced by one with only the card of the first argument.
 */
const SCRIPT = `set -e
listed=/proc/driver/nvidia/gpus
if [ -d "$listed/$1" ]; then (
  cd "$listed/$1"
  mount -t tmpfs tmpfs "$listed"
  mkdir "$listed/$1"
  mount -c --bind . "$listed/$1"
) fi
shift
while [ "$1" != -- ]; do
  mount --bind "$1" "$1"
  mount -o remount,bind,nodev,noexec "$1"
  shift
done
shift
exec "$@"`;

/**
 * How to fork a process that is shown one card: in a namespace of its own, which needs Linux, util-linux and leave to
 * make user namespaces. Neither Vulkan's loader nor WebGPU can choose among equal cards. The process ends at once where
 * it is not possible. Where there is nothing to hide, it is forked as it is.
 */
export function throughView({ board, hidden }: CardView): Pick<ForkOptions, "execPath" | "execArgv"> {
  if (hidden.length === 0) return { execArgv: [] };
  const script = ["sh", "-c", SCRIPT, "sh", board.pciAddress ?? "none", ...hidden, "--", process.execPath];
  return { execPath: "unshare", execArgv: ["--user", "--map-root-user", "--mount", "--", ...script] };
}
