import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Contender } from "../contest.ts";
import { type HopCase, nameModel, writeModel } from "./hop-case.ts";
import { openStream } from "./measure-stream.ts";

const ENTRY = fileURLToPath(new URL("plain-http.ts", import.meta.url));

/** The same backend behind nothing but Node's HTTP server, in a process of its own. */
export const openPlainHttp: Contender<HopCase> = async (input) => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-plain-http-"));
  const model = join(folder, "model.onnx");
  await writeFile(model, writeModel(input));
  const server = fork(ENTRY, [model], { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const close = async () => {
    const closed = server.exitCode === null && server.signalCode === null ? once(server, "close") : null;
    server.kill("SIGKILL");
    await closed;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const ended = once(server, "close").then(() => Promise.reject(new Error("its server ended")));
    ended.catch(() => {});
    const [port] = (await Promise.race([once(server, "message"), ended])) as [number];
    const target = { url: `http://127.0.0.1:${port}`, key: nameModel(input) };
    return await openStream(target, input, () => ({}), close);
  } catch (error) {
    await close();
    throw error;
  }
};
