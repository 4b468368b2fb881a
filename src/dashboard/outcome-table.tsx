import type { ComponentChildren } from "preact";

interface OutcomeTableProps {
  readonly caption: string;
  /** Heading of the first column. */
  readonly of: string;
  /** Its rows. */
  readonly children: ComponentChildren;
}

/** What is wanted of each thing, what was found, and whether that is enough. */
export function OutcomeTable({ caption, of, children }: OutcomeTableProps) {
  return (
    <table class="fits">
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{of}</th>
          <th scope="col">Wanted</th>
          <th scope="col">Found</th>
          <th scope="col">Outcome</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
