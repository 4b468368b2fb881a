import type { ComponentChildren } from "preact";

const LINKS = [
  ["/", "Overview"],
  ["/docs", "API docs"],
  ["/docs/problems", "Problems"],
  ["/openapi.json", "OpenAPI"],
] as const;

/** The head of every page; `children` stand at its right end. */
export function Masthead({ current, children }: { current: string; children?: ComponentChildren }) {
  return (
    <header class="masthead">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <a class="brand" href="/">
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M3 7c3 0 3 3 6 3s3-3 6-3 3 3 6 3M3 14c3 0 3 3 6 3s3-3 6-3 3 3 6 3" />
        </svg>
        millrace
      </a>
      <nav aria-label="Pages">
        {LINKS.map(([href, text]) => (
          <a key={href} href={href} aria-current={href === current ? "page" : undefined}>
            {text}
          </a>
        ))}
      </nav>
      <div class="masthead-end">{children}</div>
    </header>
  );
}
