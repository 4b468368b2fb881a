import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { ModelVersion } from "../../protocol/models/model.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";

/** The model's name and the version that is meant; without a number the one that an inference would find. */
export async function findVersion(client: Client, model: string): Promise<[name: string, version: ModelVersion]> {
  const [name = "", wanted] = model.split("@", 2);
  const { versions } = await client.call(endpoints.getModel, { params: { model: name } });
  const { items } = await client.call(endpoints.listPlacements, { params: { model: name } });
  const isPlaced = ({ id }: ModelVersion) =>
    items.some((each) => each.modelVersionId === id && each.state === "eligible");
  const version =
    wanted === undefined
      ? (versions.findLast(isPlaced) ?? versions.at(-1))
      : versions.find((each) => String(each.version) === wanted);
  if (version === undefined) throw new ProblemError("not-found", `There is no version ${wanted} of ${name}.`);
  return [name, version];
}
