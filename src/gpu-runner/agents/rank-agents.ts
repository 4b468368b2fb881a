/**
 * One number for each agent by which NSGA-II prefers it (Deb et al. 2002): of a lower front before a higher one, within a
 * front the less crowded first, and of equals the first. More is better.
 */
export function rankAgents(ranks: ArrayLike<number>, distances: ArrayLike<number>): Float32Array<ArrayBuffer> {
  const order = Array.from({ length: ranks.length }, (_, agent) => agent).toSorted(
    (a, b) => ranks[a]! - ranks[b]! || distances[b]! - distances[a]! || a - b,
  );
  const fitness = new Float32Array(order.length);
  for (const [place, agent] of order.entries()) fitness[agent] = order.length - place;
  return fitness;
}
