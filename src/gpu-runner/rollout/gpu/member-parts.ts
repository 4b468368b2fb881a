import { ProblemError } from "../../../protocol/wire/problem.ts";

/** Members whose weights stand in one buffer. */
export interface MemberPart {
  readonly first: number;
  readonly count: number;
}

/** Parts begin at a multiple of this where so many fit: lanes read whole lines. */
const GRAIN = 64;

/**
 * Members in as few parts as have no more than `mostMembers` each, of even number, so that pairs stay together; a part
 * has at least two, whatever fits.
 */
export function partMembers(members: number, mostMembers: number): MemberPart[] {
  const grain = mostMembers >= GRAIN ? GRAIN : 2;
  const size = Math.max(grain, Math.floor(mostMembers / grain) * grain);
  // Of like size: the last would else be left with a rest that fills no device.
  const even = Math.ceil(members / Math.ceil(members / size) / grain) * grain;
  return Array.from({ length: Math.ceil(members / even) }, (_, index) => ({
    first: index * even,
    count: Math.min(even, members - index * even),
  }));
}

/** What a device has for a population, in bytes. */
export interface Room {
  /** The largest buffer that a kernel may see. */
  readonly bindingBytes: number;
  /** All buffers together; infinite where nobody knows. */
  readonly totalBytes: number;
  /** Weights that the host may keep where the device has no room for them. */
  readonly hostBytes: number;
}

/** How a population is held and played where it may be too large to be so at once. */
export interface PopulationPlan {
  readonly parts: readonly MemberPart[];
  /** Whether the weights of all parts stand on the device; else of one at a time, and the host keeps them. */
  readonly resident: boolean;
  /** Episodes that are played at once at most. */
  readonly waveSlots: number;
}

/**
 * Half of the room is for weights and half for episodes, since either may be what there is more of. Throws
 * `out-of-memory` where neither the device nor the host has room for the weights.
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
