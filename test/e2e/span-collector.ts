import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";

const Attributes = z.array(
  z.strictObject({
    key: z.string().min(1),
    value: z.union([
      z.strictObject({ stringValue: z.string() }),
      z.strictObject({ boolValue: z.boolean() }),
      z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
      z.strictObject({ doubleValue: z.number() }),
    ]),
  }),
);
const Nanoseconds = z.string().regex(/^[1-9]\d{18}$/);
const WireSpan = z.strictObject({
  traceId: z.string().regex(/^[0-9a-f]{32}$/),
  spanId: z.string().regex(/^[0-9a-f]{16}$/),
  parentSpanId: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .optional(),
  name: z.string().min(1),
  kind: z.number().int().min(1).max(5),
  startTimeUnixNano: Nanoseconds,
  endTimeUnixNano: Nanoseconds,
  attributes: Attributes,
  status: z.strictObject({ code: z.literal(2).optional(), message: z.string().optional() }),
});
/** OTLP's ExportTraceServiceRequest in JSON, as far as millrace fills it, and nothing else. */
const Export = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: Attributes }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string(), attributes: Attributes }),
          spans: z.array(WireSpan).min(1).max(512),
        }),
      ),
    }),
  ),
});

/** A span as the collector got it; times are microseconds. */
export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly startUs: number;
  readonly endUs: number;
  readonly error: string | undefined;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

export interface SpanCollector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** What was wrong with exports; none should be. */
  readonly faults: readonly string[];
  /** Headers of the last export. */
  readonly headers: () => Readonly<Record<string, unknown>>;
  /** How it answers from now on: `silent` takes exports and never answers. */
  behave(how: "well" | "refusing" | "silent"): void;
  /** Exports that came, whatever became of them. */
  exports(): number;
  stop(): Promise<void>;
}

/** A collector of OpenTelemetry's traces on this machine, strict about what it takes. */
export async function startCollector(): Promise<SpanCollector> {
  const spans: CollectedSpan[] = [];
  const faults: string[] = [];
  let headers = {};
  let exports = 0;
  let behaviour: "well" | "refusing" | "silent" = "well";
  const server = createServer((request, response) => {
    void (async () => {
      const body = await readText(request);
      exports++;
      ({ headers } = request);
      if (behaviour === "silent") return;
      if (behaviour === "refusing") return void response.writeHead(503).end();
      if (request.method !== "POST" || request.url !== "/v1/traces") faults.push(`${request.method} ${request.url}`);
      if (request.headers["content-type"] !== "application/json") faults.push(String(request.headers["content-type"]));
      const parsed = Export.safeParse(JSON.parse(body));
      if (parsed.success) spans.push(...flatten(parsed.data));
      else faults.push(z.prettifyError(parsed.error));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    faults,
    headers: () => headers,
    behave: (how) => void (behaviour = how),
    exports: () => exports,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await delay(0);
    },
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}

function flatten({ resourceSpans }: z.infer<typeof Export>): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap((scope) => scope.spans)
      .map(({ traceId, spanId, parentSpanId, name, startTimeUnixNano, endTimeUnixNano, attributes, status }) => ({
        service: String(toRecord(resource.attributes)["service.name"]),
        traceId,
        spanId,
        parentSpanId,
        name,
        startUs: Number(BigInt(startTimeUnixNano) / 1_000n),
        endUs: Number(BigInt(endTimeUnixNano) / 1_000n),
        error: status.code === undefined ? undefined : (status.message ?? ""),
        attributes: toRecord(attributes),
      })),
  );
}

function toRecord(attributes: z.infer<typeof Attributes>): Record<string, string | number | boolean> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      if ("intValue" in value) return [key, Number(value.intValue)];
      return [key, Object.values(value)[0]!];
    }),
  );
}
