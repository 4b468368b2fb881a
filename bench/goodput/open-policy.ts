import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Contender } from "../contest.ts";
import type { GoodputCase } from "./goodput-case.ts";
import { openLoaded } from "./open-loaded.ts";
import type { PolicyName } from "./policies.ts";
import type { ServiceTimes } from "./service-times.ts";

const ENTRY = fileURLToPath(new URL("policy-server.ts", import.meta.url));

/** A policy behind Node's HTTP server, in a process of its own. */
export interface PolicyServer {
  readonly url: string;
  /** Drops its waiting requests. */
  readonly reset: () => void;
  /** Durations of batches on its device. */
  readonly measure: () => Promise<ServiceTimes>;
  readonly close: () => Promise<void>;
}

export async function startPolicy(name: PolicyName): Promise<PolicyServer> {
  const server = fork(ENTRY, [name], { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const close = async () => {
    const closed = server.exitCode === null && server.signalCode === null ? once(server, "close") : null;
    server.kill("SIGKILL");
    await closed;
  };
  const ended = once(server, "close").then(() => Promise.reject(new Error("its server ended")));
  ended.catch(() => {});
  try {
    const [port] = (await Promise.race([once(server, "message"), ended])) as [number];
    // A message to an ended process is lost; its connections show its end.
    const send = (order: "reset" | "measure") => void server.send(order, () => {});
    const measure = async () => {
      send("measure");
      const [times] = await Promise.race([once(server, "message"), ended]);
      return times as ServiceTimes;
    };
    return { url: `http://127.0.0.1:${port}`, reset: () => send("reset"), measure, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A policy as a contender. */
export function openPolicy(name: PolicyName): Contender<GoodputCase> {
  return async (input) => {
    const server = await startPolicy(name);
    return openLoaded({ url: server.url, key: "" }, input, server.reset, server.close);
  };
}
