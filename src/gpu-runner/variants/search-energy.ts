/** What an energy makes of a network, and how good that is. */
export interface EnergyTrial {
  readonly fidelity: number;
  /** Whether anything became smaller. */
  readonly saves: boolean;
}

const HIGHEST = 0.9999;
const LOWEST = 0.05;
const STEPS = 8;

/**
 * The trial of least energy among those that were made whose fidelity is high enough and that saves something: bisection,
 * which takes fidelity to grow with energy. Null where none is.
 */
export async function searchEnergy<Trial extends EnergyTrial>(
  tryEnergy: (energy: number) => Promise<Trial>,
  minFidelity: number,
): Promise<{ readonly energy: number; readonly trial: Trial } | null> {
  let best: { readonly energy: number; readonly trial: Trial } | null = null;
  let [below, above] = [LOWEST, HIGHEST];
  for (let step = 0; step < STEPS; step++) {
    // By what is dropped: most networks are worth something only where that is little.
    const energy = 1 - Math.sqrt((1 - below) * (1 - above));
    const trial = await tryEnergy(energy);
    const isGood = trial.fidelity >= minFidelity;
    if (isGood && trial.saves) best = { energy, trial };
    // What saves nothing is too much energy, however good it is.
    if (isGood || !trial.saves) above = energy;
    else below = energy;
  }
  return best;
}
