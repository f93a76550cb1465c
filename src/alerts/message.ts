/**
 * The request that carries an alert to a channel. A webhook gets the format of Standard Webhooks
 * (https://www.standardwebhooks.com): id, time and signature in headers, so that its receiver can check who sends and
 * drop second copies. Slack and Discord get the one text that each of them shows.
 */
import { Webhook } from 'standardwebhooks';
import type { ChannelShape } from '../contract/management/alerts.ts';
import type { Alert } from './alert.ts';
import { titleOf } from './kind-words.ts';

interface Message {
  headers: Record<string, string>;
  body: string;
}

const SECRET_BYTES = 32;
/** A message of Discord has 2,000 characters at most. */
const DISCORD_SUMMARY_MAX_CHARS = 900;

/** A new secret in the form that the libraries of Standard Webhooks take. */
export function newWebhookSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** `secrets`: of a webhook, the newest first. `nowMs`: of this attempt. */
export function messageFor(shape: ChannelShape, alert: Alert, secrets: readonly string[], nowMs: number): Message {
  const headers = { 'content-type': 'application/json', 'user-agent': 'Gatehouse-Alerts/1' };
  switch (shape) {
    case 'slack':
      return { headers, body: JSON.stringify({ text: slackText(alert) }) };
    case 'discord':
      // Nobody is called by name, whatever the text has.
      return { headers, body: JSON.stringify({ content: discordText(alert), allowed_mentions: { parse: [] } }) };
    case 'webhook': {
      const body = JSON.stringify(webhookBody(alert));
      const signatures = secrets.map((secret) => new Webhook(secret).sign(alert.id, new Date(nowMs), body));
      return {
        headers: {
          ...headers,
          'webhook-id': alert.id,
          'webhook-timestamp': String(Math.floor(nowMs / 1000)),
          'webhook-signature': signatures.join(' '),
        },
        body,
      };
    }
  }
}

function webhookBody({ id, kind, phase, at, instanceId, subject, summary, facts }: Alert): object {
  return {
    type: phase === 'once' ? kind : `${kind}.${phase}`,
    timestamp: new Date(at).toISOString(),
    data: { id, kind, phase, instanceId, subject, summary, facts },
  };
}

const slackEscapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** In Slack `<`, `>` and `&` would begin a link or call people. */
function slackText(alert: Alert): string {
  const summary = alert.summary.replace(/[&<>]/g, (character) => slackEscapes[character] as string);
  return `*Gatehouse: ${titleOf(alert)}*\n${summary}\n_${alert.id}_`;
}

/** With the characters of Discord's markup escaped. */
function discordText(alert: Alert): string {
  const summary = alert.summary.slice(0, DISCORD_SUMMARY_MAX_CHARS).replace(/[\\*_~`|>#[\]()@<-]/g, String.raw`\$&`);
  return `**Gatehouse: ${titleOf(alert)}**\n${summary}\n-# ${alert.id}`;
}
