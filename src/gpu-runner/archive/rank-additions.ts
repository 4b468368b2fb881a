import { ADDITION, type Additions } from "./archive.ts";

/**
 * The members that a search is to move towards, the best first. CMA-ME (Fontaine et al. 2020): those that got in, new
 * cells by fitness before improved ones by how much. CMA-MAE (2023): the better half by how far each is above its cell's
 * threshold. Of equal ones the first.
 */
export function rankAdditions({ statuses, values }: Additions, anneals: boolean): Uint32Array<ArrayBuffer> {
  const members = Array.from(statuses, (_, member) => member);
  const byValue = (a: number, b: number) => values[b]! - values[a]! || a - b;
  if (anneals) {
    const sound = members.filter((member) => statuses[member] !== ADDITION.refused).toSorted(byValue);
    return Uint32Array.from(sound.slice(0, Math.ceil(members.length / 2)));
  }
  const added = members.filter((member) => statuses[member] === ADDITION.new || statuses[member] === ADDITION.improved);
  return Uint32Array.from(added.toSorted((a, b) => statuses[b]! - statuses[a]! || byValue(a, b)));
}
