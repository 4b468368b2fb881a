import { useEffect, useState } from "preact/hooks";

const timeOnly = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const dateAndTime = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});

/** An instant in local time (with the date unless it is today's), and in UTC on hovering. */
export function Timestamp({ at }: { at: string | null }) {
  if (at === null) return <span class="muted">never</span>;
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return (
    <time dateTime={at} title={`${at.replace("T", " ").replace("Z", "")} UTC`}>
      {(isToday ? timeOnly : dateAndTime).format(date)}
    </time>
  );
}

/** The time in milliseconds, each second anew while `ticking`. */
export function useNow(ticking: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!ticking) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [ticking]);
  return now;
}
