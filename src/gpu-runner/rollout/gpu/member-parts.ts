import { ProblemError } from "../../../protocol/wire/problem.ts";

/** Members whose weights share a buffer. */
export interface MemberPart {
  readonly first: number;
  readonly count: number;
}

/** Alignment of parts, where so many members fit: lanes read whole lines. */
const GRAIN = 64;

/**
 * Splits members into the fewest parts of at most `mostMembers`, of even number, so that pairs stay together. A part
 * has at least two members, whatever the limit.
 */
export function partMembers(members: number, mostMembers: number): MemberPart[] {
  const grain = mostMembers >= GRAIN ? GRAIN : 2;
  const size = Math.max(grain, Math.floor(mostMembers / grain) * grain);
  // Parts of similar size: otherwise a small last part would leave the device underused.
  const even = Math.ceil(members / Math.ceil(members / size) / grain) * grain;
  return Array.from({ length: Math.ceil(members / even) }, (_, index) => ({
    first: index * even,
    count: Math.min(even, members - index * even),
  }));
}

/** Memory for a population, in bytes. */
export interface Room {
  /** Largest buffer that a kernel may bind. */
  readonly bindingBytes: number;
  /** All buffers together; infinite where unknown. */
  readonly totalBytes: number;
  /** Memory of the host for weights that do not fit the device. */
  readonly hostBytes: number;
}

/** Storage and waves of a population that may not fit at once. */
export interface PopulationPlan {
  readonly parts: readonly MemberPart[];
  /** Whether the weights of all parts stay on the device; otherwise one part at a time, and the host keeps them. */
  readonly resident: boolean;
  /** Largest number of episodes that are played at once. */
  readonly waveSlots: number;
}

/**
 * Plans with half of the room for weights and half for episodes, since either may be larger. Throws `out-of-memory`
 * where neither the device nor the host has room for the weights.
 */
export function planPopulation(
  members: number,
  parameters: number,
  slot: { readonly largestBytes: number; readonly totalBytes: number },
  { bindingBytes, totalBytes, hostBytes }: Room,
): PopulationPlan {
  const weightBytes = 4 * parameters * members;
  const resident = weightBytes <= totalBytes / 2;
  if (!resident && weightBytes > hostBytes) {
    const detail = `${weightBytes} bytes of weights exceed half of the device's memory, and the host may keep ${hostBytes}`;
    throw new ProblemError("out-of-memory", detail);
  }
  const partBytes = resident ? bindingBytes : Math.min(bindingBytes, totalBytes / 2);
  const waveSlots = Math.floor(Math.min(bindingBytes / slot.largestBytes, totalBytes / 2 / slot.totalBytes));
  const mostMembers = Math.min(partBytes / (4 * parameters), waveSlots);
  return { parts: partMembers(members, mostMembers), resident, waveSlots: Math.max(1, waveSlots) };
}
