import { appendFile, mkdtemp, open, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createFileSource } from "../../../../src/gpu-runner/link/artifacts.ts";
import { createRandom } from "../memory/artifacts.ts";

const { digest, bytes } = createRandom(1, 200_000);
const ranges: (string | undefined)[] = [];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let server: Server;
let folder = "";
let path = "";

/** As the edge answers a range, or the whole. */
function answerRange({ headers }: IncomingMessage, response: ServerResponse, sent = bytes, endBytes = sent.length) {
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0);
  response.writeHead(headers.range === undefined ? 200 : 206, { "content-length": sent.length - from });
  if (endBytes < sent.length) response.write(sent.subarray(from, endBytes), () => response.destroy());
  else response.end(sent.subarray(from));
}

beforeEach(async () => {
  ranges.length = 0;
  answer = answerRange;
  folder = await mkdtemp(join(tmpdir(), "millrace-files-"));
  path = join(folder, "file.partial");
  server = createServer((request, response) => {
    ranges.push(request.headers.range);
    answer(request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => void server.close(resolve));
  await rm(folder, { recursive: true });
});

function download(signal = new AbortController().signal): Promise<void> {
  const { port } = server.address() as AddressInfo;
  const source = createFileSource({ edgeUrl: `http://127.0.0.1:${port}`, credential: "mc_sample" });
  return source({ digest, sizeBytes: bytes.length }, path, signal);
}

const isWhole = async () => Buffer.compare(await readFile(path), bytes) === 0;

it("writes a file to its path", async () => {
  await download();
  expect([ranges, await isWhole()]).toEqual([[undefined], true]);
});

it("writes all of a piece where the disk takes only part of it at a time", async () => {
  const handle = await open(path, "a+");
  const prototype = Object.getPrototypeOf(handle) as typeof handle;
  await handle.close();
  // The device takes half of what it is asked to write.
  const spy = vi.spyOn(prototype, "write").mockImplementation((async (piece: Uint8Array) => {
    await appendFile(path, piece.subarray(0, Math.ceil(piece.byteLength / 2)));
  }) as never);
  try {
    await download();
  } finally {
    spy.mockRestore();
  }
  expect(await isWhole()).toBe(true);
});

it("refuses a file that another writer made longer", async () => {
  answer = (_, response) => {
    response.writeHead(200, { "content-length": bytes.length });
    response.write(bytes.subarray(0, 100_000), () => {
      void appendFile(path, "more").then(() => response.end(bytes.subarray(100_000)));
    });
  };
  await expect(download()).rejects.toThrow("damaged");
});

it("goes on where a connection broke, and with what an earlier run left", async () => {
  await writeFile(path, bytes.subarray(0, 50_000));
  answer = (request, response) =>
    ranges.length === 1 ? answerRange(request, response, bytes, 120_000) : answerRange(request, response);
  await download();
  expect(ranges[0]).toBe("bytes=50000-");
  expect(Number(/\d+/.exec(ranges[1] ?? "")?.[0])).toBeGreaterThan(50_000);
  expect(await isWhole()).toBe(true);
});

it("asks for nothing where all of it is there", async () => {
  await writeFile(path, bytes);
  await download();
  expect(ranges).toEqual([]);
});

it("begins anew where an older edge sends all of it", async () => {
  await writeFile(path, bytes.subarray(0, 50_000));
  answer = (_, response) => response.end(bytes);
  await download();
  expect(await isWhole()).toBe(true);
});

it("refuses another file, and keeps nothing of it", async () => {
  answer = (request, response) => answerRange(request, response, bytes.toReversed());
  await expect(download()).rejects.toMatchObject({ problem: { code: "backend-failed" } });
  expect(await readFile(path)).toHaveLength(0);
  answer = (request, response) => answerRange(request, response, new Uint8Array([...bytes, 1]));
  await expect(download()).rejects.toThrow("damaged");
  answer = (_, response) => response.writeHead(404).end();
  await expect(download()).rejects.toThrow("404");
});

it("ends with the signal, and keeps what arrived", async () => {
  const controller = new AbortController();
  const enough = () => controller.abort(new Error("enough"));
  const arrived = async () => expect((await stat(path)).size).toBeGreaterThan(0);
  answer = (_, response) => {
    response.writeHead(200, { "content-length": bytes.length });
    response.write(bytes.subarray(0, 10_000));
    void vi.waitFor(arrived, 20_000).then(enough, enough);
  };
  await expect(download(controller.signal)).rejects.toThrow("enough");
  expect((await readFile(path)).length).toBeGreaterThan(0);
});
