import { useMemo } from "preact/hooks";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import { formatNumber } from "../../words/numbers.ts";
import { numbersToPixels } from "./input-picture.ts";
import { PixelCanvas } from "./picture-input.tsx";
import { readOutput, type ShownOutput } from "./read-output.ts";

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
    <table class="points classes">
      <caption class="unseen">{`The highest of ${name}`}</caption>
      <thead>
        <tr>
          <th scope="col">Class</th>
          <th scope="col">Value</th>
          <th scope="col">
            <span class="unseen">As a bar</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {classes.map(({ index, value }) => (
          <tr key={index}>
            <th scope="row">{index}</th>
            <td>{formatNumber(value)}</td>
            <td>
              <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
                <rect
                  class={value < 0 ? "below" : ""}
                  x={xOf(Math.min(0, value))}
                  width={Math.abs(xOf(value) - xOf(0))}
                  height={10}
                />
              </svg>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
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
      <table class="points">
        <thead>
          <tr>
            <th scope="col">Place</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {shown.values.map(({ place, value }, index) => (
            <tr key={index}>
              <td>{place}</td>
              <td>{typeof value === "number" ? formatNumber(value) : String(value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.left > 0 && <p class="muted">{`and ${formatNumber(shown.left)} more`}</p>}
    </div>
  );
}
