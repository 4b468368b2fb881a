import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "../../../../src/edge/http/openapi.ts";
import type { Endpoint } from "../../../../src/protocol/endpoint.ts";
import { endpoints } from "../../../../src/protocol/endpoints.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import { JobSpec } from "../../../../src/protocol/jobs/job.ts";
import { createProblem } from "../../../../src/protocol/wire/problem.ts";

interface Described {
  readonly description?: string;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly security: readonly Record<string, unknown>[];
  readonly parameters?: readonly (Described & { readonly name: string; readonly in: string })[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: unknown }> };
  readonly responses: Record<string, Described & { readonly content?: Record<string, unknown> }>;
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly securitySchemes: Record<string, Described> };
}

const document = JSON.parse(JSON.stringify(openApiDocument())) as Document;
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
const table = new Map(Object.entries(endpoints as unknown as Record<string, Endpoint>));

const isTold = (text: string | undefined) => text !== undefined && text.length > 3;

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1", async () => {
    expect(await new Validator().validate(structuredClone(document) as never)).toEqual({ valid: true });
  });

  it("names every operation once, and describes it", () => {
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(table.size);
    for (const { operationId, summary, tags } of operations) {
      expect([isTold(summary), tags.length], operationId).toEqual([true, 1]);
    }
  });

  it("describes a model's file and the names of its files as bodies of their own, which generated clients tell apart", () => {
    const contentOf = (wanted: string) =>
      operations.find(({ operationId }) => operationId === wanted)?.requestBody?.content;
    expect(contentOf("uploadModel")).toEqual({
      "application/octet-stream": { schema: { type: "string", format: "binary" } },
    });
    expect(contentOf("uploadModelFiles")).toEqual({
      "application/json": { schema: { $ref: "#/components/schemas/ModelFilesInput" } },
    });
  });

  it("describes every parameter", () => {
    const parameters = operations.flatMap(({ operationId, parameters: own = [] }) =>
      own.map((parameter) => ({ ...parameter, operationId })),
    );
    expect(parameters.length).toBeGreaterThan(300);
    const silent = parameters.filter(({ description }) => !isTold(description));
    expect(silent.map((parameter) => `${parameter.operationId} ${parameter.in}/${parameter.name}`)).toEqual([]);
  });

  it("describes every reply: one that says it is done, and the problems with their shape", () => {
    for (const { operationId, responses } of operations) {
      const isOip = table.get(operationId)?.path.startsWith("/v2") === true;
      const shape = isOip ? "application/json" : "application/problem+json";
      const replies = Object.entries(responses);
      expect(replies.filter(([status]) => Number(status) < 400).length, operationId).toBeGreaterThan(0);
      expect(Object.keys(responses), operationId).toContain("500");
      for (const [status, { description, content }] of replies) {
        expect(isTold(description), `${operationId} ${status}`).toBe(true);
        if (Number(status) >= 400) expect(Object.keys(content ?? {}), `${operationId} ${status}`).toEqual([shape]);
      }
    }
  });

  it("stands on queries that take no other parameter", () => {
    const refuses = ({ query }: Endpoint) =>
      query?.safeParse({ surprise: "1" }).error?.issues.some((issue) => issue.code === "unrecognized_keys") ?? true;
    expect([...table].filter(([, endpoint]) => !refuses(endpoint)).map(([id]) => id)).toEqual([]);
  });

  it("declares what a tag and a range lead to", () => {
    const statusesOf = (id: string) =>
      Object.keys(operations.find(({ operationId }) => operationId === id)?.responses ?? {});
    expect(statusesOf("queryHistory")).toContain("304");
    expect(statusesOf("queryHistory")).not.toContain("206");
    expect(statusesOf("getJobArtifact")).toEqual(expect.arrayContaining(["200", "206", "304", "416"]));
  });

  it("distinguishes a new baseline and a moved one, and names models that are not served now", () => {
    const statusesOf = (id: string) =>
      Object.keys(operations.find(({ operationId }) => operationId === id)?.responses ?? {});
    expect(statusesOf("pinBaseline")).toEqual(expect.arrayContaining(["200", "201"]));
    for (const id of ["oipInfer", "oipVersionInfer"]) expect(statusesOf(id)).toContain("503");
  });

  it("says which secret each operation wants", () => {
    const { securitySchemes } = document.components;
    expect(Object.keys(securitySchemes)).toEqual(["key", "runner"]);
    expect(Object.values(securitySchemes).every(({ description }) => isTold(description))).toBe(true);
    for (const { operationId, security } of operations) {
      const access = table.get(operationId)?.access;
      const wanted = access === "public" ? [] : [{ [access === "runner" ? "runner" : "key"]: [] }];
      expect(security, operationId).toEqual(wanted);
    }
  });

  it("lets be null what may be null, and nothing be what it is not", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, "document");
    const isJob = ajv.compile({ $ref: "document#/components/schemas/Job" });
    const at = "2026-11-22T09:30:00.000Z";
    const job = {
      id: createId("job"),
      state: "queued",
      spec: JobSpec.parse({ kind: "benchmark", kernel: "triad", shape: { n: 8 } }),
      attempt: 0,
      maxAttempts: 3,
      runnerId: null,
      runId: null,
      progress: null,
      result: null,
      problem: null,
      createdAt: at,
      startedAt: null,
      endedAt: null,
    };
    expect(isJob(job), ajv.errorsText(isJob.errors)).toBe(true);
    expect(isJob({ ...job, state: "failed", problem: createProblem("internal", "no") })).toBe(true);
    for (const wrong of [{ problem: "no" }, { problem: {} }, { state: "gone" }, { id: "run_1" }]) {
      expect(isJob({ ...job, ...wrong }), JSON.stringify(wrong)).toBe(false);
    }
    // The reference is to a schema that extends another.
    const isLeading = ajv.compile({ $ref: "document#/components/schemas/Alert/properties/leading" });
    expect([isLeading(null), isLeading({})]).toEqual([true, false]);
  });

  it("has examples and defaults that hold", () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, "document");
    const told = [...findTold(document)];
    expect(told.length).toBeGreaterThan(300);
    // Most are those of a few shared schemas.
    const distinct = new Map(told.map((each) => [JSON.stringify(each), each]));
    expect(distinct.size).toBeGreaterThan(40);
    for (const { schema, value } of distinct.values()) {
      const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
      const validate = ajv.compile(JSON.parse(text) as object);
      expect(validate(value), `${text.slice(0, 500)}: ${JSON.stringify(value)}`).toBe(true);
    }
  });
});

/** Values that schemas contain as examples or defaults. */
function* findTold(part: unknown, name = ""): Generator<{ readonly schema: unknown; readonly value: unknown }> {
  if (typeof part !== "object" || part === null) return;
  const isSchema = name !== "properties";
  for (const [key, child] of Object.entries(part)) {
    const isTelling = isSchema && (key === "example" || key === "default");
    if (isTelling) yield { schema: "schema" in part ? part.schema : part, value: child };
    else yield* findTold(child, key);
  }
}
