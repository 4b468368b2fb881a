import type { ComponentChildren } from "preact";
import type { Resource } from "./use-resource.ts";

interface PanelProps {
  readonly id: string;
  readonly title: string;
  /** Beside the title: a count, controls. */
  readonly aside?: ComponentChildren;
  /** What the panel is made of; when reading it fails, that is said here. */
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
