import { historyEndpoints } from "../../protocol/history/history-endpoints.ts";
import { alertEndpoints } from "../../protocol/history/alert-endpoints.ts";
import { useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { Alert, Change } from "../../protocol/history/alert.ts";
import { AlertEvidence } from "./alert-evidence.tsx";
import {
  ACTION_WORDS,
  actionsOf,
  ALERT_STATES,
  describeKind,
  describeLevels,
  describeMove,
  describeNeighbours,
  describeSureness,
  FINDING_WORDS,
  nameAlert,
} from "../../words/alerts.ts";
import { Badge } from "../ui/badges.tsx";
import { EventSign } from "../plots/series/event-list.tsx";
import { Fact } from "../ui/panels.tsx";
import { FindingFacts } from "./finding-facts.tsx";
import { toneOf } from "../plots/plot-marks.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import type { Writer } from "../ui/hooks/use-writer.ts";
import { WriteButton } from "../ui/buttons.tsx";

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

/** One alert: what moved or was found, how far, how sure, since when, and what to do about it. */
export function AlertItem(props: AlertItemProps) {
  const { client, alert, isOpen, onToggle } = props;
  const { leading, finding } = alert;
  const [tone, word] = ALERT_STATES[alert.state];
  const name = nameAlert(alert);
  return (
    <article class={`alert ${alert.state}`} aria-labelledby={alert.id}>
      <div class="alert-head">
        <h3 id={alert.id}>
          {leading !== null && <ChangeHead leading={leading} />}
          {finding !== null && <span class="bad">{FINDING_WORDS[finding.kind]}</span>} {name}
        </h3>
        <Badge tone={tone}>{word}</Badge>
      </div>
      {leading !== null && <ChangeFacts alert={alert} leading={leading} />}
      {finding !== null && <FindingFacts finding={finding} note={alert.note} />}
      <AlertActions {...props} />
      {leading !== null && isOpen && <AlertEvidence client={client} id={alert.id} />}
      {leading !== null && (
        <button type="button" class="link" aria-expanded={isOpen} onClick={() => onToggle(!isOpen)}>
          {isOpen ? "Hide the evidence" : "Show the evidence"}
          <span class="unseen">{` for ${name}`}</span>
        </button>
      )}
    </article>
  );
}

function ChangeHead({ leading }: { leading: Change }) {
  const direction = toneOf(leading);
  const tone = direction === "worse" ? "bad" : "good";
  return (
    <span class={tone}>
      <EventSign kind={leading.to > leading.from ? "up" : "down"} tone={tone} /> {direction} {describeMove(leading)}
    </span>
  );
}

function ChangeFacts({ alert, leading }: { alert: Alert; leading: Change }) {
  const neighbours = describeNeighbours(alert);
  return (
    <>
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
    </>
  );
}

function AlertActions({ client, writer, alert, onDone }: AlertItemProps) {
  const [note, setNote] = useState("");
  const name = nameAlert(alert);
  const series = alert.leading?.series ?? null;
  const body = note.trim() === "" ? {} : { note: note.trim() };
  // If two people act at once, the later request fails and its list is read again.
  const headers = { "if-match": `"${alert.version}"` };
  return (
    <div class="alert-actions">
      {actionsOf(alert).map((action) => {
        const { press, done } = ACTION_WORDS[action];
        return (
          <WriteButton
            key={action}
            writer={writer}
            label={`${press} the alert of ${name}`}
            work={() => client.call(alertEndpoints.changeAlert, { params: { id: alert.id, action }, headers, body })}
            onDone={() => onDone(`${name}: ${done}.`)}
          >
            {press}
          </WriteButton>
        );
      })}
      {series !== null && (
        <WriteButton
          writer={writer}
          label={`Mute series ${name}`}
          work={() => client.call(historyEndpoints.muteSeries, { params: { id: series.id } })}
          onDone={() => onDone(`${name} is muted: its further changes alert nobody.`)}
        >
          Mute series
        </WriteButton>
      )}
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
