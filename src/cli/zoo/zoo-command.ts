import { join } from "node:path";
import { Command } from "commander";
import { ZOO, type ZooModel } from "../../../models/zoo.ts";
import type { Client } from "../../client/client.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { openProgressLine } from "../render/progress-line.ts";
import { listRunners } from "../runner/find-runner.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { averageZoo, renderZoo, type ZooFailure, type ZooRow } from "./zoo-rows.ts";
import { askChoice, measurePlacement, uploadZooModel, waitForPlacements } from "./place-zoo.ts";

interface ZooOptions extends EdgeOptions {
  readonly runner?: string;
  readonly dataDir: string;
}

/** `millrace zoo`: uploads the zoo, has a runner measure it, and prints what guides to inference print. */
export function zooCommand(shell: Shell = PROCESS): Command {
  return addEdge(new Command("zoo"), "scopes submit, infer and read")
    .description("Measure the networks of the zoo on a runner; results stay in the history")
    .argument("[models...]", "names of networks; without any, all of them")
    .option("--runner <name>", "name or id of the runner; not needed where one is online")
    .option("--data-dir <folder>", "where `npm start` keeps its key, which is taken where none is given", ".millrace")
    .action(async (names: string[], options: ZooOptions) => {
      shell.exit(await measureZoo(names, options, shell));
    });
}

/** The exit code: 1 where something could not be measured. */
async function measureZoo(names: readonly string[], options: ZooOptions, shell: Shell): Promise<number> {
  const chosen = chooseModels(names);
  const client = await openEdge(options, shell, join(options.dataDir, "admin.key"));
  const runner = await findRunner(client, options.runner);
  const line = openProgressLine(shell, !options.json);
  const say = (what: string, done: number, total: number) => line.show({ what, done, total });
  const models = [];
  for (const model of chosen) {
    say(`uploading ${model.name}`, models.length, chosen.length);
    models.push(await uploadZooModel(client, model));
  }
  const placements = await waitForPlacements(client, models, runner, (placed) =>
    say(`calibrating on ${runner.name}`, placed, models.length),
  );
  const [rows, failures]: [ZooRow[], ZooFailure[]] = [[], []];
  for (const [index, model] of models.entries()) {
    say(`asking ${model.name}`, index, models.length);
    const choice = await askChoice(client, model, runner.id);
    for (const placement of placements.get(model.name) ?? []) {
      say(`measuring ${model.name} by ${placement.backend}`, index, models.length);
      const found = await measurePlacement(client, model, placement, {
        runner: runner.name,
        chosen: placement.id === choice,
      });
      if (options.json) shell.print(`${JSON.stringify(found)}\n`);
      if ("reason" in found) failures.push(found);
      else rows.push(found);
    }
  }
  line.clear();
  const means = averageZoo(rows);
  if (options.json) for (const mean of means) shell.print(`${JSON.stringify(mean)}\n`);
  else shell.print(renderZoo(rows, means, failures, shell.columns));
  return failures.length > 0 ? 1 : 0;
}

function chooseModels(names: readonly string[]): readonly ZooModel[] {
  const unknown = names.find((name) => !ZOO.some((model) => model.name === name));
  if (unknown !== undefined) {
    const zoo = ZOO.map(({ name }) => name).join(", ");
    throw new ProblemError("invalid-request", `${unknown} is not of the zoo: ${zoo}`);
  }
  return names.length === 0 ? ZOO : ZOO.filter(({ name }) => names.includes(name));
}

async function findRunner(client: Client, wanted: string | undefined): Promise<Runner> {
  const items = await listRunners(client);
  const online = items.filter(({ state }) => state === "online");
  const fitting = online.filter(({ name, id }) => wanted === undefined || wanted === name || wanted === id);
  const [runner, other] = fitting;
  if (runner !== undefined && other === undefined) return runner;
  const names = online.map(({ name }) => name).join(", ") || "none";
  if (runner === undefined) {
    const which = wanted === undefined ? "no runner" : `no runner ${wanted}`;
    throw new ProblemError("runner-offline", `${which} is online; online: ${names}`);
  }
  throw new ProblemError(
    "invalid-request",
    `name one of several runners with --runner: ${fitting.map(({ name, id }) => `${name} (${id})`).join(", ")}`,
  );
}
