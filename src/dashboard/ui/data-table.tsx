import type { ComponentChildren, Key } from "preact";

export interface Column<Row> {
  /** Its heading, which narrow screens show beside each cell. */
  readonly name: string;
  readonly cell: (row: Row, index: number) => ComponentChildren;
  /** Smaller, beneath the cell's own content; nothing where it gives nothing. */
  readonly note?: (row: Row, index: number) => ComponentChildren;
  /** Text on narrow screens instead of the heading. */
  readonly label?: string;
  /** Whether only screen readers get the heading. */
  readonly hidesName?: boolean;
  /** Whether its cells name their rows. */
  readonly head?: boolean;
  /** Whether narrow screens give it a line of its own. */
  readonly wide?: boolean;
  readonly title?: (row: Row) => string | undefined;
}

interface DataTableProps<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row, index: number) => Key;
  readonly class?: string;
  /** Caption for screen readers; `showsCaption` shows it to everyone. */
  readonly caption?: string;
  readonly showsCaption?: boolean;
  readonly isCurrent?: (row: Row) => boolean;
}

/** Rows by a list of columns. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { rows, columns, keyOf, caption, showsCaption = false, isCurrent } = props;
  return (
    <table class={props.class}>
      {caption !== undefined && <caption class={showsCaption ? undefined : "unseen"}>{caption}</caption>}
      <thead>
        <tr>
          {columns.map(({ name, hidesName }, place) => (
            <th key={place} scope="col">
              {hidesName === true ? <span class="unseen">{name}</span> : name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={keyOf(row, index)} aria-current={isCurrent?.(row)}>
            {columns.map((column, place) => (
              <Cell key={place} column={column} row={row} index={index} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CellProps<Row> {
  readonly column: Column<Row>;
  readonly row: Row;
  readonly index: number;
}

function Cell<Row>({ column: { name, cell, note, label, head, wide, title }, row, index }: CellProps<Row>) {
  const beneath = note?.(row, index);
  const hasNote = beneath !== undefined && beneath !== null && beneath !== false && beneath !== "";
  const content = (
    <>
      {cell(row, index)}
      {hasNote && <small>{beneath}</small>}
    </>
  );
  if (head === true) {
    return (
      <th scope="row" title={title?.(row)}>
        {content}
      </th>
    );
  }
  return (
    <td data-label={label ?? name} class={wide === true ? "wide" : undefined} title={title?.(row)}>
      {content}
    </td>
  );
}
