import type { Hardware } from "../../protocol/hardware.ts";
import { listEntries, readNumber } from "./system-files.ts";

type Clocks = Required<Pick<Hardware["cpu"], "baseClockMhz" | "maxClockMhz">>;

/** The fastest core's clocks, where the driver of the processor's frequencies tells them. Linux kernel documentation: admin-guide/pm/cpufreq and intel_pstate. */
export async function readClocks(root: string): Promise<Clocks> {
  const policies = await listEntries(/^policy\d+$/, root, "sys/devices/system/cpu/cpufreq");
  const fastestMhz = async (file: string) => {
    const values = await Promise.all(policies.map((policy) => readNumber(policy, file)));
    const khz = Math.max(0, ...values.map((value) => value ?? 0));
    return khz === 0 ? null : khz / 1e3;
  };
  return { baseClockMhz: await fastestMhz("base_frequency"), maxClockMhz: await fastestMhz("cpuinfo_max_freq") };
}
