import type { SubmittedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import { WordBadge } from "../ui/badges.tsx";
import { Fact } from "../ui/panels.tsx";
import { writeAddress } from "../ui/page-address.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import { KERNEL_STATES } from "../../words/kernels.ts";

/** State of a submitted kernel's check, with the cause of a failure. */
export function CheckState({ kernel }: { readonly kernel: SubmittedKernel }) {
  const { id, owner, state, problem, checkJobId, createdAt, reference } = kernel;
  return (
    <>
      <dl class="facts definition-facts">
        <Fact name="Check">
          <WordBadge says={KERNEL_STATES[state]} />
          {checkJobId !== null && (
            <>
              {" "}
              <a href={`/${writeAddress({ view: "jobs", job: checkJobId })}`}>its job</a>
            </>
          )}
        </Fact>
        <Fact name="Competes with">
          {reference === id ? (
            "none"
          ) : (
            <a href={`/${writeAddress({ view: "kernels", kernel: reference })}`}>{reference}</a>
          )}
        </Fact>
        <Fact name="Submitted">
          <Timestamp at={createdAt} />
        </Fact>
        <Fact name="By the key">{owner}</Fact>
        <Fact name="Id">{id}</Fact>
      </dl>
      {problem !== null && (
        <div class="notice">
          <p>
            <a href={problem.type}>{problem.title}</a>
          </p>
          <pre class="compiler" tabIndex={0} role="region" aria-label="What was wrong">
            {problem.detail}
          </pre>
        </div>
      )}
    </>
  );
}
