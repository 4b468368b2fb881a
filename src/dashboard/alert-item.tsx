import { useState } from "preact/hooks";
import type { Client } from "../client/client.ts";
import type { Alert } from "../protocol/alert.ts";
import { endpoints } from "../protocol/endpoints.ts";
import { AlertEvidence } from "./alert-evidence.tsx";
import { ACTION_WORDS, ACTIONS_OF, ALERT_STATES, describeNeighbours, nameAlert } from "./alert-words.ts";
import { Badge } from "./badge.tsx";
import { describeKind, describeLevels, describeMove, describeSureness } from "./describe-change.ts";
import { EventSign } from "./event-sign.tsx";
import { Fact } from "./fact.tsx";
import { toneOf } from "./plot-marks.ts";
import { Timestamp } from "./timestamp.tsx";
import type { Writer } from "./use-writer.ts";
import { WriteButton } from "./write-button.tsx";

interface AlertItemProps {
  readonly client: Client;
  readonly writer: Writer;
  readonly alert: Alert;
  /** Whether its evidence is shown. */
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
  /** Something was done, in words. */
  readonly onDone: (what: string) => void;
}

/** One alert: what moved, how far, how sure, since when, and what to do about it. */
export function AlertItem(props: AlertItemProps) {
  const { client, alert, isOpen, onToggle } = props;
  const { leading } = alert;
  const [tone, word] = ALERT_STATES[alert.state];
  const direction = toneOf(leading);
  const neighbours = describeNeighbours(alert);
  const name = nameAlert(alert);
  return (
    <article class={`alert ${alert.state}`} aria-labelledby={alert.id}>
      <div class="alert-head">
        <h3 id={alert.id}>
          <span class={direction === "worse" ? "bad" : "good"}>
            <EventSign kind={leading.to > leading.from ? "up" : "down"} tone={direction === "worse" ? "bad" : "good"} />{" "}
            {direction} {describeMove(leading)}
          </span>{" "}
          {name}
        </h3>
        <Badge tone={tone}>{word}</Badge>
      </div>
      <p>
        {describeLevels(leading, leading.series.unit)}, {describeKind(leading)}
        {neighbours !== null && <strong>{` · ${neighbours}`}</strong>}
      </p>
      <dl class="alert-facts">
        <Fact name="Since">
          <Timestamp at={alert.at} />
        </Fact>
        <Fact name="How sure">{describeSureness(leading)}</Fact>
        <Fact name="Revision">
          {leading.previousRevision !== null && (
            <>
              <code>{leading.previousRevision.slice(0, 12)}</code> to{" "}
            </>
          )}
          {leading.revision === null ? (
            <span class="muted">not told</span>
          ) : (
            <code>{leading.revision.slice(0, 12)}</code>
          )}
        </Fact>
        <Fact name="Run">
          {leading.runId === null ? <span class="muted">live requests</span> : <code>{leading.runId}</code>}
        </Fact>
        {alert.note !== null && <Fact name="Note">{alert.note}</Fact>}
      </dl>
      <AlertActions {...props} />
      {isOpen && <AlertEvidence client={client} id={alert.id} />}
      <button type="button" class="link" aria-expanded={isOpen} onClick={() => onToggle(!isOpen)}>
        {isOpen ? "Hide the evidence" : "Show the evidence"}
        <span class="unseen">{` for ${name}`}</span>
      </button>
    </article>
  );
}

function AlertActions({ client, writer, alert, onDone }: AlertItemProps) {
  const [note, setNote] = useState("");
  const name = nameAlert(alert);
  const { series } = alert.leading;
  const body = note.trim() === "" ? {} : { note: note.trim() };
  // Two people at once: the later one is told, and looks again.
  const headers = { "if-match": `"${alert.version}"` };
  return (
    <div class="alert-actions">
      {ACTIONS_OF[alert.state].map((action) => {
        const { press, done } = ACTION_WORDS[action];
        return (
          <WriteButton
            key={action}
            writer={writer}
            label={`${press} the alert of ${name}`}
            work={() => client.call(endpoints.changeAlert, { params: { id: alert.id, action }, headers, body })}
            onDone={() => onDone(`${name}: ${done}.`)}
          >
            {press}
          </WriteButton>
        );
      })}
      <WriteButton
        writer={writer}
        label={`Mute series ${name}`}
        work={() => client.call(endpoints.muteSeries, { params: { id: series.id } })}
        onDone={() => onDone(`${name} is muted: its further changes alert nobody.`)}
      >
        Mute series
      </WriteButton>
      <input
        type="text"
        aria-label={`Note on ${name}`}
        placeholder="Note (optional)"
        value={note}
        maxLength={1_000}
        onInput={({ currentTarget }) => setNote(currentTarget.value)}
      />
    </div>
  );
}
