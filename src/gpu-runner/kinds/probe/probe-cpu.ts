import { availableParallelism } from "node:os";
import { cpuFlags } from "systeminformation";
import type { Device, Hardware } from "../../../protocol/fleet/hardware.ts";
import type { ProbedClaim } from "../../../protocol/jobs/probe.ts";
import { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import { benchmarkPopulation } from "../../kernels/benchmark/benchmark-population.ts";
import { assertWanted } from "../../devices/progress.ts";
import { nameInstructionSets } from "../../host/hardware/device-names.ts";
import { readCpu } from "../../host/sensors/read-cpu.ts";
import { OrtBackend } from "../../devices/ort/ort-backend.ts";
import { tryProvider } from "../../devices/ort/try-provider.ts";
import { checkClaim, type Claim } from "./claim.ts";
import { judgeCores, measureCores } from "./measure-cores.ts";
import { judgeWidth, measureWidth } from "./measure-width.ts";
import type { ProbeOptions } from "./probe-gpu.ts";

/** Instruction sets whose register width shows in a matrix product. */
const WIDE: ReadonlySet<string> = new Set(["AVX2", "AVX-512"]);

/** Most threads in a measurement; more would need too much work. */
const MOST_THREADS = 64;

/** Checks the claims of this process's CPU: backends, cores and, as far as they show, instructions. */
export async function probeCpuClaims(
  { backends }: Device,
  hardware: Hardware,
  { onProgress, signal }: ProbeOptions,
): Promise<ProbedClaim[]> {
  const claims = [...backendClaims(backends, signal), ...coreClaims(hardware), ...(await instructionClaims(hardware))];
  const probed: ProbedClaim[] = [];
  for (const [index, claim] of claims.entries()) {
    assertWanted(signal);
    onProgress({ phase: claim.claim, done: index, total: claims.length });
    probed.push(await checkClaim(claim));
  }
  return probed;
}

function backendClaims(backends: Device["backends"], signal: AbortSignal): Claim[] {
  const claims: Claim[] = [];
  if (backends.includes("ort-cpu")) {
    const find = async () => {
      await tryProvider(new OrtBackend("cpu"));
      return { found: "a product of matrices is right", ok: true };
    };
    claims.push({ claim: "ort-cpu", claimed: "computes", find });
  }
  if (backends.includes("cpu-simd")) {
    const find = async () => {
      const spec = BenchmarkSpec.parse({ kind: "benchmark", kernel: "mlp-population", iterations: 1, warmup: 0 });
      const { correctness } = await benchmarkPopulation(spec, { onProgress: () => {}, signal });
      return { found: `${correctness.checkedElements} outputs agree with the f64 reference`, ok: correctness.correct };
    };
    claims.push({ claim: "cpu-simd", claimed: "computes", find });
  }
  return claims;
}

function coreClaims({ cpu, container }: Hardware): Claim[] {
  const cores = Math.min(cpu.logicalCores, container?.cores ?? Number.POSITIVE_INFINITY);
  return [
    {
      claim: "logical cores",
      claimed: String(cpu.logicalCores),
      find: async () => {
        const found = availableParallelism();
        return { found: String(found), ok: found >= cpu.logicalCores };
      },
    },
    {
      claim: "cores at work",
      claimed: String(cores),
      find: async () => judgeCores(await measureCores(threadsFor(cores)), Math.min(cores, MOST_THREADS)),
    },
  ];
}

/** At most the system's own threads, whatever is claimed. */
function threadsFor(cores: number): number {
  return Math.max(1, Math.floor(Math.min(cores, availableParallelism(), MOST_THREADS)));
}

async function instructionClaims({ cpu, arch }: Hardware): Promise<Claim[]> {
  const claimed = (cpu.instructionSets ?? []).map(({ name }) => name);
  const flags = new Set(nameInstructionSets((await cpuFlags()).split(/\s+/), arch).map(({ name }) => name));
  const claims: Claim[] = claimed.map((name) => ({
    claim: name,
    claimed: "there",
    find: async () => {
      const ok = flags.has(name);
      return { found: ok ? "the processor's flags have it" : "the processor's flags do not have it", ok };
    },
  }));
  const widest = claimed.findLast((name) => WIDE.has(name));
  const ratedMhz = cpu.maxClockMhz ?? (cpu.speedGhz === null ? null : cpu.speedGhz * 1e3);
  const clockMhz = ratedMhz ?? (await readCpu("/")).sensor.clockMhz;
  // Without a reported clock there is nothing to compare with.
  if (widest !== undefined && clockMhz !== null) {
    claims.push({
      claim: `${widest} at work`,
      claimed: "wide registers",
      find: async () => judgeWidth(await measureWidth(), clockMhz),
    });
  }
  return claims;
}
