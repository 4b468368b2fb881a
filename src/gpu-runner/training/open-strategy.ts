import { openCmaMe, openMapElites } from "./elite-strategies.ts";
import { openGenetic } from "./genetic.ts";
import { openOpenes, openPgpe } from "./evolution-strategies.ts";
import { openSepCmaEs } from "./sep-cma-es.ts";
import { openSpecies } from "./species/open-species.ts";
import type { Strategy, StrategyContext } from "./strategy.ts";

/** Opens the algorithm of a training. */
export function openStrategy(context: StrategyContext): Promise<Strategy> {
  const { algorithm, ...others } = context;
  switch (algorithm.name) {
    case "openes":
      return openOpenes({ ...others, algorithm });
    case "pgpe":
      return openPgpe({ ...others, algorithm });
    case "sep-cma-es":
      return openSepCmaEs({ ...others, algorithm });
    case "map-elites":
      return openMapElites({ ...others, algorithm });
    case "cma-me":
      return openCmaMe({ ...others, algorithm });
    case "genetic":
      return openGenetic({ ...others, algorithm });
    case "species":
      return openSpecies({ ...others, algorithm });
  }
}
