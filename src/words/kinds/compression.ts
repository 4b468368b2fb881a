import { describeBasis, describeRecipe } from "../models.ts";
import { formatShare } from "../numbers.ts";
import { type KindWords, linkModel, type ResultOf } from "./kind.ts";

const PUBLICATIONS: Record<NonNullable<ResultOf<"compression">["publication"]>, string> = {
  published: "as a variant",
  taken: "no: another file has the name by now",
  full: "no: the version has as many variants as it may have",
  unusable: "no: the file is unusable",
};

export const compression: KindWords<"compression"> = {
  kind: "compression",
  name: ({ model, version }) => `${model}@${version}`,
  parts: ({ name, recipe }) => [name, describeRecipe(recipe)],
  result: (
    { model, variant, recipe, parentBytes, file, changed, left, computation = [], fidelity, publication },
    { bytes },
  ) => ({
    facts: [
      ["variant", `${variant} of ${model}: ${describeRecipe(recipe)}`],
      ["size", `${bytes(file.sizeBytes)} instead of ${bytes(parentBytes)}`],
      ["fidelity", `${formatShare(fidelity.value)}: ${describeBasis(fidelity)}`],
      ["layers", `${changed.length} changed, ${left.length} as they were`],
      ...computation.map(({ backend, how }) => [`on ${backend}`, how] as const),
      ...(publication === null ? [] : [["published", PUBLICATIONS[publication]] as const]),
    ],
  }),
  links: ({ spec: { model } }) => [linkModel(model)],
  again: ({ modelVersionId: _version, digest: _digest, data: _data, ...asked }) => asked,
};
