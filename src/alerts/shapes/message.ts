/**
 * The request that carries an alert to a channel. A webhook gets the format of Standard Webhooks
 * (https://www.standardwebhooks.com): id, time and signature in headers, so that its receiver can check who sends and
 * drop second copies. Slack and Discord get the one text that each of them shows.
 */
import type { ChannelShape } from '../../contract/management/alerts.ts';
import type { Alert } from '../alert.ts';
import { discordText } from './discord.ts';
import { slackText } from './slack.ts';
import { webhookBody, webhookSignature } from './standard-webhook.ts';

interface Message {
  headers: Record<string, string>;
  body: string;
}

/** `secrets`: of a webhook, the newest first. `nowMs`: of this attempt. */
export async function messageFor(
  shape: ChannelShape,
  alert: Alert,
  secrets: readonly string[],
  nowMs: number,
): Promise<Message> {
  const headers = { 'content-type': 'application/json', 'user-agent': 'Gatehouse-Alerts/1' };
  switch (shape) {
    case 'slack':
      return { headers, body: JSON.stringify({ text: slackText(alert) }) };
    case 'discord':
      // Nobody is called by name, whatever the text has.
      return { headers, body: JSON.stringify({ content: discordText(alert), allowed_mentions: { parse: [] } }) };
    case 'webhook': {
      const body = JSON.stringify(webhookBody(alert));
      const timestamp = Math.floor(nowMs / 1000);
      const signature = await webhookSignature(secrets, alert.id, timestamp, body);
      return {
        headers: {
          ...headers,
          'webhook-id': alert.id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signature,
        },
        body,
      };
    }
  }
}
