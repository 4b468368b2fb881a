import { render } from "preact";
import { PROBLEMS } from "../protocol/wire/problem.ts";
import { Masthead } from "./masthead.tsx";

const FAULTS = { client: "the request", server: "the edge", runner: "the runner" } as const;

/** Every problem code, where `type` of a problem points: `/docs/problems#budget-exceeded`. */
function ProblemTable() {
  return (
    <>
      <Masthead current="/docs/problems" />
      <main id="content" tabIndex={-1}>
        <section class="panel" aria-labelledby="title">
          <div class="panel-head">
            <h1 id="title">Problems</h1>
            <span class="muted">
              Every error is <code>application/problem+json</code> with one of these codes.
            </span>
          </div>
          <table class="problems">
            <thead>
              <tr>
                <th scope="col">Code</th>
                <th scope="col">Status</th>
                <th scope="col">Meaning</th>
                <th scope="col">At fault</th>
                <th scope="col">May succeed later</th>
              </tr>
            </thead>
            <tbody>
              {Object.entries(PROBLEMS).map(([code, { status, title, fault, retryable }]) => (
                <tr key={code} id={code}>
                  <th scope="row">
                    <code>{code}</code>
                  </th>
                  <td data-label="Status">{status}</td>
                  <td data-label="Meaning" class="wide">
                    {title}
                  </td>
                  <td data-label="At fault">{FAULTS[fault]}</td>
                  <td data-label="May succeed later">{retryable ? "yes" : "no"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </main>
    </>
  );
}

const root = document.getElementById("page");
if (root !== null) {
  render(<ProblemTable />, root);
  // The table stands only now: the browser looked for the fragment's row before it was there.
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}
