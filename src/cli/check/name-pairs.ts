import type { ComparedPair } from "../../protocol/comparison.ts";

/** What a pair is called by, as far as it is needed. */
interface Named {
  readonly key: Pick<ComparedPair["key"], "subject" | "metric" | "configuration"> & { readonly clock?: string | null };
  readonly b?: Pick<ComparedPair["b"], "label" | "fingerprintId" | "seriesId">;
}

/** Names for a table: subject, metric and configuration; where that is not enough, label, device, clock and id too. */
export function namePairs(pairs: readonly Named[]): string[] {
  const further: ((pair: Named) => string | null | undefined)[] = [
    ({ b }) => b?.label,
    ({ b }) => b?.fingerprintId,
    ({ key }) => key.clock,
    ({ b }) => b?.seriesId,
  ];
  let names = pairs.map(({ key }) => {
    const configuration = Object.entries(key.configuration).map(([name, value]) => `${name}=${value}`);
    return [key.subject, key.metric, ...configuration].join(" ");
  });
  for (const tell of further) {
    const counts = Map.groupBy(names, (name) => name);
    names = names.map((name, index) => {
      const more = tell(pairs[index]!);
      return (counts.get(name)?.length ?? 0) > 1 && more ? `${name} ${more}` : name;
    });
  }
  return names;
}
