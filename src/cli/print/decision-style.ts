/** The colours of decisions, in every table that shows them. */
const styles = { allow: 'green', challenge: 'yellow', block: 'red' } as const;

export function decisionStyle(decision: string): (typeof styles)[keyof typeof styles] | null {
  return Object.hasOwn(styles, decision) ? styles[decision as keyof typeof styles] : null;
}
