/** The text of an alert for Discord, with the characters of its markup escaped. A message has 2,000 characters at most. */
import type { Alert } from '../alert.ts';
import { titleOf } from '../kind-words.ts';

const SUMMARY_MAX_CHARS = 900;

export function discordText(alert: Alert): string {
  const summary = alert.summary.slice(0, SUMMARY_MAX_CHARS).replace(/[\\*_~`|>#[\]()@<-]/g, String.raw`\$&`);
  return `**Gatehouse: ${titleOf(alert)}**\n${summary}\n-# ${alert.id}`;
}
