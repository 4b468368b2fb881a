import { Backend, InstructionSetName } from "../../protocol/fleet/hardware.ts";
import { type Profile, ProfileInput } from "../../protocol/fleet/profile.ts";
import { type FieldOptions, type FormField, plainOptions } from "../../words/form-fields.ts";
import { FieldForm } from "../ui/forms/field-form.tsx";
import type { Closing } from "./part-shell.tsx";

const GIB = 2 ** 30;

const DEVICES = [
  ["", "any device"],
  ["gpu", "a GPU"],
  ["cpu", "a CPU"],
] as const;
const SOFTWARE = [
  ["", "may be one"],
  ["false", "must not be one"],
] as const;
const PERCENTILES = [
  ["", "as it is by default"],
  ["0.5", "the median"],
  ["0.95", "the 95th percentile"],
  ["0.99", "the 99th percentile"],
] as const;
const PRECISIONS = [["", "any"], ...plainOptions(["fp32", "fp16", "int8", "int4"])] as const;

interface ProfileFormProps extends Closing {
  /** Null: a new one. */
  readonly profile: Profile | null;
  readonly work: (body: ProfileInput) => Promise<unknown>;
}

/** The fields of a profile. Empty fields set no requirement. */
export function ProfileForm({ profile, work, onDone, onCancel }: ProfileFormProps) {
  const send = async (body: Record<string, unknown>) => {
    await work(body as ProfileInput);
    onDone();
  };
  return (
    <FieldForm
      label={profile === null ? "New profile" : `Edit ${profile.name}`}
      submit={profile === null ? "Create the profile" : "Save the profile"}
      work={send}
      onCancel={onCancel}
      fields={listFields(profile)}
    />
  );
}

function listFields(profile: Profile | null): FormField[] {
  const { requirements = {}, targets = {}, settings = {} } = profile ?? {};
  return [
    ...(profile === null ? [{ kind: "text", pointer: "#/name", label: "Name", required: true } as const] : []),
    { kind: "text", pointer: "#/description", label: "Description", value: profile?.description },
    { heading: "Requirements" },
    { kind: "select", pointer: "#/requirements/device", label: "Device", options: DEVICES, value: requirements.device },
    {
      kind: "select",
      pointer: "#/requirements/allowSoftware",
      label: "Software device",
      hint: "A GPU that is emulated on the CPU",
      options: SOFTWARE,
      value: String(requirements.allowSoftware ?? ""),
      isJson: true,
    },
    number("#/requirements/minLogicalCores", "Logical cores", "At least", requirements.minLogicalCores),
    bytes("#/requirements/minMemoryBytes", "Memory", "at least", requirements.minMemoryBytes),
    bytes("#/requirements/minGpuMemoryBytes", "GPU memory", "at least", requirements.minGpuMemoryBytes),
    number("#/requirements/minGpus", "GPUs", "At least", requirements.minGpus),
    {
      kind: "text",
      pointer: "#/requirements/features",
      label: "WebGPU features",
      hint: "With commas between, such as shader-f16",
      isList: true,
      value: requirements.features?.join(", "),
    },
    {
      kind: "choices",
      pointer: "#/requirements/instructionSets",
      label: "Instruction sets",
      options: plainOptions(InstructionSetName.options),
      value: requirements.instructionSets,
    },
    { heading: "Targets" },
    number("#/targets/latencyMs", "Latency", "ms, at most", targets.latencyMs),
    {
      kind: "select",
      pointer: "#/targets/percentile",
      label: "Which latency",
      options: withValue(PERCENTILES, targets.percentile),
      value: String(targets.percentile ?? ""),
      isJson: true,
    },
    number("#/targets/throughputRps", "Throughput", "Requests a second, at least", targets.throughputRps),
    bytes("#/targets/memoryBytes", "Memory of serving", "at most", targets.memoryBytes),
    { heading: "Settings" },
    {
      kind: "select",
      pointer: "#/settings/precision",
      label: "Precision",
      options: PRECISIONS,
      value: settings.precision,
    },
    number("#/settings/maxBatch", "Rows of a batch", "At most", settings.maxBatch),
    number("#/settings/threads", "Threads", "Of one operator on the CPU", settings.threads),
    {
      kind: "choices",
      pointer: "#/settings/backends",
      label: "Backends",
      options: plainOptions(Backend.options),
      value: settings.backends,
    },
  ];
}

function number(pointer: string, label: string, hint: string, value: number | undefined): FormField {
  return { kind: "number", pointer, label, hint, value };
}

/** Bytes that are written in GiB. */
function bytes(pointer: string, label: string, bound: string, value: number | undefined): FormField {
  return {
    kind: "number",
    pointer,
    label,
    hint: `GiB, ${bound}`,
    factor: GIB,
    value: value === undefined ? undefined : value / GIB,
  };
}

/** Another percentile than those that are offered stays what it is. */
function withValue(options: FieldOptions, value: number | undefined): FieldOptions {
  const text = String(value ?? "");
  return options.some(([option]) => option === text) ? options : [...options, [text, `the quantile ${text}`]];
}
