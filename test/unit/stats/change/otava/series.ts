/**
 * The series of a vector, as make_vectors.py makes it: the same operations in the same order, all exact by IEEE 754.
 */
export function makeSeries(kind: string, seed: number, length: number): readonly number[] {
  const next = lehmer(seed);
  const bell = () => Array.from({ length: 12 }, next).reduce((sum, value) => sum + value, 0) - 6;
  const every = 9 + Math.floor(next() * 60);
  const size = 0.01 + next() * 0.3;
  const noise = 0.002 + next() * 0.05;
  const steps = ["steps", "ties", "still", "tiny", "signed"].includes(kind);
  let level = 100;
  return Array.from({ length }, (_, at) => {
    if (at > 0 && at % every === 0 && steps) level = next() < 0.5 ? level * (1 + size) : level / (1 + size);
    const value = level * (1 + noise * bell());
    const chance = next();
    const other = next();
    switch (kind) {
      case "drift":
        return value + at * size * 0.2;
      case "spikes":
        return chance < 0.05 ? value * (1 + other * 3) : value;
      case "heavy":
        return value + (other - 0.5) / (chance + 0.01);
      case "bimodal":
        return chance < 0.3 ? value * (1 + size) : value;
      case "constant":
        return 42;
      case "ties":
        return Math.floor(value / 4 + 0.5) * 4;
      case "still":
        return level;
      case "waves":
        return value + (at % every) * size;
      case "tiny":
        return value * 1e-9;
      case "signed":
        return value - 100;
      default:
        return value;
    }
  });
}

function lehmer(seed: number): () => number {
  let state = seed * 7919 + 12345;
  return () => {
    state = (state * 48_271) % 0x7fffffff;
    return state / 0x7fffffff;
  };
}
