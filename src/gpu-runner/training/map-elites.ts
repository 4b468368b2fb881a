import type { MapElites } from "../../protocol/archive-algorithm.ts";
import { openEliteSearch } from "../archive/elite-search.ts";
import { boundsOf, startMembers } from "../archive/start-members.ts";
import type { OpenStrategy } from "./strategy.ts";

/** MAP-Elites (Mouret and Clune 2015): every member is a child of random elites, and gets in where it is better. */
export const openMapElites: OpenStrategy<MapElites> = async (context) => {
  const { algorithm, seed } = context;
  const { operator, sigma, lineSigma } = algorithm;
  const search = await openEliteSearch(context);
  const steps = { sigma, lineSigma: operator === "iso-line" ? lineSigma : 0, ...boundsOf(context) };
  return {
    async ask(generation) {
      if (search.archive.filled === 0) await startMembers(context, generation);
      else await search.archive.emit({ seed, generation, ...steps });
    },
    tell: async (told) => void (await search.tell(told)),
    policy: () => search.policy(),
    save: () => search.save(),
    leave: () => search.leave(),
    tellArchive: async () => ({ archive: await search.summarise(), covariance: null, restarts: 0 }),
    release: () => search.release(),
  };
};
