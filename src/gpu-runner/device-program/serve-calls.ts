import { flushCompileCache } from "node:module";
import { ProblemError, toProblem } from "../../protocol/wire/problem.ts";
import type { DeviceCall, DeviceHandlers, DeviceReply, DeviceRequest } from "../device-host/messages.ts";
import type { UsedPipeline } from "../devices/gpu/pipeline-cache.ts";
import type { CallContext } from "../devices/progress.ts";

/** How a device process reaches its parent beside answering calls. */
export interface DeviceProcess {
  /**
   * Ends this process even where a driver's thread hangs, which an orderly exit would wait for. SIGTERM
   * is left to its default for the same reason.
   */
  readonly die: (reason: unknown) => never;
  /** Tells the parent of a pipeline that was wanted, so that a next life can compile it before it is asked to. */
  readonly noteUsed: (pipeline: UsedPipeline) => void;
}

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
  const context: CallContext = {
    signal,
    onProgress: (progress) => send({ type: "progress", id, progress }),
    onCheckpoint: (file) => send({ type: "checkpoint", id, file }),
  };
  try {
    const output = await handlers[name](input as never, context);
    send({ type: "result", id, output });
  } catch (error) {
    // What has no code is our mistake: its text stays on this machine.
    if (!(error instanceof ProblemError)) console.error(error);
    send({ type: "problem", id, problem: toProblem(error) });
  }
}

/** Makes this process, forked with an IPC channel, a device process: it answers calls until its parent goes away or kills it. */
export function serveCalls(open: (self: DeviceProcess) => Promise<DeviceHandlers>): void {
  process.on("SIGINT", () => {}); // Ctrl-C reaches the whole group, and the parent decides.
  process.on("disconnect", () => die("the parent has gone"));
  process.on("uncaughtException", die);

  const handlers = open({ die, noteUsed: (pipeline) => send({ type: "used", pipeline }) });
  // A device that cannot be opened is told to whoever calls. The cache is else written at an orderly end only.
  handlers.then(
    () => flushCompileCache(),
    () => {},
  );
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
}
