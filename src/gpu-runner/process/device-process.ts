/**
 * Entry of a device process: `node device-process.ts --role gpu|cpu [--memory-bytes n]`, forked with an IPC channel. It
 * answers calls until its parent goes away or kills it.
 */
import { parseArgs } from "node:util";
import { ProblemError, toProblem } from "../../protocol/problem.ts";
import type { CallContext, DeviceCall, DeviceHandlers, DeviceReply, DeviceRequest } from "./messages.ts";

/**
 * Ends this process even where a driver's thread hangs, which an orderly exit would wait for. SIGTERM
 * is left to its default for the same reason.
 */
function die(reason: unknown): never {
  console.error(reason);
  process.kill(process.pid, "SIGKILL");
  throw reason;
}

function send(reply: DeviceReply): void {
  // A parent that has gone cannot be told; `disconnect` ends this process then.
  if (process.connected) process.send?.(reply);
}

/** Answers one call: whatever happens, exactly one result or problem is sent. */
async function answer(handlers: DeviceHandlers, { id, name, input }: DeviceCall, signal: AbortSignal): Promise<void> {
  const context: CallContext = { signal, onProgress: (progress) => send({ type: "progress", id, progress }) };
  try {
    const output = await handlers[name](input as never, context);
    send({ type: "result", id, output });
  } catch (error) {
    // What has no code is our mistake: its text stays on this machine.
    if (!(error instanceof ProblemError)) console.error(error);
    send({ type: "problem", id, problem: toProblem(error) });
  }
}

async function openRole({ role, "memory-bytes": memoryBytes }: typeof values): Promise<DeviceHandlers> {
  if (role === "gpu") {
    const { createGpuHandlers } = await import("./gpu-handlers.ts");
    return createGpuHandlers(
      (reason) => die(`the device was lost: ${reason}`),
      memoryBytes === undefined ? undefined : Number(memoryBytes),
    );
  }
  const { createCpuHandlers } = await import("./cpu-handlers.ts");
  return createCpuHandlers();
}

process.on("SIGINT", () => {}); // Ctrl-C reaches the whole group, and the parent decides.
process.on("disconnect", () => die("the parent has gone"));
process.on("uncaughtException", die);

const { values } = parseArgs({
  options: { role: { type: "string", default: "cpu" }, "memory-bytes": { type: "string" } },
});
// A device that cannot be opened is told to whoever calls.
const handlers = openRole(values);
handlers.catch(() => {});
const running = new Map<number, AbortController>();

process.on("message", async (request: DeviceRequest) => {
  if (request.type === "abort") {
    running.get(request.id)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(request.id, controller);
  try {
    await answer(await handlers, request, controller.signal);
  } catch (error) {
    send({ type: "problem", id: request.id, problem: toProblem(error) });
  } finally {
    running.delete(request.id);
  }
});
