import { InvalidArgumentError } from "commander";
import { type Scenario, ScenarioInput } from "../../protocol/scenario.ts";

/** Reads a load: `singleStream`, or with settings `server:boundMs=10,ratePerS=200`. */
export function parseScenario(text: string): Scenario {
  const [kind = "", settings = ""] = text.split(/:(.*)/s);
  const fields = settings === "" ? [] : settings.split(",").map((part) => part.split(/=(.*)/s, 2));
  const scenario = Object.fromEntries(
    fields.map(([name = "", value = ""]) => [name.trim(), Number(value || Number.NaN)]),
  );
  const parsed = ScenarioInput.safeParse({ kind, ...scenario });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.path[0] === "kind") {
    throw new InvalidArgumentError("must be singleStream, multiStream, server:boundMs=10 or offline.");
  }
  const field = issue?.path.join(".") ?? "";
  if (issue?.code === "invalid_type") throw new InvalidArgumentError(`${kind} wants ${field}=<number>.`);
  throw new InvalidArgumentError(`${field === "" ? "" : `${field}: `}${issue?.message ?? "cannot be read"}.`);
}
