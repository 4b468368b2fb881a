/** Says which scope the key would need, and for what. */
export function LacksAdmin({ what }: { what: string }) {
  return (
    <p class="muted">
      {`${what} needs a key with the scope `}
      <code>admin</code>, which this one lacks.
    </p>
  );
}
