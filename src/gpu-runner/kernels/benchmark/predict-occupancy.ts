import type { Device } from "../../../protocol/fleet/hardware.ts";
import type { PredictedOccupancy } from "../../../protocol/jobs/benchmark.ts";
import { joinParts, readProgram } from "../../devices/gpu/kernel-loader.ts";
import type { KernelChoice } from "../dispatch/resolve-benchmark.ts";
import { readWorkgroup } from "./read-workgroup.ts";

/** Limits of an architecture's processors. */
interface Architecture {
  readonly name: string;
  /** Matches vendor, architecture and device as WebGPU reports them, in lower case. */
  readonly adapter: RegExp;
  readonly unit: PredictedOccupancy["unit"];
  readonly lanesPerWave: 32;
  readonly maxWaves: number;
  readonly maxWorkgroups: number;
  readonly memoryBytes: number;
  /** Memory that each workgroup uses beyond its request, and the granularity of its allocation. */
  readonly reservedBytes: number;
  readonly memoryStepBytes: number;
  /** Register files of 32-bit registers. A wave lives in one file, and its registers are allocated in steps. */
  readonly registerFiles?: { readonly count: number; readonly registers: number; readonly step: number };
}

const registerFiles = { count: 4, registers: 16_384, step: 256 } as const;
const nvidia = { unit: "SM", lanesPerWave: 32, registerFiles } as const;
const sinceAmpere = { ...nvidia, reservedBytes: 1024, memoryStepBytes: 128 } as const;
const beforeAmpere = { ...nvidia, reservedBytes: 0, memoryStepBytes: 256 } as const;
const rdna = {
  unit: "WGP",
  lanesPerWave: 32,
  maxWaves: 64,
  maxWorkgroups: 32,
  memoryBytes: 128 * 1024,
  reservedBytes: 0,
  memoryStepBytes: 512,
} as const;

/**
 * The first match counts: some families have members of two capabilities. AMD figures are for waves of 32, which have
 * the highest occupancy.
 * Source for NVIDIA: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
 * Source for AMD: LLVM's AMDGPU backend (waves per execution unit, workgroups and local memory in workgroup-processor
 * mode).
 */
const ARCHITECTURES: readonly Architecture[] = [
  {
    ...sinceAmpere,
    name: "NVIDIA Hopper (9.0)",
    adapter: /nvidia.*\b(g?h100|g?h200|h800)\b/,
    maxWaves: 64,
    maxWorkgroups: 32,
    memoryBytes: 228 * 1024,
  },
  {
    ...sinceAmpere,
    name: "NVIDIA Ampere (8.0)",
    adapter: /nvidia.*\b(a100|a800|a30)\b/,
    maxWaves: 64,
    maxWorkgroups: 32,
    memoryBytes: 164 * 1024,
  },
  {
    ...sinceAmpere,
    name: "NVIDIA Ampere (8.6)",
    adapter: /nvidia(?!.*\b(orin|tegra)\b).*\bampere\b/,
    maxWaves: 48,
    maxWorkgroups: 16,
    memoryBytes: 100 * 1024,
  },
  {
    ...sinceAmpere,
    name: "NVIDIA Ada (8.9)",
    adapter: /nvidia.*\blovelace\b/,
    maxWaves: 48,
    maxWorkgroups: 24,
    memoryBytes: 100 * 1024,
  },
  {
    ...beforeAmpere,
    name: "NVIDIA Turing (7.5)",
    adapter: /nvidia.*\bturing\b/,
    maxWaves: 32,
    maxWorkgroups: 16,
    memoryBytes: 64 * 1024,
  },
  {
    ...beforeAmpere,
    name: "NVIDIA Volta (7.0)",
    adapter: /nvidia.*\bv100\b/,
    maxWaves: 64,
    maxWorkgroups: 32,
    memoryBytes: 96 * 1024,
  },
  { ...rdna, name: "AMD RDNA 2", adapter: /amd.*\brdna-2\b/ },
  { ...rdna, name: "AMD RDNA 3", adapter: /amd.*\brdna-3\b/ },
];

/** Resources that limit occupancy. `registers` are those of a lane, where known: WebGPU does not report them. */
export interface WorkgroupNeeds {
  readonly lanes: number;
  readonly memoryBytes: number;
  readonly registers?: number;
}

/** Predicts occupancy on an adapter (`vendor architecture device`); null where its architecture is not in the table. */
export function predictOccupancy(adapter: string, needs: WorkgroupNeeds): PredictedOccupancy | null {
  const text = adapter.toLowerCase();
  const architecture = ARCHITECTURES.find((each) => each.adapter.test(text));
  return architecture === undefined ? null : occupy(architecture, needs);
}

function occupy(architecture: Architecture, { lanes, memoryBytes, registers }: WorkgroupNeeds): PredictedOccupancy {
  const { lanesPerWave, maxWaves, maxWorkgroups, memoryStepBytes, reservedBytes } = architecture;
  const wavesPerWorkgroup = Math.ceil(lanes / lanesPerWave);
  const slots = Math.min(maxWaves, wavesByRegisters(architecture, registers));
  const takenBytes = Math.ceil((memoryBytes + reservedBytes) / memoryStepBytes) * memoryStepBytes;
  const byMemory = memoryBytes === 0 ? Number.POSITIVE_INFINITY : Math.floor(architecture.memoryBytes / takenBytes);
  // AMD's limit is one of barriers; a workgroup of one wave needs none.
  const byCount = architecture.unit === "WGP" && wavesPerWorkgroup === 1 ? maxWaves : maxWorkgroups;
  const byWaves = Math.floor(slots / wavesPerWorkgroup);
  const workgroups = Math.min(byWaves, byCount, byMemory);
  const waves = workgroups * wavesPerWorkgroup;
  return {
    label: "predicted",
    architecture: architecture.name,
    unit: architecture.unit,
    wavesPerWorkgroup,
    workgroupMemoryBytes: memoryBytes,
    workgroups,
    waves,
    maxWaves,
    share: waves / maxWaves,
    limitedBy: workgroups === byWaves ? "waves" : workgroups === byMemory ? "workgroup-memory" : "workgroups",
    registers: registers === undefined ? "unknown" : "given",
  };
}

function wavesByRegisters({ registerFiles: files, lanesPerWave }: Architecture, registers: number | undefined): number {
  if (registers === undefined || files === undefined) return Number.POSITIVE_INFINITY;
  const perWave = Math.ceil((registers * lanesPerWave) / files.step) * files.step;
  return files.count * Math.floor(files.registers / perWave);
}

/**
 * Predicted occupancy of a kernel's largest pass. Null on a software device, for an architecture that is not in the
 * table, and where the WGSL does not show a workgroup's resources plainly.
 */
export async function occupyKernel(
  { software, fingerprint }: Pick<Device, "software" | "fingerprint">,
  { kernel, variant, shape, axes }: KernelChoice,
): Promise<PredictedOccupancy | null> {
  const adapter = fingerprint.adapter ?? "";
  if (software || predictOccupancy(adapter, { lanes: 1, memoryBytes: 0 }) === null) return null;
  const code = joinParts(await readProgram(kernel, variant));
  const overrides = { ...axes, ...variant.constants?.(shape) };
  const passes = variant.passes.map((pass) => {
    const needs = readWorkgroup(code, pass.entryPoint, overrides);
    const groups = pass.workgroups(shape, axes).reduce((product, count) => product * count, 1);
    return needs === null ? null : { needs, lanes: groups * needs.lanes };
  });
  const known = passes.filter((pass) => pass !== null);
  const largest = known.toSorted((a, b) => b.lanes - a.lanes)[0];
  return largest === undefined || known.length < passes.length ? null : predictOccupancy(adapter, largest.needs);
}
