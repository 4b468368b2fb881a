import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, vi } from "vitest";
import { fetchInTime } from "../../../../src/gpu-runner/link/artifacts.ts";

let server: Server | undefined;
afterEach(() => {
  vi.useRealTimers();
  server?.closeAllConnections();
  server?.close();
});

async function listen(): Promise<{ server: Server; url: URL }> {
  const listening = createServer().listen(0, "127.0.0.1");
  server = listening;
  await once(listening, "listening");
  return { server: listening, url: new URL(`http://127.0.0.1:${(listening.address() as AddressInfo).port}`) };
}

it("gives up an edge that takes the question and never answers", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { server: silent, url } = await listen();
  const asked = once(silent, "request");
  const answer = fetchInTime(url, { method: "PUT", body: new Uint8Array(5_000_000) });
  const failure = answer.catch((error: unknown) => error);
  await asked;
  await vi.advanceTimersByTimeAsync(15_000);
  expect(await failure).toMatchObject({ message: "no answer within 15000 ms" });
});

it("leaves the body its time once the answer has begun", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { server: slow, url } = await listen();
  slow.once("request", (_, response) => {
    response.write("the ");
    response.flushHeaders();
    slow.once("rest", () => response.end("rest"));
  });
  const response = await fetchInTime(url, { signal: new AbortController().signal });
  await vi.advanceTimersByTimeAsync(60_000);
  slow.emit("rest");
  expect(await response.text()).toBe("the rest");
});
