import { once } from "node:events";
import { createServer } from "node:net";
import { findHolder } from "../../checkup/find-holder.ts";
import { namePortFault } from "../../checkup/judge-host.ts";
import { reachEdge } from "../../checkup/reach-edge.ts";
import { findRunnerOf } from "../../checkup/runner-folder.ts";
import { LISTEN_ADDRESS, parseListenAddress } from "../../checkup/runner-settings.ts";
import { isLocal } from "../context/choose-edge.ts";
import { judge, ok, type Patient, skip, type Verdict } from "./finding.ts";

/** Whether `millrace up` could listen, or already does. */
export async function checkPort(patient: Patient): Promise<Verdict> {
  const { port, edgeUrl } = patient;
  const address = { host: "127.0.0.1", port };
  const error = await tryAddress(address);
  if (error === null) return ok(`${port} is free`);
  const isOwn = isLocal(edgeUrl) && new URL(edgeUrl).port === String(port);
  if (isOwn && (await reachEdge(edgeUrl, patient)).kind === "edge") {
    return ok(`${port} is held by the edge itself`);
  }
  return judge(namePortFault(error, address, "--port", await findHolder(port)), "");
}

/** Error of listening there; null for none. */
async function tryAddress({ host, port }: { readonly host: string; readonly port: number }): Promise<unknown> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, "listening");
    return null;
  } catch (error) {
    return error;
  } finally {
    probe.close();
  }
}

const isTaken = (error: unknown) => (error as NodeJS.ErrnoException).code === "EADDRINUSE";
const LISTENERS = ["MILLRACE_DIRECT", "MILLRACE_METRICS"] as const;

/** Whether the runner could listen where its settings say, or already does. */
export async function checkListeners({ environment, runnerDir }: Patient): Promise<Verdict> {
  const told: string[] = [];
  for (const setting of LISTENERS) {
    const text = environment[setting] ?? "";
    if (!LISTEN_ADDRESS.test(text)) continue;
    const address = parseListenAddress(text);
    const error = await tryAddress(address);
    const holder = error === null ? null : await findHolder(address.port);
    const runner = error === null ? null : await findRunnerOf(runnerDir);
    // The system may not tell the holder, and the runner's own is the likeliest.
    const isOwn = runner !== null && (holder === null ? isTaken(error) : holder.startsWith(`process ${runner} `));
    if (error !== null && !isOwn) return judge(namePortFault(error, address, setting, holder), "");
    told.push(`${setting} ${isOwn ? "is the runner's" : "is free"}`);
  }
  return told.length === 0 ? skip(`neither ${LISTENERS.join(" nor ")} is set`) : ok(told.join(", "));
}
