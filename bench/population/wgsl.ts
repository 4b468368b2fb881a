import type { Contender } from "../contest.ts";
import { contender as kernel } from "../kernel-contest/ours.ts";
import { countForwards, type PopulationCase } from "./population-case.ts";

/** The product's kernel on the adapter, with the parameters there. */
export const contender: Contender<PopulationCase> = async (input) => countForwards(await kernel(input), input);
