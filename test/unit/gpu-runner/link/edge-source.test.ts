import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createEdgeSource } from "../../../../src/gpu-runner/link/artifacts.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { createRandom } from "../memory/artifacts.ts";

const artifact = createRandom(1, 5_000);
const asked: (string | undefined)[] = [];
let answer: (response: ServerResponse) => void = (response) => response.end(artifact.bytes);
let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    answer(response);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
});

function fetchArtifact(signal?: AbortSignal): Promise<Uint8Array> {
  const { port } = server.address() as AddressInfo;
  return createEdgeSource({ edgeUrl: `http://127.0.0.1:${port}`, credential: "mc_sample" })(artifact.digest, signal);
}

it("fetches by digest, as the runner", async () => {
  expect(await fetchArtifact()).toEqual(artifact.bytes);
  expect(asked).toEqual([`/v1/artifacts/${artifact.digest} Bearer mc_sample`]);
});

it.each([
  ["is not there", (response: ServerResponse) => response.writeHead(404).end(), "backend-failed", "404"],
  ["is another one", (response: ServerResponse) => response.end("others"), "backend-failed", "damaged"],
  [
    "is too large",
    (response: ServerResponse) =>
      response.writeHead(200, { "content-length": LIMITS.artifactBytes + 1 }).flushHeaders(),
    "payload-too-large",
    "larger than",
  ],
  [
    "turns out to be too large",
    (response: ServerResponse) => void response.writeHead(200).end(new Uint8Array(LIMITS.artifactBytes + 1)),
    "payload-too-large",
    "larger than",
  ],
])("refuses what %s", async (_, reply, code, detail) => {
  answer = reply;
  await expect(fetchArtifact()).rejects.toMatchObject({ problem: { code, detail: expect.stringContaining(detail) } });
});

it("ends with the signal", async () => {
  const controller = new AbortController();
  answer = () => controller.abort(new Error("enough"));
  await expect(fetchArtifact(controller.signal)).rejects.toThrow("enough");
});
