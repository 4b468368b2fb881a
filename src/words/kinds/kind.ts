import type { Environment, JobSubject } from "../../protocol/jobs/job-fields.ts";
import type { Job, JobKind, JobResult, JobSpec, JobSummary } from "../../protocol/jobs/job.ts";
import type { Distribution, Estimate } from "../../protocol/wire/distribution.ts";
import type { Requirement } from "../../protocol/models/requirement.ts";
import type { JobNames } from "../jobs.ts";
import { markSoftware, nameDevice, SOFTWARE } from "../runners.ts";
import type { Numbers } from "../numbers.ts";
import type { Tone } from "../tone.ts";

export type SpecOf<Kind extends JobKind> = Extract<JobSpec, { kind: Kind }>;
export type ResultOf<Kind extends JobKind> = Extract<JobResult, { kind: Kind }>;

/** Formats for figures, sizes and requirements, for one kind of reader. */
export interface Figures extends Numbers {
  readonly sizes: (sizes: Readonly<Record<string, number | string>>) => string;
  readonly requirement: (requirement: Requirement) => string;
}

/** A verdict as a word, with its reason where it has one. */
export interface Judged {
  readonly tone: Tone;
  readonly word: string;
  readonly detail?: string;
}

/** A value of a result: words, or what each reader draws by its own means. */
export type Value =
  | string
  | Judged
  | { readonly distribution: Distribution; readonly unit: string }
  | { readonly course: readonly number[] }
  | { readonly share: number; readonly text: string };

export type Fact = readonly [name: string, value: Value];

export interface ResultTable {
  readonly caption: string;
  /** Headings; the first column names its row. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
}

/** A result as people read it. */
export interface ResultWords {
  readonly table?: ResultTable;
  readonly facts: readonly Fact[];
}

/** Link to the part of the page that shows more of a result. */
export interface ResultLink {
  readonly text: string;
  readonly address: {
    readonly view: "kernels" | "models" | "validation" | "evaluations" | "archives" | "runners";
    readonly kernel?: string;
    readonly model?: string;
    readonly run?: string;
    readonly job?: string;
    readonly runner?: string;
  };
}

/** A job that left a result in the history. */
export interface EndedJob<Kind extends JobKind> extends Pick<Job, "id" | "runnerId"> {
  readonly spec: SpecOf<Kind>;
  readonly result: ResultOf<Kind>;
  readonly runId: string;
}

export type Verdict = NonNullable<JobSummary["verdict"]>;

/** Texts about one kind of job. */
export interface KindWords<Kind extends JobKind> {
  readonly kind: Kind;
  /** Subject of a job: a kernel, a model, an environment. */
  readonly name: (spec: SpecOf<Kind>, names: JobNames) => string;
  /** Settings of the job, a few words each. */
  readonly parts: (spec: SpecOf<Kind>, figures: Figures) => readonly (string | undefined)[];
  /** Requirements on the result, for kinds with a verdict. */
  readonly wanted?: (spec: SpecOf<Kind>, figures: Figures) => string;
  readonly result: (result: ResultOf<Kind>, figures: Figures) => ResultWords;
  /** Absent: a result of this kind is no verdict. */
  readonly verdict?: (result: ResultOf<Kind>, spec: SpecOf<Kind>) => Verdict;
  /** Verdicts in the kind's own words; absent: as of requirements. */
  readonly outcomes?: Readonly<Record<Verdict, readonly [Tone, string]>>;
  readonly links: (job: EndedJob<Kind>, names: JobNames) => readonly ResultLink[];
  /** The fields that a caller gives to have the job done again; the edge fills in the others anew. */
  readonly again: (spec: SpecOf<Kind>) => object;
}

/** The sizes, type and variant of a kernel that is asked for. */
export function describeShape(
  { shape, dtype, variant }: Pick<SpecOf<"benchmark">, "shape" | "dtype" | "variant">,
  { sizes }: Figures,
): (string | undefined)[] {
  return [sizes(shape) || "default sizes", dtype, variant];
}

/** The parts of what is validated or optimised. */
export function describeSubject(subject: JobSubject, figures: Figures): (string | undefined)[] {
  return subject.kind === "kernel" ? describeShape(subject, figures) : [];
}

/** `472 [465, 480]`: a value with its interval. */
export function describeEstimate({ value, low, high }: Estimate, { number }: Numbers): string {
  return `${number(value)} [${number(low)}, ${number(high)}]`;
}

/** The device that a result was measured on. */
export function describePlace({ deviceKey, deviceName, pciAddress, software, loadAverage }: Environment): string {
  const device = nameDevice({ key: deviceKey, name: deviceName, pciAddress });
  return `${markSoftware(device, software, SOFTWARE)}, load average ${loadAverage.toFixed(1)}`;
}

export function linkKernel(kernel: string): ResultLink {
  return { text: `The kernel ${kernel}`, address: { view: "kernels", kernel } };
}

export function linkModel(model: string): ResultLink {
  return { text: `The model ${model}`, address: { view: "models", model } };
}
