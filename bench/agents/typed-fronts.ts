import { END_DISTANCE } from "../../kernels/crowding-distance/crowding-distance.reference.ts";
import type { HostWork } from "./host-work.ts";

/**
 * Efficient non-dominated sort with binary search. In lexicographic order no member is dominated by a later one, so
 * each finds its front among the earlier ones. With two objectives, comparing with the last of a front is enough.
 * Source: Zhang, Tian, Cheng and Jin, "ENS", IEEE Trans. Evol. Comput. 2015.
 */
export const rankFronts: HostWork = (inputs, shape) => {
  const { objectives } = inputs as { objectives: Float32Array };
  const { populations, members, objectives: width } = shape as Record<"populations" | "members" | "objectives", number>;
  const rank = new Int32Array(populations * members);
  const sorted = new Uint32Array(members);
  /** The last member of each front, and each member's predecessor in its front. */
  const last = new Int32Array(members);
  const previous = new Int32Array(members);

  function compare(a: number, b: number): number {
    for (let i = 0; i < width; i++) {
      const gap = objectives[b * width + i]! - objectives[a * width + i]!;
      if (gap !== 0) return gap;
    }
    return a - b;
  }

  /** `a` is the earlier one, so its first objective is no worse. */
  function dominates(a: number, b: number): boolean {
    let isBetter = false;
    for (let i = 0; i < width; i++) {
      const ours = objectives[a * width + i]!;
      const theirs = objectives[b * width + i]!;
      if (ours < theirs) return false;
      isBetter ||= ours > theirs;
    }
    return isBetter;
  }

  function isDominated(member: number, front: number, first: number): boolean {
    for (let other = last[front]!; other >= 0; other = previous[other - first]!) {
      if (dominates(other, member)) return true;
      if (width <= 2) return false;
    }
    return false;
  }

  return () => {
    for (let first = 0; first < populations * members; first += members) {
      for (let i = 0; i < members; i++) sorted[i] = first + i;
      sorted.sort(compare);
      let fronts = 0;
      for (const member of sorted) {
        let low = 0;
        let high = fronts;
        while (low < high) {
          const middle = (low + high) >>> 1;
          if (isDominated(member, middle, first)) low = middle + 1;
          else high = middle;
        }
        previous[member - first] = low === fronts ? -1 : last[low]!;
        last[low] = member;
        rank[member] = low;
        fronts = Math.max(fronts, low + 1);
      }
    }
    return [rank];
  };
};

/** Sorts each population by rank and objective. */
export const measureCrowding: HostWork = (inputs, shape) => {
  const { objectives, rank } = inputs as { objectives: Float32Array; rank: Int32Array };
  const { populations, members, objectives: width } = shape as Record<"populations" | "members" | "objectives", number>;
  const distance = new Float32Array(populations * members);
  const sorted = new Uint32Array(members);

  function addFront(start: number, end: number, i: number): void {
    const lowest = objectives[sorted[start]! * width + i]!;
    const range = objectives[sorted[end - 1]! * width + i]! - lowest;
    distance[sorted[start]!] = END_DISTANCE;
    distance[sorted[end - 1]!] = END_DISTANCE;
    if (range === 0) return;
    for (let place = start + 1; place < end - 1; place++) {
      const member = sorted[place]!;
      if (distance[member] === END_DISTANCE) continue;
      const below = objectives[sorted[place - 1]! * width + i]!;
      distance[member]! += (objectives[sorted[place + 1]! * width + i]! - below) / range;
    }
  }

  return () => {
    distance.fill(0);
    for (let first = 0; first < populations * members; first += members) {
      for (let i = 0; i < width; i++) {
        for (let member = 0; member < members; member++) sorted[member] = first + member;
        sorted.sort((a, b) => rank[a]! - rank[b]! || objectives[a * width + i]! - objectives[b * width + i]! || a - b);
        let start = 0;
        for (let end = 1; end <= members; end++) {
          if (end < members && rank[sorted[end]!] === rank[sorted[start]!]) continue;
          addFront(start, end, i);
          start = end;
        }
      }
    }
    return [distance];
  };
};

/** Every pair once. */
export const measureDiversity: HostWork = (inputs, shape) => {
  const { population } = inputs as { population: Float32Array };
  const { members, genes } = shape as Record<"members" | "genes", number>;
  return () => {
    let sum = 0;
    for (let a = 1; a < members; a++) {
      for (let b = 0; b < a; b++) {
        let squares = 0;
        for (let i = 0; i < genes; i++) {
          const gap = population[a * genes + i]! - population[b * genes + i]!;
          squares += gap * gap;
        }
        sum += Math.sqrt(squares);
      }
    }
    return [[sum / Math.max(1, (members * (members - 1)) / 2)]];
  };
};
