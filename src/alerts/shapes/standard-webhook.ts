/** Body and signature of Standard Webhooks: HMAC-SHA256 over id, time and body, one signature for each valid secret. */
import type { Alert } from '../alert.ts';

const WEBHOOK_SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export function webhookBody(alert: Alert): object {
  const { id, kind, phase, at, instanceId, subject, summary, facts } = alert;
  return {
    type: phase === 'once' ? kind : `${kind}.${phase}`,
    timestamp: new Date(at).toISOString(),
    data: { id, kind, phase, instanceId, subject, summary, facts },
  };
}

/** A new secret in the form that the libraries of Standard Webhooks take. */
export function newWebhookSecret(): string {
  return WEBHOOK_SECRET_PREFIX + base64(crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
}

/** `timestamp`: seconds since the epoch. */
export async function webhookSignature(
  secrets: readonly string[],
  id: string,
  timestamp: number,
  body: string,
): Promise<string> {
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signatures = secrets.map(async (secret) => {
    const raw = Uint8Array.from(atob(secret.slice(WEBHOOK_SECRET_PREFIX.length)), (character) =>
      character.charCodeAt(0),
    );
    const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    return `v1,${base64(new Uint8Array(await crypto.subtle.sign('HMAC', key, signed)))}`;
  });
  return (await Promise.all(signatures)).join(' ');
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
