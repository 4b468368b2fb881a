import type { Diagnostic } from "./read-diagnostics.ts";

interface SourceLinesProps {
  readonly name: string;
  readonly wgsl: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** A file with numbered lines; beneath a line stands what the compiler said of it. */
export function SourceLines({ name, wgsl, diagnostics }: SourceLinesProps) {
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
