import { formatNumber } from "../format.ts";
import { Timestamp } from "../timestamp.tsx";
import type { Goodput } from "./goodput.ts";

/** The minutes that had requests, the latest first. */
export function MinuteTable({ minutes }: Pick<Goodput, "minutes">) {
  const busy = minutes.filter(({ answered, missed }) => answered > 0 || Object.keys(missed).length > 0).toReversed();
  return (
    <details>
      <summary>By the minute as a table</summary>
      <table class="points">
        <thead>
          <tr>
            <th scope="col">Minute</th>
            <th scope="col">Answered</th>
            <th scope="col">Predicted to be in time</th>
            <th scope="col">In time</th>
            <th scope="col">Without an answer</th>
          </tr>
        </thead>
        <tbody>
          {busy.map(({ atMs, answered, predicted, inTime, missed }) => (
            <tr key={atMs}>
              <td>
                <Timestamp at={new Date(atMs).toISOString()} />
              </td>
              <td>{formatNumber(answered)}</td>
              <td>{formatNumber(predicted)}</td>
              <td>{formatNumber(inTime)}</td>
              <td>{formatNumber(Object.values(missed).reduce((sum, count) => sum + count, 0))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
