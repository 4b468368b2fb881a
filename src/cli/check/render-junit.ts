import type { Judgement } from "./judge-pairs.ts";

/**
 * A check as JUnit's XML: a test case per series, failed where it regressed, skipped where there was too little
 * evidence. Elements and attributes are those of the schema that Jenkins reads (jenkinsci/xunit-plugin, junit-10.xsd).
 */
export function renderJunit(judgements: readonly Judgement[]): string {
  const failures = judgements.filter(({ outcome }) => outcome === "regression").length;
  const skipped = judgements.filter(({ outcome }) => outcome === "insufficient" || outcome === "unclear").length;
  const counts = `tests="${judgements.length}" failures="${failures}" errors="0"`;
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites name="millrace" ${counts}>`,
    `  <testsuite name="millrace check" ${counts} skipped="${skipped}" time="0">`,
    ...judgements.map(renderCase),
    `  </testsuite>`,
    `</testsuites>`,
    "",
  ].join("\n");
}

function renderCase({ name, subject, outcome, reason, pair }: Judgement): string {
  const open = `    <testcase classname="${escape(subject)}" name="${escape(name)}" time="0"`;
  const said = escape([pair?.summary ?? "", ...(pair?.warnings ?? [])].filter((text) => text !== "").join(" "));
  switch (outcome) {
    case "passed":
      return said === "" ? `${open}/>` : `${open}><system-out>${said}</system-out></testcase>`;
    case "regression":
      return `${open}><failure type="regression" message="${escape(reason)}">${said}</failure></testcase>`;
    case "unclear":
    case "insufficient":
      return `${open}><skipped message="${escape(`${outcome}: ${reason}`)}">${said}</skipped></testcase>`;
  }
}

/** What XML 1.0 takes at all, with its five marks as entities. */
function escape(text: string): string {
  const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\u{fffd}")
    .replaceAll(/[&<>"']/g, (mark) => ENTITIES[mark] ?? mark);
}
