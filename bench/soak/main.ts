import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { drawPlot } from "../../src/edge/plots/draw-plot.ts";
import { describeMachine } from "../describe-machine.ts";
import { renderSoak } from "./render-soak.ts";
import { readSoakArguments } from "./soak-arguments.ts";
import { soakService } from "./soak-figures.ts";
import { overloadPlot, soakPlot } from "./soak-plots.ts";
import { startService } from "./start-service.ts";

const LOOK = { theme: "auto", width: 860 } as const;
const say = (text: string): void => void process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

const options = readSoakArguments(process.argv.slice(2));
const machine = await describeMachine();
say("starting millrace");
const service = await startService();
try {
  const soaked = await soakService(service, options, say);
  const report = { machine, atIso: new Date().toISOString(), ...soaked.figures };
  if (options.out !== undefined) {
    await mkdir(options.out, { recursive: true });
    await writeFile(join(options.out, "soak.json"), `${JSON.stringify(report, null, 2)}\n`);
    await writeFile(join(options.out, "soak.svg"), drawPlot(soakPlot(soaked), LOOK));
    await writeFile(join(options.out, "overload.svg"), drawPlot(overloadPlot(soaked), LOOK));
  }
  process.stdout.write(options.json ? `${JSON.stringify(report)}\n` : renderSoak(soaked.figures));
} finally {
  await service.stop();
}
