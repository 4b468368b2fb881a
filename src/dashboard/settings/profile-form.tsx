import { Backend, InstructionSetName } from "../../protocol/fleet/hardware.ts";
import { type Profile, ProfileInput } from "../../protocol/fleet/profile.ts";
import { ApiForm } from "../ui/forms/api-form.tsx";
import { ChoicesField, InputField, SelectField } from "../ui/forms/field.tsx";
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
const PRECISIONS = [["", "any"], ...["fp32", "fp16", "int8", "int4"].map((name) => [name, name] as const)] as const;

interface ProfileFormProps extends Closing {
  /** Null: a new one. */
  readonly profile: Profile | null;
  readonly work: (body: ProfileInput) => Promise<unknown>;
}

/** The fields of a profile. What is left empty is not asked for. */
export function ProfileForm({ profile, work, onDone, onCancel }: ProfileFormProps) {
  const { requirements = {}, targets = {}, settings = {} } = profile ?? {};
  const inGib = (bytes: number | undefined) => (bytes === undefined ? undefined : bytes / GIB);
  const send = async (body: Record<string, unknown>) => {
    await work(body as ProfileInput);
    onDone();
  };
  return (
    <ApiForm
      label={profile === null ? "New profile" : `Edit ${profile.name}`}
      submit={profile === null ? "Create the profile" : "Save the profile"}
      work={send}
      onCancel={onCancel}
    >
      {profile === null && <InputField name="#/name" label="Name" required />}
      <InputField name="#/description" label="Description" value={profile?.description} />
      <h3>Requirements</h3>
      <SelectField name="#/requirements/device" label="Device" options={DEVICES} value={requirements.device} />
      <SelectField
        name="#/requirements/allowSoftware"
        label="Software device"
        hint="A GPU that is emulated on the CPU"
        options={SOFTWARE}
        value={String(requirements.allowSoftware ?? "")}
        isJson
      />
      <InputField
        name="#/requirements/minLogicalCores"
        label="Logical cores"
        hint="At least"
        type="number"
        value={requirements.minLogicalCores}
      />
      <InputField
        name="#/requirements/minMemoryBytes"
        label="Memory"
        hint="GiB, at least"
        type="number"
        factor={GIB}
        value={inGib(requirements.minMemoryBytes)}
      />
      <InputField
        name="#/requirements/minGpuMemoryBytes"
        label="GPU memory"
        hint="GiB, at least"
        type="number"
        factor={GIB}
        value={inGib(requirements.minGpuMemoryBytes)}
      />
      <InputField
        name="#/requirements/features"
        label="WebGPU features"
        hint="With commas between, such as shader-f16"
        isList
        value={requirements.features?.join(", ")}
      />
      <ChoicesField
        name="#/requirements/instructionSets"
        label="Instruction sets"
        options={InstructionSetName.options.map((name) => [name, name] as const)}
        value={requirements.instructionSets}
      />
      <h3>Targets</h3>
      <InputField
        name="#/targets/latencyMs"
        label="Latency"
        hint="ms, at most"
        type="number"
        value={targets.latencyMs}
      />
      <SelectField
        name="#/targets/percentile"
        label="Which latency"
        options={withValue(PERCENTILES, targets.percentile)}
        value={String(targets.percentile ?? "")}
        isJson
      />
      <InputField
        name="#/targets/throughputRps"
        label="Throughput"
        hint="Requests a second, at least"
        type="number"
        value={targets.throughputRps}
      />
      <InputField
        name="#/targets/memoryBytes"
        label="Memory of serving"
        hint="GiB, at most"
        type="number"
        factor={GIB}
        value={inGib(targets.memoryBytes)}
      />
      <h3>Settings</h3>
      <SelectField name="#/settings/precision" label="Precision" options={PRECISIONS} value={settings.precision} />
      <InputField
        name="#/settings/maxBatch"
        label="Rows of a batch"
        hint="At most"
        type="number"
        value={settings.maxBatch}
      />
      <InputField
        name="#/settings/threads"
        label="Threads"
        hint="Of one operator on the CPU"
        type="number"
        value={settings.threads}
      />
      <ChoicesField
        name="#/settings/backends"
        label="Backends"
        options={Backend.options.map((name) => [name, name] as const)}
        value={settings.backends}
      />
    </ApiForm>
  );
}

type Options = readonly (readonly [string, string])[];

/** Another percentile than those that are offered stays what it is. */
function withValue(options: Options, value: number | undefined): Options {
  const text = String(value ?? "");
  return options.some(([option]) => option === text) ? options : [...options, [text, `the quantile ${text}`]];
}
