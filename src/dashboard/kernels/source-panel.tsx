import { useCallback, useState } from "preact/hooks";
import type { SubmittedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import { useResource } from "../ui/hooks/use-resource.ts";
import { Panel } from "../ui/panels.tsx";
import { type Diagnostic, readDiagnostics } from "./read-diagnostics.ts";

interface SourceLinesProps {
  readonly name: string;
  readonly wgsl: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** A file with numbered lines; beneath a line stands what the compiler said of it. */
function SourceLines({ name, wgsl, diagnostics }: SourceLinesProps) {
  return (
    <pre class="source" tabIndex={0} role="region" aria-label={`Source of ${name}`}>
      {wgsl
        .trimEnd()
        .split("\n")
        .map((text, index) => {
          const told = diagnostics.filter(({ line }) => line === index + 1);
          return (
            <div key={index} class={told.length > 0 ? "line wrong" : "line"}>
              <code>{text === "" ? " " : text}</code>
              {told.map(({ column, message }) => (
                <span key={column} class="line-error">
                  {`${" ".repeat(column - 1)}^ ${message}`}
                </span>
              ))}
            </div>
          );
        })}
    </pre>
  );
}

interface SourceFile {
  readonly name: string;
  readonly wgsl: string;
}

interface SourcePanelProps {
  /** Name of the kernel. */
  readonly name: string;
  /** Null: one of the house, whose source came with the page. */
  readonly stored: SubmittedKernel | null;
}

/** The WGSL of a kernel, a file at a time, with what the compiler said beside its lines. */
export function SourcePanel({ name, stored }: SourcePanelProps) {
  const sources = useResource(
    useCallback(
      async (signal: AbortSignal) => (stored === null ? readHouseSources(name, signal) : listSubmitted(stored)),
      [name, stored?.digest],
    ),
  );
  const [picked, setPicked] = useState<string | null>(null);
  const { value, error } = sources;
  const shown = value?.find((file) => file.name === picked) ?? value?.[0];
  const detail = stored?.problem?.detail ?? "";
  return (
    <Panel
      id="source"
      title="Source"
      resource={sources}
      aside={stored === null && <span class="muted">{`as of millrace ${VERSION}, which this page belongs to`}</span>}
    >
      {value === null && error === null && <p class="muted loading">Reading the source …</p>}
      {value !== null && value.length > 1 && (
        <div class="row-actions" role="group" aria-label="Files">
          {value.map((file) => (
            <button
              key={file.name}
              type="button"
              aria-pressed={file.name === shown?.name}
              onClick={() => setPicked(file.name)}
            >
              {file.name}
            </button>
          ))}
        </div>
      )}
      {shown !== undefined && (
        <SourceLines name={shown.name} wgsl={shown.wgsl} diagnostics={readDiagnostics(detail, shown.name)} />
      )}
      {value?.length === 0 && <p class="muted">It shares the files of another kernel.</p>}
    </Panel>
  );
}

/** Kernel sources that the page was built with. */
async function readHouseSources(name: string, signal: AbortSignal): Promise<readonly SourceFile[]> {
  const response = await fetch(`/assets/kernels/${encodeURIComponent(name)}.json`, { signal });
  if (response.status === 404) throw new Error("the page has no source of this kernel, which a runner brought along");
  if (!response.ok) throw new Error(`the source could not be fetched: ${response.status}`);
  return (await response.json()) as SourceFile[];
}

function listSubmitted({ definition }: SubmittedKernel): readonly SourceFile[] {
  const { name, wgsl, reference } = definition;
  const own = { name: `${name}.wgsl`, wgsl };
  return reference.kind === "wgsl" ? [own, { name: "reference.wgsl", wgsl: reference.wgsl }] : [own];
}
