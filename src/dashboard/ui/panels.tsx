import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Resource } from "./hooks/use-resource.ts";

/** A shell command to copy. */
export function CommandBlock({ label, command }: { label: string; command: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(command);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <div class="command">
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{command}</code>
      </pre>
      {navigator.clipboard !== undefined && (
        <button type="button" onClick={() => void copy()}>
          {copied ? "Copied" : "Copy"}
        </button>
      )}
    </div>
  );
}

/** Says that nothing is there yet, and the command that changes it. */
export function EmptyState({
  says,
  command,
  children,
}: {
  says: string;
  command: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p>
        <strong>{says}</strong> {children}
      </p>
      <CommandBlock label="Command to run" command={command} />
    </div>
  );
}

/** Why something could not be done; nothing where it could. */
export function Refusal({ text }: { text: string | null }) {
  if (text === null) return null;
  return (
    <p class="notice bad" role="alert">
      {text}
    </p>
  );
}

/** One name and what stands for it, in a list of facts. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Facts as words have them, each name with a capital. */
export function FactList({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <>
      {facts.map(([name, value], index) => (
        <Fact key={index} name={capitalise(name)}>
          {value}
        </Fact>
      ))}
    </>
  );
}

/** A name as a heading begins. */
export function capitalise(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

interface PanelProps {
  readonly id: string;
  readonly title: string;
  /** Beside the title: a count, controls. */
  readonly aside?: ComponentChildren;
  /** Resource behind the panel; the panel shows its read errors. */
  readonly resource: Resource<unknown>;
  readonly children: ComponentChildren;
}

/** One part of the page under its heading. */
export function Panel({ id, title, aside, resource, children }: PanelProps) {
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      {resource.error !== null && (
        <p class="notice bad" role="alert">
          {resource.value === null ? "Could not be read: " : "Could not be read again; this is how it stood: "}
          {resource.error.message}
        </p>
      )}
      {children}
    </section>
  );
}
