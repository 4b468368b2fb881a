/** A part of a job kind, as "A job kind" in CONTRIBUTING.md adds it. */
interface KindPart {
  readonly box: string;
  readonly file: string;
  readonly content: string;
  /** The list of kinds that names it: for each line that names `compression` there, one for the new kind. */
  readonly list: string;
}

/** The schemas come first: the compiler names the lists of the other parts then. */
export const PROTOCOL_PART: KindPart = {
  box: "src/protocol",
  list: "src/protocol/jobs/job.ts",
  file: "src/protocol/jobs/echo.ts",
  content: `
import { z } from "zod";
import { Environment, targetFields } from "./job-fields.ts";

const fields = { kind: z.literal("echo"), text: z.string().min(1).max(64), ...targetFields };

export const EchoInput = z.strictObject(fields);
export const EchoSpec = z.object(fields);
export type EchoSpec = z.infer<typeof EchoSpec>;
export const EchoResult = z.object({ kind: z.literal("echo"), text: z.string(), environment: Environment });
`,
};

export const PARTS: readonly KindPart[] = [
  {
    box: "src/edge",
    list: "src/edge/kinds/registry.ts",
    file: "src/edge/kinds/echo.ts",
    content: `
import type { EchoSpec } from "../../protocol/jobs/echo.ts";
import type { JobKindModule } from "./kind.ts";

export const echo: JobKindModule<EchoSpec> = {
  prepare: async (spec) => ({
    spec,
    errors: spec.text === "silence" ? [{ pointer: "#/text", message: "has no echo" }] : [],
  }),
  answers: (spec, { text }) => text === spec.text,
  store: null,
};
`,
  },
  {
    box: "src/gpu-runner",
    list: "src/gpu-runner/kinds/registry.ts",
    file: "src/gpu-runner/kinds/echo.ts",
    content: `
import type { EchoSpec } from "../../protocol/jobs/echo.ts";
import type { Workload } from "./kind.ts";
import { describeEnvironment } from "./steps/describe-run.ts";

export const runEcho: Workload<EchoSpec> = async ({ kind, text }, { fleet, otherJobs }) => {
  const { device } = fleet.cpu.host;
  return { result: { kind, text, environment: describeEnvironment(device, otherJobs) }, deviceKey: device.key };
};
`,
  },
  {
    box: "src/words",
    list: "src/words/kinds/registry.ts",
    file: "src/words/kinds/echo.ts",
    content: `
import type { KindWords } from "./kind.ts";

export const echo: KindWords<"echo"> = {
  kind: "echo",
  name: ({ text }) => text,
  parts: () => [],
  result: ({ text }) => ({ facts: [["heard", text]] }),
  links: () => [],
  again: (spec) => spec,
};
`,
  },
];
