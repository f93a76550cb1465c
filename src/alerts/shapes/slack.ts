/** The text of an alert for Slack, where `<`, `>` and `&` would begin a link or call people. */
import type { Alert } from '../alert.ts';
import { titleOf } from '../kind-words.ts';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export function slackText(alert: Alert): string {
  return `*Gatehouse: ${titleOf(alert)}*\n${escaped(alert.summary)}\n_${alert.id}_`;
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => escapes[character] as string);
}
