import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

const LINKS = [
  ["/", "Overview"],
  ["/#view=runners", "Runners"],
  ["/#view=models", "Models"],
  ["/#view=jobs", "Jobs"],
  ["/#view=kernels", "Kernels"],
  ["/#view=evaluations", "Evaluations"],
  ["/#view=archives", "Archives"],
  ["/#view=validation", "Validation"],
  ["/#view=history", "History"],
  ["/#view=alerts", "Alerts"],
  ["/#view=settings", "Settings"],
  ["/docs", "API docs"],
  ["/docs/problems", "Problems"],
] as const;

interface MastheadProps {
  /** The link that leads to where one is. */
  readonly current: string;
  /** Number of open alerts, as text; empty if unknown. */
  readonly openAlerts?: string;
  /** At the right end. */
  readonly children?: ComponentChildren;
}

/** The head of every page. */
export function Masthead({ current, openAlerts = "", children }: MastheadProps) {
  const nav = useRef<HTMLElement>(null);
  // On a phone the row of links scrolls: where one is stands in its middle.
  useEffect(() => {
    const row = nav.current;
    const link = row?.querySelector<HTMLElement>('[aria-current="page"]');
    if (row && link) row.scrollLeft = link.offsetLeft - row.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  // A jump to #content would take what is picked out of the address.
  const skip = (event: Event) => {
    event.preventDefault();
    document.getElementById("content")?.focus();
  };
  return (
    <header class="masthead">
      <a class="skip" href="#content" onClick={skip}>
        Skip to content
      </a>
      <a class="brand" href="/">
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M3 7c3 0 3 3 6 3s3-3 6-3 3 3 6 3M3 14c3 0 3 3 6 3s3-3 6-3 3 3 6 3" />
        </svg>
        millrace
      </a>
      <nav ref={nav} aria-label="Pages">
        {LINKS.map(([href, text]) => (
          <a key={href} href={href} aria-current={href === current ? "page" : undefined}>
            {text}
            {text === "Alerts" && openAlerts !== "" && <OpenAlerts count={openAlerts} />}
          </a>
        ))}
      </nav>
      <div class="masthead-end">{children}</div>
    </header>
  );
}

function OpenAlerts({ count }: { count: string }) {
  if (count === "0") return null;
  return (
    <span class="count">
      <span class="unseen">, </span>
      {count}
      <span class="unseen"> open</span>
    </span>
  );
}
