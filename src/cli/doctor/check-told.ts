import { findRunnerOf, readToldFaults } from "../../checkup/told-faults.ts";
import { fail, ok, type Patient, skip, type Verdict, warn } from "./finding.ts";

/** Words of a run that ended so long ago say little of the next. */
const OLD_MS = 86_400_000;

/** Faults that the runner of the folder has told: those that last, or that its last run ended with. */
export async function checkTold({ runnerDir }: Patient): Promise<Verdict> {
  const [pid, told] = await Promise.all([findRunnerOf(runnerDir), readToldFaults(runnerDir)]);
  const faults = Object.values(told).filter(({ at }) => pid !== null || Date.now() - Date.parse(at) < OLD_MS);
  const who = pid === null ? "its last run" : `process ${pid}`;
  if (faults.length === 0) {
    return pid === null ? skip(`no runner runs in ${runnerDir}`) : ok(`${who} runs, and has no fault to tell`);
  }
  const found = `${who} said: ${faults.map((fault) => `${fault.found} (${fault.at})`).join("; ")}`;
  const advice = faults.map((fault) => fault.advice).join(" ");
  // What ended a run may be mended since.
  return pid !== null && faults.some(({ isMild }) => !isMild) ? fail(found, advice) : warn(found, advice);
}
