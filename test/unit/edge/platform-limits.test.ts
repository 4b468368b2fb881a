import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { UNREAD_BYTES } from "../../../src/edge/http/event-feed.ts";
import { PLATFORM_LIMITS } from "../../../src/edge/platform-limits.ts";
import { chunkRows } from "../../../src/edge/store/database.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";

/** Bytes that a UTF-16 unit takes at most in UTF-8. */
const BYTES_A_UNIT = 3;

describe("our limits stay within the platform's", () => {
  it.each([
    ["inferBodyBytes", LIMITS.inferBodyBytes],
    ["modelBytes", LIMITS.modelBytes],
    ["reportBodyBytes", LIMITS.reportBodyBytes],
    ["uploadPartBytes", LIMITS.uploadPartBytes],
    ["transferPageBytes", LIMITS.transferPageBytes],
    ["populationBytes", LIMITS.populationBytes],
    ["heldOutBytes", LIMITS.heldOutBytes],
    ["jobArtifactBytes", LIMITS.jobArtifactBytes],
    ["artifactBytes", LIMITS.artifactBytes],
  ])("a request carries %s", (_name, bytes) => {
    expect(bytes).toBeLessThanOrEqual(PLATFORM_LIMITS.requestBodyBytes);
  });

  it.each([
    ["a job with its spec and result", LIMITS.jobResultBytes + LIMITS.jsonBodyBytes],
    ["a report of health", LIMITS.healthReportBytes],
    ["a runner's capabilities", BYTES_A_UNIT * LIMITS.announcedLength],
  ])("a row of an object holds %s", (_name, bytes) => {
    expect(bytes).toBeLessThanOrEqual(PLATFORM_LIMITS.objectRowBytes);
  });

  it.each([
    ["any JSON body", LIMITS.jsonBodyBytes],
    ["a job's result", LIMITS.jobResultBytes],
    ["a runner's capabilities", BYTES_A_UNIT * LIMITS.announcedLength],
    ["the sketches of an hour's minutes, and its own", 61 * LIMITS.rollupSketchLength],
    ["a submitted kernel", BYTES_A_UNIT * LIMITS.kernelWgslLength + LIMITS.jsonBodyBytes],
    ["the keys of a part of an item memory", LIMITS.memoryPartKeyBytes + LIMITS.jsonBodyBytes],
  ])("a row of the database holds %s", (_name, bytes) => {
    expect(bytes).toBeLessThanOrEqual(PLATFORM_LIMITS.databaseValueBytes);
  });

  it("one parameter holds a chunk of rows, whatever their characters", () => {
    const rows = Array.from({ length: 2_000 }, () => "\u20ac".repeat(1_000));
    const chunks = chunkRows(rows);
    expect(chunks.length).toBeGreaterThan(1);
    for (const chunk of chunks)
      expect(Buffer.byteLength(chunk)).toBeLessThanOrEqual(PLATFORM_LIMITS.databaseValueBytes);
  });

  it("a socket takes our messages", () => {
    expect(LIMITS.socketMessageBytes).toBeLessThanOrEqual(PLATFORM_LIMITS.socketMessageBytes);
  });

  it("a socket keeps what holds for all of a policy stream", () => {
    const { labelCount, nameLength, tensorNameLength } = LIMITS;
    const labels = labelCount * (nameLength + BYTES_A_UNIT * nameLength);
    const others = 4_096;
    expect(labels + 2 * BYTES_A_UNIT * tensorNameLength + others).toBeLessThanOrEqual(PLATFORM_LIMITS.attachmentBytes);
  });

  it("the bucket takes the parts of the largest model", () => {
    expect(LIMITS.uploadPartBytes).toBeGreaterThanOrEqual(PLATFORM_LIMITS.leastPartBytes);
    expect(Math.ceil(LIMITS.largeModelBytes / LIMITS.uploadPartBytes)).toBeLessThanOrEqual(PLATFORM_LIMITS.uploadParts);
  });

  it.each([
    ["what the listeners of all streams leave unread", LIMITS.streams * UNREAD_BYTES],
    ["two copies of an archive that is pruned", 2 * LIMITS.prunedArchiveBytes],
    ["the edge's networks, and a model that is read as a whole", LIMITS.edgeNetworkBytes + 2 * LIMITS.modelBytes],
  ])("memory holds %s", (_name, bytes) => {
    expect(bytes).toBeLessThan(PLATFORM_LIMITS.memoryBytes);
  });

  it("an invocation may make the calls of a survey, a scrape and the statistics", async () => {
    const settings = await readFile(join(import.meta.dirname, "../../../wrangler.toml"), "utf8");
    const settingOf = (name: string) =>
      Number(new RegExp(`^${name} = ([\\d_]+)$`, "m").exec(settings)?.[1]?.replaceAll("_", ""));
    const subrequests = settingOf("subrequests");
    expect(subrequests).toBeLessThanOrEqual(PLATFORM_LIMITS.subrequests);
    for (const calls of [LIMITS.surveyReads, LIMITS.metricRunners, LIMITS.oipStatisticsLinks]) {
      expect(calls).toBeLessThanOrEqual(subrequests);
    }
    expect(settingOf("cpu_ms")).toBeLessThanOrEqual(PLATFORM_LIMITS.cpuMs);
  });

  it("a location counts what a project asks of the queue as an isolate does", async () => {
    const settings = await readFile(join(import.meta.dirname, "../../../wrangler.toml"), "utf8");
    const [, limit, periodS] = /"QUEUE_LIMITER"[^[]*limit = (\d+), period = (\d+)/.exec(settings) ?? [];
    expect(Number(limit)).toBe(LIMITS.queueRequestsPerSecond * Number(periodS));
  });
});
