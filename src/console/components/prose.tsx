/** A sentence of ours in which backticks mark code, as in the descriptions of the API. Not for text of visitors. */
export function Prose({ text }: { text: string }) {
  return <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}
