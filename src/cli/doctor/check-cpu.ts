import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { ok, skip, type Verdict, warn } from "./finding.ts";

const FLAGS = "/proc/cpuinfo";
const GOVERNOR = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

/** Whether the CPU can do what ONNX Runtime's kernels want, and whether its clock stands. Linux only. */
export async function checkCpu(): Promise<Verdict> {
  const told = await readFile(FLAGS, "utf8").catch(() => null);
  if (told === null) return skip("known on Linux alone");
  const governor = await readFile(GOVERNOR, "utf8").catch(() => null);
  return judgeCpu(`${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}`, told, governor?.trim() ?? null);
}

/** Of the text of `/proc/cpuinfo` and the first core's governor; null where the system, as in most VMs, tells none. */
export function judgeCpu(name: string, cpuInfo: string, governor: string | null): Verdict {
  const [, listed = ""] = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(cpuInfo) ?? [];
  const flags = new Set(listed.split(/\s+/));
  const isFast = flags.has("avx2") || flags.has("asimd");
  const found = `${name}, ${isFast ? (flags.has("avx2") ? "AVX2" : "NEON") : "no AVX2 and no NEON"}, governor ${governor ?? "not told"}`;
  if (!isFast) return warn(found, "Models run several times slower on this CPU; in a VM, pass the host's CPU through.");
  if (governor !== null && governor !== "performance") {
    return warn(found, "Measurements scatter while the clock moves: `cpupower frequency-set -g performance`.");
  }
  return ok(found);
}
