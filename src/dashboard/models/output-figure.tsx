import { useMemo } from "preact/hooks";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { formatNumber } from "../../words/numbers.ts";
import { numbersToPixels } from "./input-picture.ts";
import { PixelCanvas } from "./picture-input.tsx";
import { readOutput, type ShownOutput } from "./read-output.ts";
import { DataTable } from "../ui/data-table.tsx";

const WIDTH = 100;

/** One output of a model: its highest classes as bars, a picture, or its first values. */
export function OutputFigure({ output }: { readonly output: Tensor }) {
  const { name, dtype, shape } = output;
  const shown = useMemo(() => readOutput(output), [output]);
  return (
    <figure class="output">
      <figcaption>
        <b>{name}</b> <span class="muted">{`${dtype} ${shape.join(" × ")}`}</span>
      </figcaption>
      {shown.kind === "classes" && <ClassTable name={name} classes={shown.classes} />}
      {shown.kind === "picture" && (
        <PixelCanvas
          form={shown.form}
          pixels={numbersToPixels(shown.numbers, shown.form)}
          label={`${name} as a picture, its least number black and its largest white`}
        />
      )}
      {shown.kind === "values" && <ValueTable name={name} shown={shown} />}
    </figure>
  );
}

type Classes = Extract<ShownOutput, { kind: "classes" }>["classes"];

function ClassTable({ name, classes }: { readonly name: string; readonly classes: Classes }) {
  // From the least to the largest, and nothing in any case.
  const low = classes.reduce((least, { value }) => Math.min(least, value), 0);
  const high = classes.reduce((largest, { value }) => Math.max(largest, value), 0);
  const xOf = (value: number) => (high > low ? ((value - low) / (high - low)) * WIDTH : 0);
  return (
    <DataTable
      class="points classes"
      caption={`The highest of ${name}`}
      rows={classes}
      keyOf={({ index }) => index}
      columns={[
        { name: "Class", head: true, cell: ({ index }) => index },
        { name: "Value", cell: ({ value }) => formatNumber(value) },
        {
          name: "As a bar",
          hidesName: true,
          cell: ({ value }) => (
            <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
              <rect
                class={value < 0 ? "below" : ""}
                x={xOf(Math.min(0, value))}
                width={Math.abs(xOf(value) - xOf(0))}
                height={10}
              />
            </svg>
          ),
        },
      ]}
    />
  );
}

function ValueTable({
  name,
  shown,
}: {
  readonly name: string;
  readonly shown: Extract<ShownOutput, { kind: "values" }>;
}) {
  return (
    <div class="values" role="region" aria-label={`Values of ${name}`} tabIndex={0}>
      <DataTable
        class="points"
        rows={shown.values}
        keyOf={(_, index) => index}
        columns={[
          { name: "Place", cell: ({ place }) => place },
          { name: "Value", cell: ({ value }) => (typeof value === "number" ? formatNumber(value) : String(value)) },
        ]}
      />
      {shown.left > 0 && <p class="muted">{`and ${formatNumber(shown.left)} more`}</p>}
    </div>
  );
}
